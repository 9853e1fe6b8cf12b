//! The queue lock of Mellor-Crummey and Scott: each thread waits at a flag of its own.

use super::{section, spin};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Two threads enter again and again. Node `i` is that of thread `i`, from 1 on; 0 is no node.
#[must_use]
pub fn mcs_lock(variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("mcs-lock", 2));
    let [tail, data] = [p.shared("tail", 0), p.shared("cs", 0)];
    let next = p.array("next", 3);
    let waits = p.array("waits", 3);
    for own in 1..=2 {
        p.thread(&format!("T{own}"), |t| {
            let [seen, after] = [t.temporary(), t.temporary()];
            t.repeat(|t, outer| {
                t.store(next.element(own), 0);
                variant.fence(t);
                let before = t.exchange("before", tail, u64::from(own));
                t.when(before, |t| {
                    t.store(waits.element(own), 1);
                    variant.fence(t);
                    t.store(next.at(before), u64::from(own));
                    variant.fence(t);
                    spin(t, seen, waits.element(own), seen.eq(0));
                });
                section(t, data, own.into());
                variant.fence(t);
                fetch(t, after, next.element(own));
                t.when(after.eq(0), |t| {
                    let old = t.compare_exchange("old", tail, u64::from(own), 0);
                    t.branch(old.eq(u64::from(own)), outer.start);
                    spin(t, after, next.element(own), after.ne(0));
                });
                t.store(waits.at(after), 0);
                variant.fence(t);
            });
        });
    }
    finish(p)
}
