//! Why a search stopped, in words, and what to try.

use teetotal_engine::{Limits, StopReason};
use teetotal_program::ir::Program;

use crate::words::{bytes, count, place};

/// Returns the stop reason, to follow `stopped: `.
pub(crate) fn reason(program: &Program, reason: StopReason) -> String {
    match reason {
        StopReason::Violation => "a violation".to_owned(),
        StopReason::Executions(n) => count(n, "execution"),
        StopReason::States(n) => count(n, "state"),
        StopReason::Steps(n) => format!("an execution of {}", count(n, "step")),
        StopReason::Buffer(n) => format!("a buffer of {}", count(n, "store")),
        StopReason::Memory(n) => format!("{} of states", bytes(n)),
        StopReason::Preemptions(n) => format!("a bound of {}", count(n, "preemption")),
        StopReason::EndlessLoop { thread, .. } => {
            format!("an endless loop in {}", program.threads[thread.index()].name)
        }
        StopReason::UnboundedLoop { thread, .. } => {
            format!("a loop in {} fills its buffer without bound", program.threads[thread.index()].name)
        }
        StopReason::NotDeterministic => "the program is not deterministic".to_owned(),
        StopReason::Unrepeatable(n) => format!("nondeterministic replay of {}", count(n, "execution")),
        StopReason::Turns => "a loop held back by the fairness bound".to_owned(),
        StopReason::Unconfirmed(n) => format!("{} not confirmed", count(n, "reordering")),
        StopReason::Time => "out of time".to_owned(),
        StopReason::Superseded => "abandoned for another search".to_owned(),
        StopReason::Interrupted => "interrupted".to_owned(),
        StopReason::Continuation => "an execution that may not satisfy the assumptions".to_owned(),
        StopReason::AtomicSection => "an execution in which sc may divide an atomic section".to_owned(),
        StopReason::Undecided => "a question that the order solver gave up".to_owned(),
    }
}

/// Returns advice, if there is any; `limits` are those of the search.
pub(crate) fn help(program: &Program, limits: &Limits, reason: StopReason) -> Option<String> {
    let above = |name: &str, limit: Option<u64>| {
        let limit = limit?;
        Some(format!("explore more with a higher limit than `--limit {name}={limit}`"))
    };
    match reason {
        StopReason::Violation | StopReason::Interrupted | StopReason::Superseded => None,
        StopReason::Continuation | StopReason::AtomicSection => None,
        StopReason::Undecided => Some("explore every trace with `--search dpor`".to_owned()),
        StopReason::Executions(n) => above("executions", Some(n)),
        StopReason::States(_) => above("states", limits.states),
        StopReason::Steps(_) => above("steps", limits.steps),
        StopReason::Buffer(_) => above("buffer", limits.buffer),
        StopReason::Memory(_) => above("memory", limits.memory.map(|bytes| bytes >> 20)),
        StopReason::Preemptions(_) => above("preemptions", limits.preemptions),
        StopReason::NotDeterministic | StopReason::Unrepeatable(_) | StopReason::Turns | StopReason::Unconfirmed(_) => {
            None
        }
        StopReason::Time => Some("explore more with a longer `--limit time=SECONDS`".to_owned()),
        StopReason::EndlessLoop { thread, instruction } => {
            let at = place(program, thread, instruction as usize);
            let at = at.map_or_else(String::new, |place| format!(" at {place}"));
            Some(format!("let the loop{at} read shared memory, or wait with `await`"))
        }
        StopReason::UnboundedLoop { thread, instruction } => {
            let at = place(program, thread, instruction as usize);
            let at = at.map_or_else(String::new, |place| format!(" at {place}"));
            Some(format!("put a fence into the loop{at}, or bound the buffers with `--limit buffer=N`"))
        }
    }
}
