//! Reports when the code of a model does not reach its next operation.
//!
//! Threads of a model run one at a time: a thread that waits for another one without the checker's knowledge is blocked
//! forever.

use std::collections::BTreeMap;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use teetotal_live::{Pulse, Running, pulses};

use super::conclusion::say_for;
use super::environment;
use super::storyboard::thread_name;

/// The number of seconds without an operation after which the watchdog reports, unless the environment sets another
/// one.
const PATIENCE: u64 = 10;

/// Starts to watch the models of this process.
pub(super) fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let patience = Duration::from_secs(environment::patience().unwrap_or(PATIENCE).max(1));
        // If no thread can be started, there is no watchdog.
        let _ = std::thread::Builder::new().name("teetotal watchdog".to_owned()).spawn(move || watch(patience));
    });
}

fn watch(patience: Duration) {
    // For each pulse, since when it is unchanged, and whether that was reported.
    let mut known: BTreeMap<usize, (u64, Instant, bool)> = BTreeMap::new();
    loop {
        std::thread::sleep((patience / 4).max(Duration::from_millis(250)));
        let mut now = BTreeMap::new();
        for pulse in pulses() {
            let Some(running) = pulse.running() else { continue };
            let name = Arc::as_ptr(&pulse) as usize;
            let before = known.get(&name).filter(|(beat, ..)| *beat == running.beat);
            let (since, mut is_said) = before.map_or((Instant::now(), false), |(_, since, is_said)| (*since, *is_said));
            if !is_said && since.elapsed() >= patience {
                let is_blocked = is_blocked(&pulse);
                say_for(pulse.name(), &text(&running, since.elapsed().as_secs(), is_blocked));
                if is_blocked {
                    end();
                }
                is_said = true;
            }
            now.insert(name, (running.beat, since, is_said));
        }
        known = now;
    }
}

/// Returns whether an OS thread sleeps and continues to sleep.
fn is_blocked(pulse: &Pulse) -> bool {
    let first = (pulse.asleep(), pulse.running());
    first.0.is_some()
        && (0..4).all(|_| {
            std::thread::sleep(Duration::from_millis(50));
            (pulse.asleep(), pulse.running()) == first
        })
}

/// Ends the process: a thread that waits for a lock that is never released cannot be ended alone.
#[expect(clippy::exit, reason = "nothing else ends a thread that is blocked")]
fn end() -> ! {
    std::process::exit(101)
}

fn text(running: &Running, seconds: u64, is_blocked: bool) -> String {
    let thread = thread_name(running.thread);
    let place = match running.place {
        Some(place) => format!("after the one at {}:{}:{}", place.file(), place.line(), place.column()),
        None => "of its own".to_owned(),
    };
    if is_blocked {
        return format!(
            "{thread} is blocked outside of the checker: it has performed no operation {place} for {seconds} s\n\
             help: threads of a model run one at a time, so that a lock, channel or thread of the standard library blocks \
             forever; use those of `teetotal`\n\
             help: a lock of the standard library may be held by a discarded execution\n\
             the process ends here, since a thread that is blocked cannot be ended alone"
        );
    }
    format!(
        "{thread} has performed no operation {place} for {seconds} s\n\
         help: does a loop wait for something that is not of `teetotal`? Set TEETOTAL_WATCHDOG to more seconds if it \
         is only slow"
    )
}
