//! Customers of a bank, of whom some forget the lock.

use crate::variant::{fetch, finish};
use teetotal_program::condition::{Comparison, Condition, Formula, Operand, Term};
use teetotal_program::ir::{Builder, Program};

/// `n` customers who each pay in without the lock and draw the same with it; `Account` of [MCR, Table 2].
///
/// The amount should be what it was, and is not where somebody pays in while another draws.
#[must_use]
pub fn account(n: u32) -> Program {
    let mut p = Builder::new(&format!("account-{n}"));
    let [lock, amount] = [p.shared("lock", 0), p.shared("amount", 10)];
    for i in 0..n {
        p.thread(&format!("customer{i}"), |t| {
            let seen = t.temporary();
            fetch(t, seen, amount);
            t.store(amount, seen.plus(1));
            t.lock(lock);
            fetch(t, seen, amount);
            t.store(amount, seen.minus(1));
            t.unlock(lock);
        });
    }
    let amount = Operand::Term(Term::Memory(amount));
    p.condition(Condition::ForAll(Formula::Compare(amount, Comparison::Equal, Operand::Constant(10))));
    finish(p)
}
