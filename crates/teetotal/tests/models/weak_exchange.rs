//! A weak compare-exchange of Rust means what `atomic_compare_exchange_weak` of C means in a litmus test.

use std::collections::BTreeSet;
use std::sync::{Arc as StdArc, Mutex as StdMutex};

use teetotal::model::{Builder, SearchId};
use teetotal::sync::Arc;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use teetotal::{ModelId, thread};
use teetotal_check::{Options, check};
use teetotal_frontends::litmus;

/// What both threads see: whether the exchange wrote, what it found if not, and what the load returned.
type Outcome = [u64; 6];

/// Store buffering, with a weak compare-exchange of cell `tried[i]` between the store and the load of thread `i`.
#[derive(Clone, Copy, Debug)]
struct StoreBuffering {
    tried: [usize; 2],
    success: Ordering,
    failure: Ordering,
}

const CELLS: [&str; 4] = ["x", "y", "z", "w"];

fn in_c(order: Ordering) -> &'static str {
    match order {
        Relaxed => "memory_order_relaxed",
        Acquire => "memory_order_acquire",
        Release => "memory_order_release",
        AcqRel => "memory_order_acq_rel",
        _ => "memory_order_seq_cst",
    }
}

impl StoreBuffering {
    fn of_c(self, model: ModelId) -> BTreeSet<Outcome> {
        let (success, failure) = (in_c(self.success), in_c(self.failure));
        let parameters = CELLS.map(|cell| format!("atomic_int* {cell}")).join(", ");
        let body = |thread: usize| {
            let (own, tried, other) = (CELLS[thread], CELLS[self.tried[thread]], CELLS[1 - thread]);
            format!(
                "P{thread}({parameters}) {{\n  int e = 0;\n  \
                 atomic_store_explicit({own}, 1, memory_order_relaxed);\n  \
                 int b = atomic_compare_exchange_weak_explicit({tried}, &e, 2, {success}, {failure});\n  \
                 int r = atomic_load_explicit({other}, memory_order_relaxed);\n}}\n"
            )
        };
        let observed = "locations [0:b; 0:e; 0:r; 1:b; 1:e; 1:r;]";
        let text = format!("C SB+weak\n{{}}\n{}{}{observed}\nexists (true)\n", body(0), body(1));
        let program = StdArc::new(litmus::read("SB+weak.litmus", &text).expect("it is a litmus test"));
        let wanted: Vec<usize> = ["0:b", "0:e", "0:r", "1:b", "1:e", "1:r"]
            .map(|name| {
                let mut terms = program.observed.iter();
                terms.position(|&term| program.term_name(term) == name).expect("it is observed")
            })
            .to_vec();
        let options = Options { search: SearchId::Stateful, ..Options::new(model) };
        let outcome = check(&program, &options, &|| None).expect("it can be checked");
        assert!(outcome.coverage.is_complete());
        outcome.states.keys().map(|state| std::array::from_fn(|index| state[wanted[index]])).collect()
    }

    fn of_rust(self, model: ModelId, search: SearchId) -> BTreeSet<Outcome> {
        let outcomes = StdArc::new(StdMutex::new(BTreeSet::new()));
        let seen = StdArc::clone(&outcomes);
        let mut builder = Builder::new();
        (builder.model, builder.search, builder.spurious) = (model, search, 2);
        let report = builder.explore(move || {
            let cells: Arc<[AtomicUsize; 4]> = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
            let threads = [0, 1].map(|own| {
                let cells = Arc::clone(&cells);
                thread::spawn(move || {
                    cells[own].store(1, Relaxed);
                    let answer = cells[self.tried[own]].compare_exchange_weak(0, 2, self.success, self.failure);
                    let (wrote, expected) = answer.map_or_else(|found| (0, found), |_| (1, 0));
                    [wrote, expected as u64, cells[1 - own].load(Relaxed) as u64]
                })
            });
            let [[b0, e0, r0], [b1, e1, r1]] = threads.map(|thread| thread.join().expect("it ends"));
            seen.lock().expect("no thread panics").insert([b0, e0, r0, b1, e1, r1]);
        });
        assert_eq!((report.failure, report.coverage.is_complete()), (None, true), "{self:?}");
        StdArc::into_inner(outcomes).expect("the search is over").into_inner().expect("no thread panics")
    }
}

#[test]
fn rust_and_c_have_the_same_outcomes_under_every_model() {
    // A cell that no other thread uses, one that both try, and what the thread has just stored.
    for tried in [[2, 3], [2, 2], [0, 1], [0, 3], [1, 0]] {
        for (success, failure) in
            [(Relaxed, Relaxed), (Acquire, Acquire), (Release, Relaxed), (AcqRel, Acquire), (SeqCst, SeqCst)]
        {
            let test = StoreBuffering { tried, success, failure };
            for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
                let expected = test.of_c(model);
                for search in [SearchId::Dpor, SearchId::ReadsFrom] {
                    assert_eq!(test.of_rust(model, search), expected, "{test:?}, {model:?}, {search:?}");
                }
            }
        }
    }
}

/// Whether both threads can miss the store of the other although an exchange that fails spuriously is between.
fn both_miss(model: ModelId, fails: fn() -> bool) -> bool {
    let mut builder = Builder::new();
    (builder.model, builder.spurious) = (model, 2);
    let report = builder.explore(move || {
        let cells = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = Arc::clone(&cells);
        let side = move |cells: &[AtomicUsize; 2], own: usize| {
            cells[own].store(1, Relaxed);
            fails() && cells[1 - own].load(Relaxed) == 0
        };
        let thread = thread::spawn(move || side(&other, 1));
        let missed = side(&cells, 0);
        assert!(!(thread.join().expect("it ends") && missed), "both missed");
    });
    assert!(report.failure.is_some() || report.coverage.is_complete());
    report.failure.is_some()
}

#[test]
fn a_spurious_failure_drains_the_buffer_under_tso_and_not_under_pso() {
    let kinds: [fn() -> bool; 3] = [
        || AtomicUsize::new(0).compare_exchange_weak(0, 1, Relaxed, Relaxed).is_err(),
        || AtomicBool::new(false).compare_exchange_weak(false, true, Relaxed, Relaxed).is_err(),
        || {
            let null = std::ptr::null_mut::<u8>();
            AtomicPtr::new(null).compare_exchange_weak(null, null.wrapping_add(1), Relaxed, Relaxed).is_err()
        },
    ];
    for fails in kinds {
        assert!(!both_miss(ModelId::Tso, fails));
        assert!(both_miss(ModelId::Pso, fails));
    }
}
