//! Robustness: what monitoring costs an event, beside plain exploration, with the number of threads, and over a family.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use teetotal::sync::atomic::{AtomicUsize, Ordering};
use teetotal::thread;
use teetotal_check::{Options, SearchId, check};
use teetotal_gallery::{self as gallery, Variant, Waiting};
use teetotal_judge::MonitorId;
use teetotal_judge::axiomatic::families::e1;
use teetotal_judge::monitors::robustness::survey::Survey;
use teetotal_judge::monitors::robustness::{Algorithm, Attempt, Borderline, Buffers, Sober};
use teetotal_memory::models::Sc;
use teetotal_memory::{Machine, ModelId, Trace};
use teetotal_program::Order;
use teetotal_program::ir::{Builder, Interpreter, Program};

/// Nanoseconds an event that monitoring may cost with four threads.
const TARGET_EVENT: f64 = 60.0;

/// How much slower than plain exploration of SC monitored exploration may be.
const TARGET_OVERHEAD: f64 = 1.5;

/// How long a whole family may take.
const TARGET_FAMILY: Duration = Duration::from_secs(60);

/// How often a measurement is repeated; the best counts.
const REPEATS: usize = 15;

const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

/// Measures and compares with the targets.
pub(crate) fn run() -> ExitCode {
    let mut missed = events();
    missed += overhead();
    missed += overhead_of_rust();
    missed += family();
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}

/// Each thread writes its own location and reads all others, again and again.
fn crowd(n_threads: usize, rounds: usize) -> Program {
    let mut p = Builder::new("crowd");
    let locations: Vec<_> = (0..8).map(|index| p.shared(&format!("x{index}"), 0)).collect();
    for thread in 0..n_threads {
        p.thread(&format!("T{thread}"), |t| {
            for round in 0..rounds {
                t.store(locations[(thread + round) % 8], 1);
                t.load("r", locations[(thread + 3 * round + 1) % 8]);
                if round % 4 == 3 {
                    t.fence();
                }
            }
        });
    }
    p.build().expect("well formed")
}

/// One execution, the threads in turn.
fn execution(program: &Arc<Program>) -> Trace {
    let mut subject = Interpreter::new(Arc::clone(program));
    let mut machine = Machine::<Sc>::new(&subject);
    let (mut trace, mut steps, mut turn) = (Trace::default(), Vec::new(), 0);
    loop {
        steps.clear();
        machine.enabled(&subject, &mut steps);
        if steps.is_empty() {
            return trace;
        }
        turn += 1;
        machine.perform(&mut subject, steps[turn % steps.len()], &mut trace);
    }
}

/// Nanoseconds an event of `trace`.
fn cost(algorithm: &mut dyn Algorithm, model: ModelId, trace: &Trace) -> f64 {
    let times = (0..REPEATS).map(|_| {
        let started = Instant::now();
        algorithm.begin();
        let mut found = 0;
        for (id, event) in trace.ids() {
            let attempt = Attempt::of(model, event);
            found += usize::from(attempt.is_some_and(|attempt| algorithm.overtaken(&attempt).is_some()));
            algorithm.perform(id, event);
        }
        std::hint::black_box(found);
        started.elapsed()
    });
    times.min().expect("it is repeated").as_secs_f64() * 1e9 / trace.events().len() as f64
}

fn events() -> u32 {
    println!(
        "{:>7} {:>8} {:>14} {:>14} {:>14} {:>14}",
        "threads", "events", "robustness tso", "pso", "sober", "buffers"
    );
    let mut at_four = f64::MAX;
    let mut costs = Vec::new();
    for n_threads in [2, 4, 8, 16, 32, 64] {
        let program = Arc::new(crowd(n_threads, 4_096 / n_threads));
        let trace = execution(&program);
        let tso = cost(&mut Borderline::new(&program, ModelId::Tso), ModelId::Tso, &trace);
        let pso = cost(&mut Borderline::new(&program, ModelId::Pso), ModelId::Pso, &trace);
        let sober = cost(&mut Sober::new(&program), ModelId::Tso, &trace);
        let buffers = cost(&mut Buffers::new(&program, ModelId::Tso), ModelId::Tso, &trace);
        let events = trace.events().len();
        println!("{n_threads:>7} {events:>8} {tso:>11.1} ns {pso:>11.1} ns {sober:>11.1} ns {buffers:>11.1} ns");
        costs.push(tso.max(pso));
        if n_threads == 4 {
            at_four = tso.max(pso);
        }
    }
    let linear = costs[costs.len() - 1] <= costs[0] * 32.0;
    u32::from(at_four > TARGET_EVENT) + u32::from(!linear)
}

