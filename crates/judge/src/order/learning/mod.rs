//! The search that learns: whether there is an order of moments in which all reads find what they may read.
//!
//! It is asked where the search over frontiers gives up. A literal says that one moment comes before another, or that a
//! read takes its value from a writer. What a read demands of the order are clauses ([MCR, §4.1], corrected as in
//! `docs/theory/order.md`), which are far too many to write down: so they are written down where a read goes wrong in the
//! order at hand, which at first is that of the trace.

mod activity;
mod acyclic;
mod engine;
mod literal;
mod reads;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidates::{Open, Part, has};
use super::frontier::Found;
use super::layout::Layout;
use acyclic::Acyclic;
use engine::{Engine, Solved};
use reads::Reads;

/// Puts the moments of a part in order; each conflict and each order that is looked at takes one off the budget.
pub(super) fn search(layout: &Layout<'_>, part: &Part, open: &Open, budget: &mut u64) -> Found {
    let row = row(layout, part, open);
    let mut engine = Engine::new(Acyclic::new(&open.order, row, layout.len()), layout.len());
    let mut reads = Reads::new(layout, part, open);
    reads.demand_writers(&mut engine);
    match engine.solve(budget, |engine| reads.next(engine)) {
        Solved::Yes => Found::Order(engine.order.row().to_vec()),
        Solved::No => Found::Nothing,
        Solved::OutOfBudget => Found::OutOfBudget,
    }
}

/// The moments as they came in the trace, as far as that agrees with what must come before what.
fn row(layout: &Layout<'_>, part: &Part, open: &Open) -> Vec<usize> {
    let within =
        |bits: &[u64]| -> Vec<u64> { bits.iter().zip(&part.moments).map(|(bits, part)| bits & part).collect() };
    let moments = |bits: &[u64]| -> Vec<usize> { (0..layout.len()).filter(|&moment| has(bits, moment)).collect() };
    let mut waits = vec![0_u32; layout.len()];
    let mut ready = BinaryHeap::new();
    let key = |moment: usize| Reverse((layout.rank[moment], moment));
    for moment in moments(&part.moments) {
        waits[moment] = within(open.order.before(moment)).iter().map(|word| word.count_ones()).sum();
        if waits[moment] == 0 {
            ready.push(key(moment));
        }
    }
    let mut row = Vec::new();
    while let Some(Reverse((_, moment))) = ready.pop() {
        row.push(moment);
        for later in moments(&within(open.order.after(moment))) {
            waits[later] -= 1;
            if waits[later] == 0 {
                ready.push(key(later));
            }
        }
    }
    row
}
