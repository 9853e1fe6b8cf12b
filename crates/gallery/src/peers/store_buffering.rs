//! Store buffering in a ring, with the values read put into memory and summed up.

use crate::variant::{Variant, fetch, finish};
use teetotal_program::condition::{Formula, Term};
use teetotal_program::ir::{Builder, Program};

/// `n` threads; the sum of what they read must not be 0. From `sb.c`.
#[must_use]
pub fn store_buffering_sum(n: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("sb-sum", n));
    let x = p.array("x", n);
    let r = p.array("r", n);
    for i in 0..n {
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            t.store(x.element(i), 1);
            variant.fence(t);
            fetch(t, seen, x.element((i + 1) % n));
            t.store(r.element(i), seen);
        });
    }
    let results = (0..n).map(|i| Formula::equal(Term::Memory(r.element(i)), 1));
    variant.demand(&mut p, Formula::Or(results.collect()));
    finish(p)
}
