//! The four smallest programs that tell the models apart.

use teetotal_program::condition::{Condition, Formula, Term};
use teetotal_program::ir::{Builder, Program};

/// Each thread writes one location and reads the other. Both may read 0 once stores are buffered.
#[must_use]
pub fn store_buffering() -> Program {
    let mut p = Builder::new("SB");
    let x = p.shared("x", 0);
    let y = p.shared("y", 0);
    let p0 = p.thread("P0", |t| {
        t.store(x, 1);
        t.load("r0", y);
    });
    let p1 = p.thread("P1", |t| {
        t.store(y, 1);
        t.load("r1", x);
    });
    let terms = [p.register(p0, "r0"), p.register(p1, "r1")].map(|term| term.expect("loaded above"));
    p.observe(terms);
    p.condition(all_equal(&[(terms[0], 0), (terms[1], 0)]));
    finish(p)
}

/// Data is written before a flag. The reader may see the flag without the data once stores pass each other.
#[must_use]
pub fn message_passing() -> Program {
    let mut p = Builder::new("MP");
    let data = p.shared("data", 0);
    let flag = p.shared("flag", 0);
    p.thread("P0", |t| {
        t.store(data, 1);
        t.store(flag, 1);
    });
    let p1 = p.thread("P1", |t| {
        t.load("r0", flag);
        t.load("r1", data);
    });
    let terms = [p.register(p1, "r0"), p.register(p1, "r1")].map(|term| term.expect("loaded above"));
    p.observe(terms);
    p.condition(all_equal(&[(terms[0], 1), (terms[1], 0)]));
    finish(p)
}

/// A load forwards from the buffer, and the store it took then loses the race to memory. [SOBER, Def. 3] forbids it.
#[must_use]
pub fn n6() -> Program {
    let mut p = Builder::new("n6");
    let x = p.shared("x", 0);
    let y = p.shared("y", 0);
    let p0 = p.thread("P0", |t| {
        t.store(x, 1);
        t.load("r0", x);
        t.load("r1", y);
    });
    p.thread("P1", |t| {
        t.store(y, 2);
        t.store(x, 2);
    });
    let [r0, r1] = [p.register(p0, "r0"), p.register(p0, "r1")].map(|term| term.expect("loaded above"));
    p.observe([r0, r1, Term::Memory(x)]);
    p.condition(all_equal(&[(r0, 1), (r1, 0), (Term::Memory(x), 1)]));
    finish(p)
}

/// Two threads write two locations in opposite orders. Both first stores may be the last to reach memory.
#[must_use]
pub fn two_plus_two_writes() -> Program {
    let mut p = Builder::new("2+2W");
    let x = p.shared("x", 0);
    let y = p.shared("y", 0);
    p.thread("P0", |t| {
        t.store(x, 2);
        t.store(y, 1);
    });
    p.thread("P1", |t| {
        t.store(y, 2);
        t.store(x, 1);
    });
    let terms = [Term::Memory(x), Term::Memory(y)];
    p.observe(terms);
    p.condition(all_equal(&[(terms[0], 2), (terms[1], 2)]));
    finish(p)
}

fn all_equal(terms: &[(Term, u64)]) -> Condition {
    Condition::Exists(Formula::And(terms.iter().map(|&(term, value)| Formula::equal(term, value)).collect()))
}

fn finish(p: Builder) -> Program {
    p.build().expect("the classics are well formed")
}
