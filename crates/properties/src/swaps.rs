//! Neighboring steps that do not depend on each other can be swapped.

use std::sync::Arc;

use teetotal_engine::System;
use teetotal_engine::driver::values;
use teetotal_memory::dependence::depends;
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::ir::Interpreter;

use crate::everything::{End, under_every_model};
use crate::{Case, Verdict, has_exclusive};

/// At most this many swaps are tried for one program and model.
const MAX_SWAPS: usize = 300;

/// The swapped execution is possible, has the same trace and ends alike.
pub(super) fn are_possible(case: &Case) -> Verdict {
    // Steps outside of an exclusive stretch are not possible within it, whatever they access.
    if has_exclusive(&case.program) {
        return Ok(());
    }
    under_every_model!(possible_under, case)
}

fn possible_under<M: Model>(case: &Case) -> Verdict {
    let all = case.everything::<M>();
    let neighbors = all.traces.iter().flat_map(|(key, (trace, end))| {
        let independent = |&later: &usize| !depends::<M>(trace, later - 1, later);
        (1..trace.steps().len()).filter(independent).map(move |later| (key, trace, end, later))
    });
    for (key, trace, end, later) in neighbors.take(MAX_SWAPS) {
        let mut steps: Vec<Step> = trace.steps().iter().map(|record| record.step).collect();
        steps.swap(later - 1, later);
        let swapped = run::<M>(case, &steps).ok_or_else(|| format!("cannot swap step {later} in {steps:?}"))?;
        if (&swapped.0.key(), &swapped.1) != (key, end) {
            return Err(format!("swapping step {later} leads elsewhere: {steps:?}"));
        }
    }
    Ok(())
}

/// Performs `steps`, if they are possible.
fn run<M: Model>(case: &Case, steps: &[Step]) -> Option<(Trace, End)> {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(&case.program)));
    let (mut trace, mut enabled) = (Trace::default(), Vec::new());
    for step in steps {
        system.enabled(&mut enabled);
        if !enabled.contains(step) {
            return None;
        }
        system.perform(*step, &mut trace);
    }
    let end = End::new(&system.ending(), values(&system, &case.program.observed));
    Some((trace, end))
}