fn overhead() -> u32 {
    println!("\n{:<28} {:>10} {:>10} {:>10} {:>7}", "program, sc", "executions", "plain", "monitored", "ratio");
    let programs = [
        // In the first row much of the time goes into the proofs, one for each pair of places; in the second it does not.
        ("Dekker try-lock, 3 rounds", gallery::dekker_try(3, ALL)),
        ("Dekker try-lock, 4 rounds", gallery::dekker_try(4, ALL)),
        ("fib 5", gallery::fibonacci(5, ALL)),
        ("message passing, 4 rounds", gallery::message_passing_rounds(4, ALL)),
    ];
    let mut missed = 0;
    for (name, program) in programs {
        let program = Arc::new(program);
        let time = |monitors: &[MonitorId]| {
            let model = if monitors.is_empty() { ModelId::Sc } else { ModelId::Tso };
            let options = Options { search: SearchId::Dpor, monitors: monitors.to_vec(), ..Options::new(model) };
            let runs = (0..REPEATS).map(|_| {
                let started = Instant::now();
                let outcome = check(&program, &options, &|| None).expect("it can be checked");
                (started.elapsed(), outcome.stats.executions)
            });
            runs.min().expect("it is repeated")
        };
        let (plain, executions) = time(&[]);
        let (monitored, _) = time(&[MonitorId::Robustness]);
        let ratio = monitored.as_secs_f64() / plain.as_secs_f64();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!("{name:<28} {executions:>10} {:>7.1} ms {:>7.1} ms {ratio:>7.2}", ms(plain), ms(monitored));
        missed += u32::from(ratio > TARGET_OVERHEAD);
    }
    missed
}

/// Threads that store with full ordering and load what another stores, again and again.
fn rust_rounds(n_threads: usize, rounds: usize) {
    let shared = Arc::new((0..n_threads).map(|_| AtomicUsize::new(0)).collect::<Vec<_>>());
    let threads: Vec<_> = (0..n_threads)
        .map(|me| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for round in 1..=rounds {
                    shared[me].store(round, Ordering::SeqCst);
                    shared[(me + 1) % shared.len()].load(Ordering::Relaxed);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("it ends");
    }
}

fn overhead_of_rust() -> u32 {
    println!("\n{:<28} {:>10} {:>10} {:>10} {:>7}", "Rust test, sc", "executions", "plain", "monitored", "ratio");
    let mut missed = 0;
    for (n_threads, rounds) in [(2, 5), (3, 2)] {
        let time = |robustness: bool| {
            let mut builder = teetotal::model::Builder::new();
            builder.model = if robustness { ModelId::Tso } else { ModelId::Sc };
            builder.robustness = robustness;
            let runs = (0..REPEATS).map(|_| {
                let started = Instant::now();
                let report = builder.explore(move || rust_rounds(n_threads, rounds));
                assert!(report.failure.is_none() && report.coverage.is_complete());
                (started.elapsed(), report.executions)
            });
            runs.min().expect("it is repeated")
        };
        let ((plain, executions), (monitored, _)) = (time(false), time(true));
        let ratio = monitored.as_secs_f64() / plain.as_secs_f64();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let name = format!("{n_threads} threads, {rounds} rounds");
        println!("{name:<28} {executions:>10} {:>7.1} ms {:>7.1} ms {ratio:>7.2}", ms(plain), ms(monitored));
        missed += u32::from(ratio > TARGET_OVERHEAD);
    }
    missed
}

/// E1 under TSO, with all algorithms on every interleaving and the enumeration of the model.
fn family() -> u32 {
    let started = Instant::now();
    let mut survey = Survey::default();
    e1(Order::SeqCst).for_each(|program| survey.add(ModelId::Tso, &Arc::new(program)));
    let time = started.elapsed();
    println!("\nE1: {} programs, {} not robust, {:.1} s", survey.programs, survey.not_robust, time.as_secs_f64());
    u32::from(time > TARGET_FAMILY)
}
