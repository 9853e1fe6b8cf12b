//! Lamport's bakery with bounded waiting.

use super::break_after_two;
use crate::variant::{fetch, finish};
use teetotal_program::ir::{Array, Builder, Program, ThreadBuilder};

/// Two threads enter once each; `Bakery` of [MCR, Table 2].
///
/// As in the source, equal numbers are not told apart by thread, and a number is read again for each use.
#[must_use]
pub fn bakery() -> Program {
    let mut p = Builder::new("bakery");
    let enter = p.array("enter", 2);
    let number = p.array("number", 2);
    let x = p.shared("x", 0);
    for i in 0..2 {
        p.thread(&format!("T{i}"), |t| {
            take_number(t, enter, number, i);
            wait(t, enter, number, i);
            t.store(x, u64::from(i) + 1);
            t.store(number.element(i), 0);
        });
    }
    finish(p)
}

fn take_number(t: &mut ThreadBuilder<'_>, enter: Array, number: Array, i: u32) {
    let [seen, max] = [t.temporary(), t.temporary()];
    t.store(enter.element(i), 1);
    for k in 0..2 {
        fetch(t, seen, number.element(k));
        t.when(seen.gt(max), |t| fetch(t, max, number.element(k)));
    }
    t.store(number.element(i), max.plus(1));
    t.store(enter.element(i), 0);
}

fn wait(t: &mut ThreadBuilder<'_>, enter: Array, number: Array, i: u32) {
    let [seen, own, n1, n2] = [t.temporary(), t.temporary(), t.temporary(), t.temporary()];
    for j in 0..2 {
        t.repeat(|t, labels| {
            fetch(t, seen, enter.element(j));
            t.branch(seen.ne(1), labels.exit);
            break_after_two(t, n1, labels.exit);
        });
        t.repeat(|t, labels| {
            fetch(t, seen, number.element(j));
            t.branch(seen.eq(0), labels.exit);
            fetch(t, seen, number.element(j));
            fetch(t, own, number.element(i));
            t.branch(seen.ge(own), labels.exit);
            break_after_two(t, n2, labels.exit);
        });
    }
}
