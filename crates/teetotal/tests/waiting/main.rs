//! Loops that wait: generated programs as Rust code, against a store-buffer machine that looks at every state.
//!
//! Hints are at random places, and registers and counters in the frames of the thread or of its parent. Whatever the
//! machine can end with, the model must, and nothing else; and it finds a livelock only where some state leads nowhere.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was compared is told where it is asked for")]

mod machine;
mod program;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use machine::{Known, Outcome};
use program::{Change, Counter, FAILED, Hint, MOST_THREADS, N_LOCATIONS, N_REGISTERS, Program, Statement};
use teetotal::model::{Builder, Report, SearchKind};
use teetotal::sync::atomic::{AtomicU64, Ordering};
use teetotal::{ModelId, hint, thread};

/// What threads share.
struct Shared {
    memory: [AtomicU64; N_LOCATIONS],
    /// It is on the heap.
    lock: Box<teetotal::sync::Mutex<u64>>,
}

/// What a thread has of its own, or in the frame of its parent.
struct Own<'o> {
    registers: [u64; N_REGISTERS],
    counter: u64,
    parents: &'o mut u64,
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
            Statement::Loop(limit, ref body) => repeat(limit, body, own, shared),
            Statement::Count(counter, most) => {
                let counter = if counter == Counter::Own { &mut own.counter } else { &mut *own.parents };
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
    let mut left = limit;
    while left != Some(0) && run(body, own, shared).is_continue() {
        left = left.map(|left| left - 1);
    }
}

/// What the program leaves as Rust code, and what the search says.
fn as_rust_code(
    program: &Program,
    (model, search): (ModelId, SearchKind),
    spurious: u32,
) -> (BTreeSet<Outcome>, Report) {
    let outcomes = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let (threads, seen) = (program.clone(), std::sync::Arc::clone(&outcomes));
    let mut builder = Builder::new();
    (builder.model, builder.search, builder.spurious) = (model, search, spurious as usize);
    (builder.max_permutations, builder.max_branches) = (Some(3_000), 150);
    // Blocked executions are not counted, and there may be very many.
    builder.max_duration = Some(Duration::from_millis(500));
    let report = builder.explore(move || {
        let memory = [const { AtomicU64::new(0) }; N_LOCATIONS];
        let shared = Shared { memory, lock: Box::new(teetotal::sync::Mutex::new(0)) };
        // It is in a frame of this thread.
        let mut counters = [0; MOST_THREADS];
        let registers = thread::scope(|scope| {
            let shared = &shared;
            let handles: Vec<_> = threads
                .iter()
                .zip(&mut counters)
                .map(|(statements, parents)| {
                    scope.spawn(move || {
                        let mut own = Own { registers: [0; N_REGISTERS], counter: 0, parents };
                        let _ = run(statements, &mut own, shared);
                        (own.registers, own.counter)
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect::<Vec<_>>()
        });
        let own = registers.into_iter().zip(&counters);
        let own = own.flat_map(|((registers, own), parents)| registers.into_iter().chain([own, *parents]));
        let own = own.chain(shared.memory.iter().map(|cell| cell.load(Ordering::SeqCst)));
        let outcome = own.chain([*shared.lock.lock().expect("no thread panics")]).collect();
        seen.lock().expect("no thread panics").insert(outcome);
    });
    let outcomes = outcomes.lock().expect("no thread panics").clone();
    (outcomes, report)
}

/// What came of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Compared {
    Equal,
    /// The model has a livelock, and so has the machine.
    Livelock,
    /// The search was not complete.
    Incomplete,
}

/// How the model differs from what is known of the program.
fn compare(program: &Program, how: (ModelId, SearchKind), spurious: u32, known: &Known) -> Result<Compared, String> {
    let (outcomes, report) = as_rust_code(program, how, spurious);
    let told = || format!("{:?}, {:?} after {} executions", report.coverage, report.failure, report.executions);
    if let Some(outcome) = outcomes.difference(&known.outcomes).next() {
        return Err(format!("the machine does not have {outcome:?}; {}", told()));
    }
    if let Some(failure) = &report.failure {
        let is_livelock = failure.starts_with("livelock");
        return if is_livelock && known.has_dead_state { Ok(Compared::Livelock) } else { Err(told()) };
    }
    if !report.coverage.is_complete() {
        return Ok(Compared::Incomplete);
    }
    if known.has_dead_state {
        return Err(format!("some state leads nowhere, but {}", told()));
    }
    match known.outcomes.difference(&outcomes).next() {
        Some(outcome) => Err(format!("{outcome:?} is missing; {}", told())),
        None => Ok(Compared::Equal),
    }
}

/// The program without a statement for which it still differs.
fn shrink(mut program: Program, differs: &dyn Fn(&Program) -> bool) -> Program {
    loop {
        let smaller = removals(&program).into_iter().find(|smaller| !smaller.is_empty() && differs(smaller));
        match smaller {
            Some(smaller) => program = smaller,
            None => return program,
        }
    }
}

/// The program without one of its statements each.
fn removals(program: &Program) -> Vec<Program> {
    let mut all = Vec::new();
    for index in 0..program.len() {
        let without = |statements| {
            let mut smaller = program.clone();
            smaller[index] = statements;
            smaller
        };
        all.extend(without_one(&program[index]).into_iter().map(without));
    }
    all
}

fn without_one(statements: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for at in 0..statements.len() {
        let mut smaller = statements.to_vec();
        let removed = smaller.remove(at);
        all.push(smaller);
        if let Statement::Loop(limit, body) = removed {
            for body in without_one(&body).into_iter().filter(|body| has_access(body)) {
                let mut smaller = statements.to_vec();
                smaller[at] = Statement::Loop(limit, body);
                all.push(smaller);
            }
        }
    }
    all
}

/// Whether each iteration of a loop with this body accesses memory.
fn has_access(body: &[Statement]) -> bool {
    let accesses = |statement: &Statement| {
        !matches!(statement, Statement::Hint(_) | Statement::BreakIf(..) | Statement::Count(..) | Statement::Loop(..))
    };
    body.iter().any(accesses)
}

/// How many programs are tried, and from which seed on.
fn programs() -> std::ops::Range<u64> {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("the variable holds a number"))
    };
    let first = number("TEETOTAL_TEST_SEED", 0);
    first..first + number("TEETOTAL_TEST_PROGRAMS", 400)
}

/// The model agrees with the machine on `program`.
fn agrees(program: &Program) {
    for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
        let known = machine::explore(program, model, 0).expect("it is small");
        for search in [SearchKind::Dpor, SearchKind::Mcr] {
            if let Err(how) = compare(program, (model, search), 0, &known) {
                panic!("{model:?}, {search:?}: {how}");
            }
        }
    }
}

