//! The non-blocking queue of Michael and Scott.

use super::swap::{Exchange, Swapper};
use super::{Swap, field, pointer, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Array, Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// `writers` put one number each in, `readers` take one each out. From `msn.c`.
///
/// With [`Swap::Spinlock`] and without fences updates get lost under PSO, which the assertion does not see.
#[must_use]
pub fn michael_scott(writers: u32, readers: u32, swap: Swap, variant: Variant) -> Program {
    let mut p = Builder::new(
        &variant.name(swap.name("michael-scott", "michael-scott-spinlock"), format_args!("{writers}-{readers}")),
    );
    let [head, tail] = [p.shared("head", pointer(0)), p.shared("tail", pointer(0))];
    let value = p.array("v", writers + 1);
    let next = p.array("next", writers + 1);
    let swapper = Swapper::new(&mut p, swap, variant);
    let queue = Queue { head, tail, value, next, swapper, variant };
    for i in 1..=writers {
        p.thread(&format!("writer{i}"), |t| queue.put(t, i));
    }
    for i in 1..=readers {
        p.thread(&format!("reader{i}"), |t| {
            let v = queue.take(t);
            let written = v.ge(1).and(v.le(u64::from(writers)));
            variant.assert(t, v.eq(-1).or(written), "a value was taken that nobody put in");
        });
    }
    finish(p)
}

#[derive(Clone, Copy)]
struct Queue {
    head: Loc,
    tail: Loc,
    value: Array,
    next: Array,
    swapper: Swapper,
    variant: Variant,
}

impl Queue {
    fn put(self, t: &mut ThreadBuilder<'_>, node: u32) {
        let Queue { tail, next, variant, .. } = self;
        let [last, after, again] = temporaries(t);
        t.store(self.value.element(node), u64::from(node));
        t.store(next.element(node), 0);
        variant.fence(t);
        t.repeat(|t, labels| {
            fetch(t, last, tail);
            variant.fence(t);
            fetch(t, after, field(next, last));
            variant.fence(t);
            fetch(t, again, tail);
            t.branch(last.ne(again), labels.start);
            t.when(after.eq(0), |t| {
                let link = Exchange { at: field(next, last), expected: 0.into(), new: pointer(node).into() };
                let linked = self.swapper.perform(t, link);
                t.branch(linked.negated(), labels.start);
                let swing = Exchange { at: tail.into(), expected: last.into(), new: pointer(node).into() };
                self.swapper.perform(t, swing);
                t.jump(labels.exit);
            });
            self.swapper.perform(t, Exchange { at: tail.into(), expected: last.into(), new: after.into() });
        });
    }

    /// The register called `v` gets the value taken, or -1.
    fn take(self, t: &mut ThreadBuilder<'_>) -> Reg {
        let Queue { head, tail, next, variant, .. } = self;
        let [first, last, after, again] = temporaries(t);
        let v = t.reg("v");
        t.repeat(|t, labels| {
            fetch(t, first, head);
            variant.fence(t);
            fetch(t, last, tail);
            variant.fence(t);
            fetch(t, after, field(next, first));
            variant.fence(t);
            fetch(t, again, head);
            t.branch(first.ne(again), labels.start);
            t.when(first.eq(last), |t| {
                t.set(v, -1);
                t.branch(after.eq(0), labels.exit);
                self.swapper.perform(t, Exchange { at: tail.into(), expected: last.into(), new: after.into() });
                t.jump(labels.start);
            });
            t.branch(after.eq(0), labels.start);
            fetch(t, v, field(self.value, after));
            let unlink = Exchange { at: head.into(), expected: first.into(), new: after.into() };
            let taken = self.swapper.perform(t, unlink);
            t.branch(taken, labels.exit);
        });
        v
    }
}
