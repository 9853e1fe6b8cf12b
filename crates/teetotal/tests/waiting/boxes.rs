//! Loops whose counters are on the heap: they are unrolled, or the result says that this was left out.

use std::collections::BTreeMap;

use teetotal::ModelId;
use teetotal::model::{Builder, Caveat, Report, SearchId};
use teetotal::sync::Arc;
use teetotal::sync::atomic::{AtomicBool, Ordering};
use teetotal::{reachable, thread};

use crate::code::{builder, outcomes_in_boxes};
use crate::compare::{Compared, MODELS, SEARCHES, judge};
use crate::machine::{self, Known};
use crate::program::{Program, generate};
use crate::shrink::shrink;

fn is_of_heap(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::HeapOfLoop { place } if place.file.ends_with("code.rs"))
}

/// How the model differs from what is known of the program, where it does not say that it may.
fn differs(program: &Program, how: (ModelId, SearchId), spurious: u32, known: &Known) -> Result<Said, String> {
    let (outcomes, report) = outcomes_in_boxes(program, &builder(how, spurious));
    match judge(&outcomes, &report, known) {
        Ok(Compared::Incomplete) => Ok(Said::Incomplete),
        Ok(_) => Ok(Said::Right),
        Err(_) if report.caveats.iter().any(is_of_heap) => Ok(Said::Assumed),
        Err(how) => Err(how),
    }
}

/// What a search says of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Said {
    Right,
    /// Something else than the machine, with the assumption about the heap.
    Assumed,
    Incomplete,
}

#[test]
fn counters_in_boxes_count_or_are_told() {
    let mut counts = BTreeMap::new();
    for seed in crate::programs(200) {
        let program = generate(seed);
        let spurious = u32::from(seed % 4 == 1);
        for model in MODELS {
            let Some(known) = machine::explore(&program, model, spurious) else { continue };
            for search in SEARCHES {
                match differs(&program, (model, search), spurious, &known) {
                    Ok(said) => *counts.entry(said).or_insert(0_u64) += 1,
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
    assert!(counts.get(&Said::Right) > counts.get(&Said::Assumed), "most are right: {counts:?}");
}

/// Waits for a flag, but not for long, with a counter in a box; returns the lines of the loop.
fn wait_in_box(flag: &AtomicBool) -> (bool, std::ops::Range<u32>) {
    let mut left = Box::new(3_u32);
    let first = line!();
    while **std::hint::black_box(&mut left) > 0 {
        if flag.load(Ordering::Acquire) {
            return (true, 0..0);
        }
        **std::hint::black_box(&mut left) -= 1;
    }
    (false, first..line!())
}

#[test]
fn a_loop_that_counts_in_a_box_is_named() {
    for model in MODELS {
        for search in SEARCHES {
            let mut builder = Builder::new();
            (builder.model, builder.search) = (model, search);
            let report: Report = builder.explore(|| {
                let flags = Arc::new([const { AtomicBool::new(false) }; 2]);
                let other = Arc::clone(&flags);
                let thread = thread::spawn(move || {
                    // It waits for the other loop, and counts nothing.
                    while !other[0].load(Ordering::Acquire) {}
                    other[1].store(true, Ordering::Release);
                });
                flags[0].store(true, Ordering::Release);
                let (is_set, _) = wait_in_box(&flags[1]);
                reachable!("it gave up", !is_set);
                thread.join().expect("it ends");
            });
            let is_unrolled = report.reachable.iter().any(|mark| mark.is_reached);
            let (_, lines) = wait_in_box(&AtomicBool::new(false));
            let is_named = |caveat: &Caveat| {
                matches!(caveat, Caveat::HeapOfLoop { place }
                    if place.file.ends_with("boxes.rs") && lines.contains(&place.line))
            };
            assert!(is_unrolled || report.caveats.iter().any(is_named), "{model:?}, {search:?}: {:?}", report.caveats);
        }
    }
}
