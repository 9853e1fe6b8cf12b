//! Small programs that fill buffers without end.

use super::wait;
use crate::variant::finish;
use teetotal_program::ir::{Builder, Program};

/// The first thread fills its buffer on its own; what leaves it lets the second one go round too. [LINDEN, Fig. 4]
///
/// Under SC both may come to wait for each other; under TSO they may also go on.
#[must_use]
pub fn unlocking_cycle() -> Program {
    let mut p = Builder::new("unlocking-cycle");
    let [x, y] = [p.shared("x", 1), p.shared("y", 1)];
    for (name, own, other, awaited) in [("P0", x, y, [1, 1]), ("P1", y, x, [0, 1])] {
        p.thread(name, |t| {
            let seen = t.temporary();
            t.repeat(|t, _| {
                t.store(own, 1);
                wait(t, seen, other, seen.eq(awaited[0]));
                t.store(own, 0);
                wait(t, seen, other, seen.eq(awaited[1]));
            });
        });
    }
    finish(p)
}

/// Each thread writes 1 and 0 to a location of its own, forever. [LINDEN, Fig. 2]
#[must_use]
pub fn two_writers() -> Program {
    let mut p = Builder::new("two-writers");
    let locations = [p.shared("x", 0), p.shared("y", 0)];
    for (i, location) in locations.into_iter().enumerate() {
        p.thread(&format!("P{i}"), |t| {
            t.repeat(|t, _| {
                t.store(location, 1);
                t.store(location, 0);
            });
        });
    }
    finish(p)
}

/// One thread writes the numbers from 1 to `n` to one location, forever, and another one reads it.
///
/// It asserts nothing that can fail: the reader sees one of the numbers or what was there before.
#[must_use]
pub fn stores_in_a_loop(n: u32) -> Program {
    let mut p = Builder::new(&format!("stores-in-a-loop-{n}"));
    let x = p.shared("x", 0);
    p.thread("writer", |t| {
        t.repeat(|t, _| {
            for value in 1..=n {
                t.store(x, u64::from(value));
            }
        });
    });
    p.thread("reader", |t| {
        t.repeat(|t, _| {
            let seen = t.temporary();
            crate::variant::fetch(t, seen, x);
            t.assert(seen.le(u64::from(n)), "nobody wrote that");
            t.set(seen, 0);
        });
    });
    finish(p)
}
