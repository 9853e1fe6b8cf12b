//! Peterson's algorithm with its loop.

use super::temporaries;
use crate::gallery::variant::{Variant, Waiting, fetch, finish};
use crate::ir::{Array, Builder, Instruction, Program, ThreadBuilder};
use crate::names::Loc;

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
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            for _ in 0..rounds {
                t.store(flag.element(i), 1);
                variant.fence(t);
                t.store(turn, u64::from(1 - i));
                variant.fence(t);
                wait(t, flag, turn, (1 - i, variant));
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

/// Waits while the other thread wants to enter and it is its turn.
fn wait(t: &mut ThreadBuilder<'_>, flag: Array, turn: Loc, (other, variant): (u32, Variant)) {
    let [wants, whose] = temporaries(t);
    let flag = flag.element(other);
    let not_theirs = whose.ne(u64::from(other));
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
