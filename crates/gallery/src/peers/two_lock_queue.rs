//! The queue of Michael and Scott with a lock at each end.

use super::{field, pointer, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// `writers` put one number each in, `readers` take one each out. From `ms2.c`.
///
/// A plain store publishes a node to a reader that holds the other lock; without fences it is wrong under PSO.
#[must_use]
pub fn two_lock_queue(writers: u32, readers: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("two-lock-queue", format_args!("{writers}-{readers}")));
    let [head, tail] = [p.shared("head", pointer(0)), p.shared("tail", pointer(0))];
    let [head_lock, tail_lock] = [p.shared("hl", 0), p.shared("tl", 0)];
    let value = p.array("v", writers + 1);
    let next = p.array("next", writers + 1);
    for i in 1..=writers {
        p.thread(&format!("writer{i}"), |t| {
            let last = t.temporary();
            t.lock(tail_lock);
            t.store(value.element(i), u64::from(i));
            t.store(next.element(i), 0);
            variant.fence(t);
            fetch(t, last, tail);
            t.store(field(next, last), pointer(i));
            t.store(tail, pointer(i));
            t.unlock(tail_lock);
        });
    }
    for i in 1..=readers {
        p.thread(&format!("reader{i}"), |t| {
            let [first, after] = temporaries(t);
            let v = t.reg("v");
            t.set(v, -1);
            t.lock(head_lock);
            fetch(t, first, head);
            fetch(t, after, field(next, first));
            variant.fence(t);
            t.when(after, |t| {
                fetch(t, v, field(value, after));
                t.store(head, after);
            });
            t.unlock(head_lock);
            let written = v.ge(1).and(v.le(u64::from(writers)));
            variant.assert(t, v.eq(-1).or(written), "a value was taken that nobody put in");
        });
    }
    finish(p)
}
