//! Dekker's algorithm with its loops.

use super::temporaries;
use crate::variant::{Variant, Waiting, fetch, finish};
use teetotal_program::Loc;
use teetotal_program::ir::{Array, Builder, Instruction, Program, ThreadBuilder};

/// Two threads enter `rounds` times each. From `dekker.c`.
///
/// The outer loop does more than wait. Where a turn of it was in vain, because the other thread wants to enter and it
/// is our turn, [`Waiting::Await`] waits for either to change and [`Waiting::Assume`] discards the execution.
#[must_use]
pub fn dekker_loop(rounds: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("dekker-loop", rounds));
    let flag = p.array("flag", 2);
    let [turn, section] = [p.shared("turn", 0), p.shared("cs", 0)];
    for i in 0..2 {
        let lock = Lock { flag, turn, own: i, variant };
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            for _ in 0..rounds {
                lock.enter(t);
                let number = u64::from(i) + 1;
                t.store(section, number);
                fetch(t, seen, section);
                variant.assert(t, seen.eq(number), "the other thread is in the critical section");
                lock.leave(t);
            }
        });
    }
    finish(p)
}

/// The lock as thread `own` sees it.
struct Lock {
    flag: Array,
    turn: Loc,
    own: u32,
    variant: Variant,
}

impl Lock {
    fn enter(&self, t: &mut ThreadBuilder<'_>) {
        let [wants, whose] = temporaries(t);
        let (own, other) = (self.flag.element(self.own), self.flag.element(1 - self.own));
        let ours = u64::from(self.own);
        t.store(own, 1);
        self.variant.fence(t);
        t.repeat(|t, labels| {
            fetch(t, wants, other);
            t.branch(wants.eq(0), labels.exit);
            fetch(t, whose, self.turn);
            t.when_else(
                whose.ne(ours),
                |t| {
                    t.store(own, 0);
                    self.variant.spin(t, whose, self.turn, whose.eq(ours));
                    t.store(own, 1);
                    self.variant.fence(t);
                },
                |t| match self.variant.waiting {
                    Waiting::Await => t.push(Instruction::Await {
                        loads: vec![(wants, other.into()), (whose, self.turn.into())],
                        until: wants.eq(0).or(whose.ne(ours)),
                    }),
                    Waiting::Assume => t.assume(0),
                    Waiting::Loop => {}
                },
            );
        });
    }

    fn leave(&self, t: &mut ThreadBuilder<'_>) {
        self.variant.fence(t);
        t.store(self.turn, u64::from(1 - self.own));
        self.variant.fence(t);
        t.store(self.flag.element(self.own), 0);
    }
}
