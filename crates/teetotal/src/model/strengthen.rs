//! Which stronger orderings would forbid an execution of a model of graphs, tried on the axioms before they are told.

use std::collections::BTreeMap;

use teetotal_judge::axiomatic;
use teetotal_memory::{Event, EventId, EventKind, Family, Source, Trace};
use teetotal_program::{Order, Subject};

use super::perform::Performed;

/// Executions with more events than this are not tried: each attempt takes time cubic in their number.
const MOST_EVENTS: usize = 120;

/// The sentence that names the fewest stronger orderings found with which `performed` is impossible.
pub(super) fn advice(performed: &Performed) -> Option<String> {
    let trace = &performed.trace;
    if !matches!(performed.model.info().family, Family::Graphs) || trace.events().len() > MOST_EVENTS {
        return None;
    }
    let is_possible = |orders: &[Order]| {
        let changed = trace.ids().fold(trace.clone(), |changed, (id, event)| {
            changed.with_event(id, Event { order: orders[id.index()], ..*event })
        });
        axiomatic::accepts_code(performed.model, &changed, |loc| performed.live.initial(loc)).is_ok()
    };
    let written: Vec<Order> = trace.events().iter().map(|event| event.order).collect();
    let candidates = [published(trace), all_seq_cst(trace)];
    let orders = candidates.into_iter().find(|orders| *orders != written && !is_possible(orders))?;
    let least = weakened(trace, &written, orders, &is_possible);
    let mut changed: BTreeMap<Order, Vec<String>> = BTreeMap::new();
    for (id, event) in trace.ids().filter(|(id, event)| least[id.index()] != event.order) {
        changed.entry(least[id.index()]).or_default().push(format!("({})", event.step + 1));
    }
    let changed: Vec<String> = changed.iter().map(|(order, steps)| format!("`{order:?}` at {}", list(steps))).collect();
    let advice = || format!("With {} this execution is impossible; others may still fail.\n", list(&changed));
    (!changed.is_empty()).then(advice)
}

/// `a, b and c`.
fn list(items: &[String]) -> String {
    match items.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The orderings if each read of another thread's write synchronized with it.
fn published(trace: &Trace) -> Vec<Order> {
    let mut orders: Vec<Order> = trace.events().iter().map(|event| event.order).collect();
    for (id, event) in trace.ids().filter(|(_, event)| is_atomic(event)) {
        let Some(Source::Write(write)) = event.source else { continue };
        let source = trace.event(write);
        if source.thread != event.thread && is_atomic(source) {
            orders[id.index()] = raised(orders[id.index()], Order::Acquire);
            orders[write.index()] = raised(orders[write.index()], Order::Release);
        }
    }
    orders
}

fn all_seq_cst(trace: &Trace) -> Vec<Order> {
    trace.events().iter().map(|event| if is_atomic(event) { Order::SeqCst } else { event.order }).collect()
}

/// Whether it is an access or a fence whose ordering the program chooses.
fn is_atomic(event: &Event) -> bool {
    event.order != Order::Plain
        && matches!(event.kind, EventKind::Load | EventKind::Store | EventKind::Rmw | EventKind::Fence)
}

/// An ordering that has what both have.
fn raised(order: Order, more: Order) -> Order {
    match (order, more) {
        (Order::Relaxed | Order::Plain, more) => more,
        (Order::Acquire, Order::Release) | (Order::Release, Order::Acquire) => Order::AcqRel,
        (order, _) => order,
    }
}

/// `orders`, each as weak as it may be so that the execution stays impossible.
fn weakened(
    trace: &Trace,
    written: &[Order],
    mut orders: Vec<Order>,
    is_possible: &dyn Fn(&[Order]) -> bool,
) -> Vec<Order> {
    for (id, event) in trace.ids() {
        let wanted = std::mem::replace(&mut orders[id.index()], event.order);
        if wanted != event.order && is_possible(&orders) {
            orders[id.index()] = wanted;
            weaken_one(trace, id, written[id.index()], &mut orders, is_possible);
        }
    }
    orders
}

/// Replaces `SeqCst` at one event by what synchronizes, if that is enough.
fn weaken_one(
    trace: &Trace,
    id: EventId,
    written: Order,
    orders: &mut [Order],
    is_possible: &dyn Fn(&[Order]) -> bool,
) {
    if orders[id.index()] != Order::SeqCst {
        return;
    }
    let event = trace.event(id);
    let weaker = match event.kind {
        EventKind::Load => raised(written, Order::Acquire),
        EventKind::Store => raised(written, Order::Release),
        _ => Order::AcqRel,
    };
    orders[id.index()] = weaker;
    if is_possible(orders) {
        orders[id.index()] = Order::SeqCst;
    }
}
