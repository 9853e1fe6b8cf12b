//! Generated programs do on statics what they do on objects of their own execution.
//!
//! This holds in one model after the other and in models at the same time.

#![allow(unsafe_code, reason = "cells are accessed through pointers")]
#![allow(clippy::print_stdout, reason = "what was compared is told")]

use super::common;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex as StdMutex;

use common::{Rng, seeds};
use teetotal::cell::{Cell, UnsafeCell, standard};
use teetotal::model::{Builder, SearchId};
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{
    AtomicBool, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
};
use teetotal::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use teetotal::{ModelId, thread};

/// Something of every type that may be in a static.
struct All {
    mutex: Mutex<u64>,
    empty: Mutex<()>,
    list: Mutex<Vec<u8>>,
    nested: Mutex<(AtomicU8, Mutex<Option<Box<u64>>>)>,
    rw_lock: RwLock<[u16; 3]>,
    cells: Cells,
    flag: AtomicBool,
    pointer: AtomicPtr<u8>,
    numbers: [AtomicU32; 2],
    tuple: (AtomicU8, AtomicI16, AtomicI32, AtomicI64, AtomicU64, AtomicIsize, AtomicUsize),
    once: Once,
    value: OnceLock<Box<u64>>,
    lazy: LazyLock<Mutex<u64>>,
    condvar: Condvar,
    barrier: Barrier,
}

/// They are used under `mutex`.
struct Cells(UnsafeCell<u64>, standard::UnsafeCell<u64>, Cell<u64>, UnsafeCell<()>);

// SAFETY: a lock is held wherever they are used.
unsafe impl Sync for Cells {}
// SAFETY: the same.
unsafe impl Send for Cells {}

impl All {
    const fn new() -> Self {
        All {
            mutex: Mutex::new(3),
            empty: Mutex::new(()),
            list: Mutex::new(Vec::new()),
            nested: Mutex::new((AtomicU8::new(7), Mutex::new(None))),
            rw_lock: RwLock::new([1, 2, 3]),
            cells: Cells(UnsafeCell::new(4), standard::UnsafeCell::new(5), Cell::new(6), UnsafeCell::new(())),
            flag: AtomicBool::new(true),
            pointer: AtomicPtr::new(std::ptr::null_mut()),
            numbers: [AtomicU32::new(8), AtomicU32::new(9)],
            tuple: (
                AtomicU8::new(1),
                AtomicI16::new(-1),
                AtomicI32::new(-2),
                AtomicI64::new(-3),
                AtomicU64::new(2),
                AtomicIsize::new(-4),
                AtomicUsize::new(3),
            ),
            once: Once::new(),
            value: OnceLock::new(),
            lazy: LazyLock::new(|| Mutex::new(10)),
            condvar: Condvar::new(),
            barrier: Barrier::new(1),
        }
    }
}

/// How many operations there are.
const N_OPS: usize = 24;

