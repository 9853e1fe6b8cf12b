//! Which search is taken, and that it does not matter for what is found.

use teetotal::model::{Builder, Report, SearchId};
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use teetotal::sync::{Arc, Condvar, Mutex};
use teetotal::{ModelId, hint, thread};

#[path = "../../../bench/src/rust/progress.rs"]
mod progress;

use progress::report_progress;

/// Settings under PSO, since `rf` takes models of store buffers only.
fn under_pso() -> Builder {
    let mut builder = Builder::new();
    builder.model = ModelId::Pso;
    builder
}

fn searched(search: SearchId, f: impl Fn() + Send + Sync + 'static) -> Report {
    let mut builder = under_pso();
    builder.search = search;
    builder.explore(f)
}

/// Two threads add one each, in two steps if they are careless.
fn count(is_careful: bool) {
    let n = Arc::new(AtomicUsize::new(0));
    let add = move |n: &AtomicUsize| {
        if is_careful {
            n.fetch_add(1, Relaxed);
        } else {
            n.store(n.load(Relaxed) + 1, Relaxed);
        }
    };
    let other = Arc::clone(&n);
    let adder = thread::spawn(move || add(&other));
    add(&n);
    adder.join().expect("it ends");
    assert_eq!(n.load(Relaxed), 2, "an addition is lost");
}

#[test]
fn auto_goes_over_where_few_executions_differ_in_what_they_read() {
    let report = searched(SearchId::Auto, || report_progress(3, 3));
    assert_eq!(report.search, SearchId::ReadsFrom);
    assert_eq!(report.search_reason, "the first 8 executions have only 2 reads-from relations");
    assert!(report.coverage.is_complete() && report.failure.is_none());
    assert_eq!((report.executions, report.stats.abandoned), (3, 8));
    let by_traces = searched(SearchId::Dpor, || report_progress(3, 3));
    assert_eq!((by_traces.executions, &*by_traces.search_reason), (1_680, "it was requested"));
}

#[test]
fn auto_stays_where_it_is_for_few_executions() {
    let report = searched(SearchId::Auto, || count(true));
    assert_eq!((report.search, &*report.search_reason), (SearchId::Dpor, "there are few executions"));
}

#[test]
fn a_model_of_graphs_is_searched_by_graphs() {
    let report = Builder::new().explore(|| count(true));
    assert_eq!((report.model, report.search), (ModelId::Rc11, SearchId::Dpor));
    assert_eq!(report.search_reason, "executions of the model are graphs");
}

#[test]
fn what_only_one_search_can_do_decides() {
    let reason = |set: fn(&mut Builder)| {
        let mut builder = under_pso();
        builder.search = SearchId::Auto;
        set(&mut builder);
        let report = builder.explore(|| count(true));
        assert_eq!(report.search, SearchId::Dpor);
        report.search_reason
    };
    assert_eq!(reason(|builder| builder.preemption_bound = Some(2)), "only it has a bound on preemptions");
    assert_eq!(reason(|builder| builder.jobs = 2), "only it uses several processor cores");
    assert_eq!(reason(|builder| builder.robustness = true), "only it decides robustness");
}

#[test]
fn a_failure_found_by_annotations_is_shown_with_a_token() {
    let report = searched(SearchId::ReadsFrom, || count(false));
    let failure = report.failure.expect("an addition is lost");
    assert!(failure.starts_with("main panicked: assertion `left == right` failed: an addition is lost"), "{failure}");
    assert!(failure.contains("of the search `rf`, under pso"), "{failure}");
    assert!(failure.contains("TEETOTAL_REPLAY=pso1:"), "{failure}");
}

#[test]
fn limits_are_heeded() {
    let mut builder = under_pso();
    builder.search = SearchId::ReadsFrom;
    builder.max_permutations = Some(2);
    let report = builder.explore(|| report_progress(3, 2));
    assert_eq!(report.executions, 2);
    assert_eq!(report.coverage, teetotal::Coverage::Stopped(teetotal::StopReason::Executions(2)));
}

