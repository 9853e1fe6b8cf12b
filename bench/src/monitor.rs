//! Monitoring a recorded execution: events a second and memory, on a trace that is made as it is read.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use teetotal::{ModelId, Monitoring, monitor};

use crate::clock::Clock;

/// Events a second, with eight threads.
const TARGET_RATE: f64 = 5e6;

/// By how many bytes memory may grow in the second half of a trace and still be flat.
const FLAT: u64 = 1 << 20;

const N_THREADS: u64 = 8;

/// How many events the part has that is repeated.
const PART: usize = 1_000_000;

/// How the threads of a trace use memory.
#[derive(Clone, Copy)]
struct Mix {
    name: &'static str,
    n_variables: u64,
    n_locks: u64,
    /// Of a hundred accesses, how many are under a lock.
    locked: u64,
}

const MIXES: [Mix; 4] = [
    Mix { name: "100 variables, 10 locks", n_variables: 100, n_locks: 10, locked: 100 },
    Mix { name: "1,000 variables, 50 locks", n_variables: 1_000, n_locks: 50, locked: 100 },
    Mix { name: "half without a lock", n_variables: 1_000, n_locks: 50, locked: 50 },
    // More clocks than a cache holds, and than are looked at to forget a store.
    Mix { name: "100,000 variables, 1,000 locks", n_variables: 100_000, n_locks: 1_000, locked: 90 },
];

/// Measures and compares with the targets.
pub(crate) fn run(events: u64) -> ExitCode {
    let mut missed = 0;
    println!(
        "{:<28} {:>5} {:>12} {:>9} {:>14} {:>10} {:>10} {:>7}",
        "trace, std, 8 threads", "model", "events", "time", "events/s", "at half", "at end", "pairs"
    );
    for mix in MIXES {
        for model in [ModelId::Tso, ModelId::Pso] {
            missed += row(&mix, model, events);
        }
    }
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}

fn row(mix: &Mix, model: ModelId, events: u64) -> u32 {
    let repeats = events.div_ceil(PART as u64).max(2);
    let at_half = Arc::new(AtomicU64::new(0));
    let trace = Repeated {
        text: part(mix),
        start: start(),
        at: 0,
        left: repeats,
        half: repeats / 2,
        at_half: Arc::clone(&at_half),
    };
    let options = Monitoring { name: mix.name.to_owned(), model, window: None };
    let clock = Clock::start();
    let (found, error) = monitor(trace, &options, &|| false);
    let time = clock.on_core().as_secs_f64();
    if let Some(error) = error {
        println!("{}: {error}", mix.name);
        return 1;
    }
    let (half, end) = (at_half.load(Ordering::Relaxed), resident());
    let rate = found.events as f64 / time;
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    println!(
        "{:<28} {:>5} {:>12} {time:>7.2} s {rate:>14.0} {:>10} {:>10} {:>7}",
        mix.name,
        model.info().name,
        found.events,
        mib(half),
        mib(end),
        found.pairs.len() as u64 + found.unlisted,
    );
    let grows = end > half + FLAT;
    u32::from(rate < TARGET_RATE) + u32::from(grows) + u32::from(found.gap.is_some())
}

/// The first thread starts the others and is idle from then on.
fn start() -> Vec<u8> {
    (1..=N_THREADS).map(|thread| format!("main|fork(T{thread})|0\n")).collect::<String>().into_bytes()
}

/// A piece of a trace that may be repeated.
fn part(mix: &Mix) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut text = String::new();
    let mut events = 0;
    while events < PART {
        let (thread, lock) = (1 + below(N_THREADS), below(mix.n_locks));
        let is_locked = below(100) < mix.locked;
        let n_accesses = 1 + below(8);
        if is_locked {
            let _ = writeln!(text, "T{thread}|acq(L{lock})|{lock}");
        }
        for _ in 0..n_accesses {
            // A lock guards the variables whose number has the same rest.
            let variable = below(mix.n_variables / mix.n_locks) * mix.n_locks + lock;
            let operation = if below(3) == 0 { 'w' } else { 'r' };
            let _ = writeln!(text, "T{thread}|{operation}(V{variable})|{}", 100 + variable % 500);
        }
        if is_locked {
            let _ = writeln!(text, "T{thread}|rel(L{lock})|{lock}");
        }
        events += n_accesses as usize + 2 * usize::from(is_locked);
    }
    text.into_bytes()
}

/// A beginning, and then a part again and again.
struct Repeated {
    start: Vec<u8>,
    text: Vec<u8>,
    at: usize,
    left: u64,
    half: u64,
    /// How much memory there was in the middle.
    at_half: Arc<AtomicU64>,
}

impl Read for Repeated {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if !self.start.is_empty() {
            let n = self.start.len().min(into.len());
            into[..n].copy_from_slice(&self.start[..n]);
            self.start.drain(..n);
            return Ok(n);
        }
        if self.left == 0 {
            return Ok(0);
        }
        let rest = &self.text[self.at..];
        let n = rest.len().min(into.len());
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        if self.at == self.text.len() {
            self.at = 0;
            self.left -= 1;
            if self.left == self.half {
                self.at_half.store(resident(), Ordering::Relaxed);
            }
        }
        Ok(n)
    }
}

/// How many bytes of memory this process has, where Linux tells.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    pages * 4096
}
