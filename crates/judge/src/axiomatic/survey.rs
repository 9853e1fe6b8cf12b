//! Counts over families of programs, to compare with what the reference says of them.

use std::collections::BTreeSet;

use teetotal_memory::{ModelId, relations};
use teetotal_program::ir::Program;

use crate::axiomatic::{EnumerateError, accepts_as_sober_printed, enumerate};

/// What was counted.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Survey {
    pub programs: usize,
    /// Traces (po, rf, co) that the model allows.
    pub traces: usize,
    /// The same without co.
    pub reads_from_classes: usize,
    /// Programs with a trace that is not sequentially consistent.
    pub not_robust: usize,
    /// Allowed traces that [SOBER, Def. 3] as printed forbids, and the programs that have one.
    pub wrongly_forbidden: usize,
    pub programs_with_wrongly_forbidden: usize,
}

/// Counts over all `programs` under `model`.
pub fn survey(model: ModelId, programs: impl Iterator<Item = Program>) -> Result<Survey, EnumerateError> {
    let mut total = Survey::default();
    for program in programs {
        let executions = enumerate(model, &program, usize::MAX)?;
        let traces = || executions.iter().map(|execution| &execution.trace);
        let forbidden = traces().filter(|trace| !accepts_as_sober_printed(trace)).count();
        total.programs += 1;
        total.traces += executions.len();
        total.reads_from_classes += traces().map(|trace| trace.reads_from_key()).collect::<BTreeSet<_>>().len();
        total.not_robust += usize::from(traces().any(|trace| !relations::is_sequentially_consistent(trace)));
        total.wrongly_forbidden += forbidden;
        total.programs_with_wrongly_forbidden += usize::from(forbidden > 0);
    }
    Ok(total)
}
