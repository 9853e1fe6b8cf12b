//! Data races: one is found, with hints and without, just where some execution of the machine has one.

use std::collections::BTreeMap;

use teetotal::ModelId;
use teetotal::model::{SearchId, ViolationKind};
use teetotal::sync::atomic::Ordering;

use crate::code::{builder, outcomes};
use crate::compare::{Compared, MODELS, SEARCHES, agrees, compare};
use crate::machine::{self, Known};
use crate::plain::{generate, without_hints};
use crate::program::{Hint, Program, Statement};
use crate::shrink::shrink;

/// How a program differs from what is known of it, with hints or without.
fn differs(program: &Program, how: (ModelId, SearchId), spurious: u32, known: &Known) -> Result<Compared, String> {
    let compared = compare(program, how, spurious, known)?;
    compare(&without_hints(program), how, spurious, known).map_err(|told| format!("without hints: {told}"))?;
    Ok(compared)
}

/// Whether there is a race, if the search says so.
fn has_race(program: &Program, how: (ModelId, SearchId), spurious: u32) -> Option<bool> {
    let (_, report) = outcomes(program, &builder(how, spurious));
    match report.failure {
        Some(failure) => (failure.kind == ViolationKind::DataRace).then_some(true),
        None => report.coverage.is_complete().then_some(false),
    }
}

/// What is said with hints, without, and by which search, where that is not the same.
fn quarrel(program: &Program, model: ModelId, spurious: u32) -> Option<String> {
    let unhinted = without_hints(program);
    let all = SEARCHES
        .map(|search| [program, &unhinted].map(|program| (search, has_race(program, (model, search), spurious))));
    let said = |answer| all.iter().flatten().any(|(_, race)| *race == Some(answer));
    (said(true) && said(false)).then(|| format!("with hints and without: {all:?}"))
}

#[test]
fn races_are_found_with_hints_and_without() {
    let mut counts = BTreeMap::new();
    for seed in crate::programs(200) {
        let program = generate(seed);
        let spurious = u32::from(seed % 4 == 1);
        for model in MODELS {
            let Some(known) = machine::explore(&program, model, spurious) else {
                if let Some(how) = quarrel(&program, model, spurious) {
                    panic!("seed {seed}, {model:?}: {program:#?}\n{how}");
                }
                *counts.entry(Compared::Unknown).or_insert(0) += 1;
                continue;
            };
            for search in SEARCHES {
                match differs(&program, (model, search), spurious, &known) {
                    Ok(compared) => *counts.entry(compared).or_insert(0) += 1,
                    Err(_) => {
                        let how = |program: &Program| {
                            let known = machine::explore(program, model, spurious)?;
                            differs(program, (model, search), spurious, &known).err()
                        };
                        let small = shrink(program.clone(), &|smaller| how(smaller).is_some());
                        panic!("seed {seed}, {model:?}, {search:?}: {small:#?}\n{:?}", how(&small));
                    }
                }
            }
        }
    }
    println!("{counts:?}");
    let sum = counts.values().sum::<u64>();
    for compared in [Compared::Equal, Compared::Race] {
        let n = counts.get(&compared).copied().unwrap_or(0);
        assert!(n > sum / 10, "many programs have a race, and many have none: {counts:?}");
    }
}

/// Message passing: the first thread reads the data after a loop that waits for a flag.
fn message(waits: Vec<Statement>, stores: Ordering) -> Program {
    let reads = vec![Statement::Loop(None, waits), Statement::Read(1)];
    vec![reads, vec![Statement::Write(1), Statement::Store(0, 1, stores)]]
}

#[test]
fn the_machine_knows_what_synchronizes() {
    use Statement::{BreakIf, Fence, Hint as Hinted, Load, Read, Swap};
    let waits = |order| vec![Load(0, 0, order), BreakIf(0, 1), Hinted(Hint::Spin)];
    let swaps = |order| vec![Swap(0, 0, 1, order), BreakIf(0, 1)];
    let fenced = vec![Load(0, 0, Ordering::Relaxed), Fence, BreakIf(0, 1)];
    let reads = vec![Read(1), Load(0, 0, Ordering::Acquire), BreakIf(0, 1)];
    let (relaxed, acquire, release) = (Ordering::Relaxed, Ordering::Acquire, Ordering::Release);
    for (waits, stores, has_race) in [
        (waits(acquire), release, false),
        (waits(relaxed), release, true),
        (waits(acquire), relaxed, true),
        (fenced, release, false),
        (swaps(acquire), release, true),
        (reads, release, true),
    ] {
        let program = message(waits, stores);
        for model in MODELS {
            assert_eq!(machine::explore(&program, model, 0).expect("it is small").has_race, has_race, "{program:?}");
        }
        agrees(&program);
    }
}
