//! Watches a search: for its time limit, for Ctrl-C, and to show its progress.

use std::io::{IsTerminal, Write, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use teetotal::{Progress, Signal, StopReason};

use crate::interrupt;

/// The time before the first line of progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates of the line.
const PACE: Duration = Duration::from_millis(200);

/// Watches one search from its start.
#[derive(Debug)]
pub(crate) struct Watch {
    begin: Instant,
    time: Option<Duration>,
    /// The line of progress, if standard error is a terminal.
    line: Option<Mutex<Line>>,
}

/// A line of the terminal that is rewritten.
#[derive(Debug)]
struct Line {
    /// The name of the search.
    what: String,
    /// The time of the next update.
    due: Duration,
    /// The number of characters on the screen.
    shown: usize,
}

impl Watch {
    /// Starts to watch the search of `what`, for at most `time`.
    pub(crate) fn new(what: String, time: Option<Duration>, quiet: bool) -> Self {
        let seen = !quiet && stderr().is_terminal();
        let line = seen.then(|| Mutex::new(Line { what, due: PATIENCE, shown: 0 }));
        Watch { begin: Instant::now(), time, line }
    }

    /// Returns the elapsed time in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }
}

impl Signal for Watch {
    fn stop(&self, progress: Progress) -> Option<StopReason> {
        let elapsed = self.begin.elapsed();
        if interrupt::is_requested() {
            return Some(StopReason::Interrupted);
        }
        if self.time.is_some_and(|time| elapsed >= time) {
            return Some(StopReason::Time);
        }
        if let Some(line) = &self.line {
            line.lock().unwrap_or_else(PoisonError::into_inner).update(progress, elapsed);
        }
        None
    }
}

impl Drop for Watch {
    /// Clears the line.
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.lock().unwrap_or_else(PoisonError::into_inner).write("");
        }
    }
}

impl Line {
    fn update(&mut self, progress: Progress, elapsed: Duration) {
        if elapsed < self.due {
            return;
        }
        self.due = elapsed + PACE;
        let columns = terminal_size::terminal_size_of(stderr()).map_or(80, |(width, _)| usize::from(width.0));
        let text: String = text(&self.what, progress, elapsed).chars().take(columns.saturating_sub(1)).collect();
        self.write(&text);
    }

    /// Replaces the line with `text`; errors are ignored.
    fn write(&mut self, text: &str) {
        let length = text.chars().count();
        let rest = " ".repeat(self.shown.saturating_sub(length));
        if length + self.shown > 0 {
            // After the blanks the cursor returns to the start of the line for the next output.
            let _ = stderr().write_all(format!("\r{text}{rest}\r").as_bytes());
        }
        self.shown = length;
    }
}

/// `SB under tso: 1200000 states in 3 s, 400000 a second`.
fn text(what: &str, progress: Progress, elapsed: Duration) -> String {
    let Progress { states, executions } = progress;
    let (count, noun) = if states > 0 { (states, "states") } else { (executions, "executions") };
    let rate = u128::from(count) * 1_000 / elapsed.as_millis().max(1);
    format!("{what}: {count} {noun} in {} s, {rate} a second", elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_counted_and_how_fast() {
        let elapsed = Duration::from_millis(2_500);
        let states = Progress { states: 1_000_000, executions: 12 };
        assert_eq!(text("SB under tso", states, elapsed), "SB under tso: 1000000 states in 2 s, 400000 a second");
        let executions = Progress { states: 0, executions: 5 };
        assert_eq!(text("SB under tso", executions, elapsed), "SB under tso: 5 executions in 2 s, 2 a second");
    }
}
