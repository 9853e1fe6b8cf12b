//! Lamport's bakery with its loops.

use super::temporaries;
use crate::variant::{Variant, fetch, finish};
use teetotal_program::Reg;
use teetotal_program::ir::{Array, Builder, Expr, Program, ThreadBuilder};

/// `n` threads enter once each. From `bakery.c`.
#[must_use]
pub fn bakery_loop(n: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("bakery-loop", n));
    let choosing = p.array("choosing", n);
    let numbers = p.array("num", n);
    let section = p.shared("cs", 0);
    for i in 0..n {
        let lock = Lock { choosing, numbers, own: i, variant };
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            lock.enter(t);
            t.store(section, u64::from(i) + 1);
            fetch(t, seen, section);
            variant.assert(t, seen.eq(u64::from(i) + 1), "another thread is in the critical section");
            variant.fence(t);
            t.store(numbers.element(i), 0);
        });
    }
    finish(p)
}

/// The lock as thread `own` sees it.
struct Lock {
    choosing: Array,
    numbers: Array,
    own: u32,
    variant: Variant,
}

impl Lock {
    fn enter(&self, t: &mut ThreadBuilder<'_>) {
        let [seen, max] = temporaries(t);
        self.take_number(t, seen, max);
        for j in (0..self.numbers.length).filter(|&j| j != self.own) {
            self.variant.spin(t, seen, self.choosing.element(j), seen.eq(0));
            self.variant.spin(t, seen, self.numbers.element(j), may_pass(seen, max, j > self.own));
        }
    }

    /// Takes a number above all others; `max` gets the largest of them.
    fn take_number(&self, t: &mut ThreadBuilder<'_>, seen: Reg, max: Reg) {
        t.store(self.choosing.element(self.own), 1);
        self.variant.fence(t);
        for j in 0..self.numbers.length {
            fetch(t, seen, self.numbers.element(j));
            t.when(seen.gt(max), |t| t.set(max, seen));
        }
        t.store(self.numbers.element(self.own), max.plus(1));
        self.variant.fence(t);
        t.store(self.choosing.element(self.own), 0);
        self.variant.fence(t);
    }
}

/// Whether a thread with number `max + 1` goes before one with number `theirs`.
fn may_pass(theirs: Reg, max: Reg, they_come_later: bool) -> Expr {
    let above = theirs.eq(0).or(theirs.gt(max.plus(1)));
    if they_come_later { above.or(theirs.eq(max.plus(1))) } else { above }
}
