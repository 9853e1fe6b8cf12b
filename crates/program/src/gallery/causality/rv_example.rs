//! Two variables under one lock, which only some accesses take.

use crate::gallery::variant::{fetch, finish};
use crate::ir::{Builder, Program};

/// Three threads of two rounds each; `RVExample` of [MCR, Table 2]. The error needs `y` to become 3.
#[must_use]
pub fn rv_example() -> Program {
    let mut p = Builder::new("rv-example");
    let [x, y, lock] = [p.shared("x", 0), p.shared("y", 0), p.shared("l", 0)];
    p.thread("main", |t| {
        for _ in 0..2 {
            t.lock(lock);
            t.store(x, 1);
            t.store(y, 1);
            t.unlock(lock);
        }
    });
    p.thread("T1", |t| {
        let seen = t.temporary();
        for _ in 0..2 {
            t.lock(lock);
            t.store(x, 0);
            t.unlock(lock);
            fetch(t, seen, x);
            t.when(seen.gt(0), |t| {
                fetch(t, seen, y);
                t.store(y, seen.plus(1));
                t.store(x, 2);
            });
        }
    });
    p.thread("T2", |t| {
        let seen = t.temporary();
        for _ in 0..2 {
            fetch(t, seen, x);
            t.when(seen.gt(1), |t| {
                fetch(t, seen, y);
                t.assert(seen.ne(3), "y is 3");
                t.store(y, 2);
            });
        }
    });
    finish(p)
}
