//! A program as Rust code.

#![allow(unsafe_code, reason = "data that is not atomic is accessed through pointers")]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Duration;

use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, Report, SearchId, reached};
use teetotal::sync::atomic::{AtomicU64, Ordering};
use teetotal::{ModelId, hint, thread};

use crate::machine::Outcome;
use crate::program::{Change, Counter, FAILED, Hint, MOST_THREADS, N_LOCATIONS, N_REGISTERS, Program, Statement};

/// What threads share.
struct Shared {
    memory: [AtomicU64; N_LOCATIONS],
    /// It is on the heap.
    lock: Box<teetotal::sync::Mutex<u64>>,
    /// It is not atomic.
    data: UnsafeCell<u64>,
}

// SAFETY: it is not, where a race is found.
unsafe impl Sync for Shared {}

/// What a thread has of its own, or in the frame of its parent.
struct Own<'o> {
    registers: [u64; N_REGISTERS],
    counter: u64,
    parents: &'o mut u64,
    /// Takes the place of `counter` if counters are on the heap.
    boxed: Option<Box<u64>>,
}

fn give(hint: Hint) {
    match hint {
        Hint::Yield => thread::yield_now(),
        Hint::Spin => hint::spin_loop(),
        Hint::Sleep => thread::sleep(Duration::from_millis(1)),
    }
}

/// Runs statements; breaks if the innermost loop is left.
fn run(statements: &[Statement], own: &mut Own<'_>, shared: &Shared) -> ControlFlow<()> {
    let memory = &shared.memory;
    for statement in statements {
        match *statement {
            Statement::Load(register, loc, order) => own.registers[register] = memory[loc].load(order),
            Statement::Store(loc, value, order) => memory[loc].store(value, order),
            Statement::Swap(register, loc, value, order) => own.registers[register] = memory[loc].swap(value, order),
            Statement::Or(register, loc, order) => own.registers[register] = memory[loc].fetch_or(2, order),
            Statement::Exchange(register, loc, expected, new) => {
                let result = memory[loc].compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
                own.registers[register] = result.unwrap_or_else(|old| old);
            }
            Statement::Keep(register, loc) => own.registers[register] = memory[loc].fetch_or(0, Ordering::SeqCst),
            Statement::Fence => teetotal::sync::atomic::fence(Ordering::SeqCst),
            Statement::Hint(hint) => give(hint),
            Statement::BreakIf(register, value) => {
                if own.registers[register] == value {
                    return ControlFlow::Break(());
                }
            }
            // SAFETY: that there is no race is what is checked.
            Statement::Read(register) => own.registers[register] = shared.data.with(|data| unsafe { *data }),
            // SAFETY: the same.
            Statement::Write(value) => shared.data.with_mut(|data| unsafe { *data = value }),
            Statement::Loop(limit, ref body) => repeat(limit, body, own, shared),
            Statement::Count(counter, most) => {
                let counter = match (counter, &mut own.boxed) {
                    (Counter::Own, Some(boxed)) => black_box(&mut **boxed),
                    (Counter::Own, None) => &mut own.counter,
                    (Counter::Parent, _) => &mut *own.parents,
                };
                *counter = (*counter + 1).min(most);
            }
            Statement::Locked { tries, register, change } => {
                own.registers[register] = access_data(&shared.lock, tries, change);
            }
            Statement::Weak(register, loc, expected, new) => {
                let result = memory[loc].compare_exchange_weak(expected, new, Ordering::SeqCst, Ordering::SeqCst);
                own.registers[register] = result.unwrap_or_else(|old| FAILED + old);
            }
        }
    }
    ControlFlow::Continue(())
}

/// Reads and changes the data behind the lock.
fn access_data(lock: &teetotal::sync::Mutex<u64>, tries: bool, change: Change) -> u64 {
    let guard = if tries { lock.try_lock().ok() } else { Some(lock.lock().expect("no thread panics")) };
    let Some(mut data) = guard else { return FAILED };
    let old = *data;
    if change != Change::No {
        *data = change.apply(old);
    }
    old
}

fn repeat(limit: Option<u32>, body: &[Statement], own: &mut Own<'_>, shared: &Shared) {
    if let (Some(limit), true) = (limit, own.boxed.is_some()) {
        return repeat_in_box(limit, body, own, shared);
    }
    let mut left = limit;
    while left != Some(0) && run(body, own, shared).is_continue() {
        left = left.map(|left| left - 1);
    }
}

/// Counts on the heap, and nowhere else.
fn repeat_in_box(limit: u32, body: &[Statement], own: &mut Own<'_>, shared: &Shared) {
    let mut left = Box::new(limit);
    while **black_box(&mut left) > 0 && run(body, own, shared).is_continue() {
        **black_box(&mut left) -= 1;
    }
}

/// How a program is searched.
pub(crate) fn builder((model, search): (ModelId, SearchId), spurious: u32) -> Builder {
    let mut builder = Builder::new();
    (builder.model, builder.search, builder.spurious) = (model, search, spurious as usize);
    (builder.max_permutations, builder.max_branches) = (Some(3_000), 150);
    // Blocked executions are not counted, and there may be very many.
    builder.max_duration = Some(Duration::from_millis(500));
    builder
}

/// What the program leaves as Rust code, and what the search says.
pub(crate) fn outcomes(program: &Program, builder: &Builder) -> (BTreeSet<Outcome>, Report) {
    search(program, builder, false)
}

/// What it leaves with the counters of its loops on the heap.
pub(crate) fn outcomes_in_boxes(program: &Program, builder: &Builder) -> (BTreeSet<Outcome>, Report) {
    search(program, builder, true)
}

fn search(program: &Program, builder: &Builder, is_boxed: bool) -> (BTreeSet<Outcome>, Report) {
    let threads = program.clone();
    let report = builder.explore(move || {
        let memory = [const { AtomicU64::new(0) }; N_LOCATIONS];
        let shared = Shared { memory, lock: Box::new(teetotal::sync::Mutex::new(0)), data: UnsafeCell::new(0) };
        // It is in a frame of this thread.
        let mut counters = [0; MOST_THREADS];
        let registers = thread::scope(|scope| {
            let shared = &shared;
            let handles: Vec<_> = threads
                .iter()
                .zip(&mut counters)
                .map(|(statements, parents)| {
                    scope.spawn(move || {
                        let boxed = is_boxed.then(|| Box::new(0));
                        let mut own = Own { registers: [0; N_REGISTERS], counter: 0, parents, boxed };
                        let _ = run(statements, &mut own, shared);
                        (own.registers, own.boxed.map_or(own.counter, |boxed| *boxed))
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect::<Vec<_>>()
        });
        let own = registers.into_iter().zip(&counters);
        let own = own.flat_map(|((registers, own), parents)| registers.into_iter().chain([own, *parents]));
        let own = own.chain(shared.memory.iter().map(|cell| cell.load(Ordering::SeqCst)));
        // SAFETY: all threads have ended.
        let data = shared.data.with(|data| unsafe { *data });
        let outcome: Vec<_> = own.chain([*shared.lock.lock().expect("no thread panics"), data]).collect();
        let outcome: Vec<String> = outcome.iter().map(ToString::to_string).collect();
        // An execution that is given up runs to its end too, and does not count.
        reached(&outcome.join(" "), true);
    });
    let parse = |name: &str| name.split(' ').map(|number| number.parse().expect("it is a number")).collect();
    let outcomes = report.reachable.iter().map(|mark| parse(&mark.name)).collect();
    (outcomes, report)
}
