//! What may be wrong with an execution of a model.

use teetotal_judge::Ending;
use teetotal_live::{Complaint, Leak, Live};
use teetotal_program::{Subject, ThreadId};

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Problem {
    /// A thread panicked or raced.
    Failed(ThreadId, Complaint),
    /// These threads wait for good.
    Deadlock(Vec<ThreadId>),
    /// Things were not given back.
    Leak(Vec<Leak>),
}

impl Problem {
    /// Whether `other` is the same but for details that differ from execution to execution.
    pub(super) fn is_like(&self, other: &Problem) -> bool {
        match (self, other) {
            (Problem::Failed(_, Complaint::Panic { place, .. }), Problem::Failed(_, other)) => {
                matches!(other, Complaint::Panic { place: other, .. } if place == other)
            }
            (Problem::Failed(_, Complaint::Race(_)), Problem::Failed(_, Complaint::Race(_)))
            | (Problem::Deadlock(_), Problem::Deadlock(_))
            | (Problem::Leak(_), Problem::Leak(_)) => true,
            _ => false,
        }
    }
}

/// What is wrong with an execution that ended so, if anything is.
pub(super) fn problem_of(subject: &Live, ending: &Ending) -> Option<Problem> {
    let mut threads = (0..subject.n_threads()).map(ThreadId::at);
    let failed = threads.find_map(|thread| Some((thread, subject.complaint(thread)?.clone())));
    if let Some((thread, complaint)) = failed {
        return Some(Problem::Failed(thread, complaint));
    }
    match ending {
        // In another execution their time is over.
        Ending::Blocked(blocked) if blocked.iter().any(|&thread| subject.is_timed(thread)) => None,
        // Those that only looked again and again go on when nobody else can.
        Ending::Blocked(blocked) if subject.only_hints(blocked) => None,
        Ending::Blocked(blocked) => Some(Problem::Deadlock(blocked.clone())),
        Ending::Completed => {
            let leaks = subject.leaks();
            (!leaks.is_empty()).then_some(Problem::Leak(leaks))
        }
        _ => None,
    }
}
