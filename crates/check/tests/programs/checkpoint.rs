//! A search that is killed goes on from its last checkpoint and ends as if nothing had been.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use teetotal_check::{CheckError, Options, Outcome, SearchId, check, check_with};
use teetotal_dpor::{CheckpointError, Checkpoints};
use teetotal_engine::{Coverage, Limits, StopReason};
use teetotal_gallery::{self as gallery, Variant, Waiting};
use teetotal_generate::{Rng, Shape, generate, program};
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

/// Without assertions, and with the executions that would wait discarded.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

fn options(model: ModelId, jobs: usize) -> Options {
    Options { search: SearchId::Dpor, jobs, ..Options::new(model) }
}

/// Everything of an outcome that users can see.
fn everything(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let violations: Vec<_> = outcome.violations.iter().map(|v| (v.finding.clone(), v.schedule.clone())).collect();
    let witnesses = (outcome.satisfying.clone(), outcome.falsifying.clone());
    (outcome.coverage.clone(), outcome.states.clone(), witnesses, violations, outcome.stats)
}

/// Searches from a checkpoint, takes one after every `every` leaves of the walk, and gives the outcome and all of them.
fn go_on(
    program: &Arc<Program>,
    options: &Options,
    from: Option<&str>,
    every: u64,
) -> Result<(Outcome, Vec<String>), CheckError> {
    let saved = RefCell::new(Vec::new());
    let leaves = AtomicU64::new(0);
    let due = || leaves.fetch_add(1, Ordering::Relaxed) % every == every - 1;
    let save = |text: &str| saved.borrow_mut().push(text.to_owned());
    let checkpoints = Checkpoints { from, interval: 1, due: &due, save: &save };
    let outcome = check_with(program, options, &|| None, Some(&checkpoints))?;
    Ok((outcome, saved.into_inner()))
}

/// Kills the search after some checkpoint, goes on from that, kills it again, and so on to the end.
fn survives(program: &Arc<Program>, options: &Options, rng: &mut Rng) {
    let whole = everything(&check(program, options, &|| None).expect("it can be searched"));
    let mut from: Option<String> = None;
    for _ in 0..6 {
        let every = rng.between(1, 9) as u64;
        let jobs = rng.between(1, 3);
        let options = Options { jobs, ..options.clone() };
        let (outcome, saved) = go_on(program, &options, from.as_deref(), every).expect("the checkpoint is good");
        assert_eq!(everything(&outcome), whole, "{program} under {:?} from {from:?}", options.model);
        if saved.is_empty() {
            break;
        }
        from = Some(rng.pick(&saved));
    }
}

#[test]
fn random_programs_survive_being_killed() {
    let mut rng = Rng::new(1);
    for seed in 0..250 {
        let shape = if seed % 2 == 0 { Shape::full() } else { Shape::loops() };
        let program = Arc::new(generate(seed, &Shape { max_interleavings: 20_000, ..shape }));
        if teetotal_dpor::unsupported(&program).is_some() {
            continue;
        }
        for model in BUFFER_MODELS {
            survives(&program, &options(model.id, 1), &mut rng);
            survives(&program, &Options { stop_at_first: true, ..options(model.id, 1) }, &mut rng);
        }
    }
}

#[test]
fn programs_with_thousands_of_executions_survive_being_killed() {
    let mut rng = Rng::new(2);
    for program in [gallery::dekker_try(2, Variant::PLAIN), gallery::peterson_loop(2, ALL)] {
        let program = Arc::new(program);
        for model in BUFFER_MODELS {
            survives(&program, &options(model.id, 1), &mut rng);
        }
    }
}

#[test]
fn an_execution_that_was_cut_short_is_remembered() {
    let limits = Limits { steps: Some(11), ..Limits::default() };
    let program = Arc::new(gallery::dekker_try(2, Variant::PLAIN));
    let options = Options { limits, ..options(ModelId::Tso, 1) };
    assert!(matches!(check(&program, &options, &|| None).expect("searched").coverage, Coverage::Stopped(_)));
    survives(&program, &options, &mut Rng::new(3));
}

#[test]
fn a_search_that_met_a_limit_goes_on_with_a_higher_one() {
    let program = Arc::new(gallery::dekker_try(2, ALL));
    let whole = check(&program, &options(ModelId::Tso, 1), &|| None).expect("searched");
    let mut from: Option<String> = None;
    for limit in [1, 2, 7, 100, 345] {
        let limits = Limits { executions: Some(limit), ..Limits::default() };
        let limited = Options { limits, ..options(ModelId::Tso, 2) };
        let (outcome, saved) = go_on(&program, &limited, from.as_deref(), 1_000_000).expect("the checkpoint is good");
        assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Executions(limit)));
        assert_eq!(outcome.stats.executions, limit);
        assert_eq!(saved.len(), 1, "one checkpoint, when the search stops");
        from = saved.into_iter().next();
    }
    let (outcome, _) = go_on(&program, &options(ModelId::Tso, 2), from.as_deref(), 50).expect("the checkpoint is good");
    assert_eq!(everything(&outcome), everything(&whole));
}

#[test]
fn a_search_that_is_complete_leaves_no_checkpoint() {
    let program = Arc::new(program("x=1; r0=y || y=1; r1=x"));
    let (outcome, saved) = go_on(&program, &options(ModelId::Tso, 1), None, 1_000_000).expect("searched");
    assert!(outcome.coverage.is_complete() && saved.is_empty());
}

