//! How often an allocation is given the address of a freed block.

use std::cell::{Cell, RefCell};

use crate::runtime::Execution;

/// How often the allocations of each thread were, and how often they may be in all.
///
/// Whether a thread asks is decided by its own count, since what it does must not depend on the order of what others do.
/// Whether the search may answer yes is decided by the count of all.
#[derive(Debug, Default)]
pub(crate) struct Reuse {
    most: usize,
    total: Cell<usize>,
    taken: RefCell<Vec<usize>>,
}

impl Reuse {
    pub(crate) fn new(most: usize) -> Self {
        Reuse { most, ..Reuse::default() }
    }

    pub(crate) fn clear(&self) {
        self.total.set(0);
        self.taken.borrow_mut().clear();
    }

    /// How often in an execution.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Whether it may happen once more.
    pub(crate) fn may_take(&self) -> bool {
        self.total.get() < self.most
    }

    /// Whether the thread that runs may ask.
    pub(crate) fn may_ask(&self, execution: &Execution) -> bool {
        // With each that is taken there is one in some execution that is not.
        execution.note_reuse_bound();
        let index = execution.running().map_or(0, |thread| thread.index());
        self.taken.borrow().get(index).copied().unwrap_or(0) < self.most
    }

    /// The thread that runs was given one.
    pub(crate) fn take(&self, execution: &Execution) {
        let index = execution.running().map_or(0, |thread| thread.index());
        let _busy = execution.heap.be_busy();
        let mut taken = self.taken.borrow_mut();
        if taken.len() <= index {
            taken.resize(index + 1, 0);
        }
        taken[index] += 1;
        self.total.set(self.total.get() + 1);
    }
}
