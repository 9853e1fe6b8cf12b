//! Peterson's algorithm with bounded waiting.

use super::break_after_two;
use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Two threads enter once each; `Peterson` of [MCR, Table 2]. Nothing is tested inside.
#[must_use]
pub fn peterson() -> Program {
    let mut p = Builder::new("peterson");
    let flags = [p.shared("f1", 0), p.shared("f2", 0)];
    let turn = p.shared("turn", 0);
    let x = p.shared("x", 0);
    for i in 0..2 {
        let (number, other) = (i as u64 + 1, 2 - i as u64);
        p.thread(&format!("T{number}"), |t| {
            let [seen, count] = [t.temporary(), t.temporary()];
            t.store(flags[i], 1);
            t.store(turn, other);
            t.repeat(|t, labels| {
                fetch(t, seen, flags[1 - i]);
                t.branch(seen.ne(1), labels.exit);
                fetch(t, seen, turn);
                t.branch(seen.ne(other), labels.exit);
                break_after_two(t, count, labels.exit);
            });
            t.store(x, number);
            t.store(flags[i], 0);
        });
    }
    finish(p)
}
