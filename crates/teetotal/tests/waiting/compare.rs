//! What a search says of a program, against what is known of it.

use std::collections::BTreeSet;

use teetotal::ModelId;
use teetotal::model::{Report, SearchId, ViolationKind};

use crate::code::{builder, outcomes};
use crate::machine::{self, Known, Outcome};
use crate::program::Program;

pub(crate) const MODELS: [ModelId; 3] = [ModelId::Sc, ModelId::Tso, ModelId::Pso];
pub(crate) const SEARCHES: [SearchId; 2] = [SearchId::Dpor, SearchId::ReadsFrom];

/// What came of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Compared {
    Equal,
    /// The model has a livelock, and so has the machine.
    Livelock,
    /// The model has a data race, and so has the machine.
    Race,
    /// The search was not complete.
    Incomplete,
    /// The machine has too many states.
    Unknown,
}

/// How the model differs from what is known of the program.
pub(crate) fn compare(
    program: &Program,
    how: (ModelId, SearchId),
    spurious: u32,
    known: &Known,
) -> Result<Compared, String> {
    let (outcomes, report) = outcomes(program, &builder(how, spurious));
    judge(&outcomes, &report, known)
}

/// How what a search left and said differs from what is known.
pub(crate) fn judge(outcomes: &BTreeSet<Outcome>, report: &Report, known: &Known) -> Result<Compared, String> {
    let told = || format!("{:?}, {:?} after {} executions", report.coverage, report.failure, report.executions);
    // An execution that is given up runs to its end unwatched, also after a race.
    if let Some(outcome) = outcomes.difference(&known.outcomes).next()
        && !known.has_race
    {
        return Err(format!("the machine does not have {outcome:?}; {}", told()));
    }
    if let Some(failure) = &report.failure {
        return match failure.kind {
            ViolationKind::Livelock if known.has_dead_state => Ok(Compared::Livelock),
            ViolationKind::DataRace if known.has_race => Ok(Compared::Race),
            _ => Err(told()),
        };
    }
    if !report.coverage.is_complete() {
        return Ok(Compared::Incomplete);
    }
    if known.has_race {
        return Err(format!("there is a data race, but {}", told()));
    }
    if known.has_dead_state {
        return Err(format!("some state leads nowhere, but {}", told()));
    }
    match known.outcomes.difference(outcomes).next() {
        Some(outcome) => Err(format!("{outcome:?} is missing; {}", told())),
        None => Ok(Compared::Equal),
    }
}

/// The model agrees with the machine on `program`.
pub(crate) fn agrees(program: &Program) {
    for model in MODELS {
        let known = machine::explore(program, model, 0).expect("it is small");
        for search in SEARCHES {
            if let Err(how) = compare(program, (model, search), 0, &known) {
                panic!("{model:?}, {search:?}: {how}");
            }
        }
    }
}
