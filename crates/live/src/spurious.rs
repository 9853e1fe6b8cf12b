//! What may happen for no reason: a weak compare-exchange that fails, and a wait that ends.

use std::panic::Location;

use crate::request::{Matter, What};
use crate::runtime::{current, is_active, perform, running};

/// How often things happened for no reason, thread by thread.
///
/// Whether a thread asks is decided by its own count, since what it does must not depend on the order of what others do.
/// Whether the search may answer otherwise than that nothing happens is decided by the count of all.
#[derive(Debug, Default)]
pub(crate) struct Spurious {
    taken: Vec<usize>,
}

impl Spurious {
    pub(crate) fn clear(&mut self) {
        self.taken.clear();
    }

    /// How often, in all threads.
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

/// Whether what the thread that runs is about to do goes wrong for no reason: the search decides, if it is asked to.
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
