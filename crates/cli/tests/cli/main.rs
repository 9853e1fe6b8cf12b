//! The command as it is used: what it prints, where, and with which exit code.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect_file};

mod bad_input;
mod check;
mod checkpoint;
mod compare;
mod demo;
mod explain;
mod files;
mod formats;
mod generate;
mod interrupt;
mod list;
mod mistakes;
mod monitor;
mod promela;
mod readme;
mod replay;
mod robustness;
mod streams;

/// What came of a command.
#[derive(PartialEq, Eq, Debug)]
struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The command with these arguments, without the environment variables of the test run.
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

/// Without places in the sources of the gallery, which change with every edit.
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

/// Compares the output of a command with a file, and checks the width of its lines.
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

/// A folder for the files of one test; `name` is that of the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("teetotal-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("there is room for a folder");
        Folder(path)
    }

    /// Adds a file, and the folders that it is in.
    fn file(self, path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("there is room for a folder");
        fs::write(path, bytes).expect("there is room for a file");
        self
    }

    /// Runs the command in this folder.
    fn run(&self, args: &str) -> Ran {
        run(teetotal(args).current_dir(&self.0))
    }

    /// Demands an exit code, a result, and what stands on the error stream.
    fn check(&self, args: &str, code: i32, stdout: Expect, stderr: Expect) {
        let ran = self.run(args);
        stdout.assert_eq(&ran.stdout);
        stderr.assert_eq(&ran.stderr);
        assert_eq!(ran.code, Some(code), "teetotal {args}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Files that cannot be removed stay in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
