//! Ctrl-C: what was found so far is printed; the second one ends the process.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use expect_test::expect;

use crate::{Folder, teetotal};

/// A command that has begun with `SB`, so that it listens.
fn begun(command: &mut Command) -> (Child, BufReader<ChildStdout>, BufReader<ChildStderr>) {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary was built for this test");
    let mut stdout = BufReader::new(child.stdout.take().expect("it was piped"));
    let stderr = BufReader::new(child.stderr.take().expect("it was piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("text is UTF-8");
    assert!(line.starts_with("SB: "), "{line}");
    (child, stdout, stderr)
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is `kill`");
    assert!(sent.success());
}

fn rest(mut stream: impl Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("text is UTF-8");
    text
}

/// What a command says that is interrupted in its second program.
fn interrupted(args: &str) -> (String, String, Option<i32>) {
    for _ in 0..10 {
        let (mut child, stdout, stderr) = begun(&mut teetotal(args));
        sleep(Duration::from_millis(300));
        interrupt(&child);
        let (stdout, stderr) = (rest(stdout), rest(stderr));
        let code = child.wait().expect("it ends").code();
        // On a busy machine the request may have come before the second program was begun.
        if !stdout.is_empty() {
            return (stdout, stderr, code);
        }
    }
    panic!("`teetotal {args}` never came to its second program");
}

#[test]
fn the_first_one_ends_the_search_with_what_was_found() {
    let (stdout, stderr, code) =
        interrupted("check SB indexer MP n6 --model sc --search stateful --quiet --allow-incomplete");
    expect![[r#"
        indexer: no violation found under sc (stopped: interrupted)
    "#]]
    .assert_eq(&stdout);
    expect![[r#"
        note: stopping; interrupt once more to end at once
        note: interrupted; 2 of 4 not checked
    "#]]
    .assert_eq(&stderr);
    assert_eq!(code, Some(3));
}

#[test]
fn a_comparison_says_what_it_knows() {
    let (stdout, stderr, code) = interrupted("compare SB indexer --search stateful --quiet");
    expect![[r#"
        indexer: at least 0 final states under sc, 0 under tso, 0 under pso (stopped: interrupted)
    "#]]
    .assert_eq(&stdout);
    assert_eq!(stderr, "note: stopping; interrupt once more to end at once\n");
    assert_eq!(code, Some(3));
}

#[test]
fn the_second_one_ends_the_process() {
    let folder = Folder::new("interrupt");
    let pipe = folder.0.join("pipe.litmus");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("there is `mkfifo`");
    assert!(made.success());
    let (mut child, stdout, mut stderr) = begun(teetotal("check SB pipe.litmus --quiet").current_dir(&folder.0));
    // Opened once the child opens it, which then reads for as long as this end is open: it cannot stop by itself.
    let writer = File::options().write(true).open(&pipe).expect("it is there");
    interrupt(&child);
    let mut line = String::new();
    stderr.read_line(&mut line).expect("text is UTF-8");
    assert_eq!(line, "note: stopping; interrupt once more to end at once\n");
    interrupt(&child);
    assert_eq!((rest(stdout).as_str(), rest(stderr).as_str()), ("", ""));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    drop(writer);
}
