//! Look-alikes of `std::hint`.

use std::panic::Location;

use crate::runtime::is_active;
use crate::turn;

pub use std::hint::{assert_unchecked, black_box};

/// Says that the thread waits for something that others do.
#[track_caller]
pub fn spin_loop() {
    if is_active() { turn::hint(Location::caller()) } else { std::hint::spin_loop() }
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
