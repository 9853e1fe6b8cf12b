//! Small concurrent algorithms, written once for every library that checks them.
//!
//! Whoever includes this file has a module `library` beside it that says what `Arc`, `thread` and the rest are.

use super::library::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use super::library::{Arc, AtomicBool, AtomicUsize, Data, fence, spawn, wait};

/// What a library runs again and again.
pub(crate) type Case = Box<dyn Fn() + Send + Sync>;

/// Makes a case.
pub(crate) type Make = fn() -> Case;

/// The cases by their names.
pub(crate) const CASES: [(&str, Make); 18] = [
    ("SB with fences, 2 threads", || Box::new(|| store_buffering(2))),
    ("SB with fences, 3 threads", || Box::new(|| store_buffering(3))),
    ("SB with fences, 4 threads", || Box::new(|| store_buffering(4))),
    ("SB, all SeqCst", || Box::new(store_buffering_seq_cst)),
    ("Dekker, all SeqCst", || Box::new(dekker)),
    ("Peterson, all SeqCst", || Box::new(peterson_seq_cst)),
    ("Peterson by RMW, 1 round", || Box::new(|| peterson_by_update(1))),
    ("Peterson by RMW, 2 rounds", || Box::new(|| peterson_by_update(2))),
    ("Treiber stack, 2x1", || Box::new(|| treiber(1))),
    ("Treiber stack, 2x2", || Box::new(|| treiber(2))),
    ("Michael-Scott queue, 2x1", || Box::new(|| michael_scott(1))),
    ("Michael-Scott queue, 2x2", || Box::new(|| michael_scott(2))),
    ("ticket lock, 2x2", || Box::new(|| ticket_lock(2, 2))),
    ("ticket lock, 3x1", || Box::new(|| ticket_lock(3, 1))),
    ("Chase-Lev deque, 1 thief", || Box::new(|| chase_lev(1))),
    ("Chase-Lev deque, 2 thieves", || Box::new(|| chase_lev(2))),
    ("drop of an Arc, 3 threads", || Box::new(|| reference_count(3))),
    ("drop of an Arc, 4 threads", || Box::new(|| reference_count(4))),
];

