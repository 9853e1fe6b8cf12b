//! One thread counts up while another counts down, and updates get lost.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Each thread takes `max` steps, reading and writing apart, without a lock; `Counter` of the sources of [MCR].
#[must_use]
pub fn counter(max: u32) -> Program {
    let mut p = Builder::new(&format!("counter-{max}"));
    let c = p.shared("c", 0);
    for (name, change) in [("up", 1), ("down", -1)] {
        p.thread(name, |t| {
            let seen = t.temporary();
            for _ in 0..max {
                fetch(t, seen, c);
                t.store(c, seen.plus(change));
            }
        });
    }
    finish(p)
}
