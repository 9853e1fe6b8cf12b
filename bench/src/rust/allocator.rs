//! What the checked allocator costs in models that do not free memory while they run.
//!
//! A program has one global allocator, so each side is measured in a process of its own, the two in turns.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use teetotal::ModelId;
use teetotal::sync::Mutex;
use teetotal::thread;

use super::{cases, measure, rates, time};

/// How many times as long a search may take with the checked allocator.
const TARGET: f64 = 1.1;

/// Each side is measured so often, and the shortest time counts.
const TURNS: usize = 7;

/// A measurement is repeated for so long.
const ENOUGH: Duration = Duration::from_millis(40);

/// The sides.
const SIDES: [&str; 2] = ["system", "checked"];

type Body = Arc<dyn Fn() + Send + Sync>;

/// Which global allocator this process has: that of the system, until the checked one is asked for.
#[allow(unsafe_code, reason = "a global allocator is unsafe to implement")]
mod switch {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use teetotal::alloc::Checked;

    struct Switch(AtomicBool);

    #[global_allocator]
    static SWITCH: Switch = Switch(AtomicBool::new(false));

    /// From now on it is the checked one, which knows what is of the system.
    pub(super) fn check() {
        SWITCH.0.store(true, Relaxed);
    }

    // SAFETY: both are allocators, and the checked one frees what the system has allocated.
    unsafe impl GlobalAlloc for Switch {
        #[inline]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe { if self.0.load(Relaxed) { Checked.alloc(layout) } else { System.alloc(layout) } }
        }

        #[inline]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe { if self.0.load(Relaxed) { Checked.alloc_zeroed(layout) } else { System.alloc_zeroed(layout) } }
        }

        #[inline]
        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: the caller's.
            unsafe { if self.0.load(Relaxed) { Checked.dealloc(block, layout) } else { System.dealloc(block, layout) } }
        }

        #[inline]
        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: the caller's.
            unsafe {
                if self.0.load(Relaxed) {
                    Checked.realloc(block, layout, size)
                } else {
                    System.realloc(block, layout, size)
                }
            }
        }
    }
}

/// Measures one side if it is named, or else compares both.
pub(crate) fn run(side: Option<&str>) -> ExitCode {
    match side {
        Some(side) => {
            if side == SIDES[1] {
                switch::check();
            }
            tell_times();
            ExitCode::SUCCESS
        }
        None => compare(),
    }
}

/// Prints the executions and the seconds of each model.
fn tell_times() {
    for (name, body) in bodies() {
        let (report, seconds) = measure(ModelId::Pso, body, ENOUGH);
        let is_right = report.failure.is_none() && report.coverage.is_complete();
        println!("{name}\t{}\t{seconds}\t{is_right}", report.executions);
    }
}

/// What was measured of a model: the executions and whether the result is right, and the shortest time.
struct Best {
    said: (u64, bool),
    seconds: f64,
}

fn compare() -> ExitCode {
    println!("models under pso that do not free memory; {TARGET} times as long with the checked allocator at most");
    println!("{:<28} {:>10} {:>10} {:>10} {:>6}", "model", "executions", "system", "checked", "ratio");
    let mut best: [BTreeMap<String, Best>; 2] = Default::default();
    for _ in 0..TURNS {
        for (side, best) in SIDES.into_iter().zip(&mut best) {
            let Some(lines) = measured(side) else {
                println!("this program cannot run itself");
                return ExitCode::FAILURE;
            };
            for (name, said, seconds) in lines {
                let best = best.entry(name).or_insert(Best { said, seconds });
                best.seconds = best.seconds.min(seconds);
            }
        }
    }
    let (mut missed, mut logarithms) = (0, Vec::new());
    for (name, _) in bodies() {
        let [Some(system), Some(checked)] = [best[0].get(&name), best[1].get(&name)] else { continue };
        let ratio = checked.seconds / system.seconds;
        logarithms.push(ratio.ln());
        let is_right = system.said == checked.said && system.said.1;
        let is_reached = ratio <= TARGET;
        missed += u32::from(!(is_right && is_reached));
        println!(
            "{name:<28} {:>10} {:>10} {:>10} {ratio:>6.2}{}{}",
            checked.said.0,
            time(system.seconds),
            time(checked.seconds),
            if is_right { "" } else { "  WRONG" },
            if is_reached { "" } else { "  MISSED" },
        );
    }
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    println!("\n{mean:.2} times as long in the geometric mean; {missed} targets missed");
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A model, its executions and whether the result is right, and the seconds.
type Measured = (String, (u64, bool), f64);

/// What a process of its own says of each model on one side.
fn measured(side: &str) -> Option<Vec<Measured>> {
    let output = Command::new(std::env::current_exe().ok()?).args(["allocator", side]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let read = |line: &str| {
        let mut words = line.split('\t');
        let (name, executions, seconds) = (words.next()?.to_owned(), words.next()?.parse().ok()?, words.next()?);
        Some((name, (executions, words.next()? == "true"), seconds.parse().ok()?))
    };
    text.lines().map(read).collect()
}

/// The cases of the peers, none of which frees memory that threads share, and some smaller models.
fn bodies() -> impl Iterator<Item = (String, Body)> {
    let known = cases::CASES.into_iter().map(|(name, make)| (name.to_owned(), Body::from(make())));
    let small: [(&str, Body); 3] = [
        ("message passing", Arc::new(rates::message_passing)),
        ("SB, 6 threads", Arc::new(|| rates::by_arc(6))),
        ("mutex, 3 threads", Arc::new(|| mutex(3))),
    ];
    known.chain(small.map(|(name, body)| (name.to_owned(), body)))
}

/// `n` threads that increment a number behind a lock.
fn mutex(n: usize) {
    let number = teetotal::sync::Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..n)
        .map(|_| {
            let number = teetotal::sync::Arc::clone(&number);
            thread::spawn(move || *number.lock().expect("no thread panics") += 1)
        })
        .collect();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    assert_eq!(*number.lock().expect("no thread panics"), n);
}
