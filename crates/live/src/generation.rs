//! The numbers of executions, and which of them are running.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::surroundings::place_of;

/// The number of executions that all models of the process have begun.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// The models that run executions, with the number of the current one.
static UNDER_WAY: Mutex<Vec<Arc<AtomicU64>>> = Mutex::new(Vec::new());

/// The number of an execution among all executions of the process. No execution has the number 0.
pub(crate) struct Generation {
    number: Cell<u64>,
    /// The number, visible to other OS threads.
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

    /// Begins another execution.
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

/// Returns where the numbers are stored: models on other threads of the process write there.
#[cfg_attr(not(all(target_os = "linux", target_pointer_width = "64")), allow(dead_code))]
pub(crate) fn places() -> [Range<usize>; 2] {
    [place_of(&NUMBERS), place_of(&UNDER_WAY)]
}

/// Returns whether the execution with this number is running.
pub(crate) fn is_under_way(number: u64) -> bool {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    number != 0 && under_way.iter().any(|shown| shown.load(Ordering::Relaxed) == number)
}
