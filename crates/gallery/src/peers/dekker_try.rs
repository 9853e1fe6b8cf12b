//! The core of Dekker's algorithm as a try-lock, without loops.

use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Two threads try `rounds` times each. From `dekker_simple.c`.
///
/// Unfenced and without assertions, one and two rounds have 11 and 346 traces under TSO.
#[must_use]
pub fn dekker_try(rounds: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("dekker-try", rounds));
    let flag = p.array("flag", 2);
    let section = p.shared("cs", 0);
    for i in 0..2 {
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            for _ in 0..rounds {
                t.store(flag.element(i), 1);
                variant.fence(t);
                fetch(t, seen, flag.element(1 - i));
                t.when(seen.eq(0), |t| {
                    let number = u64::from(i) + 1;
                    t.store(section, number);
                    fetch(t, seen, section);
                    variant.assert(t, seen.eq(number), "the other thread is in the critical section");
                });
                variant.fence(t);
                t.store(flag.element(i), 0);
            }
        });
    }
    finish(p)
}
