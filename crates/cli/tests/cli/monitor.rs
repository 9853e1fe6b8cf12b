//! Recorded executions: writing them, and what they imply.

use std::io::Write as _;
use std::process::Stdio;

use expect_test::expect;

use crate::{Folder, check, refuse, teetotal};

const SB: &str = "T0|w(x)|3\nT0|r(y)|4\nT1|w(y)|7\nT1|r(x)|8\n";

#[test]
fn a_trace_shows_that_its_program_is_not_robust() {
    let folder = Folder::new("monitor").file("sb.std", SB);
    folder.check(
        "monitor sb.std",
        1,
        expect![[r#"
        sb.std: not robust under tso: 1 pair (4 events, 2 threads, 2 locations)

        the store of T0 to `x` (line 1) can still be in its buffer at the load of T1 (line 4)
          although it happened before
          --> PLACE
          --> PLACE

        A pair shows that the program is not robust; the list is complete for this trace class only.
    "#]],
        expect![""],
    );
    folder.check(
        "monitor sb.std --quiet --model pso",
        1,
        expect![[r#"
        sb.std: not robust under pso: 1 pair (4 events, 2 threads, 2 locations)
    "#]],
        expect![""],
    );
    folder.check("monitor sb.std --format json", 1, expect![[r#"
        {"format":1,"trace":"sb.std","trace_format":"std","model":"tso","verdict":"violated","speaks_of":"program","complete":true,"gap":null,"executions":1,"events":4,"threads":2,"locations":2,"pairs":[{"store":{"thread":"T0","line":1,"does":"store","place":"3"},"access":{"thread":"T1","line":4,"does":"load","place":"8"},"location":"x","times":1,"depends_on_value":false}],"unlisted":0}
    "#]], expect![""]);
}

#[test]
fn no_violation_is_said_of_the_trace_class_alone() {
    let mp = "T0|w(x)|1\nT0|w(y)|2\nT1|r(y)|3\nT1|r(x)|4\n";
    let folder =
        Folder::new("monitor-holds").file("mp.std", mp).file("empty.std", "").file("fork.std", "A|fork(B)|1\n");
    folder.check(
        "monitor mp.std",
        0,
        expect![[r#"
        mp.std: no violation of robustness under tso in this trace (4 events, 2 threads, 2 locations)

        This holds for the trace class only: executions with the same reads and the same order of writes.
        Other executions of the program may not be robust; `teetotal check --check robustness` covers them all.
    "#]],
        expect![""],
    );
    folder.check(
        "monitor mp.std --model pso --quiet",
        1,
        expect![[r#"
        mp.std: not robust under pso: 1 pair (4 events, 2 threads, 2 locations)
    "#]],
        expect![""],
    );
    folder.check(
        "monitor empty.std",
        4,
        expect![[r#"
        empty.std: nothing to check: no access to memory
    "#]],
        expect![""],
    );
    folder.check(
        "monitor fork.std",
        4,
        expect![[r#"
        fork.std: nothing to check: no access to memory
    "#]],
        expect![""],
    );
}

#[test]
fn a_window_that_is_too_small_is_told() {
    // Whoever reads one of the other variables comes to know another one of the stores to x.
    let text: String = (0..10).map(|index| format!("T0|w(x)|1\nT0|w(y{index})|2\n")).collect();
    let folder = Folder::new("monitor-window").file("long.std", text);
    folder.check("monitor long.std --window 2 --quiet", 3, expect![[r#"
        long.std: no violation found under tso (stores that did not fit into the window were forgotten; 20 events, 1 thread, 11 locations)
    "#]], expect![""]);
    folder.check(
        "monitor long.std --quiet",
        0,
        expect![[r#"
        long.std: no violation of robustness under tso in this trace (20 events, 1 thread, 11 locations)
    "#]],
        expect![""],
    );
}

#[test]
fn what_was_found_before_bad_input_is_told() {
    let folder = Folder::new("monitor-bad").file("bad.std", format!("{SB}T0|rel(m)|9\n")).file("cut.std", "T0|w(x)|3");
    folder.check(
        "monitor bad.std",
        2,
        expect![[r#"
        bad.std: not robust under tso: 1 pair (the trace could not be read to its end; 4 events, 2 threads, 3 locations)

        the store of T0 to `x` (line 1) can still be in its buffer at the load of T1 (line 4)
          although it happened before
          --> PLACE
          --> PLACE

        A pair shows that the program is not robust; the list is complete for this trace class only.
    "#]],
        expect![[r#"
        error: bad.std:5: lock(m) is released by a thread that does not hold it
    "#]],
    );
    folder.check(
        "monitor cut.std",
        2,
        expect![[r#"
        cut.std: no violation found under tso (the trace could not be read to its end; 0 events, 0 threads, 0 locations)
    "#]],
        expect![[r#"
        error: cut.std:1: the trace ends in the middle of the line
        help: each line ends with a line feed; add one if the trace is whole
    "#]],
    );
    folder.check(
        "monitor none.std",
        2,
        expect![""],
        expect![[r#"
        error: `none.std` cannot be read: there is no such file
    "#]],
    );
    refuse(
        "monitor - --model sc",
        2,
        expect![[r#"
        error: every execution of sc is sequentially consistent, so there is nothing to check
        help: use tso or pso
    "#]],
    );
    refuse(
        "monitor - --model arm",
        2,
        expect![[r#"
        error: there is no model with store buffers `arm`
        help: use one of tso, pso
    "#]],
    );
}

#[test]
fn a_trace_may_come_from_the_standard_input() {
    let mut command = teetotal("monitor - --quiet");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary was built");
    child.stdin.take().expect("it is piped").write_all(SB.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let expected = expect![[r#"
        standard input: not robust under tso: 1 pair (4 events, 2 threads, 2 locations)
    "#]];
    expected.assert_eq(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn explored_executions_are_recorded() {
    let folder = Folder::new("record");
    folder.check(
        "check SB --check robustness --quiet --record sb/",
        1,
        expect![[r#"
        SB: violated under tso (complete, 3 executions)
    "#]],
        expect![""],
    );
    folder.check(
        "monitor sb/SB-000001.trace",
        1,
        expect![[r#"
        sb/SB-000001.trace: not robust under tso: 1 pair (4 events, 2 threads, 2 locations)

        the store of P0 to `x` (line 3) can still be in its buffer at the load of P1 (line 6)
          although it happened before
          --> PLACE
          --> PLACE

        A pair shows that the program is not robust; the list is complete for this trace class only.
    "#]],
        expect![""],
    );
    folder.check(
        "check MP --model sc --record mp.trace",
        0,
        expect![[r#"
        MP: never observed under sc (complete, 12 states)
          asks: exists (1:r0=1 /\ 1:r1=0)
    "#]],
        expect![[r#"
        note: 3 executions of MP under sc written to `mp.trace`, which are all
    "#]],
    );
    folder.check(
        "monitor mp.trace --model pso --quiet",
        1,
        expect![[r#"
        mp.trace: not robust under pso: 1 pair (3 executions, 12 events, 2 threads, 2 locations)
    "#]],
        expect![""],
    );
    folder.check(
        "check SB --model sc --quiet --record std/ --record-format std",
        0,
        expect![[r#"
        SB: never observed under sc (complete, 12 states)
    "#]],
        expect![""],
    );
    folder.check(
        "monitor std/SB-000003.std --quiet",
        1,
        expect![[r#"
        std/SB-000003.std: not robust under tso: 1 pair (4 events, 2 threads, 2 locations)
    "#]],
        expect![""],
    );
}

#[test]
fn executions_that_cannot_be_recorded_are_not() {
    refuse(
        "check SB --record a",
        2,
        expect![[r#"
        error: only executions of sc can be recorded, and others are explored
        help: use `--check robustness` or `--model sc`
    "#]],
    );
    refuse(
        "check SB --model sc --record a --record-format std",
        2,
        expect![[r#"
        error: a file of the format std holds one execution
        help: name a folder, as in `--record a/`
    "#]],
    );
    refuse(
        "check SB MP --model sc --record a",
        2,
        expect![[r#"
        error: a file has the executions of one program
        help: name a folder, as in `--record a/`
    "#]],
    );
    check(
        "monitor --help",
        0,
        expect![[r#"
            Check a recorded execution for robustness

            Usage: teetotal monitor [OPTIONS] <TRACE>

            Arguments:
              <TRACE>  A file with a recorded execution, or `-` for the standard input

            Options:
              -m, --model <MODEL>  Model in question: tso or pso [default: tso]
                  --window <N>     Remember at most N stores besides the newest of each
                                   location; the result is marked incomplete if that was not
                                   enough
              -f, --format <KIND>  Output: human or json (one object) [default: human]
              -a, --all            List all pairs of places, not only the first ones
              -q, --quiet          Print only the verdict line
              -h, --help           Print help

            The formats are `thread|operation(location)|place`, as RAPID has it, and the one
            that `check --record` writes; docs/guide/traces.md defines both.

            Examples:
              teetotal monitor trace.std
              zcat trace.gz | teetotal monitor - --model pso
              teetotal monitor trace.txt --window 1000000 --format json
        "#]],
    );
}
