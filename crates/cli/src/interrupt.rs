//! Ctrl-C: the first one ends the search with what was found so far, the second one ends the process.

use std::io::{IsTerminal, Write, stderr};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output;

/// The exit code of a process that Ctrl-C ends, as shells have it.
const ENDED: i32 = 130;

/// Whether a first Ctrl-C has come.
static NOTICED: AtomicBool = AtomicBool::new(false);

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is a request.
pub(crate) fn listen() {
    // Where it cannot be caught, it ends the process as it does everywhere.
    let _ = ctrlc::set_handler(requested_once_more);
}

/// Whether the user wants the search to stop.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

#[expect(clippy::exit, reason = "the second request is not to wait for anything")]
fn requested_once_more() {
    if NOTICED.swap(true, Ordering::Relaxed) {
        process::exit(ENDED);
    }
    if stderr().is_terminal() {
        // The terminal has written `^C`, perhaps into a line that shows the progress.
        let _ = stderr().write_all(b"\n");
    }
    // The search stops only now, so that this comes before whatever it has to say.
    output::note("stopping; interrupt once more to end at once");
    REQUESTED.store(true, Ordering::Relaxed);
}
