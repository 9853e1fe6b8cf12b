//! Ctrl-C: the first one ends the search with what was found so far, the second one ends the process.

use std::io::{IsTerminal, Write, stderr};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

/// The exit code of a process that Ctrl-C ends, as in shells.
const ENDED: i32 = 130;

/// Whether Ctrl-C was pressed once.
static NOTICED: AtomicBool = AtomicBool::new(false);

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler: from now on Ctrl-C requests a stop.
pub(crate) fn listen() {
    // If the signal cannot be caught, it ends the process as usual.
    let _ = ctrlc::set_handler(requested_once_more);
}

/// Returns whether the user has requested a stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

#[expect(clippy::exit, reason = "the second request is not to wait for anything")]
fn requested_once_more() {
    if NOTICED.swap(true, Ordering::Relaxed) {
        process::exit(ENDED);
    }
    if stderr().is_terminal() {
        // The terminal has written `^C`, possibly into the line with the progress.
        let _ = stderr().write_all(b"\n");
    }
    // The search stops only after this, so the note comes before its output.
    output::note("stopping; interrupt once more to end at once");
    REQUESTED.store(true, Ordering::Relaxed);
}
