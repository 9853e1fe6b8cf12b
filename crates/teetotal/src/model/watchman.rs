//! Says when a search of a model is to stop, and how far it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use teetotal_explore::StopReason;
use teetotal_explore::driver::{Progress, Signal};
use teetotal_live::Ledger;

use super::Builder;

/// Looks at the time.
pub(super) struct Watchman<'w> {
    ledger: &'w Ledger,
    begin: Instant,
    max_duration: Option<Duration>,
    /// Whether it says how far the search is.
    talks: bool,
    /// After how many seconds it says so next.
    next: AtomicU64,
}

impl<'w> Watchman<'w> {
    pub(super) fn new(builder: &Builder, ledger: &'w Ledger) -> Self {
        let (max_duration, talks) = (builder.max_duration, builder.log);
        Watchman { ledger, begin: Instant::now(), max_duration, talks, next: AtomicU64::new(1) }
    }
}

impl Signal for Watchman<'_> {
    #[expect(clippy::print_stderr, reason = "the user asked to be told, and there is nobody else to tell it to")]
    fn stop(&self, progress: Progress) -> Option<StopReason> {
        // What the search found is of no use if something was hidden from it that it should have seen.
        if self.ledger.is_out_of_date() {
            return Some(StopReason::Time);
        }
        if !self.talks && self.max_duration.is_none() {
            return None;
        }
        let passed = self.begin.elapsed();
        if self.talks && passed.as_secs() >= self.next.load(Ordering::Relaxed) {
            self.next.store(passed.as_secs() + 1, Ordering::Relaxed);
            eprintln!("teetotal: {} executions in {} s", progress.executions, passed.as_secs());
        }
        self.max_duration.filter(|&limit| passed >= limit).map(|_| StopReason::Time)
    }
}
