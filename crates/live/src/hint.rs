//! Look-alikes of `std::hint`.

use std::panic::Location;

use crate::request::{Matter, What};
use crate::runtime::{is_active, note, perform};

pub use std::hint::{assert_unchecked, black_box};

/// Signals that the thread waits for other threads.
///
/// In a model it changes nothing about which executions there are. A loop that calls it, changes something in each
/// iteration and repeats again and again is subject to the fairness bound earlier than one that does not.
///
/// # Panics
/// In a model, if it is called again and again without an operation of the model in between: the thread then waits for
/// something that the checker does not see.
#[track_caller]
pub fn spin_loop() {
    if is_active() { hint(Location::caller()) } else { std::hint::spin_loop() }
}

/// So often a hint may be called without an operation in between.
const MOST_HINTS: u32 = 100_000;

/// The thread that runs tells that it waits.
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

/// Whether the time is over for which the thread that runs waits at `place`; it may be at any time.
pub(crate) fn is_time_over(place: &'static Location<'static>) -> bool {
    let is_over = perform(What::Choose { alternatives: 2, matter: Matter::TimeOut }, place) == 1;
    if is_over {
        note_time_out(place);
    }
    is_over
}

/// A wait of the thread that runs has timed out. In a loop that is as good a hint as any.
pub(crate) fn note_time_out(place: &'static Location<'static>) {
    note(|noted| {
        noted.n_hints += 1;
        noted.hint = Some(place);
    });
}

/// Says that this is never reached.
///
/// # Safety
/// It must never be reached. In a model it panics instead, so that it is found.
///
/// # Panics
/// In a model.
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("`unreachable_unchecked` was reached")
}
