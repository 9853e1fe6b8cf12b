//! Dekker's algorithm with several critical sections, in which waiting is one step.

use super::variant::{fetch, finish};
use teetotal_program::condition::{Condition, Formula, Term};
use teetotal_program::ir::{Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// Two threads count in `sections` critical sections each, without fences.
///
/// A thread that has the turn waits for the other one to give way, since nobody else can take the turn from it; and a
/// thread that gave way has the turn when it tries again. So there is no loop: each tries at most twice.
#[must_use]
pub fn dekker_sections(sections: u32) -> Program {
    let mut p = Builder::new(&format!("dekker-sections-{sections}"));
    let wants = [p.shared("wants0", 0), p.shared("wants1", 0)];
    let [turn, data] = [p.shared("turn", 0), p.shared("data", 0)];
    for me in 0..2 {
        let lock = Lock { own: wants[me], other: wants[1 - me], turn, me: me as u64 };
        p.thread(&format!("P{me}"), |t| {
            let seen = t.temporary();
            for _ in 0..sections {
                lock.enter(t);
                fetch(t, seen, data);
                t.store(data, seen.plus(1));
                t.store(turn, 1 - lock.me);
                t.store(lock.own, 0);
            }
        });
    }
    p.condition(Condition::ForAll(Formula::equal(Term::Memory(data), u64::from(2 * sections))));
    finish(p)
}

/// The lock as one thread sees it.
struct Lock {
    own: Loc,
    other: Loc,
    turn: Loc,
    me: u64,
}

impl Lock {
    fn enter(&self, t: &mut ThreadBuilder<'_>) {
        let [seen, whose] = [t.temporary(), t.temporary()];
        t.store(self.own, 1);
        fetch(t, seen, self.other);
        t.when(seen.eq(1), |t| {
            fetch(t, whose, self.turn);
            t.when_else(whose.eq(self.me), |t| self.wait(t), |t| self.give_way(t, seen, whose));
        });
    }

    fn wait(&self, t: &mut ThreadBuilder<'_>) {
        t.await_until("free", self.other, |seen| seen.eq(0));
    }

    fn give_way(&self, t: &mut ThreadBuilder<'_>, seen: Reg, whose: Reg) {
        t.store(self.own, 0);
        t.await_until("own", self.turn, |turn| turn.eq(self.me));
        t.store(self.own, 1);
        fetch(t, seen, self.other);
        t.when(seen.eq(1), |t| {
            fetch(t, whose, self.turn);
            self.wait(t);
        });
    }
}
