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
use program::{Counter, Hint, MOST_THREADS, N_LOCATIONS, N_REGISTERS, Program, Statement};
use teetotal::model::{Builder, Report, SearchKind};
use teetotal::sync::atomic::{AtomicU64, Ordering};
use teetotal::{ModelId, hint, thread};

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
fn run(statements: &[Statement], own: &mut Own<'_>, memory: &[AtomicU64; N_LOCATIONS]) -> ControlFlow<()> {
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
            Statement::Loop(limit, ref body) => repeat(limit, body, own, memory),
            Statement::Count(counter, most) => {
                let counter = if counter == Counter::Own { &mut own.counter } else { &mut *own.parents };
                *counter = (*counter + 1).min(most);
            }
        }
    }
    ControlFlow::Continue(())
}

fn repeat(limit: Option<u32>, body: &[Statement], own: &mut Own<'_>, memory: &[AtomicU64; N_LOCATIONS]) {
    let mut left = limit;
    while left != Some(0) && run(body, own, memory).is_continue() {
        left = left.map(|left| left - 1);
    }
}

/// What the program leaves as Rust code, and what the search says.
fn as_rust_code(program: &Program, model: ModelId, search: SearchKind) -> (BTreeSet<Outcome>, Report) {
    let outcomes = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let (threads, seen) = (program.clone(), std::sync::Arc::clone(&outcomes));
    let mut builder = Builder::new();
    (builder.model, builder.search) = (model, search);
    (builder.max_permutations, builder.max_branches) = (Some(3_000), 150);
    // Blocked executions are not counted, and there may be very many.
    builder.max_duration = Some(Duration::from_secs(5));
    let report = builder.explore(move || {
        let memory = [const { AtomicU64::new(0) }; N_LOCATIONS];
        // It is in a frame of this thread.
        let mut counters = [0; MOST_THREADS];
        let registers = thread::scope(|scope| {
            let memory = &memory;
            let handles: Vec<_> = threads
                .iter()
                .zip(&mut counters)
                .map(|(statements, parents)| {
                    scope.spawn(move || {
                        let mut own = Own { registers: [0; N_REGISTERS], counter: 0, parents };
                        let _ = run(statements, &mut own, memory);
                        (own.registers, own.counter)
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect::<Vec<_>>()
        });
        let own = registers.into_iter().zip(&counters);
        let own = own.flat_map(|((registers, own), parents)| registers.into_iter().chain([own, *parents]));
        let outcome = own.chain(memory.iter().map(|cell| cell.load(Ordering::SeqCst))).collect();
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
fn compare(program: &Program, model: ModelId, search: SearchKind, known: &Known) -> Result<Compared, String> {
    let (outcomes, report) = as_rust_code(program, model, search);
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

#[test]
fn rust_code_with_hints_has_the_outcomes_of_the_machine() {
    let mut counts = std::collections::BTreeMap::new();
    for seed in programs() {
        let program = program::generate(seed);
        for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
            let Some(known) = machine::explore(&program, model) else { continue };
            for search in [SearchKind::Dpor, SearchKind::Mcr] {
                if std::env::var_os("TEETOTAL_TEST_LOG").is_some() {
                    eprintln!("{seed} {model:?} {search:?}");
                }
                match compare(&program, model, search, &known) {
                    Ok(compared) => *counts.entry(format!("{compared:?}")).or_insert(0) += 1,
                    Err(_) => {
                        let differs = |smaller: &Program| {
                            let known = machine::explore(smaller, model);
                            known.is_some_and(|known| compare(smaller, model, search, &known).is_err())
                        };
                        let small = shrink(program.clone(), &differs);
                        let known = machine::explore(&small, model).expect("it is smaller");
                        let how = compare(&small, model, search, &known).expect_err("it differs");
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
