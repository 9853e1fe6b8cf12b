//! A reader that looks at the second store first, and at the first only then.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Message passing with its error written as a test: correct under TSO, wrong under PSO. [MCR, Fig. 3b]
#[must_use]
pub fn write_order() -> Program {
    let mut p = Builder::new("write-order");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("Thread1", |t| {
        t.store(x, 1);
        t.store(y, 1);
    });
    p.thread("Thread2", |t| {
        let seen = t.temporary();
        fetch(t, seen, y);
        t.when(seen.eq(1), |t| {
            fetch(t, seen, x);
            t.assert(seen.ne(0), "y is 1 and x is still 0");
        });
    });
    finish(p)
}
