//! Message passing: data before a flag, in rounds or published by a release.

use crate::variant::{Variant, fetch, finish};
use teetotal_program::Order;
use teetotal_program::ir::{Builder, Program};

/// Two pieces of data and a flag, `rounds` times; wrong under PSO without fences. From `mp.c`.
#[must_use]
pub fn message_passing_rounds(rounds: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("mp-rounds", rounds));
    let [x, y, z] = [p.shared("x", 0), p.shared("y", 0), p.shared("z", 0)];
    p.thread("writer", |t| {
        for round in 1..=u64::from(rounds) {
            t.store(x, round);
            t.store(y, round);
            variant.fence(t);
            t.store(z, round);
        }
    });
    p.thread("reader", |t| {
        let [flag, a, b] = super::temporaries(t);
        for _ in 0..rounds {
            fetch(t, flag, z);
            variant.fence(t);
            fetch(t, a, x);
            fetch(t, b, y);
            variant.assert(t, a.ge(flag).and(b.ge(flag)), "the flag is ahead of the data");
        }
    });
    finish(p)
}

/// How the flag is published.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Publication {
    /// By a store with release ordering.
    Store,
    /// By a release fence and a plain store.
    Fence,
}

/// One piece of data, published by a release and read by an acquire; correct under every model. From `mp_rel.c`.
#[must_use]
pub fn message_passing_release(publication: Publication) -> Program {
    let name = match publication {
        Publication::Store => "mp-release-store",
        Publication::Fence => "mp-release-fence",
    };
    let mut p = Builder::new(name);
    let [x, z] = [p.shared("x", 0), p.shared("z", 0)];
    p.thread("writer", |t| {
        t.store_with(x, 1, Order::Relaxed);
        match publication {
            Publication::Store => t.store_with(z, 1, Order::Release),
            Publication::Fence => {
                t.store_store_fence();
                t.store_with(z, 1, Order::Relaxed);
            }
        }
    });
    p.thread("reader", |t| {
        let flag = t.load_with("flag", z, Order::Acquire);
        let data = t.load_with("data", x, Order::Relaxed);
        t.assert(data.ge(flag), "the flag is ahead of the data");
    });
    finish(p)
}
