//! The machines and their axiomatic models agree on programs with every operation there is.

mod common;

use common::check;
use teetotal_memory::ModelId::{Pso, Sc, Tso};
use teetotal_program::ir::{Builder, Expr, FetchOp, Instruction, Program, ThreadBuilder, Update};
use teetotal_program::{Loc, OnFailure, Order, Reg, ThreadId};

const ORDERS: [Order; 6] = [Order::Plain, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

/// Weak stores more often than others, because they have more traces.
const STORE_ORDERS: [Order; 5] = [Order::Plain, Order::Plain, Order::Relaxed, Order::Release, Order::SeqCst];

/// A small generator of numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// How many programs of each shape are compared.
fn n_programs() -> usize {
    std::env::var("TEETOTAL_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000)
}

#[test]
fn machine_and_axioms_agree_on_two_threads_with_every_operation() {
    compare(1, 2, 4, &EVERYTHING);
}

#[test]
fn machine_and_axioms_agree_on_three_threads_with_every_operation() {
    compare(2, 3, 3, &EVERYTHING);
}

#[test]
fn machine_and_axioms_agree_on_stores_and_loads_with_barriers() {
    compare(3, 2, 4, &BARRIERS);
}

#[test]
fn machine_and_axioms_agree_on_stores_and_loads_with_global_fences() {
    compare(4, 3, 3, &GLOBAL_FENCES);
}

#[test]
fn machine_and_axioms_agree_on_stores_and_loads_with_locks() {
    compare(5, 2, 3, &LOCKS);
}

#[test]
fn machine_and_axioms_agree_on_compare_exchanges_that_may_fail() {
    compare(6, 2, 3, &COMPARE_EXCHANGES);
}

#[test]
fn machine_and_axioms_agree_on_threads_that_spawn_and_join() {
    for seed in 0..n_programs() as u64 {
        let program = forking(&mut Random(0x51ed_270b ^ (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        [Sc, Tso, Pso].iter().for_each(|&model| drop(check(model, &program)));
    }
}

fn compare(salt: u64, n_threads: usize, length: usize, kinds: &[Kind]) {
    for seed in 0..n_programs() as u64 {
        let mut random = Random(salt << 40 ^ (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut p = Builder::new(&format!("random {salt}.{seed}"));
        let memory = Memory::new(&mut p);
        for thread in 0..n_threads {
            let length = 1 + random.below(length);
            p.thread(&format!("P{thread}"), |t| (0..length).for_each(|_| statement(t, &memory, &mut random, kinds)));
        }
        let program = p.build().expect("well formed");
        [Sc, Tso, Pso].iter().for_each(|&model| drop(check(model, &program)));
    }
}

/// A thread that spawns one or two others and may join them, with operations between.
fn forking(random: &mut Random) -> Program {
    let mut p = Builder::new("forking");
    let memory = Memory::new(&mut p);
    let n_children = 1 + random.below(2);
    let kinds = if random.below(2) == 0 { &EVERYTHING[..] } else { &STORES_AND_LOADS };
    p.thread("main", |t| {
        for child in 1..=n_children {
            (0..random.below(3)).for_each(|_| statement(t, &memory, random, kinds));
            t.push(Instruction::Spawn { thread: ThreadId::at(child), order: random.pick(&ORDERS) });
        }
        (0..random.below(2)).for_each(|_| statement(t, &memory, random, kinds));
        for child in 1..=n_children {
            if random.below(4) > 0 {
                t.push(Instruction::Join { thread: ThreadId::at(child), order: random.pick(&ORDERS) });
            }
        }
        (0..random.below(3)).for_each(|_| statement(t, &memory, random, kinds));
    });
    for child in 1..=n_children {
        let length = 1 + random.below(3);
        p.spawned(&format!("P{child}"), |t| (0..length).for_each(|_| statement(t, &memory, random, kinds)));
    }
    p.build().expect("well formed")
}

struct Memory {
    cells: [Loc; 2],
    lock: Loc,
}

impl Memory {
    fn new(p: &mut Builder) -> Self {
        Memory { cells: [p.shared("x", 0), p.shared("y", 1)], lock: p.shared("lock", 0) }
    }
}

/// What a statement is.
#[derive(Clone, Copy)]
enum Kind {
    Store,
    Load,
    Update,
    CompareExchange,
    Fence,
    Barrier,
    GlobalFence,
    Lock,
    Unlock,
    /// A lock, a store or load, and an unlock.
    Section,
    Choose,
    Await,
    Stop,
}

use Kind::{
    Await, Barrier, Choose, CompareExchange, Fence, GlobalFence, Load, Lock, Section, Stop, Store, Unlock,
    Update as Change,
};

/// One that is there more often is picked more often.
const EVERYTHING: [Kind; 20] = [
    Store,
    Store,
    Store,
    Store,
    Store,
    Load,
    Load,
    Load,
    Load,
    Change,
    CompareExchange,
    CompareExchange,
    Fence,
    Barrier,
    GlobalFence,
    Lock,
    Unlock,
    Choose,
    Await,
    Stop,
];
const BARRIERS: [Kind; 8] = [Store, Store, Store, Load, Load, Barrier, Barrier, Change];
const GLOBAL_FENCES: [Kind; 6] = [Store, Store, Store, Load, Load, GlobalFence];
const LOCKS: [Kind; 4] = [Store, Load, Section, Section];
const COMPARE_EXCHANGES: [Kind; 4] = [Store, Load, CompareExchange, CompareExchange];
const STORES_AND_LOADS: [Kind; 2] = [Store, Load];

/// Appends a random statement of one of these kinds.
fn statement(t: &mut ThreadBuilder<'_>, memory: &Memory, random: &mut Random, kinds: &[Kind]) {
    let cell = random.pick(&memory.cells);
    let order = random.pick(&ORDERS);
    let value = value(t, random);
    match random.pick(kinds) {
        Store => t.store_with(cell, value, random.pick(&STORE_ORDERS)),
        Load => _ = register(t, random, |t, name| t.load_with(name, cell, order)),
        Change => {
            let update = match random.below(3) {
                0 => Update::Exchange(value),
                1 => Update::Fetch(FetchOp::Add, value),
                _ => Update::Function(Expr::Old.times(2).plus(1)),
            };
            register(t, random, |t, name| t.rmw(name, cell, update, order));
        }
        CompareExchange => {
            let on_failure = random.pick(&[OnFailure::Locked, OnFailure::Load(Order::Acquire)]);
            let expected = random.pick(&[0, 1]).into();
            let update = Update::CompareExchange { expected, new: value, on_failure };
            register(t, random, |t, name| t.rmw(name, cell, update, order));
        }
        Fence => t.push(Instruction::Fence { order }),
        Barrier => t.push(Instruction::Fence { order: random.pick(&[Order::Release, Order::AcqRel]) }),
        GlobalFence => t.push(Instruction::GlobalFence),
        Lock => t.push(Instruction::Lock { at: memory.lock.into(), order }),
        Unlock => t.push(Instruction::Unlock { at: memory.lock.into(), order }),
        Section => {
            t.push(Instruction::Lock { at: memory.lock.into(), order });
            statement(t, memory, random, &STORES_AND_LOADS);
            t.push(Instruction::Unlock { at: memory.lock.into(), order: random.pick(&ORDERS) });
        }
        Choose => _ = register(t, random, |t, name| t.choose(name, 2)),
        Await => await_both(t, memory, random),
        Stop => stop_or_skip(t, memory, random),
    }
}

/// Waits for one location or for two at once.
fn await_both(t: &mut ThreadBuilder<'_>, memory: &Memory, random: &mut Random) {
    let (first, second) = (t.reg("r0"), t.reg("r1"));
    let wanted = random.below(3) as i32;
    let (loads, until) = match random.below(3) {
        0 => (vec![(first, random.pick(&memory.cells).into())], first.ne(wanted)),
        1 => (memory.cells.iter().zip([first, second]).map(|(&x, r)| (r, x.into())).collect(), first.eq(second)),
        _ => (memory.cells.iter().zip([first, second]).map(|(&x, r)| (r, x.into())).collect(), first.lt(second)),
    };
    t.push(Instruction::Await { loads, until });
}

/// An assertion, an assumption, a division that may be by zero, or a store that depends on a register.
fn stop_or_skip(t: &mut ThreadBuilder<'_>, memory: &Memory, random: &mut Random) {
    let reg = t.reg("r0");
    let cell = random.pick(&memory.cells);
    match random.below(4) {
        0 => t.assert(reg.ne(1), "not one"),
        1 => t.assume(reg.ne(1)),
        2 => _ = t.rmw("r1", cell, Update::Function(Expr::from(4).divided_by(Expr::Old)), random.pick(&ORDERS)),
        _ => t.when(reg.ne(0), |t| t.store(cell, 5)),
    }
}

fn register(
    t: &mut ThreadBuilder<'_>,
    random: &mut Random,
    operation: impl FnOnce(&mut ThreadBuilder<'_>, &str) -> Reg,
) -> Reg {
    operation(t, random.pick(&["r0", "r1"]))
}

/// A small constant, or something that depends on what was read.
fn value(t: &mut ThreadBuilder<'_>, random: &mut Random) -> Expr {
    match random.below(4) {
        0 => t.reg("r0").plus(1),
        other => Expr::from(other as i32 - 1),
    }
}
