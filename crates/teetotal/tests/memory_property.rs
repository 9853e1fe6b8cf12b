//! Generated programs that allocate, publish, read and free, against a small machine that tries every interleaving.
//!
//! `TEETOTAL_TEST_PROGRAMS` says how many programs are tried.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

#[path = "memory_property/machine.rs"]
mod machine;

use std::ptr;

use machine::{Fault, Machine};
use teetotal::ModelId;
use teetotal::alloc::Checked;
use teetotal::cell::UnsafeCell;
use teetotal::model::{Builder, SearchId, ViolationKind};
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::{AtomicPtr, AtomicUsize};
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// What a thread does with the one pointer that it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    /// It makes a block and holds that.
    Allocate,
    Free,
    /// It reads or writes plain data in the block.
    Read,
    Write,
    /// It reads an atomic in the block.
    Load,
    /// It reads what is of no type of the library.
    Peek,
    /// It puts the pointer into a shared cell, and still holds it.
    Put(usize, Strength),
    /// It holds what is in a shared cell.
    Get(usize, Strength),
    /// The same, and the cell is empty.
    Take(usize, Strength),
    /// It empties the cell if the pointer there is its own; whether that is so decides about the next operation.
    Compare(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strength {
    Weak,
    Strong,
}

type Program = Vec<Vec<Op>>;

/// How many shared cells there are. The first holds a block at the beginning.
const CELLS: usize = 2;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn op(&mut self) -> Op {
        let cell = self.below(CELLS as u64) as usize;
        let strength = if self.below(4) == 0 { Strength::Weak } else { Strength::Strong };
        match self.below(15) {
            0 | 1 => Op::Allocate,
            2 | 3 => Op::Free,
            4 => Op::Read,
            5 => Op::Write,
            6 => Op::Load,
            7 => Op::Peek,
            8 | 9 => Op::Put(cell, strength),
            10 | 11 => Op::Get(cell, strength),
            12 | 13 => Op::Take(cell, strength),
            _ => Op::Compare(cell),
        }
    }

    fn program(&mut self) -> Program {
        let n_threads = 2 + self.below(2) as usize;
        let most = if n_threads == 2 { 5 } else { 3 };
        (0..n_threads)
            .map(|_| {
                // Without a block there is nothing to do.
                let first = match self.below(4) {
                    0 => Op::Allocate,
                    1 => Op::Take(0, Strength::Strong),
                    _ => Op::Get(0, Strength::Strong),
                };
                std::iter::once(first).chain((0..1 + self.below(most)).map(|_| self.op())).collect()
            })
            .collect()
    }
}

struct Node {
    data: UnsafeCell<usize>,
    atomic: AtomicUsize,
    plain: usize,
}

/// The blocks of an execution that are not freed, which the checker does not know of.
type Left = std::sync::Mutex<Vec<usize>>;

fn node(left: &Left) -> *mut Node {
    let node = Box::into_raw(Box::new(Node { data: UnsafeCell::new(0), atomic: AtomicUsize::new(0), plain: 7 }));
    left.lock().expect("nothing panics").push(node as usize);
    node
}

/// # Safety
/// There is none, which is to be found.
unsafe fn free(node: *mut Node, left: &Left) {
    // SAFETY: upheld by the caller.
    drop(unsafe { Box::from_raw(node) });
    left.lock().expect("nothing panics").retain(|&other| other != node as usize);
}

fn order(strength: Strength, strong: Ordering) -> Ordering {
    if strength == Strength::Strong { strong } else { Relaxed }
}

/// Does what a thread of a program does.
fn run(ops: &[Op], cells: &[AtomicPtr<Node>; CELLS], left: &Left) {
    let mut held: *mut Node = ptr::null_mut();
    let mut skips = false;
    for op in ops {
        if std::mem::take(&mut skips) {
            continue;
        }
        // SAFETY: there is none, which is to be found.
        unsafe {
            match *op {
                Op::Allocate => held = node(left),
                Op::Put(cell, strength) => cells[cell].store(held, order(strength, Release)),
                Op::Get(cell, strength) => held = cells[cell].load(order(strength, Acquire)),
                Op::Take(cell, strength) => held = cells[cell].swap(ptr::null_mut(), order(strength, AcqRel)),
                Op::Compare(cell) => {
                    skips = cells[cell].compare_exchange(held, ptr::null_mut(), AcqRel, Relaxed).is_err();
                }
                _ if held.is_null() => {}
                Op::Free => free(held, left),
                Op::Read => drop((*held).data.with(|data| *data)),
                Op::Write => (*held).data.with_mut(|data| *data = 1),
                Op::Load => drop((*held).atomic.load(Relaxed)),
                Op::Peek => _ = ptr::read_volatile(&raw const (*held).plain),
            }
        }
    }
}

/// What the checker finds in a program.
fn found(program: &Program, model: ModelId, search: SearchId, reuse: usize) -> Result<Option<Fault>, String> {
    let mut builder = Builder::new();
    (builder.model, builder.search, builder.reuse) = (model, search, reuse);
    let program = program.clone();
    let left = std::sync::Arc::new(Left::new(Vec::with_capacity(64)));
    let report = builder.explore(move || {
        left.lock().expect("nothing panics").clear();
        let cells = Arc::new([AtomicPtr::new(node(&left)), AtomicPtr::new(ptr::null_mut())]);
        let threads: Vec<_> = (program.iter().cloned())
            .map(|ops| {
                let (cells, left) = (Arc::clone(&cells), std::sync::Arc::clone(&left));
                thread::spawn(move || run(&ops, &cells, &left))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        // What executions leave behind uses up address space.
        let left = left.lock().expect("nothing panics").clone();
        // SAFETY: all other threads have ended.
        left.iter().for_each(|&node| drop(unsafe { Box::from_raw(node as *mut Node) }));
    });
    match report.failure {
        None if report.coverage.is_complete() => Ok(None),
        None => Err(format!("{:?}", report.coverage)),
        Some(violation) => match violation.kind {
            ViolationKind::UseAfterFree => Ok(Some(Fault::UseAfterFree)),
            ViolationKind::DoubleFree => Ok(Some(Fault::DoubleFree)),
            ViolationKind::DataRace => Ok(Some(Fault::Race)),
            _ => Err(violation.to_string()),
        },
    }
}

#[test]
fn what_is_found_is_what_a_machine_that_tries_everything_finds() {
    let n_programs = std::env::var("TEETOTAL_TEST_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let seed = std::env::var("TEETOTAL_TEST_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1_u64);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut counts = [0; 2];
    for index in 0..n_programs {
        let program = random.program();
        let model = [ModelId::Sc, ModelId::Tso, ModelId::Pso][index % 3];
        let search = [SearchId::Dpor, SearchId::ReadsFrom][index / 3 % 2];
        let reuse = usize::from(index / 6 % 4 != 0);
        let expected = Machine::faults(&program, model, reuse);
        let found = found(&program, model, search, reuse);
        let is_right = match &found {
            Ok(None) => expected.is_empty(),
            Ok(Some(fault)) => expected.contains(fault),
            Err(_) => false,
        };
        let text = || format!("{program:?} under {model:?} by {search:?}, reuse {reuse}");
        assert!(is_right, "program {index} with seed {seed}: {}: {found:?}, but {expected:?}", text());
        counts[usize::from(expected.is_empty())] += 1;
    }
    assert!(counts.iter().all(|&count| count * 10 > n_programs), "{counts:?} of {n_programs} are wrong and right");
}
