//! A search that is interrupted after every few executions and resumed from its file says what one search says.

use std::collections::BTreeSet;
use std::path::Path;

use teetotal::model::{Builder, Report, SearchId};
use teetotal::{Coverage, StopReason};

use crate::code::{builder, outcomes};
use crate::compare::MODELS;
use crate::machine::Outcome;
use crate::plain;
use crate::program::{self, Program};

/// More executions than these are not worth to be interrupted one by one.
const MOST_EXECUTIONS: u64 = 100;

/// What a search leaves and says, all but how it was done.
fn told((outcomes, report): &(BTreeSet<Outcome>, Report)) -> impl PartialEq + std::fmt::Debug + use<> {
    let Report { executions, coverage, caveats, failure, .. } = report.clone();
    // Which execution shows a failure may differ, since a search with a file does not hide its beginning; so may what
    // else was seen up to there, and how executions end that are left.
    let seen = failure.is_none().then(|| (outcomes.clone(), caveats));
    (seen, executions, coverage, failure.map(|failure| (failure.kind, failure.places)))
}

/// Searches with a file, interrupted and resumed after every `interval` executions.
fn resumed(program: &Program, builder: &Builder, interval: usize, file: &Path) -> (BTreeSet<Outcome>, Report) {
    let mut builder = builder.clone();
    (builder.checkpoint_file, builder.checkpoint_interval) = (Some(file.to_path_buf()), interval);
    (builder.max_permutations, builder.max_duration) = (Some(0), None);
    let mut all = BTreeSet::new();
    loop {
        builder.max_permutations = builder.max_permutations.map(|total| total + interval);
        let (outcomes, report) = outcomes(program, &builder);
        all.extend(outcomes);
        if !matches!(report.coverage, Coverage::Stopped(StopReason::Executions(_))) {
            return (all, report);
        }
    }
}

#[test]
fn a_search_that_is_resumed_says_what_one_search_says() {
    let file = std::env::temp_dir().join(format!("teetotal-waiting-{}", std::process::id()));
    let mut n_resumed = 0;
    for seed in crate::programs(60) {
        // Most programs with plain accesses have a race, which ends the search.
        let program = if seed % 4 == 0 { plain::generate(seed) } else { program::generate(seed) };
        let spurious = u32::from(seed % 4 == 1);
        for model in MODELS {
            let builder = builder((model, SearchId::Dpor), spurious);
            let whole = outcomes(&program, &builder);
            let executions = whole.1.executions;
            if executions > MOST_EXECUTIONS || whole.1.coverage == Coverage::Stopped(StopReason::Time) {
                continue;
            }
            let uninterrupted = resumed(&program, &builder, 1_000, &file);
            let context = format!("seed {seed}, {model:?}: {program:?}");
            assert_eq!(told(&uninterrupted), told(&whole), "{context}");
            for interval in [1, 2, 3, 7, 20].into_iter().filter(|&interval| interval as u64 <= executions + 1) {
                let resumed = resumed(&program, &builder, interval, &file);
                assert!(!file.exists(), "nothing is left to search: {context}");
                assert_eq!(told(&resumed), told(&whole), "every {interval}, {context}");
                assert_eq!(resumed.1.stats, uninterrupted.1.stats, "every {interval}, {context}");
                n_resumed += u64::from(executions > interval as u64);
            }
        }
    }
    println!("{n_resumed} searches were resumed");
    assert!(n_resumed > 0);
}
