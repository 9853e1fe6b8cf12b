//! A stack that asks whether it is empty before it takes its lock.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// One thread pushes `n` times, another pops as often, and so does a third; in place of `StackUnsafe` of [MCR, Table 2].
///
/// Whoever pops looks at the size without the lock, so that two may take the last element.
#[must_use]
pub fn stack_unsafe(n: u32) -> Program {
    let mut p = Builder::new(&format!("stack-unsafe-{n}"));
    let [lock, size] = [p.shared("lock", 0), p.shared("size", 0)];
    p.thread("pushes", |t| {
        let seen = t.temporary();
        for _ in 0..n {
            t.lock(lock);
            fetch(t, seen, size);
            t.store(size, seen.plus(1));
            t.unlock(lock);
        }
    });
    for i in 1..=2 {
        p.thread(&format!("pops{i}"), |t| {
            let seen = t.temporary();
            for _ in 0..n {
                fetch(t, seen, size);
                t.when(seen.ne(0), |t| {
                    t.lock(lock);
                    fetch(t, seen, size);
                    t.assert(seen.ne(0), "the stack is empty");
                    t.store(size, seen.minus(1));
                    t.unlock(lock);
                });
            }
        });
    }
    finish(p)
}
