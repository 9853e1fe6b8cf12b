//! Lamport's fast mutual exclusion with bounded waiting.

use super::break_after_two;
use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// Two threads enter once each; `Lamport` of [MCR, Table 2].
///
/// Two slips of the source are kept: the second thread waits for its own flag, and it writes 1 to `y` and tests for 2.
#[must_use]
pub fn lamport() -> Program {
    let mut p = Builder::new("lamport");
    let flags = [p.shared("f1", 0), p.shared("f2", 0)];
    let [x, y, shared] = [p.shared("x", 0), p.shared("y", 0), p.shared("sh", 0)];
    for i in 0..2 {
        let number = i as u64 + 1;
        let lock = Lock { own: flags[i], second: flags[1], x, y, number };
        p.thread(&format!("T{number}"), |t| {
            let seen = t.temporary();
            lock.enter(t, seen);
            t.store(shared, number);
            fetch(t, seen, shared);
            t.assert(seen.eq(number), "the other thread is in the critical section");
            t.store(y, 0);
            t.store(lock.own, 0);
        });
    }
    finish(p)
}

/// The lock as one thread sees it.
struct Lock {
    own: Loc,
    second: Loc,
    x: Loc,
    y: Loc,
    /// 1 or 2.
    number: u64,
}

impl Lock {
    fn enter(&self, t: &mut ThreadBuilder<'_>, seen: Reg) {
        let [n1, n2, n3, n4] = [t.temporary(), t.temporary(), t.temporary(), t.temporary()];
        t.repeat(|t, attempt| {
            break_after_two(t, n1, attempt.exit);
            t.store(self.own, 1);
            t.store(self.x, self.number);
            fetch(t, seen, self.y);
            t.when(seen.ne(0), |t| {
                t.store(self.own, 0);
                self.wait_while(t, n2, seen, self.y);
                t.jump(attempt.start);
            });
            t.store(self.y, 1);
            fetch(t, seen, self.x);
            t.branch(seen.eq(self.number), attempt.exit);
            t.store(self.own, 0);
            self.wait_while(t, n3, seen, self.second);
            fetch(t, seen, self.y);
            t.branch(seen.eq(self.number), attempt.exit);
            self.wait_while(t, n4, seen, self.y);
        });
    }

    /// Waits while `loc` is not 0; neither a flag nor `y` is ever negative.
    fn wait_while(&self, t: &mut ThreadBuilder<'_>, counter: Reg, seen: Reg, loc: Loc) {
        t.repeat(|t, labels| {
            fetch(t, seen, loc);
            t.branch(seen.eq(0), labels.exit);
            break_after_two(t, counter, labels.exit);
        });
    }
}
