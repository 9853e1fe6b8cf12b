//! Tickets are sold until a flag is seen that another thread sets.

use crate::variant::{fetch, finish};
use teetotal_program::condition::{Comparison, Condition, Formula, Operand, Term};
use teetotal_program::ir::{Builder, Program};

/// `n` sellers of one ticket each, fewer tickets than sellers; `Airline` of [MCR, Table 2].
///
/// A starter reads `stop` without the lock before it starts each seller. It starts and waits for nothing else.
#[must_use]
pub fn airline(n: u32) -> Program {
    let tickets = u64::from(n - (n / 10).max(1));
    let mut p = Builder::new(&format!("airline-{n}"));
    let [lock, sold, stop] = [p.shared("lock", 0), p.shared("sold", 0), p.shared("stop", 0)];
    let mut sellers = Vec::new();
    for i in 0..n {
        sellers.push(p.spawned(&format!("seller{i}"), |t| {
            let seen = t.temporary();
            t.lock(lock);
            fetch(t, seen, sold);
            t.when_else(
                seen.ge(tickets),
                |t| t.store(stop, 1),
                |t| {
                    fetch(t, seen, sold);
                    t.store(sold, seen.plus(1));
                },
            );
            t.unlock(lock);
        }));
    }
    p.thread("starter", |t| {
        let (seen, end) = (t.temporary(), t.label());
        for &seller in &sellers {
            fetch(t, seen, stop);
            t.branch(seen.ne(0), end);
            t.spawn(seller);
        }
        t.place(end);
    });
    let sold = Operand::Term(Term::Memory(sold));
    p.condition(Condition::ForAll(Formula::Compare(sold, Comparison::LessOrEqual, Operand::Constant(tickets))));
    finish(p)
}
