//! The numbers of executions, and which of them are under way.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::surroundings::place_of;

/// So many executions were begun, by all models of the process.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// Whoever runs executions, with the number of the one under way.
static UNDER_WAY: Mutex<Vec<Arc<AtomicU64>>> = Mutex::new(Vec::new());

/// The number of an execution among all that are or were. No execution has the number 0.
pub(crate) struct Generation {
    number: Cell<u64>,
    /// The same for everybody to see.
    shown: Arc<AtomicU64>,
}

impl Default for Generation {
    fn default() -> Self {
        let shown = Arc::new(AtomicU64::new(0));
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&shown));
        Generation { number: Cell::new(0), shown }
    }
}

impl Generation {
    pub(crate) fn get(&self) -> u64 {
        self.number.get()
    }

    /// Another execution begins.
    pub(crate) fn renew(&self) {
        self.number.set(NUMBERS.fetch_add(1, Ordering::Relaxed));
        self.shown.store(self.number.get(), Ordering::Relaxed);
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner).retain(|other| !Arc::ptr_eq(other, &self.shown));
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Generation({})", self.get())
    }
}

/// Where that is kept: models in other threads of the process write there.
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), allow(dead_code))]
pub(crate) fn places() -> [Range<usize>; 2] {
    [place_of(&NUMBERS), place_of(&UNDER_WAY)]
}

/// Whether the execution with this number is under way somewhere.
pub(crate) fn is_under_way(number: u64) -> bool {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    number != 0 && under_way.iter().any(|shown| shown.load(Ordering::Relaxed) == number)
}
