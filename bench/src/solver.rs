//! The order solver: time for a question about traces of 30 to 5,000 events, beside z3 where it is installed.
//!
//! A question is that of [MCR, §4]: whether a read can return the value of another write, with everything unchanged that
//! comes before the two and that they need.

mod z3;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use teetotal_engine::{Schedule, trace_of};
use teetotal_judge::order::{Answer, Demand, Question, Solver, needed};
use teetotal_memory::{BUFFER_MODELS, Event, EventId, ModelId, Step, Trace};
use teetotal_program::ir::{Builder, Program};
use teetotal_program::{Order, ThreadId};

use self::z3::Z3;
use crate::clock::Clock;

/// How many events the traces have.
const SIZES: [usize; 7] = [30, 100, 300, 1_000, 2_000, 3_500, 5_000];

/// Up to so many events z3 is asked too.
const ASKED: usize = 300;

/// The median is to be so many times as fast as that of z3.
const FASTER: f64 = 100.0;

/// How many questions about a trace, and how many of them z3 is asked.
const QUESTIONS: usize = 40;
const QUESTIONS_FOR_Z3: usize = 10;

/// What takes longer than this is measured by the time on a core.
const COUNTED: Duration = Duration::from_millis(50);

const THREADS: usize = 3;
const LOCATIONS: usize = 6;

/// Measures and compares with the target.
pub(crate) fn run() -> ExitCode {
    let mut z3 = Z3::start();
    if z3.is_none() {
        println!("z3 is not installed, so nothing is compared with it");
    }
    println!(
        "{:>7} {:<5} {:>9} {:>9} {:>8} {:>8} {:>8} {:>10} {:>8} {:>11} {:>11} {:>11} {:>8}",
        "events",
        "model",
        "laid out",
        "possible",
        "not",
        "by rule",
        "learning",
        "conflicts",
        "unknown",
        "median",
        "p95",
        "z3 median",
        "ratio"
    );
    let mut missed = 0;
    for size in SIZES {
        for model in BUFFER_MODELS {
            missed += measure(size, model.id, z3.as_mut().filter(|_| size <= ASKED));
        }
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Small numbers that look random.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides.max(1) as u64) as usize
    }
}

/// Measures questions about one trace; gives how many targets are missed.
fn measure(size: usize, model: ModelId, mut z3: Option<&mut Z3>) -> u32 {
    let mut dice = Dice(size as u64);
    let program = Arc::new(program(size, &mut dice));
    let trace = execution(&program, &mut dice);
    let clock = Clock::start();
    let mut solver = Solver::new(model, &trace, |_| 0);
    let laid_out = clock.elapsed().as_secs_f64();
    let (mut times, mut z3_times, mut counts) = (Vec::new(), Vec::new(), [0; 2]);
    for number in 0..QUESTIONS {
        let (events, demand) = question(&trace, &mut dice);
        let question = Question { events: &events, demands: &[demand] };
        let clock = Clock::start();
        let answer = solver.ask(&question);
        times.push(seconds(&clock));
        let is_possible = matches!(answer, Answer::Possible(_));
        if answer != Answer::Unknown {
            counts[usize::from(is_possible)] += 1;
        }
        if number < QUESTIONS_FOR_Z3
            && answer != Answer::Unknown
            && let Some(z3) = &mut z3
        {
            let (seconds, says) = z3.ask(&solver.formula(&question));
            assert!(says.is_none_or(|says| says == is_possible), "z3 and the solver disagree");
            z3_times.push(seconds);
        }
    }
    let (median, p95) = (quantile(&mut times, 0.5), quantile(&mut times, 0.95));
    let z3_median = (!z3_times.is_empty()).then(|| quantile(&mut z3_times, 0.5));
    let ratio = z3_median.map(|z3| z3 / median);
    let effort = solver.effort();
    println!(
        "{:>7} {:<5} {:>9} {:>9} {:>8} {:>8} {:>8} {:>10} {:>8} {:>11} {:>11} {:>11} {:>8}",
        trace.events().len(),
        model.info().name,
        time(laid_out),
        counts[1],
        counts[0],
        effort.refuted,
        effort.learning,
        effort.conflicts,
        effort.unknown,
        time(median),
        time(p95),
        z3_median.map_or_else(String::new, time),
        ratio.map_or_else(String::new, |ratio| format!("{ratio:.0}"))
    );
    u32::from(ratio.is_some_and(|ratio| ratio < FASTER))
}

