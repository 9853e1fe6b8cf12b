//! The ways in which an execution of a model can fail.

use teetotal_judge::Ending;
use teetotal_live::{Complaint, Leak, Live};
use teetotal_program::{Status, Subject, ThreadId};

/// A problem of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// A thread panicked or raced.
    Failed(ThreadId, Complaint),
    /// These threads are blocked forever.
    Deadlock(Vec<ThreadId>),
    /// These threads are blocked forever, some of them in loops that repeat without effect.
    Livelock(Vec<ThreadId>),
    /// Things were leaked.
    Leak(Vec<Leak>),
}

impl Problem {
    /// Returns whether `other` is the same problem up to details that differ between executions.
    pub(super) fn is_like(&self, other: &Problem) -> bool {
        match (self, other) {
            (Problem::Failed(_, Complaint::Panic { place, .. }), Problem::Failed(_, other)) => {
                matches!(other, Complaint::Panic { place: other, .. } if place == other)
            }
            (Problem::Failed(_, Complaint::Memory(one)), Problem::Failed(_, Complaint::Memory(other))) => {
                one.kind == other.kind
            }
            (Problem::Failed(_, Complaint::Race(_)), Problem::Failed(_, Complaint::Race(_)))
            | (Problem::Deadlock(_), Problem::Deadlock(_))
            | (Problem::Livelock(_), Problem::Livelock(_))
            | (Problem::Leak(_), Problem::Leak(_)) => true,
            _ => false,
        }
    }
}

/// Returns the problem of an execution that ended like this, if any.
pub(super) fn problem_of(subject: &Live, ending: &Ending) -> Option<Problem> {
    let spins = |thread| matches!(subject.status(thread), Status::FailedAwait(_));
    let mut threads = (0..subject.n_threads()).map(ThreadId::at);
    let failed = threads.find_map(|thread| Some((thread, subject.complaint(thread)?.clone())));
    if let Some((thread, complaint)) = failed {
        return Some(Problem::Failed(thread, complaint));
    }
    match ending {
        // In another execution their waits time out.
        Ending::Blocked(blocked) if blocked.iter().any(|&thread| subject.is_timed(thread)) => None,
        Ending::Blocked(blocked) if blocked.iter().any(|&thread| spins(thread)) => {
            Some(Problem::Livelock(blocked.clone()))
        }
        Ending::Blocked(blocked) => Some(Problem::Deadlock(blocked.clone())),
        Ending::Completed => {
            let leaks = subject.leaks();
            (!leaks.is_empty()).then_some(Problem::Leak(leaks))
        }
        _ => None,
    }
}