/// An update that keeps the value waits for no lock: it may see what another loop restores.
#[test]
fn a_loop_that_updates_sees_what_another_loop_restores() {
    use Statement::{BreakIf, Keep, Load, Loop, Store, Swap};
    let sets = Swap(0, 1, 1, Ordering::SeqCst);
    let restores = Swap(0, 1, 0, Ordering::SeqCst);
    agrees(&vec![
        vec![Loop(None, vec![Keep(2, 1), BreakIf(2, 1)]), Store(2, 2, Ordering::Relaxed)],
        vec![Loop(None, vec![Load(2, 2, Ordering::SeqCst), BreakIf(2, 2), sets, restores])],
    ]);
}

/// The second thread overwrites what it read, and is overwritten by the next iteration.
#[test]
fn an_iteration_that_stores_counts() {
    use Statement::{BreakIf, Load, Loop, Store};
    let stores = vec![Store(0, 1, Ordering::SeqCst), Load(0, 1, Ordering::SeqCst), BreakIf(0, 1)];
    let overwrites = vec![Load(0, 0, Ordering::SeqCst), Store(0, 2, Ordering::SeqCst), Store(1, 1, Ordering::SeqCst)];
    agrees(&vec![vec![Loop(None, stores)], overwrites]);
}

/// The second thread comes between the updates of one iteration, and then sees those of the next.
#[test]
fn an_iteration_that_restores_over_another_thread_counts() {
    use Statement::{BreakIf, Load, Loop, Store, Swap};
    let (sets, restores) = (Swap(0, 0, 1, Ordering::SeqCst), Swap(0, 0, 0, Ordering::SeqCst));
    let body = vec![sets, restores, Load(1, 1, Ordering::SeqCst), BreakIf(1, 1)];
    let comes_between = Swap(0, 0, 2, Ordering::SeqCst);
    let (first, second) = (Load(1, 0, Ordering::SeqCst), Load(2, 0, Ordering::SeqCst));
    agrees(&vec![vec![Loop(None, body)], vec![comes_between, first, second, Store(1, 1, Ordering::SeqCst)]]);
}

