//! The beginning of a model, in which there is only one thread.
//!
//! As long as there is no other thread, each operation has one outcome, and the start of a thread comes after
//! everything before it. So the first thread runs up to that point without the search, which then takes the contents of
//! memory as the initial values.

use teetotal_program::{ThreadId, Value};

use crate::request::{Cell, What};
use crate::subject::Live;

/// The operations of the beginning, which are not part of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    /// The maximum number of such operations.
    pub(crate) max_hidden: usize,
    /// Whether the beginning is running.
    pub(crate) runs: bool,
    /// The value of each cell that was read or written.
    pub(crate) left: Vec<Option<Value>>,
}

impl Beginning {
    /// Returns the value of a cell that was accessed only in the beginning.
    pub(crate) fn left_in(&self, cell: Cell) -> Value {
        self.left.get(cell.key.index()).copied().flatten().unwrap_or(cell.initial)
    }
}

impl Live {
    /// Returns the model with at most `max_hidden` operations before the first start of a thread left out of the
    /// search.
    #[must_use]
    pub fn with_hidden_beginning(mut self, max_hidden: usize) -> Self {
        self.beginning.max_hidden = max_hidden;
        self.forget_numbers();
        self.run_beginning();
        self
    }

    /// Runs the first thread without the search until it starts another one or is blocked.
    pub(crate) fn run_beginning(&mut self) {
        let first = ThreadId(0);
        self.beginning.runs = true;
        for _ in 0..self.beginning.max_hidden {
            if self.threads[first.index()].loops.failed.is_some() || !self.has_one_outcome(first) {
                break;
            }
            let Some(answer) = self.answer_now(first) else { break };
            self.depart(first, answer);
            self.note(first, answer);
            self.go_on(first, answer);
        }
        self.beginning.runs = false;
        if self.beginning.max_hidden > 0 {
            self.beginning.left = self.execution.contents();
            self.threads[first.index()].forget_performed();
            if !self.is_rerunning {
                self.give_numbers(first);
            }
        }
    }

    /// Returns whether the operation of `thread`, the only one, has exactly one outcome.
    fn has_one_outcome(&self, thread: ThreadId) -> bool {
        let what = self.request(thread).map(|request| &request.what);
        match what {
            Some(What::Load { .. } | What::Store { .. } | What::Rmw { .. } | What::Fence { .. }) => true,
            Some(What::Await { timed, .. } | What::Lock { timed, .. }) => !timed,
            Some(What::Unlock { .. }) => true,
            Some(What::Spawn { .. } | What::Join { .. } | What::Choose { .. } | What::Rest { .. } | What::Fail(_))
            | None => false,
        }
    }
}
