//! The laws hold on random programs.
//!
//! `TEETOTAL_TEST_SEED` and `TEETOTAL_TEST_PROGRAMS` say which programs and how many, `TEETOTAL_TEST_JOBS` how many are
//! tried at a time.
//! With `TEETOTAL_TEST_QUICK=1` the first that breaks a law ends the test, and is not made smaller; with
//! `TEETOTAL_TEST_PATIENCE` so does one that takes more than so many seconds.

use std::env::var;
use std::thread::available_parallelism;
use std::time::Duration;

use teetotal_properties::Sample;

fn number(name: &str) -> Option<u64> {
    Some(var(name).ok()?.parse().expect("the variable holds a number"))
}

#[test]
fn the_laws_hold_on_random_programs() {
    let jobs = number("TEETOTAL_TEST_JOBS").map(|jobs| jobs as usize);
    let sample = Sample {
        seed: number("TEETOTAL_TEST_SEED").unwrap_or(0),
        programs: number("TEETOTAL_TEST_PROGRAMS").unwrap_or(600),
        jobs: jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)),
        law: None,
        quick: number("TEETOTAL_TEST_QUICK") == Some(1),
        patience: number("TEETOTAL_TEST_PATIENCE").map(Duration::from_secs),
    };
    assert_eq!(sample.report(), 0, "so many programs break a law");
}
