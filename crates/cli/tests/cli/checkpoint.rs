//! Searches that are stopped or killed, and go on; and how many executions are expected.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use expect_test::expect;

use crate::{Folder, Ran, check, refuse, teetotal};

/// Two threads that store and load so often that a search takes a while.
fn long(n: usize) -> String {
    let line = |own: &str, other: &str, value: usize| format!("MOV [{own}],${value} | MOV [{other}],${value} ;\n");
    let load = |own: &str, other: &str| format!("MOV EAX,[{other}] | MOV EAX,[{own}] ;\n");
    let body: String = (1..=n).map(|value| line("x", "y", value) + &load("x", "y")).collect();
    format!("X86 long\n{{ }}\n P0 | P1 ;\n{body}exists (0:EAX=0 /\\ 1:EAX=0)\n")
}

/// What the statistics say, without the time.
fn counts(ran: &Ran) -> String {
    let lines = ran.stdout.lines().filter(|line| !line.trim_start().starts_with("time"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_search_that_met_a_limit_goes_on() {
    let folder = Folder::new("limit").file("long.litmus", long(3));
    let args = "check long.litmus --search dpor --quiet --checkpoint kept";
    folder.check(
        &format!("{args} --limit executions=100"),
        3,
        expect![[r#"
        long: observed under tso (stopped: 100 executions)
    "#]],
        expect![[r#"
        note: the search is saved in `kept`; run the same command again to resume it
    "#]],
    );
    assert!(folder.0.join("kept").exists());
    let whole = folder.run("check long.litmus --search dpor --stats");
    let rest = folder.run("check long.litmus --search dpor --stats --checkpoint kept");
    assert_eq!(counts(&rest), counts(&whole));
    assert!(!folder.0.join("kept").exists(), "there is nothing left to go on with");
}

#[test]
fn a_search_that_is_killed_goes_on() {
    let folder = Folder::new("killed").file("long.litmus", long(5));
    let kept = folder.0.join("kept");
    let args = "check long.litmus --model tso --search dpor --stats --checkpoint kept";
    for jobs in [1, 2] {
        let _ = fs::remove_file(&kept);
        let mut command = teetotal(&format!("{args} --jobs {jobs}"));
        let mut child = command.current_dir(&folder.0).spawn().expect("the binary was built for this test");
        let begin = Instant::now();
        let mut is_running = || child.try_wait().expect("it can be asked").is_none();
        while !kept.exists() && is_running() && begin.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(20));
        }
        child.kill().expect("it is killed");
        let status = child.wait().expect("it ends");
        // On a fast machine it may have come to its end.
        if status.code().is_some() {
            return;
        }
        assert!(fs::read_to_string(&kept).expect("there is a checkpoint").starts_with("teetotal checkpoint 1\n"));
    }
    let rest = folder.run(&format!("{args} --jobs 2"));
    let whole = folder.run("check long.litmus --model tso --search dpor --stats --jobs 2");
    assert_eq!((counts(&rest), rest.code), (counts(&whole), whole.code));
    assert!(!kept.exists());
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let folder = Folder::new("other").file("long.litmus", long(3)).file("noise", "noise\n");
    folder.run("check long.litmus --search dpor --limit executions=10 --checkpoint kept");
    folder.check(
        "check long.litmus --search dpor --model sc --checkpoint kept",
        2,
        expect![[""]],
        expect![[r#"
        error: the checkpoint is of another search: its model is `tso`, not `sc`
        help: name another file, or remove this one to start over
    "#]],
    );
    folder.check(
        "check SB --search dpor --checkpoint noise",
        2,
        expect![[""]],
        expect![[r#"
        error: not a checkpoint: it does not begin with `teetotal checkpoint`
        help: name another file, or remove this one to start over
    "#]],
    );
    assert!(folder.0.join("kept").exists() && folder.0.join("noise").exists());
}

#[test]
fn a_checkpoint_is_of_one_search_that_has_them() {
    refuse(
        "check SB MP --search dpor --checkpoint kept",
        2,
        expect![[r#"
        error: a checkpoint is of one program under one model
        help: name one of each
    "#]],
    );
    refuse(
        "check SB --search dpor --model all --checkpoint kept",
        2,
        expect![[r#"
        error: a checkpoint is of one program under one model
        help: name one of each
    "#]],
    );
    refuse(
        "check SB --search stateful --checkpoint kept",
        2,
        expect![[r#"
        error: the search `stateful` has no checkpoints; use `dpor`
    "#]],
    );
}

#[test]
fn executions_are_estimated_on_request() {
    let folder = Folder::new("estimate").file("long.litmus", long(4));
    folder.check(
        "check long.litmus --search dpor --quiet --estimate --limit executions=1",
        3,
        expect![[r#"
            long: not observed so far under tso (stopped: 1 execution)
        "#]],
        expect![[r#"
            note: dpor has about 4500 executions, between 2600 and 12000; estimated from 2000 of them with seed 0
        "#]],
    );
    folder.check(
        "check SB --search dpor --quiet --estimate",
        0,
        expect![[r#"
        SB: observed under tso (complete, 4 executions)
    "#]],
        expect![[r#"
        note: dpor has 4 executions
    "#]],
    );
    check(
        "check SB --search dpor --quiet",
        0,
        expect![[r#"
        SB: observed under tso (complete, 4 executions)
    "#]],
    );
}
