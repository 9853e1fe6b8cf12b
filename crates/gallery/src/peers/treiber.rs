//! Treiber's stack, without reclamation of nodes.

use super::swap::{Exchange, Swapper};
use super::{Swap, field, pointer, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// `writers` push one number each, `readers` pop one each. From `treiber.c`.
///
/// The compare-exchange that publishes a node orders everything, so it is correct without fences too.
#[must_use]
pub fn treiber(writers: u32, readers: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("treiber", format_args!("{writers}-{readers}")));
    let top = p.shared("top", 0);
    let value = p.array("v", writers);
    let next = p.array("next", writers);
    let swapper = Swapper::new(&mut p, Swap::Instruction, variant);
    for i in 0..writers {
        p.thread(&format!("writer{i}"), |t| {
            let seen = t.temporary();
            t.store(value.element(i), u64::from(i) + 1);
            t.repeat(|t, labels| {
                fetch(t, seen, top);
                t.store(next.element(i), seen);
                variant.fence(t);
                let push = Exchange { at: top.into(), expected: seen.into(), new: pointer(i).into() };
                let pushed = swapper.perform(t, push);
                t.branch(pushed, labels.exit);
            });
        });
    }
    for i in 0..readers {
        p.thread(&format!("reader{i}"), |t| {
            let [seen, after] = temporaries(t);
            let (v, end) = (t.reg("v"), t.label());
            t.repeat(|t, labels| {
                fetch(t, seen, top);
                t.set(v, -1);
                t.branch(seen.eq(0), end);
                variant.fence(t);
                fetch(t, after, field(next, seen));
                let pop = Exchange { at: top.into(), expected: seen.into(), new: after.into() };
                let popped = swapper.perform(t, pop);
                t.branch(popped, labels.exit);
            });
            variant.fence(t);
            fetch(t, v, field(value, seen));
            let written = v.ge(1).and(v.le(u64::from(writers)));
            variant.assert(t, written, "a value was popped that nobody pushed");
            t.place(end);
        });
    }
    finish(p)
}
