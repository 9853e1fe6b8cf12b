//! Replacements for `std::hint`.

use std::panic::Location;

use crate::request::{Matter, What};
use crate::runtime::{is_active, note, perform};

pub use std::hint::{assert_unchecked, black_box};

/// Signals that the thread waits for other threads.
///
/// In a model it does not change which executions exist. A loop that calls it and changes something in each iteration
/// is subject to the fairness bound after fewer iterations.
///
/// # Panics
/// In a model, if it is called repeatedly without an operation of the model in between: the thread then waits for
/// something that the checker does not observe.
#[track_caller]
pub fn spin_loop() {
    if is_active() { hint(Location::caller()) } else { std::hint::spin_loop() }
}

/// The number of consecutive hints without an operation in between.
const MOST_HINTS: u32 = 100_000;

/// Records that the current thread waits.
pub(crate) fn hint(place: &'static Location<'static>) {
    note(|noted| {
        noted.n_hints += 1;
        noted.hint = Some(place);
        assert!(
            noted.n_hints < MOST_HINTS,
            "a thread waits at {place} for something that the checker does not see\n\
             help: objects that threads of a model share, flags that they wait for included, must be of `teetotal`"
        );
    });
}

/// Returns whether the wait of the current thread at `place` has timed out; it may do so at any time.
pub(crate) fn is_time_over(place: &'static Location<'static>) -> bool {
    let is_over = perform(What::Choose { alternatives: 2, matter: Matter::TimeOut }, place) == 1;
    if is_over {
        note_time_out(place);
    }
    is_over
}

/// Records that a wait of the current thread has timed out, which counts as a hint in a loop.
pub(crate) fn note_time_out(place: &'static Location<'static>) {
    note(|noted| {
        noted.n_hints += 1;
        noted.hint = Some(place);
    });
}

/// Indicates that this place is never reached.
///
/// # Safety
/// It must never be reached. In a model it panics instead of being undefined behavior.
///
/// # Panics
/// In a model, if it is reached.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("`unreachable_unchecked` was reached")
}
