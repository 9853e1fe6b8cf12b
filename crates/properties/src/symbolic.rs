//! The symbolic search reaches what the machine reaches, and finds what the search over states finds.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_engine::Limits;
use teetotal_generate::looped;
use teetotal_memory::Model;
use teetotal_program::ir::Program;
use teetotal_symbolic::compare::{Bounds, Compared, compare, compare_coarse};

use crate::everything::{difference, under_every_model};
use crate::{Case, Verdict};

/// Programs with finitely many states are compared in full.
const FINITE: Bounds = Bounds { buffer: 6, states: 3_000, symbolic: 3_000 };

/// The same programs with their threads going round forever; their buffers are compared up to a bound.
const ENDLESS: Bounds = Bounds { buffer: 3, states: 500, symbolic: 400 };

/// Coarse searches have more states, and are all tried.
const COARSE: Bounds = Bounds { buffer: 3, states: 500, symbolic: 1_000 };

/// At most so many states are searched for final states and findings.
const FINITE_STATES: u64 = 20_000;
const ENDLESS_STATES: u64 = 2_000;

/// States, final states and findings, of the program and of the same program without an end.
pub(super) fn agrees(case: &Case) -> Verdict {
    under_every_model!(agrees_under, case)
}

fn agrees_under<M: Model>(case: &Case) -> Verdict {
    let program = &case.program;
    match compare::<M>(program, FINITE)? {
        Compared::Equal | Compared::Unknown | Compared::EndlessLoop => {}
        Compared::Sound => return Err("the symbolic search did not end on a program with finitely many states".into()),
    }
    let [symbolic, stateful] =
        [SearchId::Symbolic, SearchId::Stateful].map(|search| outcome::<M>(program, search, FINITE_STATES));
    let (Some(symbolic), Some(stateful)) = (symbolic?, stateful?) else { return Ok(()) };
    difference(&found(&symbolic), &found(&stateful), ("of the symbolic search", "of the search over states"))?;
    if let Ok(endless) = looped(program) {
        let endless = Arc::new(endless);
        agrees_without_end::<M>(&endless).map_err(|reason| format!("{reason}\nof\n{endless}"))?;
    }
    Ok(())
}

fn agrees_without_end<M: Model>(endless: &Arc<Program>) -> Verdict {
    if compare::<M>(endless, ENDLESS)? == Compared::EndlessLoop {
        return Ok(());
    }
    if M::BUFFERS {
        compare_coarse::<M>(endless, COARSE)?;
    }
    let Some(symbolic) = outcome::<M>(endless, SearchId::Symbolic, ENDLESS_STATES)? else { return Ok(()) };
    if symbolic.coverage.is_complete()
        && let Some(stateful) = outcome::<M>(endless, SearchId::Stateful, FINITE_STATES)?
    {
        // Longer buffers may lead to more than the bounded search finds.
        let (all, bounded) = (found(&symbolic), found(&stateful));
        let both = all.intersection(&bounded).cloned().collect();
        difference(&both, &bounded, ("", "of the search over states, endless"))?;
    }
    Ok(())
}

/// What a search finds, unless there is nothing to check, as in a program that was made too small.
fn outcome<M: Model>(program: &Arc<Program>, search: SearchId, states: u64) -> Result<Option<Outcome>, String> {
    let buffer = (search == SearchId::Stateful).then_some(6);
    let limits = Limits { buffer, states: Some(states), ..Limits::default() };
    match check(program, &Options { search, limits, ..Options::new(M::ID) }, &|| None) {
        Ok(outcome) => Ok(Some(outcome)),
        Err(CheckError::NothingToCheck { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Final states and findings, as text.
fn found(outcome: &Outcome) -> BTreeSet<String> {
    let states = outcome.states.keys().map(|values| format!("{values:?}"));
    states.chain(outcome.violations.iter().map(|violation| format!("{:?}", violation.finding))).collect()
}
