//! Executions that are shown again.

use std::fs;

use expect_test::expect;

use crate::{check_file, refuse, run, teetotal};

/// The replay command that a check prints.
fn printed_command(args: &str) -> String {
    let ran = run(&mut teetotal(args));
    let line = ran.stdout.lines().find_map(|line| line.split_once("teetotal replay ")).expect("a replay line");
    format!("replay {}", line.1)
}

#[test]
fn a_printed_token_shows_the_same_execution_again() {
    for (args, code) in [("check write-order --model pso", 1), ("check chase-lev --model pso", 1), ("check SB", 0)] {
        let command = printed_command(args);
        let replayed = run(&mut teetotal(&command));
        assert_eq!((replayed.code, replayed.stderr.as_str()), (Some(code), ""), "{command}");
        let shown = run(&mut teetotal(&format!("{args} --witness"))).stdout;
        let steps = |text: &str| text.lines().filter(|line| line.contains("│")).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(steps(&replayed.stdout), steps(&shown), "{command}");
    }
}

#[test]
fn a_replay_says_what_is_wrong() {
    check_file(&printed_command("check write-order --model pso"), 1, "replay_of_a_violation");
}

#[test]
fn a_replay_says_what_is_not_wrong() {
    check_file(&printed_command("check SB"), 0, "replay_of_a_witness");
}

#[test]
fn a_token_may_come_from_a_file() {
    let command = printed_command("check SB");
    let token = command.rsplit(' ').next().expect("the token comes last");
    let file = format!("{}/token.txt", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&file, format!("{token}\n")).expect("the folder is there");
    let from_file = run(&mut teetotal(&format!("replay SB --token-file {file}")));
    assert_eq!(from_file, run(&mut teetotal(&command)));
}

#[test]
fn a_text_that_is_no_token_is_refused() {
    refuse(
        "replay SB foo",
        2,
        expect![[r#"
        error: a token has the form `MODEL1:STEPS:HASH:…`, and this one has no number of steps
        help: copy the whole token from the `replay:` line of a check
    "#]],
    );
    refuse(
        "replay SB tso1:x:00000000:0",
        2,
        expect![[r#"
        error: a token has the form `MODEL1:STEPS:HASH:…`, and this one has no number of steps
        help: copy the whole token from the `replay:` line of a check
    "#]],
    );
    refuse(
        "replay SB tso1:1:00000000:0y",
        2,
        expect![[r#"
        error: `0y` is not a step of a token
        help: copy the whole token from the `replay:` line of a check
    "#]],
    );
    refuse(
        "replay SB rmo1:1:00000000:0",
        2,
        expect![[r#"
        error: there is no model `rmo`
        help: `teetotal list models` shows the models
    "#]],
    );
    refuse(
        "replay SB tso1:99999999999:00000000:0x99999999999",
        2,
        expect![[r#"
        error: a token has at most 10000000 steps, this one announces 99999999999
        help: copy the whole token from the `replay:` line of a check
    "#]],
    );
}

#[test]
fn a_truncated_token_is_refused() {
    let command = printed_command("check SB");
    refuse(
        command.rsplit_once('.').expect("several steps").0,
        2,
        expect![[r#"
        error: the token announces 6 steps but has 5; part of it seems to be missing
        help: copy the whole token from the `replay:` line of a check
    "#]],
    );
}

#[test]
fn a_token_of_another_version_of_the_format_is_refused() {
    refuse(
        "replay SB tso2:1:00000000:0",
        2,
        expect![[r#"
        error: this token has format 2; this version reads format 1
        help: replay it with the version of teetotal that made it, or check again
    "#]],
    );
}

#[test]
fn a_token_of_another_program_is_refused() {
    let command = printed_command("check SB");
    refuse(
        &command.replace("replay SB", "replay MP"),
        2,
        expect![[r#"
            error: step 6 of the token is not possible; the token was made from another program or version of it
            help: `teetotal check MP` makes a token of the program as it is now
        "#]],
    );
    refuse(
        "replay SB tso1:4:00000000:0.1.0.1",
        2,
        expect![[r#"
        error: the steps of the token are possible but have other effects here; it was made from another version of this program
        help: `teetotal check SB` makes a token of the program as it is now
    "#]],
    );
}

#[test]
fn a_missing_token_is_asked_for() {
    refuse(
        "replay SB",
        2,
        expect![[r#"
        error: the following required arguments were not provided:
          <TOKEN>

        Usage: teetotal replay <PROGRAM> <TOKEN>

        For more information, try '--help'.
    "#]],
    );
    refuse(
        "replay SB --token-file no-such-file",
        2,
        expect![[r#"
        error: the token file `no-such-file` cannot be read: No such file or directory (os error 2)
    "#]],
    );
}
