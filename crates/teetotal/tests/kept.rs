//! Searches that take long: how far they are, Ctrl-C, and files in which they are kept.
//!
//! Each test runs this file's own binary again, with one of its victims and with variables of its own.

#![allow(clippy::print_stdout, reason = "a victim says what it found")]

mod common;

use std::fs;
use std::path::PathBuf;

use teetotal::model::Builder;
use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::thread;

use common::run;

/// Store buffering among `n` threads, which has 2^n executions.
fn store_buffering(n: usize) {
    let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..n).map(|_| AtomicUsize::new(0)).collect());
    let threads: Vec<_> = (0..n)
        .map(|i| {
            let cells = Arc::clone(&cells);
            thread::spawn(move || {
                cells[i].store(1, Relaxed);
                cells[(i + 1) % n].load(Relaxed)
            })
        })
        .collect();
    let read = threads.into_iter().map(|thread| thread.join().expect("it ends"));
    teetotal::reachable!("nobody saw a store", read.sum::<usize>() == 0);
}

#[test]
fn victim() {
    if common::is_wanted() {
        let report = Builder::new().check(|| store_buffering(7));
        println!("{} executions, {:?}", report.executions, report.coverage);
    }
}

#[test]
fn other_victim() {
    if common::is_wanted() {
        Builder::new().check(|| store_buffering(2));
    }
}

/// It does not end.
#[test]
fn large_victim() {
    if common::is_wanted() {
        Builder::new().check(|| store_buffering(24));
    }
}

/// A file that is not there yet.
fn file(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("teetotal-{}-{name}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn a_search_goes_on_where_it_was() {
    let path = file("goes-on");
    let name = path.to_str().expect("it is text");
    for variable in ["TEETOTAL_CHECKPOINT", "LOOM_CHECKPOINT_FILE"] {
        let interval = ("TEETOTAL_CHECKPOINT_INTERVAL", "10");
        let (passes, text) = run("victim", &[(variable, name), interval, ("TEETOTAL_MAX_PERMUTATIONS", "55")]);
        assert!(passes && text.contains("55 executions, Stopped(Executions(55))"), "{text}");
        assert!(text.contains("run the same test again to resume it"), "{text}");
        let kept = fs::read_to_string(&path).expect("there is a file");
        assert!(kept.contains("\ncounts 55 55 0"), "{kept}");
        let (passes, text) = run("victim", &[(variable, name), interval, ("TEETOTAL_MAX_PERMUTATIONS", "90")]);
        assert!(passes && text.contains("90 executions, Stopped(Executions(90))"), "{text}");
        let (passes, text) = run("victim", &[(variable, name), interval]);
        assert!(passes && text.contains("128 executions, Complete"), "{text}");
        assert!(!path.exists(), "what is done is not kept");
    }
}

#[test]
fn a_file_of_another_search_or_of_none_is_refused() {
    let path = file("refused");
    let name = path.to_str().expect("it is text");
    let keep = ("TEETOTAL_CHECKPOINT", name);
    let (passes, text) = run("victim", &[keep, ("TEETOTAL_MAX_PERMUTATIONS", "55")]);
    assert!(passes, "{text}");
    let (passes, text) = run("other_victim", &[keep]);
    assert!(!passes && text.contains("it has `test victim` where this search has `test other_victim`"), "{text}");
    assert!(text.contains("help: remove the file to start over"), "{text}");
    let (passes, text) = run("victim", &[keep, ("TEETOTAL_MODEL", "tso")]);
    assert!(!passes && text.contains("it has `model rc11` where this search has `model tso`"), "{text}");
    let (passes, text) = run("victim", &[keep, ("TEETOTAL_LEAKS", "1")]);
    assert!(!passes && text.contains("it has `settings "), "leaks were not looked for before: {text}");
    let kept = fs::read_to_string(&path).expect("there is a file");
    for (damaged, why) in [
        (kept.split("\nend ").next().expect("there is a part").to_owned() + "\n", "it is damaged"),
        (kept.replacen("\nrest ", "\nrest x", 1), "it is damaged"),
        (kept.replacen("\nrest ", "\nrest 0.9.", 1), "it is damaged"),
        (kept.replacen("\ncounts ", "\nnonsense ", 1), "it has the invalid line"),
        (String::new(), "it does not begin with"),
    ] {
        fs::write(&path, damaged).expect("it can be written");
        let (passes, text) = run("victim", &[keep]);
        assert!(!passes && text.contains(why), "{text}");
    }
    let _ = fs::remove_file(&path);
}

/// Whether Ctrl-C is ignored in the test run, as in background jobs of a shell.
#[cfg(unix)]
fn interrupts_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_search_with_what_is_known() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    if interrupts_are_ignored() {
        // It stays so for the victim, which does not replace an existing handler of Ctrl-C.
        return;
    }
    let limit = ("TEETOTAL_MAX_DURATION", "60");
    let mut command = common::victim("large_victim", &[("TEETOTAL_PROGRESS", "1"), limit]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be run");
    let mut errors = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    errors.read_line(&mut line).expect("it says something");
    assert!(line.starts_with("teetotal: large_victim: ") && line.contains(" executions in "), "{line}");
    let status =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is such a command");
    assert!(status.success());
    let mut rest = String::new();
    errors.read_to_string(&mut rest).expect("it is text");
    assert!(!child.wait().expect("it ends").success());
    assert!(rest.contains("interrupted after ") && rest.contains("; no violation found"), "{rest}");
}

#[test]
fn who_asks_is_told_how_far_a_search_is() {
    let (passes, text) = run("large_victim", &[("TEETOTAL_LOG", "1"), ("TEETOTAL_MAX_DURATION", "3")]);
    assert!(passes, "{text}");
    assert!(text.contains(" executions in 2 s, about "), "{text}");
}
