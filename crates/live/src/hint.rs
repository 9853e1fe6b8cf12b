//! Look-alikes of `std::hint`.

use std::panic::Location;

use crate::runtime::is_active;
use crate::turn;

/// Says that the thread waits for something that others do.
#[track_caller]
pub fn spin_loop() {
    if is_active() { turn::hint(Location::caller()) } else { std::hint::spin_loop() }
}