/// Both loops run for ever, and the first sees now and then that the second holds the lock.
#[test]
fn a_loop_that_tries_a_lock_sees_a_loop_that_takes_it() {
    let locked = |tries| Statement::Locked { tries, register: 0, change: Change::No };
    let tries = Statement::Loop(None, vec![locked(true), Statement::Hint(Hint::Spin)]);
    let takes = vec![Statement::Loop(None, vec![locked(false)])];
    agrees(&vec![vec![tries.clone()], takes.clone()]);
    let nested = Statement::Loop(Some(2), vec![Statement::Load(2, 1, Ordering::Acquire), tries]);
    agrees(&vec![vec![nested], takes]);
}

/// In a release build a slot of the stack that is not used decided whether the second thread was seen to loop.
#[test]
fn a_loop_after_stores_is_told_as_a_livelock() {
    use Statement::{BreakIf, Hint, Keep, Load, Loop, Store};
    let reads = vec![Load(0, 0, Ordering::Relaxed), Hint(program::Hint::Spin)];
    agrees(&vec![
        vec![Loop(None, vec![Keep(2, 2), BreakIf(2, 1)])],
        vec![Store(2, 1, Ordering::SeqCst), Store(2, 2, Ordering::Release), Loop(None, reads)],
    ]);
}

/// The first thread is cut short with a store in its buffer, runs on to its end, and must not see an older value.
#[test]
fn an_execution_that_is_cut_short_runs_on_with_its_pending_stores() {
    use Statement::{BreakIf, Exchange, Load, Loop, Store, Swap};
    let (swaps, stores) = (Swap(1, 1, 1, Ordering::SeqCst), Store(1, 2, Ordering::SeqCst));
    let inner = Loop(None, vec![Load(2, 0, Ordering::Acquire), BreakIf(2, 1), swaps, stores]);
    let outer = Loop(None, vec![Exchange(0, 0, 0, 2), inner, BreakIf(0, 0)]);
    agrees(&vec![vec![outer], vec![], vec![Store(0, 1, Ordering::SeqCst)]]);
}

#[test]
fn rust_code_with_hints_has_the_outcomes_of_the_machine() {
    let mut counts = std::collections::BTreeMap::new();
    for seed in programs() {
        let program = program::generate(seed);
        let spurious = u32::from(seed % 4 == 1);
        for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
            let Some(known) = machine::explore(&program, model, spurious) else { continue };
            for search in [SearchKind::Dpor, SearchKind::Mcr] {
                if std::env::var_os("TEETOTAL_TEST_LOG").is_some() {
                    eprintln!("{seed} {model:?} {search:?}");
                }
                match compare(&program, (model, search), spurious, &known) {
                    Ok(compared) => *counts.entry(format!("{compared:?}")).or_insert(0) += 1,
                    Err(_) => {
                        let differs = |smaller: &Program| {
                            let known = machine::explore(smaller, model, spurious);
                            known.is_some_and(|known| compare(smaller, (model, search), spurious, &known).is_err())
                        };
                        let small = shrink(program.clone(), &differs);
                        let known = machine::explore(&small, model, spurious).expect("it is smaller");
                        let how = compare(&small, (model, search), spurious, &known).expect_err("it differs");
                        panic!("seed {seed}, {model:?}, {search:?}: {small:#?}\n{how}");
                    }
                }
            }
        }
    }
    println!("{counts:?}");
    let equal = counts.get("Equal").copied().unwrap_or(0);
    assert!(equal > counts.values().sum::<u64>() / 3, "many programs can be compared: {counts:?}");
}
