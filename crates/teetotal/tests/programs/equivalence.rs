//! Rust code and programs of the intermediate representation that say the same have the same executions.
//!
//! Each thread of a generated program is run as Rust code that asks an interpreter of its own what to do next, and does
//! it with atomics under the checker.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal::model::{Builder as ModelBuilder, SearchId};
use teetotal::sync::atomic::{AtomicU64, Ordering, fence};
use teetotal::{ModelId, thread};
use teetotal_check::{Options, check};
use teetotal_dpor as dpor;
use teetotal_engine::{Limits, Schedule, trace_of};
use teetotal_generate::{Idioms, Shape, generate, shrink};
use teetotal_memory::{MODELS, Model, ModelVisitor};
use teetotal_program::ir::{Expr, FetchOp, Instruction, Interpreter, Program, Update};
use teetotal_program::{Loc, OnFailure, Op, Order, Reg, Status, Subject, ThreadId, Value, Width};

/// What an execution leaves: the registers of each thread, then memory.
type Outcome = Vec<Value>;

fn ordering(order: Order) -> Ordering {
    match order {
        Order::Plain | Order::Relaxed => Ordering::Relaxed,
        Order::Acquire => Ordering::Acquire,
        Order::Release => Ordering::Release,
        Order::AcqRel => Ordering::AcqRel,
        Order::SeqCst => Ordering::SeqCst,
    }
}

/// Whether Rust code can say what `program` says.
fn is_expressible(program: &Program) -> bool {
    let fits = |instruction: &Instruction| match instruction {
        Instruction::Await { .. }
        | Instruction::Guarded { .. }
        | Instruction::Choose { .. }
        | Instruction::Assume { .. }
        | Instruction::GlobalFence
        | Instruction::Lock { .. }
        | Instruction::Unlock { .. }
        | Instruction::Spawn { .. }
        | Instruction::Join { .. } => false,
        Instruction::Rmw { update, .. } => match update {
            Update::Exchange(_) => true,
            Update::Fetch(op, _) => {
                matches!(op, FetchOp::Add | FetchOp::Subtract | FetchOp::And | FetchOp::Or | FetchOp::Xor)
            }
            Update::CompareExchange { expected: Expr::Const(_), on_failure: OnFailure::Load(_), .. } => true,
            _ => false,
        },
        Instruction::Load { order, .. } => !matches!(order, Order::Release | Order::AcqRel),
        Instruction::Store { order, .. } => !matches!(order, Order::Acquire | Order::AcqRel),
        Instruction::Fence { order } => !matches!(order, Order::Plain | Order::Relaxed),
        _ => true,
    };
    let is_wide = program.locations.iter().all(|location| location.ty.width == Width::W64);
    is_wide && program.threads.iter().all(|thread| thread.starts && thread.code.iter().all(fits))
}

/// Runs `thread` of `program` to its end; gives its registers.
fn run(program: &Arc<Program>, thread: ThreadId, shared: &[AtomicU64]) -> Vec<Value> {
    let mut own = Interpreter::new(Arc::clone(program));
    own.restart();
    loop {
        let op = match own.status(thread) {
            Status::Ready(op) => op,
            Status::Failed(failure) => panic!("{failure:?}"),
            _ => break,
        };
        let code = &program.threads[thread.index()].code[own.place(thread) as usize];
        let answer = match op {
            Op::Load { loc, order } => Some(shared[loc.index()].load(ordering(order))),
            Op::Store { loc, value, order } => {
                shared[loc.index()].store(value, ordering(order));
                None
            }
            Op::Rmw { loc, order, on_failure } => {
                let Instruction::Rmw { update, .. } = code else { unreachable!("the thread is at an update") };
                Some(rmw(&own, thread, update, &shared[loc.index()], order, on_failure))
            }
            Op::Fence { order } => {
                fence(ordering(order));
                None
            }
            _ => unreachable!("{op:?} is not expressible"),
        };
        own.resume(thread, answer.as_slice());
    }
    let registers = program.threads[thread.index()].registers.len();
    (0..registers).map(|reg| own.register(thread, Reg(reg as u16))).collect()
}

fn rmw(
    own: &Interpreter,
    thread: ThreadId,
    update: &Update,
    cell: &AtomicU64,
    order: Order,
    on_failure: OnFailure,
) -> Value {
    let of = |old: Value| own.modify(thread, old).expect("it always writes");
    let order = ordering(order);
    match update {
        Update::Exchange(_) => cell.swap(of(0), order),
        Update::Fetch(FetchOp::Add, _) => cell.fetch_add(of(0), order),
        Update::Fetch(FetchOp::Subtract, _) => cell.fetch_sub(0_u64.wrapping_sub(of(0)), order),
        Update::Fetch(FetchOp::And, _) => cell.fetch_and(of(u64::MAX), order),
        Update::Fetch(FetchOp::Or, _) => cell.fetch_or(of(0), order),
        Update::Fetch(FetchOp::Xor, _) => cell.fetch_xor(of(0), order),
        Update::CompareExchange { expected: Expr::Const(expected), .. } => {
            let OnFailure::Load(failure) = on_failure else { unreachable!("its failure is a load") };
            let failure = match ordering(failure) {
                Ordering::Release => Ordering::Relaxed,
                Ordering::AcqRel => Ordering::Acquire,
                failure => failure,
            };
            let (Ok(old) | Err(old)) = cell.compare_exchange(*expected, of(*expected), order, failure);
            old
        }
        _ => unreachable!("{update:?} is not expressible"),
    }
}

