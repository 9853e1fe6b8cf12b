//! A lock that is taken by an exchange and freed by a plain store.

use super::section;
use crate::variant::{Variant, finish};
use teetotal_program::ir::{Builder, Program};

/// Two threads enter again and again. The store that frees the lock may pass the section under PSO.
#[must_use]
pub fn spin_lock(variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("spin-lock", 2));
    let [lock, data] = [p.shared("lock", 0), p.shared("cs", 0)];
    for own in 1..=2 {
        p.thread(&format!("T{own}"), |t| {
            t.repeat(|t, _| {
                t.repeat(|t, labels| {
                    let taken = t.exchange("taken", lock, 1);
                    t.branch(taken.eq(0), labels.exit);
                });
                section(t, data, own);
                variant.fence(t);
                t.store(lock, 0);
            });
        });
    }
    finish(p)
}
