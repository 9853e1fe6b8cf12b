//! Recorded executions: writing them, and what they imply.

use std::io::Write as _;
use std::process::Stdio;

use expect_test::expect;

use crate::{Folder, check, refuse, teetotal};

const SB: &str = "T0|w(x)|3\nT0|r(y)|4\nT1|w(y)|7\nT1|r(x)|8\n";

#[test]
fn a_trace_shows_that_its_program_is_not_robust() {
    let folder = Folder::new("monitor").file("sb.std", SB);
    folder.check("monitor sb.std", 1, expect![""], expect![""]);
    folder.check("monitor sb.std --quiet --model pso", 1, expect![""], expect![""]);
    folder.check("monitor sb.std --format json", 1, expect![""], expect![""]);
}

#[test]
fn no_violation_is_said_of_the_trace_class_alone() {
    let mp = "T0|w(x)|1\nT0|w(y)|2\nT1|r(y)|3\nT1|r(x)|4\n";
    let folder = Folder::new("monitor-holds").file("mp.std", mp).file("empty.std", "").file("fork.std", "A|fork(B)|1\n");
    folder.check("monitor mp.std", 0, expect![""], expect![""]);
    folder.check("monitor mp.std --model pso --quiet", 1, expect![""], expect![""]);
    folder.check("monitor empty.std", 4, expect![""], expect![""]);
    folder.check("monitor fork.std", 4, expect![""], expect![""]);
}

#[test]
fn a_window_that_is_too_small_is_told() {
    let line = |index: usize| format!("T0|w(x{index})|1\nT0|w(x{index})|2\n");
    let text = "T1|r(z)|0\n".to_owned() + &(0..10).map(line).collect::<String>();
    let folder = Folder::new("monitor-window").file("long.std", text);
    folder.check("monitor long.std --window 2 --quiet", 3, expect![""], expect![""]);
    folder.check("monitor long.std --quiet", 0, expect![""], expect![""]);
}

#[test]
fn what_was_found_before_bad_input_is_told() {
    let folder = Folder::new("monitor-bad").file("bad.std", format!("{SB}T0|rel(m)|9\n")).file("cut.std", "T0|w(x)|3");
    folder.check("monitor bad.std", 2, expect![""], expect![""]);
    folder.check("monitor cut.std", 2, expect![""], expect![""]);
    folder.check("monitor none.std", 2, expect![""], expect![""]);
    refuse("monitor - --model sc", 2, expect![""]);
    refuse("monitor - --model arm", 2, expect![""]);
}

#[test]
fn a_trace_may_come_from_the_standard_input() {
    let mut command = teetotal("monitor - --quiet");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary was built");
    child.stdin.take().expect("it is piped").write_all(SB.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let expected = expect![""];
    expected.assert_eq(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn explored_executions_are_recorded() {
    let folder = Folder::new("record");
    folder.check(
        "check SB --check robustness --quiet --record sb/",
        1,
        expect![""],
        expect![""],
    );
    folder.check("monitor sb/SB-000001.trace", 1, expect![""], expect![""]);
    folder.check("check MP --model sc --record mp.trace", 0, expect![""], expect![""]);
    folder.check("monitor mp.trace --model pso --quiet", 1, expect![""], expect![""]);
    folder.check("check SB --model sc --quiet --record std/ --record-format std", 0, expect![""], expect![""]);
    folder.check("monitor std/SB-000003.std --quiet", 1, expect![""], expect![""]);
}

#[test]
fn executions_that_cannot_be_recorded_are_not() {
    refuse("check SB --record a", 2, expect![""]);
    refuse("check SB --model sc --record a --record-format std", 2, expect![""]);
    refuse("check SB MP --model sc --record a", 2, expect![""]);
    check("monitor --help", 0, expect![""]);
}
