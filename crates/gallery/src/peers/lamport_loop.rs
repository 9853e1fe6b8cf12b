//! Lamport's fast mutual exclusion with its loops.

use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Array, Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// `n` threads enter once each. From `lamport.c`.
///
/// The source has assumptions where the algorithm waits; [`super::super::Waiting::Assume`] gives them back.
#[must_use]
pub fn lamport_loop(n: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("lamport-loop", n));
    let busy = p.array("b", n + 1);
    let [x, y, section] = [p.shared("x", 0), p.shared("y", 0), p.shared("cs", 0)];
    for i in 1..=n {
        let lock = Lock { busy, x, y, own: i, variant };
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            lock.enter(t, seen);
            t.store(section, u64::from(i));
            fetch(t, seen, section);
            variant.assert(t, seen.eq(u64::from(i)), "another thread is in the critical section");
            variant.fence(t);
            t.store(y, 0);
            variant.fence(t);
            t.store(busy.element(i), 0);
        });
    }
    finish(p)
}

/// The lock as thread `own` sees it, counted from 1.
struct Lock {
    busy: Array,
    x: Loc,
    y: Loc,
    own: u32,
    variant: Variant,
}

impl Lock {
    fn enter(&self, t: &mut ThreadBuilder<'_>, seen: Reg) {
        let Lock { busy, x, y, variant, .. } = *self;
        let number = u64::from(self.own);
        t.repeat(|t, attempt| {
            t.store(busy.element(self.own), 1);
            variant.fence(t);
            t.store(x, number);
            variant.fence(t);
            fetch(t, seen, y);
            t.when(seen.ne(0), |t| {
                variant.fence(t);
                t.store(busy.element(self.own), 0);
                variant.spin(t, seen, y, seen.eq(0));
                t.jump(attempt.start);
            });
            t.store(y, number);
            variant.fence(t);
            fetch(t, seen, x);
            t.branch(seen.eq(number), attempt.exit);
            variant.fence(t);
            t.store(busy.element(self.own), 0);
            variant.fence(t);
            for j in 1..busy.length {
                variant.spin(t, seen, busy.element(j), seen.eq(0));
            }
            fetch(t, seen, y);
            t.branch(seen.eq(number), attempt.exit);
            variant.spin(t, seen, y, seen.eq(0));
        });
    }
}
