//! Why a search stopped, in words, and what to try.

use teetotal_explore::StopReason;
use teetotal_program::ir::Program;

use crate::words::{bytes, count, place};

/// What was reached when the search stopped, to follow `stopped: `.
pub(crate) fn reason(program: &Program, reason: StopReason) -> String {
    match reason {
        StopReason::Violation => "a violation".to_owned(),
        StopReason::Executions(n) => count(n, "execution"),
        StopReason::States(n) => count(n, "state"),
        StopReason::Steps(n) => format!("an execution of {}", count(n, "step")),
        StopReason::Buffer(n) => format!("a buffer of {}", count(n, "store")),
        StopReason::Memory(n) => format!("{} of states", bytes(n)),
        StopReason::EndlessLoop { thread, .. } => {
            format!("an endless loop in {}", program.threads[thread.index()].name)
        }
        StopReason::Time => "out of time".to_owned(),
        StopReason::Interrupted => "interrupted".to_owned(),
    }
}

/// What may help, if anything does.
pub(crate) fn help(program: &Program, reason: StopReason) -> Option<String> {
    let raise = |name: &str| Some(format!("go further with a higher `--limit {name}=N`"));
    match reason {
        StopReason::Violation | StopReason::Interrupted => None,
        StopReason::Executions(_) => raise("executions"),
        StopReason::States(_) => raise("states"),
        StopReason::Steps(_) => raise("steps"),
        StopReason::Buffer(_) => raise("buffer"),
        StopReason::Memory(_) => raise("memory"),
        StopReason::Time => raise("time"),
        StopReason::EndlessLoop { thread, instruction } => {
            let at =
                place(program, thread, instruction as usize).map_or_else(String::new, |place| format!(" at {place}"));
            Some(format!("let the loop{at} read shared memory or wait with `await`"))
        }
    }
}
