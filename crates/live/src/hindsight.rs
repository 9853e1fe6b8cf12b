//! What operations would have done if they had read other values.

use teetotal_program::{Hindsight, Loc, Status, Subject, ThreadId, Value};

use crate::request::{Matter, Until, Update, What};
use crate::subject::Live;

/// A record of an operation: the function that decides what it does with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept(Decides);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decides {
    Update(Update),
    Until(Until),
    Free,
    /// A spurious event, up to a bound.
    Spurious(usize),
    /// An allocation of a freed block, up to a bound.
    Reuse(usize),
    Nothing,
}

impl Hindsight for Live {
    type Kept = Kept;

    fn keep(&self, thread: ThreadId) -> Kept {
        Kept(match self.request(thread).map(|request| &request.what) {
            Some(What::Rmw { update, .. } | What::Lock { update, .. }) => Decides::Update(*update),
            Some(What::Await { until, .. }) => Decides::Until(*until),
            Some(What::Unlock { .. }) => Decides::Free,
            Some(What::Choose { matter, .. }) if matter.is_spurious() => Decides::Spurious(self.execution.max_spurious),
            Some(What::Choose { matter: Matter::Reuse, .. }) => Decides::Reuse(self.execution.reuse.most()),
            _ => Decides::Nothing,
        })
    }

    fn would_write(&self, kept: &Kept, old: Value) -> Option<Value> {
        match kept.0 {
            Decides::Update(update) => update.apply(old),
            Decides::Free => Some(0),
            Decides::Until(_) | Decides::Spurious(_) | Decides::Reuse(_) | Decides::Nothing => None,
        }
    }

    fn most_taken(&self, kept: &Kept) -> Option<(u32, usize)> {
        match kept.0 {
            Decides::Spurious(most) => Some((0, most)),
            Decides::Reuse(most) => Some((1, most)),
            _ => None,
        }
    }

    fn would_accept(&self, kept: &Kept, value: Value) -> bool {
        matches!(kept.0, Decides::Until(until) if until.accepts(value))
    }

    fn restores(&self, thread: ThreadId) -> Vec<Loc> {
        match self.status(thread) {
            Status::FailedAwait(_) => self.failed_writes(thread),
            _ => Vec::new(),
        }
    }

    /// Returns the values of its locations for which a failed await fails again.
    fn waits_while(&self, thread: ThreadId) -> Vec<(Loc, Value)> {
        match self.status(thread) {
            Status::FailedAwait(_) => self.failed_reads(thread),
            _ => Vec::new(),
        }
    }
}
