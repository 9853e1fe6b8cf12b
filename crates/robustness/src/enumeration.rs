//! Every trace of a model, each held against sequential consistency by a search for an execution with the same trace.
//!
//! It is exact, and takes long: it is for programs with atomic sections where nothing else decides.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use teetotal_engine::driver::{Progress, StopSignal};
use teetotal_engine::{StopReason, System, counted};
use teetotal_judge::Ending;
use teetotal_memory::models::Strongest;
use teetotal_memory::{Event, Model, Recorder, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Snapshot, Value};

/// Prefixes of executions that are looked at: of the model, and of sequential consistency for all traces together.
const PREFIXES: usize = 20_000;
pub(super) const SC_PREFIXES: usize = 200_000;
/// How many prefixes are continued between two looks at the stop signal.
const SIGNAL_INTERVAL: usize = 256;

/// What an enumeration found.
#[derive(Debug, Default)]
pub(super) struct Enumerated {
    /// An execution for each trace that counts and is none of sequential consistency.
    pub(super) found: Vec<Vec<Step>>,
    /// Why there may be others.
    pub(super) stopped: Option<StopReason>,
}

/// Looks at every trace from the state of `system`, which is the initial one.
pub(super) fn enumerate<M: Model>(
    program: &Arc<Program>,
    system: System<Interpreter, M>,
    signal: StopSignal<'_>,
) -> Enumerated {
    let mut enumerated = Enumerated::default();
    let mut known = FxHashSet::default();
    let mut waiting = VecDeque::from([(system, Trace::default())]);
    let mut continued = 0_usize;
    let mut left = SC_PREFIXES;
    while let Some((mut system, trace)) = waiting.pop_front() {
        let mut steps = Vec::new();
        system.enabled(&mut steps);
        if steps.is_empty() && counted(program, &system, &system.ending()) != Ending::Discarded {
            match is_sequentially_consistent(program, &trace, &mut left) {
                Some(true) => {}
                Some(false) => enumerated.found.push(trace.steps().iter().map(|record| record.step).collect()),
                None => enumerated.stopped = Some(StopReason::AtomicSection),
            }
        }
        for step in steps {
            let (mut system, mut trace) = (system.clone(), trace.clone());
            system.perform(step, &mut trace);
            if known.insert(key(&system, &trace)) {
                waiting.push_back((system, trace));
            }
        }
        continued += 1;
        if known.len() > PREFIXES {
            enumerated.stopped = Some(StopReason::AtomicSection);
            return enumerated;
        }
        if continued.is_multiple_of(SIGNAL_INTERVAL)
            && let Some(reason) = signal.stop(Progress { executions: 0, states: known.len() as u64 })
        {
            enumerated.stopped = Some(reason);
            return enumerated;
        }
    }
    enumerated
}

/// Whether an execution of sequential consistency has this trace, if `left` prefixes are enough to find out.
pub(super) fn is_sequentially_consistent(program: &Arc<Program>, trace: &Trace, left: &mut usize) -> Option<bool> {
    let system = System::<Interpreter, Strongest>::new(Interpreter::new(Arc::clone(program)));
    let mut known = FxHashSet::default();
    let mut waiting = vec![(system, Trace::default())];
    while let Some((mut system, prefix)) = waiting.pop() {
        if prefix.events().len() == trace.events().len() {
            return Some(true);
        }
        let mut steps = Vec::new();
        system.enabled(&mut steps);
        for step in steps {
            let (mut system, mut longer) = (system.clone(), prefix.clone());
            system.perform(step, &mut longer);
            let mut new = longer.events()[prefix.events().len()..].iter();
            if new.all(|event| is_in(trace, &longer, event)) && known.insert(key(&system, &longer)) {
                waiting.push((system, longer));
            }
        }
        *left = left.checked_sub(1)?;
    }
    Some(false)
}

/// Whether `event` of `prefix` is in `trace`, with the same source and at the same place in coherence order.
fn is_in(trace: &Trace, prefix: &Trace, event: &Event) -> bool {
    let Some(same) = trace.operation(event.thread, event.index) else { return false };
    let content = |event: &Event| (event.place, event.loc, event.read, event.written);
    let source = |trace: &Trace, event: &Event| event.source.map(|source| trace.writer(source));
    let position = |trace: &Trace| {
        let writes = event.loc.filter(|_| event.is_write()).map(|loc| trace.coherence(loc));
        let is_it = |write: &Event| (write.thread, write.index) == (event.thread, event.index);
        writes.map(|writes| writes.iter().position(|&id| is_it(trace.event(id))))
    };
    content(same) == content(event)
        && source(trace, same) == source(prefix, event)
        && position(trace) == position(prefix)
}

/// What tells prefixes apart: the trace so far, and the state, which says what is still in buffers.
fn key<M: Model>(system: &System<Interpreter, M>, trace: &Trace) -> (Vec<Value>, Vec<u8>) {
    let mut state = Vec::new();
    system.save(&mut state);
    (trace.key(), state)
}
