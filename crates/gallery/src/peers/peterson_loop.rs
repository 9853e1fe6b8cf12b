//! Peterson's algorithm with its loop.

use super::temporaries;
use crate::variant::{Variant, Waiting, fetch, finish};
use teetotal_program::Loc;
use teetotal_program::ir::{Array, Builder, Instruction, Program, ThreadBuilder};

/// Two threads enter `rounds` times each. From `peterson.c`.
///
/// The loop reads the flag and then, if it is up, the turn. [`Waiting::Await`] reads both in one step, always, which
/// lets the loop end in the same states; the other ways of waiting read as the source does.
#[must_use]
pub fn peterson_loop(rounds: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("peterson-loop", rounds));
    let flag = p.array("flag", 2);
    let [turn, section] = [p.shared("turn", 0), p.shared("cs", 0)];
    for i in 0..2 {
        let lock = Lock { flag, turn, own: i, variant };
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            for _ in 0..rounds {
                lock.enter(t);
                t.store(section, u64::from(i) + 1);
                fetch(t, seen, section);
                variant.assert(t, seen.eq(u64::from(i) + 1), "the other thread is in the critical section");
                variant.fence(t);
                t.store(flag.element(i), 0);
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
        t.store(self.flag.element(self.own), 1);
        self.variant.fence(t);
        t.store(self.turn, u64::from(1 - self.own));
        self.variant.fence(t);
        self.wait(t);
    }

    /// Waits while the other thread wants to enter and it is its turn.
    fn wait(&self, t: &mut ThreadBuilder<'_>) {
        let Lock { turn, variant, .. } = *self;
        let [wants, whose] = temporaries(t);
        let flag = self.flag.element(1 - self.own);
        let not_theirs = whose.ne(u64::from(1 - self.own));
        match variant.waiting {
            Waiting::Await => t.push(Instruction::Await {
                loads: vec![(wants, flag.into()), (whose, turn.into())],
                until: wants.eq(0).or(not_theirs),
            }),
            Waiting::Assume => {
                fetch(t, wants, flag);
                t.when(wants, |t| {
                    fetch(t, whose, turn);
                    t.assume(not_theirs);
                });
            }
            Waiting::Loop => t.repeat(|t, labels| {
                fetch(t, wants, flag);
                t.branch(wants.eq(0), labels.exit);
                fetch(t, whose, turn);
                t.branch(not_theirs, labels.exit);
            }),
        }
    }
}
