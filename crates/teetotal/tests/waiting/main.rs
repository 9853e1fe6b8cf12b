//! Loops that wait: generated programs as Rust code, against a store-buffer machine that looks at every state.
//!
//! Hints are at random places, and registers and counters in the frames of the thread or of its parent. Whatever the
//! machine can end with, the model must, and nothing else; and it finds a livelock only where some state leads nowhere.
//! Other properties of such programs: [`races`], [`checkpoints`], [`boxes`].

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was compared is told where it is asked for")]

mod boxes;
mod checkpoints;
mod code;
mod compare;
mod examples;
mod knowledge;
mod machine;
mod plain;
mod program;
mod races;
mod shrink;

use std::collections::BTreeMap;

use compare::{Compared, MODELS, SEARCHES, compare};
use program::Program;
use shrink::shrink;

/// How many programs are tried, and from which seed on.
fn programs(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("the variable holds a number"))
    };
    let first = number("TEETOTAL_TEST_SEED", 0);
    first..first + number("TEETOTAL_TEST_PROGRAMS", default)
}

#[test]
fn rust_code_with_hints_has_the_outcomes_of_the_machine() {
    let mut counts = BTreeMap::new();
    for seed in programs(400) {
        let program = program::generate(seed);
        let spurious = u32::from(seed % 4 == 1);
        for model in MODELS {
            let Some(known) = machine::explore(&program, model, spurious) else { continue };
            for search in SEARCHES {
                if std::env::var_os("TEETOTAL_TEST_LOG").is_some() {
                    eprintln!("{seed} {model:?} {search:?}");
                }
                match compare(&program, (model, search), spurious, &known) {
                    Ok(compared) => *counts.entry(compared).or_insert(0) += 1,
                    Err(_) => {
                        let differs = |smaller: &Program| {
                            let known = machine::explore(smaller, model, spurious);
                            known.is_some_and(|known| compare(smaller, (model, search), spurious, &known).is_err())
                        };
                        let small = shrink(program.clone(), &differs);
                        let known = machine::explore(&small, model, spurious).expect("it is smaller");
                        let how = compare(&small, (model, search), spurious, &known).expect_err("it differs");
                        panic!("seed {seed}, {model:?}, {search:?}: {small:#?}\n{how}");
                    }
                }
            }
        }
    }
    println!("{counts:?}");
    let equal = counts.get(&Compared::Equal).copied().unwrap_or(0);
    assert!(equal > counts.values().sum::<u64>() / 3, "many programs can be compared: {counts:?}");
}