/// A checkpoint in the middle of store buffering.
fn checkpoint() -> (Arc<Program>, String) {
    let program = Arc::new(program("x=1; r0=y || y=1; r1=x"));
    let (_, saved) = go_on(&program, &options(ModelId::Tso, 1), None, 2).expect("searched");
    let first = saved.first().expect("there is one").clone();
    (program, first)
}

#[test]
fn a_checkpoint_is_text() {
    let (_, text) = checkpoint();
    let hash = text.lines().find_map(|line| line.strip_prefix("program ")).expect("it says which program");
    let sum = text.lines().find_map(|line| line.strip_prefix("end ")).expect("it has an end");
    let steady = text.replace(&hash[..16], "HASH").replace(sum, "SUM");
    assert_eq!(
        steady,
        "teetotal checkpoint 1\n\
         version 0.1.0\n\
         model tso\n\
         checks assertion,condition,deadlock\n\
         steps 1000000\n\
         stop never\n\
         program HASH x=1; r0=y || y=1; r1=x\n\
         done 0 executions=2 completed=2 blocked=0 discarded=0 failed=0 abandoned=0 steps=5 pending=0\n\
         seen 0x4\n\
         seen 0x3.1\n\
         open 0x2 1..2\n\
         end SUM\n"
    );
}

/// What is said of a checkpoint.
fn refusal(program: &Arc<Program>, options: &Options, text: &str) -> String {
    match go_on(program, options, Some(text), 1) {
        Err(CheckError::Checkpoint(error)) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was taken: {text}"),
    }
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let (sb, text) = checkpoint();
    let tso = options(ModelId::Tso, 1);
    let of_other = "the checkpoint is of another search: ";
    assert_eq!(refusal(&sb, &options(ModelId::Pso, 1), &text), format!("{of_other}its model is `tso`, not `pso`"));
    let first = Options { stop_at_first: true, ..tso.clone() };
    assert_eq!(refusal(&sb, &first, &text), format!("{of_other}its stop is `never`, not `at-first-violation`"));
    let fewer = Options { monitors: tso.monitors[..1].to_vec(), ..tso.clone() };
    assert!(refusal(&sb, &fewer, &text).starts_with(&format!("{of_other}its checks is")));
    let other = Arc::new(program("x=1; r0=y || y=1; r1=y"));
    assert!(refusal(&other, &tso, &text).starts_with(&format!("{of_other}its program is")));
    let mut changed = Program::clone(&sb);
    changed.locations[0].initial = 5;
    let changed = refusal(&Arc::new(changed), &tso, &text);
    assert_eq!(changed, "the checkpoint is of another version of the program `x=1; r0=y || y=1; r1=x`");
    let stateful = Options { search: SearchId::Stateful, ..tso };
    assert!(matches!(go_on(&sb, &stateful, None, 1), Err(CheckError::NoCheckpoints { search: "stateful" })));
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let (sb, text) = checkpoint();
    let tso = options(ModelId::Tso, 1);
    let damaged = CheckpointError::Damaged.to_string();
    for end in 0..text.len() {
        let said = refusal(&sb, &tso, &text[..end]);
        let expected = [&damaged, &CheckpointError::NoCheckpoint.to_string()];
        assert!(expected.contains(&&said) || said.contains("has format"), "cut at {end}: {said}");
    }
    for (index, byte) in text.bytes().enumerate() {
        let mut bytes = text.clone().into_bytes();
        bytes[index] = if byte == b'0' { b'1' } else { b'0' };
        refusal(&sb, &tso, &String::from_utf8(bytes).expect("it is ASCII"));
    }
    assert_eq!(refusal(&sb, &tso, "hello"), CheckpointError::NoCheckpoint.to_string());
    let newer = text.replace("checkpoint 1\n", "checkpoint 2\n");
    assert_eq!(refusal(&sb, &tso, &newer), "the checkpoint has format 2; this version reads format 1");
}

/// The text with another line instead of those that begin with `word`, and the right checksum.
fn forged(text: &str, word: &str, line: &str) -> String {
    let kept = text.lines().filter(|line| !line.starts_with("end "));
    let lines: Vec<&str> = kept.map(|old| if old.starts_with(word) { line } else { old }).collect();
    let body = lines.join("\n") + "\n";
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = body.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
    format!("{body}end {sum:016x}\n")
}

#[test]
fn a_checkpoint_that_leads_nowhere_is_refused() {
    let (sb, text) = checkpoint();
    let tso = options(ModelId::Tso, 1);
    assert!(go_on(&sb, &tso, Some(&forged(&text, "nothing", "")), 1).is_ok());
    let nowhere = CheckpointError::NoSuchPath.to_string();
    for open in ["open 0x2 1..9", "open 7 0..1", "open 0x40 0..1", "open 0x3.1 0..1", "open 0.1.0 0..1"] {
        assert_eq!(refusal(&sb, &tso, &forged(&text, "open", open)), nowhere, "{open}");
    }
    for seen in ["seen 0", "seen -", "seen 0x5", "seen 9x4"] {
        assert_eq!(refusal(&sb, &tso, &forged(&text, "seen", seen)), nowhere, "{seen}");
    }
    for line in ["open 0", "open 0 2..1", "open 0 -1..3", "open", "opened 0 0..1", "", "open 0x99999999 0..1"] {
        let said = refusal(&sb, &tso, &forged(&text, "open", line));
        assert!(said.starts_with("line 11 of the checkpoint cannot be read"), "{line}: {said}");
    }
    for line in ["done 0", "done 0 executions=x", "seen 0"] {
        let said = refusal(&sb, &tso, &forged(&text, "done", line));
        assert!(said.starts_with("line 8 of the checkpoint cannot be read"), "{line}: {said}");
    }
}
