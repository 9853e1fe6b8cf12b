//! Shapes of any size, to measure how a search grows with the number of threads.

use super::variant::finish;
use teetotal_program::condition::{Condition, Formula, Term};
use teetotal_program::ir::{Builder, Program};
use teetotal_program::{Loc, ThreadId};

/// Store buffering in a ring: thread `i` writes location `i` and reads the next. All read 0 once stores are buffered.
///
/// It has 2^n - 1 outcomes under SC and 2^n with store buffers.
#[must_use]
pub fn store_buffering_ring(n: u32) -> Program {
    let mut p = Builder::new(&format!("sb-ring-{n}"));
    let x = p.array("x", n);
    let mut terms = Vec::new();
    for i in 0..n {
        let thread = p.thread(&format!("P{i}"), |t| {
            t.store(x.element(i), 1);
            t.load("r", x.element((i + 1) % n));
        });
        terms.push(register(&p, thread, "r"));
    }
    p.observe(terms.clone());
    p.condition(Condition::Exists(Formula::And(terms.into_iter().map(|term| Formula::equal(term, 0)).collect())));
    finish(p)
}

/// `n` threads write one location, each its own number from 1 on. There are n! orders and n outcomes.
#[must_use]
pub fn n_writers(n: u32) -> Program {
    let mut p = Builder::new(&format!("writers-{n}"));
    let x = p.shared("x", 0);
    for i in 1..=n {
        p.thread(&format!("P{}", i - 1), |t| t.store(x, u64::from(i)));
    }
    finish(p)
}

/// `n` threads write one location, each its own number from 1 on, and read it back.
///
/// Under SC and TSO alike it has 4, 24, 200 and 2,160 outcomes for n = 2 to 5.
#[must_use]
pub fn write_read(n: u32) -> Program {
    let mut p = Builder::new(&format!("write-read-{n}"));
    let x = p.shared("x", 0);
    for i in 1..=n {
        p.thread(&format!("P{}", i - 1), |t| {
            t.store(x, u64::from(i));
            t.load("r", x);
        });
    }
    finish(p)
}

/// `n` threads add 1 to a location, reading and writing in separate steps, so that increments get lost.
#[must_use]
pub fn increments(n: u32) -> Program {
    let mut p = Builder::new(&format!("increments-{n}"));
    let x = p.shared("x", 0);
    for i in 0..n {
        p.thread(&format!("P{i}"), |t| {
            let r = t.load("r", x);
            t.store(x, r.plus(1));
        });
    }
    p.condition(Condition::Exists(Formula::equal(Term::Memory(x), 1)));
    finish(p)
}

/// Two threads of ten accesses each: five times a store to one location and a load of the other, in turn.
#[must_use]
pub fn two_by_ten() -> Program {
    let mut p = Builder::new("two-by-ten");
    let locations = [p.shared("x", 0), p.shared("y", 0)];
    for i in 0..2 {
        p.thread(&format!("P{i}"), |t| {
            for round in 0..5_usize {
                let own = (i + round) % 2;
                t.store(locations[own], (10 * i + round + 1) as u64);
                t.load(&format!("r{round}"), locations[1 - own]);
            }
        });
    }
    finish(p)
}

/// Two threads write a location each, and `readers` read both, every other one in the opposite order.
///
/// No machine with store buffers lets two readers disagree on which write came first.
#[must_use]
pub fn iriw(readers: u32) -> Program {
    let mut p = Builder::new(&format!("iriw-{readers}"));
    let locations = [p.shared("x", 0), p.shared("y", 0)];
    for (i, &loc) in locations.iter().enumerate() {
        p.thread(&format!("P{i}"), |t| t.store(loc, 1));
    }
    let mut terms = Vec::new();
    for i in 0..readers {
        let first = (i % 2) as usize;
        let reader = reader(&mut p, i + 2, [locations[first], locations[1 - first]]);
        terms.push([register(&p, reader, "r0"), register(&p, reader, "r1")]);
    }
    p.observe(terms.iter().flatten().copied());
    let saw_first_only = |&[r0, r1]: &[Term; 2]| [Formula::equal(r0, 1), Formula::equal(r1, 0)];
    p.condition(Condition::Exists(Formula::And(terms.iter().take(2).flat_map(saw_first_only).collect())));
    finish(p)
}

fn reader(p: &mut Builder, number: u32, locations: [Loc; 2]) -> ThreadId {
    p.thread(&format!("P{number}"), |t| {
        t.load("r0", locations[0]);
        t.load("r1", locations[1]);
    })
}

fn register(p: &Builder, thread: ThreadId, name: &str) -> Term {
    p.register(thread, name).expect("the thread loads into it")
}
