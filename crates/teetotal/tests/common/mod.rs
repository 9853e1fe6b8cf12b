//! What tests of Rust code under the checker share.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::process::Command;

use teetotal::ModelId;
use teetotal::model::{Builder, Report};

/// Every model.
pub(crate) const MODELS: [ModelId; 3] = [ModelId::Sc, ModelId::Tso, ModelId::Pso];

/// What a search of the model `f` finds.
pub(crate) fn explore(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> Report {
    let mut builder = Builder::new();
    builder.model = model;
    builder.explore(f)
}

/// How many executions `f` has, with none of which anything is wrong.
pub(crate) fn executions(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> u64 {
    let report = explore(model, f);
    assert_eq!(report.failure, None);
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    report.executions
}

/// What is wrong with `f`.
pub(crate) fn failure(model: ModelId, f: impl Fn() + Sync + Send + 'static) -> String {
    explore(model, f).failure.expect("something is wrong").to_string()
}

/// Set where a victim is to do something.
const WANTED: &str = "TEETOTAL_TEST_OF_VICTIMS";

/// Whether this is a run of a victim, and not of all tests.
pub(crate) fn is_wanted() -> bool {
    std::env::var_os(WANTED).is_some()
}

/// The test `name` of this binary, to be run on its own with these variables.
pub(crate) fn victim(name: &str, variables: &[(&str, &str)]) -> Command {
    let binary = std::env::current_exe().expect("a test is a program");
    let mut command = Command::new(binary);
    command.args(["--exact", name, "--nocapture"]).env(WANTED, "1").env("RUST_BACKTRACE", "0");
    command.envs(variables.iter().copied());
    command
}

/// What the test `name` prints with these variables, and whether it passes.
pub(crate) fn run(name: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let output = victim(name, variables).output().expect("it can be run");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// The seeds of the programs that a property is tried on: so many from `TEETOTAL_TEST_SEED` on as
/// `TEETOTAL_TEST_PROGRAMS` says.
pub(crate) fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("the variable holds a number"))
    };
    let first = number("TEETOTAL_TEST_SEED", 0);
    first..first + number("TEETOTAL_TEST_PROGRAMS", default)
}

/// Numbers that look random.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x632b_e59b_d9b4_e019)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
