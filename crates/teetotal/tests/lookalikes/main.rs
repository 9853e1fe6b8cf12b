//! The look-alikes of `std`: generated programs as Rust code, against a state machine of what `std` documents.
//!
//! What the machine can end with, the search must, and nothing else; and it finds a deadlock just where there is one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was compared is told where it is asked for")]

mod code;
mod program;
mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use code::Outcome;
use program::Program;
use reference::Known;
use teetotal::ModelId;
use teetotal::model::{Builder, Report, SearchId};

/// What the program leaves as Rust code, and what the search says.
fn as_rust_code(program: &Program, search: SearchId, spurious: usize) -> (BTreeSet<Outcome>, Report) {
    let outcomes = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let (program, seen) = (program.clone(), std::sync::Arc::clone(&outcomes));
    let mut builder = Builder::new();
    // All operations synchronize enough, so that the others have the same outcomes.
    if std::env::var_os("TEETOTAL_MODEL").is_none() {
        builder.model = ModelId::Sc;
    }
    (builder.search, builder.spurious) = (search, spurious);
    (builder.max_permutations, builder.max_branches) = (Some(1_500), 200);
    let report = builder.explore(move || {
        let outcome = code::run(&program);
        seen.lock().expect("no thread panics").insert(outcome);
    });
    let outcomes = outcomes.lock().expect("no thread panics").clone();
    (outcomes, report)
}

/// What came of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Compared {
    Equal,
    Deadlock,
    /// The search was not complete.
    Incomplete,
}

/// How the search differs from what is known of the program.
fn compare(program: &Program, search: SearchId, spurious: usize, known: &Known) -> Result<Compared, String> {
    let (outcomes, report) = as_rust_code(program, search, spurious);
    let told = || format!("{:?}, {:?} after {} executions", report.coverage, report.failure, report.executions);
    if let Some(outcome) = outcomes.difference(&known.outcomes).next() {
        return Err(format!("the reference does not have {outcome:?}; {}", told()));
    }
    if let Some(failure) = &report.failure {
        let is_known = failure.starts_with("deadlock") && known.has_deadlock;
        return if is_known { Ok(Compared::Deadlock) } else { Err(told()) };
    }
    if !report.coverage.is_complete() {
        return Ok(Compared::Incomplete);
    }
    if known.has_deadlock {
        return Err(format!("there is a deadlock, but {}", told()));
    }
    match known.outcomes.difference(&outcomes).next() {
        Some(outcome) => Err(format!("{outcome:?} is missing; {}", told())),
        None => Ok(Compared::Equal),
    }
}

/// The program without the operations without which it still differs.
fn shrink(mut program: Program, differs: &dyn Fn(&Program) -> bool) -> Program {
    loop {
        let all = (0..program.threads.len()).flat_map(|thread| {
            let program = &program;
            (0..program.threads[thread].len()).map(move |at| {
                let mut smaller = program.clone();
                smaller.threads[thread].remove(at);
                smaller
            })
        });
        let Some(smaller) = all.into_iter().find(|smaller| differs(smaller)) else { return program };
        program = smaller;
    }
}

/// How many programs are tried, and from which seed on.
fn programs() -> std::ops::Range<u64> {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("the variable holds a number"))
    };
    let first = number("TEETOTAL_TEST_SEED", 0);
    first..first + number("TEETOTAL_TEST_PROGRAMS", 300)
}

#[test]
fn the_lookalikes_do_what_the_standard_library_documents() {
    let mut counts = BTreeMap::new();
    for seed in programs() {
        let program = program::generate(seed);
        for spurious in [0, 1] {
            let Some(known) = reference::explore(&program, spurious) else { continue };
            for search in [SearchId::Dpor, SearchId::ReadsFrom] {
                if std::env::var_os("TEETOTAL_TEST_LOG").is_some() {
                    eprintln!("{seed} {search:?} {spurious}");
                }
                match compare(&program, search, spurious, &known) {
                    Ok(compared) => *counts.entry(compared).or_insert(0_u64) += 1,
                    Err(_) => {
                        let how = |program: &Program| {
                            let known = reference::explore(program, spurious)?;
                            compare(program, search, spurious, &known).err()
                        };
                        let small = shrink(program.clone(), &|smaller| how(smaller).is_some());
                        let how = how(&small).expect("it differs");
                        panic!("seed {seed}, {search:?}, spurious {spurious}: {small:#?}\n{how}");
                    }
                }
            }
        }
    }
    println!("{counts:?}");
    let equal = counts.get(&Compared::Equal).copied().unwrap_or(0);
    assert!(equal > counts.values().sum::<u64>() / 3, "many programs can be compared: {counts:?}");
}
