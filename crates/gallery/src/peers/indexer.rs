//! Threads put words into a hash table with linear probing.

use crate::variant::finish;
use teetotal_program::ir::{Builder, Instruction, Program, Update};
use teetotal_program::{OnFailure, Order};

/// How many cells the table has.
const SIZE: u32 = 128;
/// How many words each thread puts in.
const WORDS: u32 = 4;

/// `n` threads of four words each; two want the same cell from 12 threads on. From `indexer.c`, after [DPOR].
#[must_use]
pub fn indexer(n: u32) -> Program {
    let mut p = Builder::new(&format!("indexer-{n}"));
    let table = p.array("table", SIZE);
    for i in 0..n {
        p.thread(&format!("T{i}"), |t| {
            let [cell, found] = super::temporaries(t);
            for word in (1..=WORDS).map(|m| u64::from(m * 11 + i)) {
                t.set(cell, word * 7 % u64::from(SIZE));
                t.repeat(|t, labels| {
                    let (expected, new, on_failure) = (0.into(), word.into(), OnFailure::Locked);
                    let update = Update::CompareExchange { expected, new, on_failure };
                    t.push(Instruction::Rmw { old: found, at: table.at(cell), update, order: Order::SeqCst });
                    t.branch(found.eq(0), labels.exit);
                    t.set(cell, cell.plus(1).modulo(u64::from(SIZE)));
                });
            }
        });
    }
    finish(p)
}
