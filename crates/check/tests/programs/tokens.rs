//! Tokens: what they look like, and what is said of those that do not fit.

use std::sync::Arc;

use teetotal_check::{Options, check};
use teetotal_engine::{Token, TokenError, replay};
use teetotal_gallery as gallery;
use teetotal_generate::{Rng, program};
use teetotal_memory::ModelId;
use teetotal_program::ir::Program;

/// The token of an execution that satisfies the condition.
fn token_of(program: &Arc<Program>, model: ModelId) -> String {
    let outcome = check(program, &Options::new(model), &|| None).expect("the program can be checked");
    outcome.satisfying.expect("the condition can be satisfied").token.to_string()
}

fn error_of(program: &Arc<Program>, text: &str) -> TokenError {
    match text.parse::<Token>() {
        Err(error) => error,
        Ok(token) => replay(program, &token).expect_err("the token does not fit"),
    }
}

#[test]
fn a_token_is_short_and_needs_no_quoting() {
    let token = token_of(&Arc::new(gallery::store_buffering()), ModelId::Tso);
    assert!(token.starts_with("tso1:"), "{token}");
    assert!(token.len() < 40, "{token}");
    assert!(token.bytes().all(|b| b.is_ascii_alphanumeric() || b":.".contains(&b)), "{token}");
}

#[test]
fn a_token_replays_the_same_execution() {
    let program = Arc::new(gallery::n6());
    let text = token_of(&program, ModelId::Pso);
    let token: Token = text.parse().expect("it was printed");
    assert_eq!(replay(&program, &token).expect("it is of this program").token.to_string(), text);
}

#[test]
fn a_token_that_was_cut_off_is_refused_wherever_the_cut_is() {
    let program = Arc::new(gallery::store_buffering());
    let text = token_of(&program, ModelId::Tso);
    for end in 0..text.len() {
        error_of(&program, &text[..end]);
    }
}

#[test]
fn a_token_of_another_program_is_refused() {
    let token = token_of(&Arc::new(gallery::store_buffering()), ModelId::Tso);
    let other = Arc::new(program("x=1; r0=z || z=2; r1=x"));
    assert_eq!(error_of(&other, &token), TokenError::OtherProgram);
    let shorter = Arc::new(program("x=1 || y=1"));
    assert!(matches!(error_of(&shorter, &token), TokenError::NotPossible { .. }));
}

#[test]
fn a_token_of_another_version_or_model_is_refused_by_name() {
    let program = Arc::new(gallery::store_buffering());
    let token = token_of(&program, ModelId::Tso);
    assert_eq!(error_of(&program, &token.replace("tso1", "tso2")), TokenError::Version { found: 2 });
    assert_eq!(error_of(&program, &token.replace("tso1", "arm1")), TokenError::Model { found: "arm".to_owned() });
}

#[test]
fn absurd_numbers_are_refused_without_taking_memory() {
    let program = Arc::new(gallery::store_buffering());
    for text in [
        "tso1:99999999999999999999:00000000:0",
        "tso1:9000000000:00000000:0x9000000000",
        "tso1:1:00000000:0x18446744073709551615",
        "tso1:2:00000000:0x0",
        "tso1:1:00000000:70000",
        "tso1:1:00000000:-1",
        "tso1:1:00000000:0w99999",
        "tso18446744073709551616:1:00000000:0",
    ] {
        error_of(&program, text);
    }
}

#[test]
fn no_text_makes_a_token_panic() {
    let program = Arc::new(gallery::n6());
    let text = token_of(&program, ModelId::Pso);
    let mut rng = Rng::new(7);
    let alphabet: Vec<char> = "0123456789:.wxcts-+ é\u{0}pso1".chars().collect();
    for _ in 0..20_000 {
        let mut mutated: Vec<char> = text.chars().collect();
        for _ in 0..=rng.below(4) {
            let at = rng.below(mutated.len());
            match rng.below(3) {
                0 => mutated[at] = rng.pick(&alphabet),
                1 => drop(mutated.remove(at)),
                _ => mutated.insert(at, rng.pick(&alphabet)),
            }
        }
        let mutated: String = mutated.into_iter().collect();
        if let Ok(token) = mutated.parse::<Token>() {
            // Whatever it is, replaying it ends in an execution or in an error.
            drop(replay(&program, &token));
        }
    }
}