/// What an operation returns, which depends on what was done before.
fn perform(all: &All, op: usize) -> u64 {
    let locked = |f: &dyn Fn(&mut u64)| {
        let mut guard = all.mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        f(&mut guard);
        *guard
    };
    match op {
        0 => locked(&|data| *data += 1),
        1 => u64::from(all.empty.try_lock().is_ok()),
        2 => {
            let mut list = all.list.lock().expect("no thread panics");
            list.push(1);
            list.len() as u64
        }
        3 => {
            let nested = all.nested.lock().expect("no thread panics");
            let mut value = nested.1.lock().expect("no thread panics");
            let old = value.replace(Box::new(5)).map_or(0, |value| *value);
            u64::from(nested.0.fetch_add(1, Relaxed)) + 100 * old
        }
        4 => {
            let mut data = all.rw_lock.write().expect("no thread panics");
            data[1] += 1;
            u64::from(data[1])
        }
        5 => u64::from(all.rw_lock.read().expect("no thread panics")[1]),
        // SAFETY: the lock is held.
        6 => locked(&|data| *data += all.cells.0.with_mut(|value| unsafe { (*value, *value += 1).0 })),
        // SAFETY: the same.
        7 => locked(&|data| *data += all.cells.1.with_mut(|value| unsafe { (*value, *value += 1).0 })),
        8 => locked(&|data| {
            all.cells.3.with_mut(|_| ());
            *data += all.cells.2.replace(*data);
        }),
        9 => u64::from(all.flag.swap(false, AcqRel)),
        10 => u64::from(all.pointer.swap(std::ptr::dangling_mut(), AcqRel).is_null()),
        11 => u64::from(all.numbers[0].fetch_add(1, Relaxed)),
        12 => {
            all.numbers[1].store(1, Relaxed);
            u64::from(all.numbers[0].load(Acquire))
        }
        13 => {
            all.numbers[0].store(2, Release);
            u64::from(all.numbers[1].load(Relaxed))
        }
        14 => u64::from(all.tuple.0.fetch_add(255, Relaxed)) + u64::from(all.tuple.4.fetch_max(9, Relaxed) == 2),
        15 => (all.tuple.1.fetch_sub(1, Relaxed) as u64).wrapping_add(all.tuple.2.fetch_min(-5, Relaxed) as u64),
        16 => (all.tuple.3.swap(1, SeqCst) as u64).wrapping_add(all.tuple.5.fetch_xor(1, Relaxed) as u64),
        17 => all.tuple.6.fetch_update(SeqCst, SeqCst, |value| Some(value * 2)).map_or(0, |old| old as u64),
        18 => {
            let mut calls = 0;
            all.once.call_once(|| calls = 1);
            calls + 2 * u64::from(all.once.is_completed())
        }
        19 => all.value.get().map_or(0, |value| **value),
        20 => **all.value.get_or_init(|| Box::new(6)),
        21 => {
            let mut data = all.lazy.lock().expect("no thread panics");
            *data += 1;
            *data
        }
        22 => {
            all.condvar.notify_all();
            u64::from(all.barrier.wait().is_leader())
        }
        _ => {
            // Poisons the lock.
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _guard = all.mutex.lock();
                resume_unwind(Box::new(()));
            }));
            assert!(unwound.is_err());
            u64::from(all.mutex.is_poisoned())
        }
    }
}

/// What two threads do.
type Program = [Vec<usize>; 2];

/// What the threads return in every execution, and how many there are.
fn outcomes(program: &Program, model: ModelId, search: SearchId, is_static: bool) -> (BTreeSet<[Vec<u64>; 2]>, u64) {
    static ALL: All = All::new();
    let seen: std::sync::Arc<StdMutex<BTreeSet<[Vec<u64>; 2]>>> = std::sync::Arc::default();
    let (own, threads) = (std::sync::Arc::clone(&seen), program.clone());
    let mut builder = Builder::new();
    (builder.model, builder.search) = (model, search);
    let report = builder.explore(move || {
        let fresh = (!is_static).then(|| Arc::new(All::new()));
        let other = (fresh.clone(), threads[1].clone());
        let run = |all: Option<&All>, ops: &[usize]| -> Vec<u64> {
            ops.iter().map(|&op| perform(all.unwrap_or(&ALL), op)).collect()
        };
        let thread = thread::spawn(move || run(other.0.as_deref(), &other.1));
        let first = run(fresh.as_deref(), &threads[0]);
        let second = thread.join().expect("it ends");
        own.lock().expect("no thread panics").insert([first, second]);
    });
    assert_eq!((report.failure, report.coverage.is_complete()), (None, true), "{program:?}");
    let seen = seen.lock().expect("no thread panics").clone();
    (seen, report.executions)
}

#[test]
fn a_static_of_every_type_is_as_an_object_of_the_execution() {
    let mut n_several = 0;
    let range = seeds(150);
    let n_programs = range.end - range.start;
    for seed in range {
        let rng = &mut Rng::new(seed);
        let few = [rng.below(N_OPS), rng.below(N_OPS), rng.below(N_OPS)];
        let program: Program = [0, 1].map(|_| (0..1 + rng.below(3)).map(|_| rng.of(&few)).collect());
        let (model, search) = (rng.of(&common::MODELS), rng.of(&[SearchId::Dpor, SearchId::ReadsFrom]));
        let own = outcomes(&program, model, search, false);
        n_several += u64::from(own.1 > 1);
        let (program, context) = (&program, || format!("seed {seed}, {model:?}, {search:?}: {program:?}"));
        // The second of two models finds nothing of the first, nor do models that run meanwhile.
        for n_parallel in [1, 2] {
            let all = std::thread::scope(|scope| {
                let models: Vec<_> =
                    (0..n_parallel).map(|_| scope.spawn(|| outcomes(program, model, search, true))).collect();
                models.into_iter().map(|model| model.join().expect("it ends")).collect::<Vec<_>>()
            });
            all.iter().for_each(|statics| assert_eq!(*statics, own, "{}", context()));
        }
    }
    println!("{n_programs} programs, of which {n_several} have several executions");
    assert!(n_several > n_programs / 3);
}
