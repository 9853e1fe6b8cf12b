//! What operations would have done with other values.

use teetotal_program::{Hindsight, Loc, ThreadId, Value};

use crate::request::{Request, Until, Update, What};
use crate::subject::Live;

/// What is kept of an operation: the function that decides what it does with a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kept(Decides);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Decides {
    Update(Update),
    Until(Until),
    Free,
    Nothing,
}

impl Hindsight for Live {
    type Kept = Kept;

    fn keep(&self, thread: ThreadId) -> Kept {
        Kept(match self.request(thread).map(|request| &request.what) {
            Some(What::Rmw { update, .. } | What::Lock { update, .. }) => Decides::Update(*update),
            Some(What::Await { until, .. }) => Decides::Until(*until),
            Some(What::Unlock { .. }) => Decides::Free,
            _ => Decides::Nothing,
        })
    }

    fn would_write(&self, kept: &Kept, old: Value) -> Option<Value> {
        match kept.0 {
            Decides::Update(update) => update.apply(old),
            Decides::Free => Some(0),
            Decides::Until(_) | Decides::Nothing => None,
        }
    }

    fn would_accept(&self, kept: &Kept, value: Value) -> bool {
        matches!(kept.0, Decides::Until(until) if until.accepts(value))
    }

    /// Who only said that it waits does so for good if nothing has changed that it looked at.
    fn waits_while(&self, thread: ThreadId) -> Vec<(Loc, Value)> {
        match self.request(thread) {
            Some(Request { what: What::Await { is_hint: true, timed: false, .. }, .. }) => self.looked_at(thread),
            _ => Vec::new(),
        }
    }
}
