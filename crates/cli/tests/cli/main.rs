//! The command as it is used: what it prints, where, and with which exit code.

use std::process::{Command, Stdio};

use expect_test::{Expect, expect_file};

mod check;
mod demo;
mod list;
mod mistakes;
mod readme;
mod replay;
mod streams;

/// What came of a command.
#[derive(PartialEq, Eq, Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The command with these arguments, without the environment of whoever runs the tests.
fn teetotal(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teetotal"));
    command.args(args.split_whitespace()).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TEETOTAL_") {
            command.env_remove(name);
        }
    }
    command.env_remove("NO_COLOR");
    command
}

fn run(command: &mut Command) -> Ran {
    let output = command.output().expect("the binary was built for this test");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text is UTF-8");
    Ran { code: output.status.code(), stdout: steady(&text(output.stdout)), stderr: text(output.stderr) }
}

/// Without places in the sources of the gallery, which move whenever somebody edits them.
fn steady(text: &str) -> String {
    let line = |line: &str| match line.split_once("--> ") {
        Some((indent, _)) if indent.trim().is_empty() => format!("{indent}--> PLACE\n"),
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Demands an exit code and a result, and silence on the error stream.
fn check(args: &str, code: i32, expected: Expect) {
    let ran = run(&mut teetotal(args));
    expected.assert_eq(&ran.stdout);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "teetotal {args}");
}

/// The same with a result in a file, and no line of it too wide.
fn check_file(args: &str, code: i32, name: &str) {
    let ran = run(&mut teetotal(args));
    expect_file![format!("expected/{name}.txt")].assert_eq(&ran.stdout);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(code), ""), "teetotal {args}");
    for line in ran.stdout.lines().filter(|line| !line.contains("teetotal replay")) {
        assert!(line.chars().count() <= 80, "too wide: {line}");
    }
}

/// Demands a message on the error stream, an exit code, and nothing on the other.
fn refuse(args: &str, code: i32, expected: Expect) {
    let ran = run(&mut teetotal(args));
    expected.assert_eq(&ran.stderr);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), ""), "teetotal {args}");
}
