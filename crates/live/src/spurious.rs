//! Spurious events: failures of weak compare-exchanges, and wake-ups.

use std::panic::Location;

use crate::request::{Matter, What};
use crate::runtime::{current, is_active, perform, running};

/// The number of spurious events of each thread.
///
/// Whether a thread has the choice depends on its own count, since its operations must not depend on the order of those
/// of other threads. Whether the search may choose a spurious event depends on the total.
#[derive(Debug, Default)]
pub(crate) struct Spurious {
    taken: Vec<usize>,
}

impl Spurious {
    pub(crate) fn clear(&mut self) {
        self.taken.clear();
    }

    /// Returns the number in all threads.
    pub(crate) fn total(&self) -> usize {
        self.taken.iter().sum()
    }

    fn of(&mut self, thread: usize) -> &mut usize {
        if self.taken.len() <= thread {
            self.taken.resize(thread + 1, 0);
        }
        &mut self.taken[thread]
    }
}

/// Returns whether the next operation of the current thread fails or wakes spuriously: a choice of the search, within
/// the bound.
pub(crate) fn goes_wrong(matter: Matter, place: &'static Location<'static>) -> bool {
    if !is_active() {
        return false;
    }
    let taken = |more: usize| {
        current(|execution| {
            let thread = running()?;
            let mut spurious = execution.spurious.borrow_mut();
            let taken = spurious.of(thread.index());
            *taken += more;
            Some(*taken)
        })
        .flatten()
    };
    let allowed = current(|execution| execution.max_spurious).unwrap_or(0);
    let may = allowed > 0 && taken(0).is_some_and(|taken| taken < allowed);
    // With each that is taken there is one in some execution that is not.
    current(|execution| execution.note_spurious_bound());
    if !may || perform(What::Choose { alternatives: 2, matter }, place) == 0 {
        return false;
    }
    taken(1);
    true
}
