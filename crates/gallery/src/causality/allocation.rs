//! Two threads look for a free block and take it, but not in one go.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Two threads that each want `n` of as many blocks; `Allocation` of [MCR, Table 2].
///
/// Looking and taking hold the lock, and between them it is free, so that both may take the same block.
#[must_use]
pub fn allocation(n: u32) -> Program {
    let mut p = Builder::new(&format!("allocation-{n}"));
    let lock = p.shared("lock", 0);
    let blocks: Vec<_> = (0..n).map(|i| p.shared(&format!("block{i}"), 0)).collect();
    for i in 0..2 {
        p.thread(&format!("T{i}"), |t| {
            let [seen, free] = [t.temporary(), t.temporary()];
            for _ in 0..n {
                t.lock(lock);
                t.set(free, 0);
                for (number, &block) in (1_u64..).zip(&blocks) {
                    fetch(t, seen, block);
                    t.when(seen.eq(0), |t| t.set(free, number));
                }
                t.unlock(lock);
                for (number, &block) in (1_u64..).zip(&blocks) {
                    t.when(free.eq(number), |t| {
                        t.lock(lock);
                        fetch(t, seen, block);
                        t.assert(seen.eq(0), "the block is taken already");
                        t.store(block, 1);
                        t.unlock(lock);
                    });
                }
            }
        });
    }
    finish(p)
}
