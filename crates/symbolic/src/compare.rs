//! The symbolic search beside the machine with bounded buffers: two decision procedures that share only the interpreter.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use teetotal_engine::{Collector, Coverage, Limits, StopReason, System};
use teetotal_memory::{Model, Step, Unrecorded};
use teetotal_program::ir::{Interpreter, Program};

use super::decide::rungs;
use super::reached::{Concrete, Reached};
use super::search::Settings;

/// How a comparison went where it found no difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    /// Both reached the same, as far as buffers are within the bound.
    Equal,
    /// All that the symbolic search reached was confirmed, but it did not reach everything.
    Sound,
    /// There were too many states to compare.
    Unknown,
    /// A thread goes round without an operation on memory, so that no step has an end.
    EndlessLoop,
}

/// How far a comparison goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Stores in one buffer of the machine.
    pub buffer: usize,
    /// States of the machine.
    pub states: usize,
    /// Symbolic states.
    pub symbolic: u64,
}

/// Contents of at most this length are looked for among the states of the machine.
const LENGTH: usize = 3;

/// Compares what both reach: each state of the machine must be in a symbolic state, and each short content of a
/// symbolic state must be reached by the machine.
pub fn compare<M: Model>(program: &Arc<Program>, bounds: Bounds) -> Result<Compared, String> {
    let limits = Limits { states: Some(bounds.symbolic), ..Limits::default() };
    let settings = Settings { reduce: false, ..Settings::new(limits) };
    let mut collector = Collector::new(program, M::ID, &[], false);
    let subject = Interpreter::new(Arc::clone(program));
    let mut reached = Reached::<_, M>::by(subject, &mut collector, &settings, &|| None);
    if matches!(reached.coverage, Coverage::Stopped(StopReason::EndlessLoop { .. })) {
        return Ok(Compared::EndlessLoop);
    }
    let Some(states) = explicit::<M>(program, bounds.buffer, bounds.states) else { return Ok(Compared::Unknown) };
    if reached.coverage == Coverage::Complete
        && let Some(missing) = states.iter().find(|state| !reached.contains(state))
    {
        return Err(format!("the symbolic search misses {missing:?}"));
    }
    // A short content may need longer ones on the way to it than the machine had; then an execution shows it.
    for (state, place) in reached.concrete(LENGTH.min(bounds.buffer)) {
        if !states.contains(&state) && !leads_to::<M>(program, &reached.steps_to(&place), &state) {
            return Err(format!("the machine does not reach {state:?}"));
        }
    }
    Ok(if reached.coverage == Coverage::Complete { Compared::Equal } else { Compared::Sound })
}

/// Whether the machine can take these steps, and is in this state then.
fn leads_to<M: Model>(program: &Arc<Program>, steps: &[Step], state: &Concrete) -> bool {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut enabled = Vec::new();
    for &step in steps {
        system.enabled(&mut enabled);
        if !enabled.contains(&step) {
            return false;
        }
        system.perform(step, &mut Unrecorded);
    }
    Concrete::of(&system) == *state
}

/// Looks whether coarse searches reach all that the machine reaches.
pub fn compare_coarse<M: Model>(program: &Arc<Program>, bounds: Bounds) -> Result<Compared, String> {
    let limits = Limits { states: Some(bounds.symbolic), ..Limits::default() };
    let mut states = None;
    let mut compared = Compared::Equal;
    for coarse in rungs::<M>() {
        let settings = Settings { reduce: false, coarse: Some(coarse), ..Settings::new(limits) };
        let mut collector = Collector::new(program, M::ID, &[], false);
        let subject = Interpreter::new(Arc::clone(program));
        let mut reached = Reached::<_, M>::by(subject, &mut collector, &settings, &|| None);
        match reached.coverage {
            Coverage::Complete => {}
            Coverage::Stopped(StopReason::EndlessLoop { .. }) => return Ok(Compared::EndlessLoop),
            Coverage::Stopped(_) => {
                compared = Compared::Unknown;
                continue;
            }
        }
        let states = match &mut states {
            Some(states) => states,
            none => match explicit::<M>(program, bounds.buffer, bounds.states) {
                Some(found) => none.insert(found),
                None => return Ok(Compared::Unknown),
            },
        };
        if let Some(missing) = states.iter().find(|state| !reached.contains(state)) {
            return Err(format!("the search with {coarse:?} misses {missing:?}"));
        }
    }
    Ok(compared)
}

/// Every state of the machine with at most `buffer` stores in each buffer, or `None` if there are more than `at_most`.
pub fn explicit<M: Model>(program: &Arc<Program>, buffer: usize, at_most: usize) -> Option<BTreeSet<Concrete>> {
    let mut start = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    start.limit_buffers(buffer);
    let mut seen = BTreeSet::from([Concrete::of(&start)]);
    let mut queue = VecDeque::from([start]);
    let mut steps = Vec::new();
    while let Some(mut system) = queue.pop_front() {
        system.enabled(&mut steps);
        for &step in &steps {
            let mut next = system.clone();
            next.perform(step, &mut Unrecorded);
            if seen.insert(Concrete::of(&next)) {
                queue.push_back(next);
            }
        }
        if seen.len() > at_most {
            return None;
        }
    }
    Some(seen)
}
