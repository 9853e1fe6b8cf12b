//! Stops the search of a model at its limits, and reports its progress.

use std::io::{IsTerminal, stderr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use teetotal_engine::StopReason;
use teetotal_engine::driver::{Progress, Signal};
use teetotal_live::{Ledger, interrupt};

use super::Builder;
use super::conclusion::say;

/// The number of seconds between two lines on a terminal, if progress was not requested.
const UNASKED: u64 = 10;

/// Watches the time and the progress of a search.
pub(super) struct Watchman<'w> {
    ledger: &'w Ledger,
    begin: Instant,
    max_duration: Option<Duration>,
    /// The number of seconds between two lines of progress, if progress is printed.
    pace: Option<u64>,
    /// The time of the next line, in seconds.
    next: AtomicU64,
    /// The number of executions before this part of the search.
    before: AtomicU64,
    /// The number of executions after which a part of the search is interrupted to save it.
    stretch: Option<u64>,
    is_paused: AtomicBool,
    /// The share of the walk that is done, as the bits of a number between 0 and 1.
    share: AtomicU64,
    /// Whether the search is `rf`, which does not know its progress.
    is_reads_from: AtomicBool,
}

impl<'w> Watchman<'w> {
    pub(super) fn new(builder: &Builder, ledger: &'w Ledger) -> Self {
        let pace = match builder.log || builder.progress {
            true => Some(1),
            false => is_seen().then_some(UNASKED),
        };
        if builder.progress {
            interrupt::listen();
        }
        let is_kept = builder.checkpoint_file.is_some() && builder.preemption_bound.is_none();
        let stretch = is_kept.then_some(builder.checkpoint_interval.max(1) as u64);
        Watchman {
            ledger,
            begin: Instant::now(),
            max_duration: builder.max_duration,
            pace,
            next: AtomicU64::new(pace.unwrap_or(0)),
            before: AtomicU64::new(0),
            stretch,
            is_paused: AtomicBool::new(false),
            share: AtomicU64::new(0),
            is_reads_from: AtomicBool::new(false),
        }
    }

    /// Runs `search`, an `rf` search.
    pub(super) fn during_reads_from<R>(&self, search: impl FnOnce() -> R) -> R {
        self.is_reads_from.store(true, Ordering::Relaxed);
        let result = search();
        self.is_reads_from.store(false, Ordering::Relaxed);
        result
    }

    /// Begins a part of the search after this many executions.
    pub(super) fn begin(&self, executions: u64) {
        self.before.store(executions, Ordering::Relaxed);
        self.is_paused.store(false, Ordering::Relaxed);
    }

    /// Returns whether the search was stopped only to be saved.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    /// Records the share of the walk that is done, if progress is printed.
    pub(super) fn note(&self, share: impl FnOnce() -> f64) {
        if self.pace.is_some() {
            self.share.store(share().to_bits(), Ordering::Relaxed);
        }
    }

    fn speak(&self, executions: u64, seconds: u64) {
        let share = f64::from_bits(self.share.load(Ordering::Relaxed));
        say(&match self.is_reads_from.load(Ordering::Relaxed) {
            true => line(executions, seconds, 0.0) + " by `rf`",
            false => line(executions, seconds, share),
        });
    }
}

/// Returns whether standard error is a terminal.
fn is_seen() -> bool {
    static IS_SEEN: OnceLock<bool> = OnceLock::new();
    *IS_SEEN.get_or_init(|| stderr().is_terminal())
}

/// `1200 executions in 3 s, about 4800 in all`.
fn line(executions: u64, seconds: u64, share: f64) -> String {
    let estimate = match executions as f64 / share {
        all if share > 0.0 && all.is_finite() && executions > 100 => format!(", about {} in all", rounded(all)),
        _ => String::new(),
    };
    format!("{executions} executions in {seconds} s{estimate}")
}

/// Rounds an estimate to two digits.
fn rounded(number: f64) -> String {
    let unit = 10_f64.powf((number.log10().floor() - 1.0).max(0.0));
    format!("{:.0}", (number / unit).round() * unit)
}

impl Signal for Watchman<'_> {
    fn stop(&self, progress: Progress) -> Option<StopReason> {
        // The findings are void if a thread observed something that was abstracted from.
        if self.ledger.is_out_of_date() {
            return Some(StopReason::Superseded);
        }
        if self.ledger.has_leaked_too_much() {
            return Some(StopReason::Memory(self.ledger.leaked_bytes() as u64));
        }
        if interrupt::is_requested() {
            return Some(StopReason::Interrupted);
        }
        if self.stretch.is_some_and(|stretch| progress.executions >= stretch) {
            self.is_paused.store(true, Ordering::Relaxed);
            return Some(StopReason::Interrupted);
        }
        if self.pace.is_none() && self.max_duration.is_none() {
            return None;
        }
        let passed = self.begin.elapsed();
        if let Some(pace) = self.pace
            && passed.as_secs() >= self.next.load(Ordering::Relaxed)
        {
            self.next.store(passed.as_secs() + pace, Ordering::Relaxed);
            self.speak(self.before.load(Ordering::Relaxed) + progress.executions, passed.as_secs());
        }
        self.max_duration.filter(|&limit| passed >= limit).map(|_| StopReason::Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_an_estimate_once_there_is_something_to_go_by() {
        assert_eq!(line(50, 1, 0.5), "50 executions in 1 s");
        assert_eq!(line(1_234, 3, 0.1), "1234 executions in 3 s, about 12000 in all");
        assert_eq!(line(1_234, 3, 0.0), "1234 executions in 3 s");
        assert_eq!(line(101, 3, 1.0), "101 executions in 3 s, about 100 in all");
    }
}
