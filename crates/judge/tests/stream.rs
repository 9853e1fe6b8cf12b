//! The monitor for executions of any length finds what the one that keeps everything finds.

use teetotal_generate::Rng;
use teetotal_judge::monitors::robustness::{Attempt, Borderline, Mark, Stream};
use teetotal_memory::{Event, EventKind, ModelId};
use teetotal_program::{Loc, Order, ThreadId};

/// How a random execution looks.
#[derive(Clone, Copy)]
struct Shape {
    n_threads: usize,
    n_locations: usize,
    n_events: usize,
    /// Of a hundred events, how many are of the first thread, which is idle otherwise.
    first: u32,
}

/// An execution of sequential consistency; every order of accesses is one.
fn execution(seed: u64, shape: Shape) -> Vec<Event> {
    let mut rng = Rng::new(seed);
    let orders = [Order::Relaxed, Order::Relaxed, Order::Release, Order::SeqCst];
    let mut counts = vec![0; shape.n_threads];
    let mut make = || {
        let thread = if rng.percent(shape.first) { 0 } else { rng.between(1, shape.n_threads - 1) };
        let kind = rng.weighted(&[
            (40, EventKind::Store),
            (40, EventKind::Load),
            (3, EventKind::Rmw),
            (2, EventKind::FailedRmw),
            (2, EventKind::Fence),
        ]);
        let loc = Loc::at(rng.below(shape.n_locations));
        counts[thread] += 1;
        Event {
            thread: ThreadId::at(thread),
            index: counts[thread] - 1,
            kind,
            loc: (kind != EventKind::Fence).then_some(loc),
            read: None,
            written: matches!(kind, EventKind::Store | EventKind::Rmw).then_some(1),
            source: None,
            forwarded: false,
            fails_as_load: rng.percent(50),
            order: rng.pick(&orders),
            epoch: 0,
            place: 0,
            step: 0,
            committed: None,
        }
    };
    (0..shape.n_events).map(|_| make()).collect()
}

/// The numbers of the store and of the access of every delay, with everything kept.
fn delays(events: &[Event], model: ModelId, shape: Shape) -> Vec<(u64, u64)> {
    let mut algorithm = Borderline::<u64>::with_room(model, shape.n_threads, shape.n_locations);
    let mut found = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let attempt = Attempt::of(model, event);
        let store = attempt.and_then(|attempt| algorithm.overtaken(&attempt));
        found.extend(store.map(|store| (store, number as u64)));
        algorithm.perform(number as u64, event);
    }
    found
}

/// The same by the monitor that forgets, and how many writes it keeps in the end.
fn streamed(events: &[Event], stream: &mut Stream) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let store = stream.event(*event, number as u64, 0).expect("it is not too much");
        found.extend(store.map(|Mark { number: store, .. }| (store, number as u64)));
    }
    found
}

fn check(shape: Shape, n_seeds: u64, most_kept: usize) {
    for seed in 0..n_seeds {
        let events = execution(seed, shape);
        for model in [ModelId::Tso, ModelId::Pso] {
            let mut stream = Stream::new(model, None);
            // The first thread is known from the beginning.
            stream.starts(ThreadId(0)).expect("there is room");
            let found = streamed(&events, &mut stream);
            let expected = delays(&events, model, shape);
            assert_eq!(found, expected, "{model:?} {seed}");
            assert!(!expected.is_empty() && stream.is_complete());
            assert!(stream.n_kept() <= most_kept, "{} writes are kept", stream.n_kept());
        }
    }
}

#[test]
fn forgetting_changes_nothing() {
    check(Shape { n_threads: 4, n_locations: 3, n_events: 4_000, first: 20 }, 20, 600);
    check(Shape { n_threads: 7, n_locations: 20, n_events: 20_000, first: 10 }, 3, 4_000);
}

#[test]
fn a_thread_that_is_idle_for_long_makes_nothing_be_kept_without_need() {
    check(Shape { n_threads: 3, n_locations: 3, n_events: 30_000, first: 0 }, 2, 600);
    check(Shape { n_threads: 5, n_locations: 4, n_events: 30_000, first: 1 }, 3, 1_000);
}

#[test]
fn with_many_locations_what_everybody_knows_is_forgotten() {
    let shape = Shape { n_threads: 3, n_locations: 600, n_events: 120_000, first: 33 };
    check(shape, 1, 60_000);
}

#[test]
fn a_window_bounds_what_is_kept_and_finds_nothing_that_is_not_there() {
    let shape = Shape { n_threads: 4, n_locations: 6, n_events: 5_000, first: 1 };
    let mut lost = 0;
    for seed in 0..10 {
        let events = execution(seed, shape);
        let mut stream = Stream::new(ModelId::Pso, Some(10));
        let found = streamed(&events, &mut stream);
        let expected = delays(&events, ModelId::Pso, shape);
        assert!(found.iter().all(|delay| expected.contains(delay)), "{seed}");
        assert!(stream.n_kept() <= 10 + shape.n_locations);
        assert!(!stream.is_complete());
        lost += expected.len() - found.len();
    }
    assert!(lost > 0, "the window is too large to show anything");
}

#[test]
fn another_execution_begins_with_nothing_known() {
    let shape = Shape { n_threads: 3, n_locations: 3, n_events: 500, first: 30 };
    let mut stream = Stream::new(ModelId::Tso, None);
    let first = streamed(&execution(1, shape), &mut stream);
    stream.begin();
    assert_eq!(streamed(&execution(1, shape), &mut stream), first);
}
