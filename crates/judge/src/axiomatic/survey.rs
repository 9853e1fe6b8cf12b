//! Counts over families of programs, to compare with what the reference says of them.

use std::collections::BTreeSet;

use teetotal_memory::{EventKind, ModelId, Trace, relations};
use teetotal_program::Loc;

use crate::axiomatic::{Execution, accepts_as_sober_printed};

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Survey {
    pub programs: usize,
    /// Traces with any order of the writes to each location and any source of each load, where no program branches.
    pub candidates: usize,
    /// Traces (po, rf, co) that the model allows.
    pub traces: usize,
    /// The same without co.
    pub reads_from_classes: usize,
    /// Programs with a trace that is not sequentially consistent.
    pub not_robust: usize,
    /// Traces that TSO allows and [SOBER, Def. 3] as printed forbids, and the programs that have one; 0 elsewhere.
    pub wrongly_forbidden: usize,
    pub programs_with_wrongly_forbidden: usize,
}

impl Survey {
    /// Counts a program with these executions under `model`, all that there are.
    pub fn add(&mut self, model: ModelId, executions: &[Execution]) {
        let traces = || executions.iter().map(|execution| &execution.trace);
        let is_forbidden = |trace: &&Trace| model == ModelId::Tso && !accepts_as_sober_printed(trace);
        let forbidden = traces().filter(is_forbidden).count();
        self.programs += 1;
        self.candidates += traces().next().map_or(0, n_candidates);
        self.traces += executions.len();
        self.reads_from_classes += traces().map(|trace| trace.reads_from_key()).collect::<BTreeSet<_>>().len();
        self.not_robust += usize::from(traces().any(|trace| !relations::is_sequentially_consistent(trace)));
        self.wrongly_forbidden += forbidden;
        self.programs_with_wrongly_forbidden += usize::from(forbidden > 0);
    }

    /// Counts what was counted of other programs.
    pub fn merge(&mut self, other: &Survey) {
        self.programs += other.programs;
        self.candidates += other.candidates;
        self.traces += other.traces;
        self.reads_from_classes += other.reads_from_classes;
        self.not_robust += other.not_robust;
        self.wrongly_forbidden += other.wrongly_forbidden;
        self.programs_with_wrongly_forbidden += other.programs_with_wrongly_forbidden;
    }
}

/// How many traces have the events of this one; an update reads what it overwrites.
fn n_candidates(trace: &Trace) -> usize {
    let of_location = |loc: usize| {
        let n_writes = trace.coherence(Loc::at(loc)).len();
        let is_load = |kind, at| kind == EventKind::Load && at == Some(Loc::at(loc));
        let n_loads = trace.events().iter().filter(|event| is_load(event.kind, event.loc)).count() as u32;
        (1..=n_writes).product::<usize>() * (1 + n_writes).pow(n_loads)
    };
    (0..trace.n_locations()).map(of_location).product()
}
