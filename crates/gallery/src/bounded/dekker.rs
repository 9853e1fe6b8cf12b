//! Dekker's algorithm with bounded waiting.

use super::break_after_two;
use crate::variant::{fetch, finish};
use teetotal_program::Loc;
use teetotal_program::ir::{Builder, Program, ThreadBuilder};

/// Two threads enter once each; `Dekker` of [MCR, Table 2].
#[must_use]
pub fn dekker() -> Program {
    let mut p = Builder::new("dekker");
    let flags = [p.shared("f1", 0), p.shared("f2", 0)];
    let turn = p.shared("turn", 1);
    let x = p.shared("x", 0);
    for i in 0..2 {
        let lock = Lock { own: flags[i], other: flags[1 - i], turn, number: i as u64 + 1 };
        p.thread(&format!("T{}", i + 1), |t| {
            let seen = t.temporary();
            lock.enter(t);
            t.store(x, lock.number);
            fetch(t, seen, x);
            t.assert(seen.eq(lock.number), "the other thread is in the critical section");
            t.store(turn, 3 - lock.number);
            t.store(lock.own, 0);
        });
    }
    finish(p)
}

/// The lock as one thread sees it.
struct Lock {
    own: Loc,
    other: Loc,
    turn: Loc,
    /// 1 or 2.
    number: u64,
}

impl Lock {
    fn enter(&self, t: &mut ThreadBuilder<'_>) {
        let [seen, n1, n2] = [t.temporary(), t.temporary(), t.temporary()];
        t.store(self.own, 1);
        t.repeat(|t, outer| {
            fetch(t, seen, self.other);
            t.branch(seen.ne(1), outer.exit);
            break_after_two(t, n2, outer.exit);
            fetch(t, seen, self.turn);
            t.branch(seen.eq(self.number), outer.start);
            t.store(self.own, 0);
            t.repeat(|t, inner| {
                fetch(t, seen, self.turn);
                t.branch(seen.eq(self.number), inner.exit);
                break_after_two(t, n1, inner.exit);
            });
            t.store(self.own, 1);
        });
    }
}
