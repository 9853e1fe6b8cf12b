//! Lamport's bakery with its loops.

use super::temporaries;
use crate::gallery::variant::{Variant, fetch, finish};
use crate::ir::{Array, Builder, Expr, Program, ThreadBuilder};
use crate::names::Reg;

/// `n` threads enter once each. From `bakery.c`.
#[must_use]
pub fn bakery_loop(n: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("bakery-loop", n));
    let choosing = p.array("choosing", n);
    let numbers = p.array("num", n);
    let section = p.shared("cs", 0);
    for i in 0..n {
        p.thread(&format!("T{i}"), |t| {
            let [seen, max] = temporaries(t);
            take_number(t, [choosing, numbers], (i, max), variant);
            for j in (0..n).filter(|&j| j != i) {
                variant.spin(t, seen, choosing.element(j), seen.eq(0));
                variant.spin(t, seen, numbers.element(j), may_pass(seen, max, j > i));
            }
            t.store(section, u64::from(i) + 1);
            fetch(t, seen, section);
            variant.assert(t, seen.eq(u64::from(i) + 1), "another thread is in the critical section");
            variant.fence(t);
            t.store(numbers.element(i), 0);
        });
    }
    finish(p)
}

/// Takes a number above all others; `max` gets the largest of them.
fn take_number(t: &mut ThreadBuilder<'_>, [choosing, numbers]: [Array; 2], (i, max): (u32, Reg), variant: Variant) {
    let seen = t.temporary();
    t.store(choosing.element(i), 1);
    variant.fence(t);
    for j in 0..numbers.length {
        fetch(t, seen, numbers.element(j));
        t.when(seen.gt(max), |t| t.set(max, seen));
    }
    t.store(numbers.element(i), max.plus(1));
    variant.fence(t);
    t.store(choosing.element(i), 0);
    variant.fence(t);
}

/// Whether a thread with number `max + 1` goes before one with number `theirs`.
fn may_pass(theirs: Reg, max: Reg, they_come_later: bool) -> Expr {
    let above = theirs.eq(0).or(theirs.gt(max.plus(1)));
    if they_come_later { above.or(theirs.eq(max.plus(1))) } else { above }
}