/// Somebody who waits for a value that may be overwritten before it is seen.
fn wait_for_what_may_be_gone() {
    let x = Arc::new(AtomicUsize::new(0));
    let other = Arc::clone(&x);
    let writer = thread::spawn(move || {
        other.store(1, Release);
        other.store(2, Release);
    });
    while x.load(Acquire) != 1 {
        hint::spin_loop();
    }
    drop(writer.join());
}

/// Waits for a value that another thread may overwrite.
fn wait_for_what_another_may_overwrite() {
    let x = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = [1, 2]
        .map(|value| {
            let x = Arc::clone(&x);
            thread::spawn(move || x.store(value, Release))
        })
        .into();
    while x.load(Acquire) != 1 {
        hint::spin_loop();
    }
    writers.into_iter().for_each(|writer| drop(writer.join()));
}

/// Somebody looks at two things and waits for one of them.
fn wait_for_two_things(is_last_known: bool) {
    let shared = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let writers: Vec<_> = [1, 2]
        .map(|value| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared[0].store(value, Relaxed);
                if is_last_known {
                    shared[1].fetch_add(1, Relaxed);
                }
            })
        })
        .into();
    let is_done = || shared[0].load(Relaxed) == 2 || shared[1].load(Relaxed) == 2;
    while !is_done() {
        hint::spin_loop();
    }
    writers.into_iter().for_each(|writer| drop(writer.join()));
}

fn lose_a_wakeup(is_checked: bool) {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let other = Arc::clone(&shared);
    let waker = thread::spawn(move || {
        *other.0.lock().expect("no thread panics") = true;
        other.1.notify_one();
    });
    let mut is_ready = shared.0.lock().expect("no thread panics");
    while is_checked && !*is_ready {
        is_ready = shared.1.wait(is_ready).expect("no thread panics");
    }
    if !is_checked {
        is_ready = shared.1.wait(is_ready).expect("no thread panics");
    }
    drop(is_ready);
    drop(waker.join());
}

fn lock_two(is_ordered: bool) {
    let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
    let other = Arc::clone(&locks);
    let both = move |locks: &[Mutex<i32>; 2], first: usize| {
        let _first = locks[first].lock();
        let _second = locks[1 - first].lock();
    };
    let second = if is_ordered { 0 } else { 1 };
    let locker = thread::spawn(move || both(&other, second));
    both(&locks, 0);
    drop(locker.join());
}

#[test]
fn both_searches_find_threads_that_are_blocked_forever() {
    let cases: [(&str, fn(), bool); 8] = [
        ("what may be gone", wait_for_what_may_be_gone, true),
        ("what another may overwrite", wait_for_what_another_may_overwrite, true),
        ("two things", || wait_for_two_things(false), true),
        ("two things, of which one is known", || wait_for_two_things(true), false),
        ("a wakeup that is lost", || lose_a_wakeup(false), true),
        ("a wakeup that is not", || lose_a_wakeup(true), false),
        ("two locks", || lock_two(false), true),
        ("two locks in one order", || lock_two(true), false),
    ];
    for (name, f, fails) in cases {
        for model in [ModelId::Sc, ModelId::Tso, ModelId::Pso] {
            for search in [SearchId::Dpor, SearchId::ReadsFrom] {
                let mut builder = Builder::new();
                builder.model = model;
                builder.search = search;
                let report = builder.explore(f);
                let of = format!("{name}, {model:?}, {search:?}: {:?}, {:?}", report.failure, report.coverage);
                assert_eq!(report.failure.is_some(), fails, "{of}");
                assert_eq!(!report.coverage.is_complete(), fails, "{of}");
                let is_blocked =
                    |text: teetotal::model::Violation| text.starts_with("deadlock") || text.starts_with("livelock");
                assert!(report.failure.is_none_or(is_blocked), "{of}");
            }
        }
    }
}
