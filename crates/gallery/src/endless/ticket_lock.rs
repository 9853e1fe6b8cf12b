//! A lock with tickets, served in turn.

use super::{section, spin};
use crate::variant::{Variant, finish};
use teetotal_program::Order;
use teetotal_program::ir::{Builder, Expr, Program, Update};

/// Two threads enter again and again; tickets are numbers modulo `tickets`, at least 2.
#[must_use]
pub fn ticket_lock(tickets: u64, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("ticket-lock", tickets));
    let [next, serving, data] = [p.shared("next", 0), p.shared("serving", 0), p.shared("cs", 0)];
    for own in 1..=2 {
        p.thread(&format!("T{own}"), |t| {
            let seen = t.temporary();
            t.repeat(|t, _| {
                let following = Expr::Old.plus(1).modulo(tickets);
                let ticket = t.rmw("ticket", next, Update::Function(following), Order::SeqCst);
                spin(t, seen, serving, seen.eq(ticket));
                section(t, data, own);
                variant.fence(t);
                t.store(serving, ticket.plus(1).modulo(tickets));
                variant.fence(t);
            });
        });
    }
    finish(p)
}
