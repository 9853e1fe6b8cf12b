//! The beginning of a model, in which there is one thread only.
//!
//! As long as there is no other thread, each operation has one outcome, and the start of a thread comes after everything
//! before it. So the first thread may run to there by itself, and the search sees what that left behind as the initial
//! values of memory.

use teetotal_program::{ThreadId, Value};

use crate::request::{Cell, What};
use crate::subject::Live;

/// What is kept from the search of the beginning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beginning {
    /// At most so many operations are.
    pub(crate) max_hidden: usize,
    /// Whether it runs.
    pub(crate) runs: bool,
    /// For each cell what it left there, if it wrote or read there.
    pub(crate) left: Vec<Option<Value>>,
}

impl Beginning {
    /// What is in a cell that nobody has accessed since.
    pub(crate) fn left_in(&self, cell: Cell) -> Value {
        self.left.get(cell.key.index()).copied().flatten().unwrap_or(cell.initial)
    }
}

impl Live {
    /// The same, with at most `max_hidden` operations before the first start of a thread kept from the search.
    #[must_use]
    pub fn with_hidden_beginning(mut self, max_hidden: usize) -> Self {
        self.beginning.max_hidden = max_hidden;
        self.forget_numbers();
        self.run_beginning();
        self
    }

    /// Lets the first thread run on by itself up to where it starts another or cannot go on.
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

    /// Whether the operation of `thread`, which is the only one, has one outcome.
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
