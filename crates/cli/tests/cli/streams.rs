//! Where output goes, and in which colors.

use std::io;

use crate::{run, teetotal};

#[test]
fn a_reader_that_goes_away_is_no_mistake() {
    for args in ["list programs", "demo", "check write-order --model pso", "--help"] {
        let (reader, writer) = io::pipe().expect("pipes are there");
        drop(reader);
        let mut child = teetotal(args).stdout(writer).spawn().expect("the binary was built for this test");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "teetotal {args}");
    }
}

#[test]
fn output_that_cannot_be_written_is_a_mistake() {
    let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let output = teetotal("list programs").stdout(full).output().expect("the binary was built for this test");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: the output cannot be written"));
}

#[test]
fn colors_are_for_terminals_and_for_those_who_ask() {
    for args in ["demo", "check write-order --model pso"] {
        assert!(!run(&mut teetotal(args)).stdout.contains('\x1b'));
        assert!(run(&mut teetotal(&format!("{args} --color always"))).stdout.contains('\x1b'));
        assert!(!run(teetotal(args).env("NO_COLOR", "1")).stdout.contains('\x1b'));
        assert!(!run(teetotal(args).env("TERM", "dumb")).stdout.contains('\x1b'));
        assert!(run(teetotal(args).env("TEETOTAL_COLOR", "always")).stdout.contains('\x1b'));
    }
}

#[test]
fn colors_carry_no_meaning_of_their_own() {
    let plain = run(&mut teetotal("check write-order --model pso")).stdout;
    let colored = run(&mut teetotal("check write-order --model pso --color always")).stdout;
    let mut bare = String::new();
    for (index, piece) in colored.split('\x1b').enumerate() {
        bare.push_str(if index == 0 { piece } else { piece.split_once('m').expect("a color ends with m").1 });
    }
    assert_eq!(crate::steady(&bare), plain);
}

#[test]
fn a_narrow_screen_gets_narrow_text() {
    let ran = run(&mut teetotal("check SB --witness --width 50"));
    for line in ran.stdout.lines().filter(|line| !line.contains("teetotal replay") && !line.starts_with("SB: ")) {
        assert!(line.chars().count() <= 50, "too wide: {line}");
    }
}

#[test]
fn progress_is_not_shown_where_nobody_looks_at_a_terminal() {
    let ran = run(&mut teetotal("check indexer --model sc --search stateful --limit time=2 --quiet"));
    assert_eq!(ran.stdout, "indexer: no violation found under sc (stopped: out of time)\n");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""));
}

/// With a terminal of its own, which `script` provides where it is installed.
#[test]
#[cfg(target_os = "linux")]
fn progress_is_shown_on_a_terminal_after_a_second_and_then_removed() {
    let shown = |options: &str| {
        let command =
            format!("{} check indexer --search brute --limit time=2 {options}", env!("CARGO_BIN_EXE_teetotal"));
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).stdin(std::process::Stdio::null()).env_remove("TEETOTAL_QUIET");
        Some(String::from_utf8_lossy(&script.output().ok()?.stdout).into_owned())
    };
    let Some(text) = shown("--color never") else { return };
    assert!(text.starts_with("\rindexer under tso: "), "{text:?}");
    assert!(text.contains(" executions in 1 s, "), "{text:?}");
    assert!(text.contains(" \rindexer: no violation found under tso (stopped: out of time)\r\n"), "{text:?}");
    let quiet = shown("--quiet --color never").expect("it ran before");
    assert_eq!(quiet, "indexer: no violation found under tso (stopped: out of time)\r\n");
}
