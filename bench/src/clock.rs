//! Clocks: the time that passes, and the time that this thread had a core.

use std::fs;
use std::time::{Duration, Instant};

/// Measures from when it is made.
pub(crate) struct Clock {
    begin: Instant,
    on_core: Option<Duration>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { begin: Instant::now(), on_core: on_core() }
    }

    /// The time that passed.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// The time that this thread had a core, where the system tells, so that others on the machine do not matter.
    pub(crate) fn on_core(&self) -> Duration {
        match (self.on_core, on_core()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.elapsed(),
        }
    }
}

/// As Linux counts it, in nanoseconds.
fn on_core() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
