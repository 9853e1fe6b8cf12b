//! The dependence of steps tells executions apart exactly as their traces do.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_memory::dependence::depends;
use teetotal_memory::{Model, Trace};
use teetotal_program::Value;
use teetotal_program::ir::Program;

use crate::laws::Verdict;
use crate::laws::everything::{Everything, under_every_model};

/// With more executions than this, a program is too large for a comparison of all pairs of steps.
const MAX_EXECUTIONS: u64 = 3_000;

/// Two executions have the same trace exactly when they order the same dependent steps alike.
pub(super) fn agrees_with_traces(program: &Arc<Program>) -> Verdict {
    // Steps inside an exclusive region depend on everything outside; dependence does not know of regions.
    if program.threads.iter().any(|thread| thread.places.iter().any(|place| place.exclusive)) {
        return Ok(());
    }
    under_every_model!(agrees_under, program)
}

fn agrees_under<M: Model>(program: &Arc<Program>) -> Verdict {
    let mut by_key: BTreeMap<Vec<Value>, Vec<u64>> = BTreeMap::new();
    let mut executions = 0;
    let mut disagreement = None;
    Everything::of::<M>(program, &mut |trace, key| {
        executions += 1;
        if executions > MAX_EXECUTIONS || disagreement.is_some() {
            return;
        }
        let signature = signature::<M>(trace);
        match by_key.get(key) {
            Some(known) if *known != signature => {
                disagreement = Some(format!("one trace, two classes of dependence: {:?}", trace.steps()));
            }
            Some(_) => {}
            None => drop(by_key.insert(key.to_vec(), signature)),
        }
    });
    if let Some(reason) = disagreement {
        return Err(reason);
    }
    let signatures: std::collections::BTreeSet<&Vec<u64>> = by_key.values().collect();
    if signatures.len() < by_key.len() {
        return Err("one class of dependence, two traces".to_owned());
    }
    Ok(())
}

/// Every ordered pair of dependent steps, with steps named independently of the interleaving, sorted.
fn signature<M: Model>(trace: &Trace) -> Vec<u64> {
    let name = |position: usize| {
        let record = &trace.steps()[position];
        let event = trace.event(record.event);
        u64::from(event.thread.0) << 24 | u64::from(event.index) << 1 | u64::from(record.step.is_commit())
    };
    let n = trace.steps().len();
    let pairs = (0..n).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let dependent = pairs.filter(|&(earlier, later)| depends::<M>(trace, earlier, later));
    let mut signature: Vec<u64> = dependent.map(|(earlier, later)| name(earlier) << 32 | name(later)).collect();
    // What the alternatives of choices were is part of the class, although nothing depends on it.
    signature.extend(trace.steps().iter().enumerate().map(|(position, record)| match record.step {
        teetotal_memory::Step::Issue { alternative, .. } => 1 << 63 | name(position) << 16 | u64::from(alternative),
        teetotal_memory::Step::Commit { .. } => 1 << 63 | name(position) << 16,
    }));
    signature.sort_unstable();
    signature
}
