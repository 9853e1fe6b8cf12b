//! The queue lock of Craig, Landin and Hagersten: each thread waits at the flag of the one before it.

use super::{section, spin};
use crate::variant::{Variant, finish};
use teetotal_program::ir::{Builder, Program};

/// Two threads enter again and again. There are three nodes: one for each thread, and one at the tail.
#[must_use]
pub fn clh_lock(variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("clh-lock", 2));
    let [tail, data] = [p.shared("tail", 0), p.shared("cs", 0)];
    let held = p.array("held", 3);
    for own in 1..=2 {
        p.thread(&format!("T{own}"), |t| {
            let [node, seen] = [t.reg("node"), t.temporary()];
            t.set(node, own);
            t.repeat(|t, _| {
                t.store(held.at(node), 1);
                variant.fence(t);
                let before = t.exchange("before", tail, node);
                spin(t, seen, held.at(before), seen.eq(0));
                section(t, data, own);
                variant.fence(t);
                t.store(held.at(node), 0);
                variant.fence(t);
                t.set(node, before);
            });
        });
    }
    finish(p)
}
