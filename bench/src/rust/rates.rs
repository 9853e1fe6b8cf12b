//! How many executions a search needs, and how many it runs a second.

use std::sync::Arc as StdArc;

use teetotal::ModelId;
use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::thread;

use super::library::Data;
use super::{measure, time};
use crate::clock::Clock;

/// Executions a second that are to be reached.
const TARGET_RATE: f64 = 300_000.0;

/// So many executions are measured.
const EXECUTIONS: u64 = 1_000_000;

/// Store buffering with this many threads is counted.
const THREADS: [usize; 5] = [2, 3, 4, 5, 6];

type Body = StdArc<dyn Fn() + Send + Sync>;

/// Makes store buffering of so many threads.
type Make = fn(usize) -> Body;

/// Executions of store buffering, however threads share locations; gives how many targets are missed.
pub(super) fn counts() -> u32 {
    println!("\nexecutions of store buffering, n threads without fences: 2^n, and under sc one less");
    println!("{:<10} {:<6} {}", "shared by", "model", THREADS.map(|n| format!("{n:>8}")).join(""));
    let ways: [(&str, Make); 3] = [
        ("Arc", |n| StdArc::new(move || by_arc(n))),
        ("scope", |n| StdArc::new(move || by_scope(n))),
        ("statics", |n| StdArc::new(move || by_statics(n))),
    ];
    let mut missed = 0;
    for (way, make) in ways {
        for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
            let counted = THREADS.map(|n| {
                let (report, _) = measure(model, make(n), super::ENOUGH);
                let expected = (1_u64 << n) - u64::from(model == ModelId::Sc);
                missed += u32::from(report.executions != expected || !report.coverage.is_complete());
                format!("{:>8}", report.executions)
            });
            println!("{way:<10} {:<6} {}", model.info().name, counted.join(""));
        }
    }
    missed
}

pub(super) fn by_arc(n: usize) {
    let flags: Arc<Vec<AtomicUsize>> = Arc::new((0..n).map(|_| AtomicUsize::new(0)).collect());
    let threads: Vec<_> = (0..n)
        .map(|number| {
            let flags = Arc::clone(&flags);
            thread::spawn(move || store_and_load(&flags, number))
        })
        .collect();
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

fn by_scope(n: usize) {
    let flags: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
    let flags = &flags;
    thread::scope(|scope| {
        for number in 0..n {
            scope.spawn(move || store_and_load(flags, number));
        }
    });
}

fn by_statics(n: usize) {
    static FLAGS: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];
    let threads: Vec<_> = (0..n).map(|number| thread::spawn(move || store_and_load(&FLAGS[..n], number))).collect();
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

fn store_and_load(flags: &[AtomicUsize], number: usize) -> usize {
    flags[number].store(1, Relaxed);
    flags[(number + 1) % flags.len()].load(Relaxed)
}

/// A small model repeated, with data that may race; gives how many targets are missed.
pub(super) fn rate() -> u32 {
    println!("\nexecutions a second on one core, races looked for");
    let small: Body = StdArc::new(message_passing);
    let large: Body = StdArc::new(|| by_arc(20));
    let repeated = repeat("message passing, again and again", &small);
    repeat("store buffering, 20 threads", &large);
    u32::from(repeated < TARGET_RATE)
}

/// Data that is published by a flag.
pub(super) fn message_passing() {
    let shared = Arc::new((Data::new(0), AtomicUsize::new(0)));
    let other = Arc::clone(&shared);
    let writer = thread::spawn(move || {
        other.0.set(1);
        other.1.store(1, Release);
    });
    if shared.1.load(Acquire) == 1 {
        assert_eq!(shared.0.get(), 1);
    }
    drop(writer.join());
}

/// Searches until there are enough executions; gives how many a second.
fn repeat(name: &str, body: &Body) -> f64 {
    let mut builder = teetotal::model::Builder::new();
    builder.max_permutations = Some(EXECUTIONS as usize);
    let clock = Clock::start();
    let mut executions = 0;
    while executions < EXECUTIONS {
        let body = StdArc::clone(body);
        executions += builder.explore(move || body()).executions;
    }
    let seconds = clock.on_core().as_secs_f64();
    let rate = executions as f64 / seconds;
    println!("{name:<34} {executions:>9} executions {:>10} {rate:>10.0} a second", time(seconds));
    rate
}
