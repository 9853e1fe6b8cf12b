//! Machine and axiomatic twin allow the same traces.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_judge::axiomatic::{EnumerateError, accepts, enumerate};
use teetotal_memory::Model;
use teetotal_program::Value;
use teetotal_program::ir::Program;

use crate::laws::Verdict;
use crate::laws::everything::{Everything, difference, under_every_model};

/// Every trace of the machine is accepted by the twin; where the twin can enumerate, it finds the same ones.
pub(super) fn agrees(program: &Arc<Program>) -> Verdict {
    under_every_model!(agrees_under, program)
}

fn agrees_under<M: Model>(program: &Arc<Program>) -> Verdict {
    let all = Everything::of::<M>(program, &mut |_, _| {});
    for (trace, _) in all.traces.values() {
        accepts(M::ID, trace, |loc| program.locations[loc.index()].initial)
            .map_err(|rejection| format!("the twin rejects an execution of the machine: {rejection}"))?;
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
    let twin: BTreeSet<&Vec<Value>> = keys.iter().collect();
    if twin.len() < keys.len() {
        return Err("the twin enumerates a trace twice".to_owned());
    }
    difference(&machine, &twin, ("of the machine", "of the twin"))
}
