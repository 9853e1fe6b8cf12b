//! A barrier that reverses its sense each time.

use super::spin;
use crate::variant::{Variant, finish};
use teetotal_program::Order;
use teetotal_program::ir::{Builder, FetchOp, Program, Update};

/// Two threads meet again and again. Under PSO one may leave before the counter is set back.
#[must_use]
pub fn sense_barrier(variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("barrier", 2));
    let [count, sense] = [p.shared("count", 2), p.shared("sense", 0)];
    for own in 0..2 {
        p.thread(&format!("T{own}"), |t| {
            let [mine, seen] = [t.reg("mine"), t.temporary()];
            t.repeat(|t, _| {
                t.set(mine, mine.eq(0));
                let left = t.rmw("left", count, Update::Fetch(FetchOp::Subtract, 1.into()), Order::SeqCst);
                t.assert(left.gt(0), "the counter was not set back");
                t.when_else(
                    left.eq(1),
                    |t| {
                        t.store(count, 2);
                        variant.fence(t);
                        t.store(sense, mine);
                    },
                    |t| spin(t, seen, sense, seen.eq(mine)),
                );
            });
        });
    }
    finish(p)
}
