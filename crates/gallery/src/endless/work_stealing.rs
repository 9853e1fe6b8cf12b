//! The work-stealing queue of Cilk: owner and thief agree by the ends of the queue, and by a lock only near its end.

use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// The owner puts a task in and takes one out again and again, a thief steals; the protocol is called THE.
///
/// Both ends count down again when nothing is left, so that they stay small. Without a fence the owner may look at the
/// head before the thief sees the new tail, and both take one task.
#[must_use]
pub fn work_stealing(variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("work-stealing", 2));
    let [head, tail, lock] = [p.shared("H", 0), p.shared("T", 0), p.shared("L", 0)];
    p.thread("owner", |t| {
        let [h, end] = [t.temporary(), t.temporary()];
        t.repeat(|t, outer| {
            fetch(t, end, tail);
            t.when(end.lt(2), |t| {
                t.store(tail, end.plus(1));
                variant.fence(t);
            });
            fetch(t, end, tail);
            t.set(end, end.minus(1));
            t.store(tail, end);
            variant.fence(t);
            fetch(t, h, head);
            t.branch(h.le(end), outer.start);
            t.lock(lock);
            fetch(t, h, head);
            t.when(h.gt(end), |t| {
                t.store(head, 0);
                t.store(tail, 0);
            });
            t.unlock(lock);
        });
    });
    p.thread("thief", |t| {
        let [h, end] = [t.temporary(), t.temporary()];
        t.repeat(|t, _| {
            t.lock(lock);
            fetch(t, h, head);
            t.when(h.lt(2), |t| {
                t.store(head, h.plus(1));
                variant.fence(t);
                fetch(t, end, tail);
                t.when(end.lt(h.plus(1)), |t| t.store(head, h));
            });
            t.unlock(lock);
        });
    });
    finish(p)
}
