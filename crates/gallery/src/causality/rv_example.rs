//! Two variables under one lock, which only some accesses take.

use crate::variant::{fetch, finish};
use teetotal_program::condition::{Condition, Formula};
use teetotal_program::ir::{Builder, Program};

/// Three threads of two rounds each; `RVExample` of [MCR, Table 2]. The error needs `y` to become 3.
///
/// The thread that meets the error goes on, as in the source, so the error is a condition on final states.
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
    let t2 = p.thread("T2", |t| {
        let (seen, error) = (t.temporary(), t.reg("error"));
        for _ in 0..2 {
            fetch(t, seen, x);
            t.when(seen.gt(1), |t| {
                fetch(t, seen, y);
                t.when_else(seen.eq(3), |t| t.set(error, 1), |t| t.store(y, 2));
            });
        }
    });
    let error = p.register(t2, "error").expect("made above");
    p.condition(Condition::NotExists(Formula::equal(error, 1)));
    finish(p)
}
