//! Global fences: at each, every store of every thread is in memory or not yet performed.
//!
//! Definition: `sync` of [LINDEN, §2]. A trace does not say which of the two holds of a store, so this is the one axiom
//! that is a choice: the store reaches memory before the fence, or the fence comes before the store and everything
//! after it in its thread. What the order forces is decided first, the rest is tried both ways.

use teetotal_memory::EventKind;

use crate::axiomatic::order::PartialOrder;
use crate::axiomatic::placed::Placed;

/// Whether every store has a side of every global fence, given the order of everything else.
pub(super) fn fits(events: &[Placed], order: PartialOrder) -> bool {
    let is_fence = |index: &usize| events[*index].event.kind == EventKind::GlobalFence;
    let fences: Vec<usize> = (0..events.len()).filter(is_fence).collect();
    let foreign = |fence: usize, store: usize| {
        events[store].event.is_store() && events[store].event.thread != events[fence].event.thread
    };
    let pairs = fences.iter().flat_map(|&fence| (0..events.len()).map(move |store| (fence, store)));
    let open: Vec<(usize, usize)> = pairs.filter(|&(fence, store)| foreign(fence, store)).collect();
    solve(events, order, open)
}

fn solve(events: &[Placed], mut order: PartialOrder, mut open: Vec<(usize, usize)>) -> bool {
    loop {
        let before = open.len();
        let mut contradiction = false;
        open.retain(|&(fence, store)| {
            match (may_come_first(&order, fence, store), may_follow(events, &order, fence, store)) {
                (true, true) => true,
                (true, false) => {
                    contradiction |= !order.add(store, fence);
                    false
                }
                (false, true) => {
                    contradiction |= !put_after(events, &mut order, fence, store);
                    false
                }
                (false, false) => {
                    contradiction = true;
                    false
                }
            }
        });
        if contradiction {
            return false;
        }
        if open.len() == before {
            break;
        }
    }
    let Some((fence, store)) = open.pop() else { return true };
    let mut first = order.clone();
    (first.add(store, fence) && solve(events, first, open.clone()))
        || (put_after(events, &mut order, fence, store) && solve(events, order, open))
}

/// Whether the store may reach memory before the fence.
fn may_come_first(order: &PartialOrder, fence: usize, store: usize) -> bool {
    !order.precedes(fence, store)
}

/// Whether the store may be performed after the fence.
fn may_follow(events: &[Placed], order: &PartialOrder, fence: usize, store: usize) -> bool {
    from_on(events, store).all(|moment| !order.precedes(moment, fence))
}

/// Puts the fence before the performance of the store.
fn put_after(events: &[Placed], order: &mut PartialOrder, fence: usize, store: usize) -> bool {
    from_on(events, store).all(|moment| order.add(fence, moment))
}

/// The moments of `store`, of what is issued with it, and of everything after it in its thread.
fn from_on(events: &[Placed], store: usize) -> impl Iterator<Item = usize> + '_ {
    let Placed { event, issued, .. } = events[store];
    let first = events[issued].event.index;
    let later = move |e: &&Placed| e.event.thread == event.thread && e.event.index >= first;
    events.iter().filter(later).map(|e| e.moment)
}
