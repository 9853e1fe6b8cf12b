//! Machine and axiomatic model allow the same traces.

use std::collections::BTreeSet;

use teetotal_judge::axiomatic::{EnumerateError, accepts, enumerate};
use teetotal_memory::Model;
use teetotal_program::Value;

use crate::everything::{difference, under_every_model};
use crate::{Case, Verdict};

/// Every trace of the machine is accepted by the axiomatic model; where that can enumerate, it finds the same ones.
pub(super) fn agrees(case: &Case) -> Verdict {
    under_every_model!(agrees_under, case)
}

fn agrees_under<M: Model>(case: &Case) -> Verdict {
    let (program, all) = (&case.program, case.everything::<M>());
    for (trace, _) in all.traces.values() {
        accepts(M::ID, trace, |loc| program.locations[loc.index()].initial)
            .map_err(|rejection| format!("the axiomatic model rejects an execution of the machine: {rejection}"))?;
    }
    let twins = match enumerate(M::ID, program, usize::MAX) {
        Ok(executions) => executions,
        Err(EnumerateError::Loop { .. } | EnumerateError::Exclusive { .. } | EnumerateError::SpawnedTwice { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    let machine: BTreeSet<&Vec<Value>> = all.traces.keys().collect();
    let keys: Vec<Vec<Value>> = twins.iter().map(|execution| execution.trace.key()).collect();
    let by_axioms: BTreeSet<&Vec<Value>> = keys.iter().collect();
    if by_axioms.len() < keys.len() {
        return Err("the axiomatic model enumerates a trace twice".to_owned());
    }
    difference(&machine, &by_axioms, ("of the machine", "of the axiomatic model"))
}
