//! What may be wrong with an execution of a model.

use teetotal_judge::Ending;
use teetotal_live::{Complaint, Leak, Live};
use teetotal_program::{Status, Subject, ThreadId};

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// A thread panicked or raced.
    Failed(ThreadId, Complaint),
    /// These threads are blocked forever.
    Deadlock(Vec<ThreadId>),
    /// The same, but some of them run on and on without effect.
    Livelock(Vec<ThreadId>),
    /// Things were leaked.
    Leak(Vec<Leak>),
}

impl Problem {
    /// Whether `other` is the same but for details that differ from execution to execution.
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

/// What is wrong with an execution that ended so, if anything is.
pub(super) fn problem_of(subject: &Live, ending: &Ending) -> Option<Problem> {
    let spins = |thread| matches!(subject.status(thread), Status::FailedAwait(_));
    let mut threads = (0..subject.n_threads()).map(ThreadId::at);
    let failed = threads.find_map(|thread| Some((thread, subject.complaint(thread)?.clone())));
    if let Some((thread, complaint)) = failed {
        return Some(Problem::Failed(thread, complaint));
    }
    match ending {
        // In another execution their time is over.
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