/// The time of an answer: that on a core where it is long enough for the system to count.
fn seconds(clock: &Clock) -> f64 {
    let elapsed = clock.elapsed();
    let counted = if elapsed > COUNTED { clock.on_core() } else { elapsed };
    counted.as_secs_f64()
}

/// Threads that load, store and add at random, about `size` operations together.
fn program(size: usize, dice: &mut Dice) -> Program {
    let mut p = Builder::new(&format!("random-{size}"));
    let locations: Vec<_> = (0..LOCATIONS).map(|i| p.shared(&format!("x{i}"), 0)).collect();
    for thread in 0..THREADS {
        p.thread(&format!("T{thread}"), |t| {
            let seen = t.temporary();
            for _ in 0..size / THREADS {
                let loc = locations[dice.throw(LOCATIONS)];
                match dice.throw(12) {
                    0..=5 => t.push(load(seen, loc)),
                    6..=10 => t.store_with(loc, 1 + dice.throw(4) as u64, Order::Relaxed),
                    _ => t.fence(),
                }
            }
        });
    }
    p.build().expect("it is well formed")
}

fn load(to: teetotal_program::Reg, from: teetotal_program::Loc) -> teetotal_program::ir::Instruction {
    teetotal_program::ir::Instruction::Load { to, from: from.into(), order: Order::Relaxed }
}

/// An execution of sequential consistency, each thread a few operations at a time.
fn execution(program: &Arc<Program>, dice: &mut Dice) -> Trace {
    let mut left: Vec<usize> = program.threads.iter().map(|thread| thread.code.len()).collect();
    let mut steps = Vec::new();
    while left.iter().any(|&left| left > 0) {
        let thread = dice.throw(left.len());
        let count = (1 + dice.throw(4)).min(left[thread]);
        left[thread] -= count;
        steps.extend((0..count).map(|_| Step::Issue { thread: ThreadId::at(thread), alternative: 0 }));
    }
    trace_of(program, ModelId::Sc, &Schedule::Steps(steps)).trace
}

/// Whether some read can return something else that one of the next writes to its location, or of those before, writes.
fn question(trace: &Trace, dice: &mut Dice) -> (Vec<u32>, Demand) {
    let reads: Vec<EventId> = trace.ids().filter(|(_, event)| event.is_read()).map(|(id, _)| id).collect();
    loop {
        let read = reads[dice.throw(reads.len())];
        let event = trace.event(read);
        let is_other = |(_, write): &(EventId, &Event)| {
            write.is_write() && write.loc == event.loc && write.written != event.read && write.thread != event.thread
        };
        let writes: Vec<EventId> = trace.ids().filter(is_other).map(|(id, _)| id).collect();
        let later = writes.partition_point(|&write| write < read);
        let near = &writes[later.saturating_sub(4)..(later + 4).min(writes.len())];
        let Some(&write) = near.get(dice.throw(near.len())) else { continue };
        let Some(before) = needed(trace, &[write], &[read]) else { continue };
        let value = trace.event(write).written.unwrap_or(0);
        let mut events = before;
        events[event.thread.index()] += 1;
        return (events, Demand::Value { read, value });
    }
}

fn quantile(times: &mut [f64], part: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times[((times.len() - 1) as f64 * part).round() as usize]
}

fn time(seconds: f64) -> String {
    if seconds < 1e-3 { format!("{:.0} µs", seconds * 1e6) } else { format!("{:.1} ms", seconds * 1e3) }
}
