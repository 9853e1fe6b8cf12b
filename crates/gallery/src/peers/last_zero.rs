//! A reader looks for the last zero of an array that writers fill.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// `n` writers, each of which sets an element to one more than the element before it. From `lastzero.c`.
#[must_use]
pub fn last_zero(n: u32) -> Program {
    let mut p = Builder::new(&format!("last-zero-{n}"));
    let array = p.array("array", n + 1);
    p.thread("reader", |t| {
        let [index, seen] = super::temporaries(t);
        t.set(index, u64::from(n));
        t.repeat(|t, labels| {
            fetch(t, seen, array.at(index));
            t.branch(seen.eq(0), labels.exit);
            t.set(index, index.minus(1));
        });
    });
    for j in 1..=n {
        p.thread(&format!("writer{j}"), |t| {
            let seen = t.temporary();
            fetch(t, seen, array.element(j - 1));
            t.store(array.element(j), seen.plus(1));
        });
    }
    finish(p)
}