/// Runs `f` on `n` threads with their numbers, and gives what they give.
fn on_threads<T: Send + 'static>(n: usize, f: impl Fn(usize) -> T + Clone + Send + 'static) -> Vec<T> {
    let threads: Vec<_> = (0..n)
        .map(|number| {
            let f = f.clone();
            spawn(move || f(number))
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
}

/// Each thread of a ring stores to its own location and loads that of the next.
fn store_buffering(n: usize) {
    let flags: Arc<Vec<AtomicUsize>> = Arc::new((0..n).map(|_| AtomicUsize::new(0)).collect());
    let seen = on_threads(n, move |number| {
        flags[number].store(1, Relaxed);
        fence(SeqCst);
        flags[(number + 1) % flags.len()].load(Relaxed)
    });
    assert!(seen.contains(&1), "nobody saw a store");
}

fn store_buffering_seq_cst() {
    let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let seen = on_threads(2, move |number| {
        flags[number].store(1, SeqCst);
        flags[1 - number].load(SeqCst)
    });
    assert!(seen.contains(&1), "nobody saw a store");
}

/// Each thread enters if the other does not want to.
fn dekker() {
    let shared = Arc::new(([AtomicBool::new(false), AtomicBool::new(false)], Data::new(0)));
    on_threads(2, move |number| {
        shared.0[number].store(true, SeqCst);
        if !shared.0[1 - number].load(SeqCst) {
            shared.1.set(shared.1.get() + 1);
        }
    });
}

/// Peterson's lock, and what it protects.
struct Peterson {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    data: Data,
}

impl Peterson {
    fn new() -> Arc<Self> {
        let wants = [AtomicBool::new(false), AtomicBool::new(false)];
        Arc::new(Peterson { wants, turn: AtomicUsize::new(0), data: Data::new(0) })
    }
}

fn peterson_seq_cst() {
    let lock = Peterson::new();
    on_threads(2, move |me| {
        lock.wants[me].store(true, SeqCst);
        lock.turn.store(1 - me, SeqCst);
        while lock.wants[1 - me].load(SeqCst) && lock.turn.load(SeqCst) == 1 - me {
            wait();
        }
        lock.data.set(lock.data.get() + 1);
        lock.wants[me].store(false, SeqCst);
    });
}

/// Here the turn is given away by a swap, which needs no sequential consistency.
fn peterson_by_update(rounds: usize) {
    let lock = Peterson::new();
    on_threads(2, move |me| {
        for _ in 0..rounds {
            lock.wants[me].store(true, Relaxed);
            lock.turn.swap(1 - me, AcqRel);
            while lock.wants[1 - me].load(Acquire) && lock.turn.load(Acquire) == 1 - me {
                wait();
            }
            lock.data.set(lock.data.get() + 1);
            lock.wants[me].store(false, Release);
        }
    });
}

/// Nodes of a linked structure. 0 is no node, and no node is used twice.
struct Nodes {
    next: Vec<AtomicUsize>,
    values: Vec<Data>,
}

impl Nodes {
    fn new(n: usize) -> Self {
        Nodes { next: (0..=n).map(|_| AtomicUsize::new(0)).collect(), values: (0..=n).map(|_| Data::new(0)).collect() }
    }
}

/// Two threads that push and pop `rounds` times each.
fn treiber(rounds: usize) {
    let stack = Arc::new((AtomicUsize::new(0), Nodes::new(2 * rounds)));
    let popped = on_threads(2, move |number| {
        let (head, nodes) = &*stack;
        let mut popped = 0;
        for round in 0..rounds {
            let node = 1 + number * rounds + round;
            nodes.values[node].set(node);
            let mut old = head.load(Relaxed);
            loop {
                nodes.next[node].store(old, Relaxed);
                match head.compare_exchange(old, node, Release, Relaxed) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
            let mut old = head.load(Acquire);
            while old != 0 {
                let next = nodes.next[old].load(Relaxed);
                match head.compare_exchange(old, next, Acquire, Acquire) {
                    Ok(_) => break,
                    Err(now) => old = now,
                }
            }
            popped += if old == 0 { 0 } else { nodes.values[old].get() };
        }
        popped
    });
    assert_eq!(popped.iter().sum::<usize>(), rounds * (2 * rounds + 1));
}

/// Two threads that add to a queue and take from it `rounds` times each.
fn michael_scott(rounds: usize) {
    // Node 1 is the one that is always there.
    let queue = Arc::new((AtomicUsize::new(1), AtomicUsize::new(1), Nodes::new(2 * rounds + 1)));
    let taken = on_threads(2, move |number| {
        let (head, tail, nodes) = &*queue;
        (0..rounds)
            .map(|round| {
                add_to_queue(2 + number * rounds + round, tail, nodes);
                take_from_queue(head, tail, nodes)
            })
            .sum::<usize>()
    });
    let all: usize = (2..2 + 2 * rounds).sum();
    assert_eq!(taken.iter().sum::<usize>(), all);
}

fn add_to_queue(node: usize, tail: &AtomicUsize, nodes: &Nodes) {
    nodes.values[node].set(node);
    loop {
        let last = tail.load(Acquire);
        let next = nodes.next[last].load(Acquire);
        if next != 0 {
            let _ = tail.compare_exchange(last, next, AcqRel, Relaxed);
        } else if nodes.next[last].compare_exchange(0, node, AcqRel, Relaxed).is_ok() {
            let _ = tail.compare_exchange(last, node, AcqRel, Relaxed);
            return;
        }
    }
}

fn take_from_queue(head: &AtomicUsize, tail: &AtomicUsize, nodes: &Nodes) -> usize {
    loop {
        let first = head.load(Acquire);
        let last = tail.load(Acquire);
        let next = nodes.next[first].load(Acquire);
        if next == 0 {
            return 0;
        }
        if first == last {
            let _ = tail.compare_exchange(last, next, AcqRel, Relaxed);
        } else if head.compare_exchange(first, next, AcqRel, Relaxed).is_ok() {
            return nodes.values[next].get();
        }
    }
}

/// `n` threads that take a lock `rounds` times each.
fn ticket_lock(n: usize, rounds: usize) {
    let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Data::new(0)));
    let other = Arc::clone(&lock);
    on_threads(n, move |_| {
        for _ in 0..rounds {
            let ticket = other.0.fetch_add(1, Relaxed);
            while other.1.load(Acquire) != ticket {
                wait();
            }
            other.2.set(other.2.get() + 1);
            other.1.store(ticket + 1, Release);
        }
    });
    assert_eq!(lock.2.get(), n * rounds);
}

/// An owner that adds two elements and takes one, and thieves that try to steal one each.
fn chase_lev(thieves: usize) {
    // The next to steal, one past the last, and the elements.
    let deque = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), [AtomicUsize::new(0), AtomicUsize::new(0)]));
    let taken = on_threads(1 + thieves, move |number| {
        let (top, bottom, elements) = &*deque;
        if number > 0 {
            let first = top.load(Acquire);
            fence(SeqCst);
            let end = bottom.load(Acquire);
            if first >= end {
                return 0;
            }
            let element = elements[first].load(Relaxed);
            return if top.compare_exchange(first, first + 1, SeqCst, Relaxed).is_ok() { element } else { 0 };
        }
        for (index, element) in elements.iter().enumerate() {
            element.store(index + 1, Relaxed);
            bottom.store(index + 1, Release);
        }
        bottom.store(1, Relaxed);
        fence(SeqCst);
        let first = top.load(Relaxed);
        if first < 1 {
            return elements[1].load(Relaxed);
        }
        let element = elements[1].load(Relaxed);
        let is_won = first == 1 && top.compare_exchange(1, 2, SeqCst, Relaxed).is_ok();
        bottom.store(2, Relaxed);
        if is_won { element } else { 0 }
    });
    for element in 1..=2 {
        assert!(taken.iter().filter(|&&taken| taken == element).count() <= 1, "element {element} was taken twice");
    }
}

/// `n` threads that give up a reference each; the last one frees what all have read.
fn reference_count(n: usize) {
    let counted = Arc::new((AtomicUsize::new(n), Data::new(1)));
    let freed = on_threads(n, move |_| {
        assert_eq!(counted.1.get(), 1);
        if counted.0.fetch_sub(1, Release) != 1 {
            return 0;
        }
        fence(Acquire);
        counted.1.set(0);
        1
    });
    assert_eq!(freed.iter().sum::<usize>(), 1);
}