/// What Rust code that says what `program` says leaves, unless something goes wrong; and how many executions are run.
fn as_rust_code(program: &Arc<Program>, model: ModelId, search: SearchId) -> (Option<BTreeSet<Outcome>>, u64) {
    let outcomes = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let (of, seen) = (Arc::clone(program), Arc::clone(&outcomes));
    let mut builder = ModelBuilder::new();
    builder.model = model;
    builder.search = search;
    let report = builder.explore(move || {
        let cells: Vec<AtomicU64> = of.locations.iter().map(|location| AtomicU64::new(location.initial)).collect();
        let shared = Arc::new(cells);
        let threads: Vec<_> = (0..of.threads.len())
            .map(|index| {
                let (of, shared) = (Arc::clone(&of), Arc::clone(&shared));
                thread::spawn(move || run(&of, ThreadId::at(index), &shared))
            })
            .collect();
        let mut outcome: Outcome =
            threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect();
        outcome.extend(shared.iter().map(|cell| cell.load(Ordering::Relaxed)));
        seen.lock().expect("no thread panics").insert(outcome);
    });
    assert!(report.failure.is_some() || report.coverage.is_complete(), "{:?}: {program}", report.coverage);
    assert_eq!(report.search, search, "{}", report.search_reason);
    let outcomes = outcomes.lock().expect("no thread panics").clone();
    (report.failure.is_none().then_some(outcomes), report.executions)
}

/// The outcomes of the program itself.
fn as_it_is(program: &Arc<Program>, model: ModelId) -> Option<(Option<BTreeSet<Outcome>>, u64)> {
    let options = Options { search: SearchId::Dpor, minimize: false, ..Options::new(model) };
    let outcome = check(program, &options, &|| None).ok()?;
    if !outcome.violations.is_empty() {
        return Some((None, 0));
    }
    outcome.coverage.is_complete().then(|| (Some(outcome.states.keys().cloned().collect()), outcome.stats.executions))
}

/// The program with everything observed, in the order of [`Outcome`].
fn observing_everything(mut program: Program) -> Program {
    use teetotal_program::condition::Term;
    program.condition = None;
    program.filter = None;
    let registers = (0..program.threads.len()).flat_map(|thread| {
        let n = program.threads[thread].registers.len();
        (0..n).map(move |reg| Term::Register(ThreadId::at(thread), Reg(reg as u16)))
    });
    let memory = (0..program.locations.len()).map(|loc| Term::Memory(teetotal_program::Loc::at(loc)));
    program.observed = registers.chain(memory).collect();
    program
}

/// How Rust code differs observably from `program` under `model`, if it does.
fn difference(program: &Arc<Program>, model: ModelId) -> Option<String> {
    let (expected, executions) = as_it_is(program, model)?;
    if executions > 500 {
        return None;
    }
    let by_sources = model.info().has_buffers() || model == ModelId::STRONGEST;
    let n_classes = by_sources.then(|| (SearchId::ReadsFrom, classes(program, model)));
    [(SearchId::Dpor, executions)].into_iter().chain(n_classes).find_map(|(search, executions)| {
        let (found, run) = as_rust_code(program, model, search);
        let is_same = found == expected && (expected.is_none() || run == executions);
        let what = || format!("{search:?}: {run} executions, not {executions}: {found:?}, not {expected:?}");
        (!is_same).then(what)
    })
}

/// How many executions of `program` differ in who reads from whom, where everybody who is interested reads memory at last.
fn classes(program: &Arc<Program>, model: ModelId) -> u64 {
    struct Count<'c>(&'c Arc<Program>);
    impl ModelVisitor for Count<'_> {
        type Output = u64;

        fn visit<M: Model>(self) -> u64 {
            let mut classes = BTreeSet::new();
            let n_locations = self.0.locations.len();
            dpor::visit(M::ID, &Interpreter::new(Arc::clone(self.0)), &Limits::default(), &mut |steps| {
                let trace = trace_of(self.0, M::ID, &Schedule::Steps(steps)).trace;
                let last = (0..n_locations).map(|loc| {
                    let last = trace.coherence(Loc::at(loc)).last().map(|&write| *trace.event(write));
                    last.map(|write| (write.thread, write.index))
                });
                classes.insert((trace.reads_from_key(), last.collect::<Vec<_>>()));
            });
            classes.len() as u64
        }
    }
    model.visit(Count(program))
}

#[test]
fn rust_code_has_the_executions_of_the_program_that_says_the_same() {
    let litmus = Shape::litmus();
    let idioms = Idioms { locked: 0, spawned: 0, ..litmus.idioms };
    let shape = Shape { idioms, global_fences: 0, choices: 0, awaits: 0, narrow: 0, asserts: 12, ..litmus };
    let mut n_programs = 0;
    for program in (0..2_000).map(|seed| generate(seed, &shape)).filter(is_expressible) {
        let program = observing_everything(program);
        n_programs += 1;
        for model in MODELS {
            let differs = |program: &Program| {
                is_expressible(program)
                    && difference(&Arc::new(observing_everything(program.clone())), model.id).is_some()
            };
            if differs(&program) {
                let small = Arc::new(observing_everything(shrink(&program, differs)));
                let how = difference(&small, model.id);
                panic!("under {}: {small}\n{}", model.name, how.unwrap_or_default());
            }
        }
    }
    assert!(n_programs > 200, "only {n_programs} programs");
}
