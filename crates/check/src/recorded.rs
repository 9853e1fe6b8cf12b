//! Every execution of sequential consistency, one for each trace, for those who keep them.

use std::sync::{Arc, Mutex, PoisonError};

use teetotal_dpor as dpor;
use teetotal_dpor::Settings;
use teetotal_engine::driver::{Flow, StopSignal};
use teetotal_engine::{Coverage, Execution, Limits, Move, Schedule, System, Unsupported, perform, unsupported};
use teetotal_memory::models::Strongest;
use teetotal_memory::{ModelId, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_robustness::{Waiter, waiters};

use crate::options::CheckError;

/// Calls `each` with one execution of sequential consistency for every trace of `program`, and with who waits at its end.
///
/// Refuses a program whose steps access memory more than once, which a trace does not show.
pub fn each_execution(
    program: &Arc<Program>,
    limits: &Limits,
    signal: StopSignal<'_>,
    each: &mut (dyn FnMut(&Trace, &[Waiter]) -> Flow + Send),
) -> Result<Coverage, CheckError> {
    if let Some(Unsupported { reason }) = unsupported(program) {
        return Err(CheckError::NotRecorded { program: program.name.clone(), reason });
    }
    let subject = || Interpreter::new(Arc::clone(program));
    let recording = Mutex::new((System::<Interpreter, Strongest>::new(subject()), each));
    let watch = |execution: &Execution<'_, Interpreter>| {
        let mut recording = recording.lock().unwrap_or_else(PoisonError::into_inner);
        let (system, each) = &mut *recording;
        // The names of threads and locations are those of the program.
        let schedule = Schedule::Steps(execution.moves().into_iter().map(Move::step).collect());
        let performed = perform(system, &schedule);
        each(&performed.trace, &waiters(system.subject()))
    };
    let settings = Settings { limits: *limits, jobs: 1 };
    let (_, coverage) = dpor::watch(ModelId::STRONGEST, &subject, &settings, signal, &watch);
    Ok(coverage)
}
