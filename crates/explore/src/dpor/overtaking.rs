//! Which accesses of an execution of sequential consistency could overtake a store under a model with buffers.
//!
//! This asks the definition of `docs/theory/robustness.md` of a graph instead of an execution, so that a search need not
//! perform executions in which there is nothing new to see.

use teetotal_memory::Model;
use teetotal_program::Order;

use super::bits::Bits;
use super::graph::{Graph, Idle, NONE, Node, Role, Slot};

impl<const N: usize> Graph<N> {
    /// Calls `each` with every access of this graph of sequential consistency that could overtake a store under `M`, and
    /// with that store.
    pub(super) fn overtakings<M: Model>(&self, mut each: impl FnMut(&Node<N>, &Node<N>)) {
        let mut pasts = None;
        for &access in &self.added {
            let Some((before, seen)) = self.candidate(access) else { continue };
            let past = pasts.get_or_insert_with(|| self.pasts())[before as usize];
            if let Some(store) = self.overtaken::<M>(access, seen, past) {
                each(self.node(access), self.node(store));
            }
        }
    }

    /// For each node what comes before it in happens-before, and itself.
    fn pasts(&self) -> Vec<Bits<N>> {
        let mut pasts = vec![Bits::EMPTY; self.added.iter().max().map_or(0, |&slot| slot as usize + 1)];
        let mut done = Bits::EMPTY;
        let mut rest = self.added.len();
        while rest > 0 {
            for &slot in &self.added {
                let order = self.node(slot).order;
                if done.has(slot) || (order & !done) != Bits::EMPTY {
                    continue;
                }
                let past = order.iter().fold(Bits::one(slot), |past, earlier| past | pasts[earlier as usize]);
                pasts[slot as usize] = past;
                done.insert(slot);
                rest -= 1;
            }
        }
        pasts
    }

    /// The node before `access`, and the write that it saw, unless it is plain that it overtakes nothing.
    fn candidate(&self, access: Slot) -> Option<(Slot, Slot)> {
        let node = self.node(access);
        let seen = match node.role {
            Role::Store => node.co_before,
            // Both halves of a read-modify-write are one access.
            role if role.is_read() => node.source,
            // It waits for good.
            Role::Vain if self.strand(node.thread).last == access => self.cell(node.loc()).newest,
            _ => return None,
        };
        let before = if node.before == NONE { self.strand(node.thread).spawn } else { node.before };
        if seen == NONE || before == NONE || self.node(seen).thread == node.thread {
            return None;
        }
        let known = self.node(before).past;
        if known.has(seen) && self.is_taken(seen, known) {
            return None;
        }
        Some((before, seen))
    }

    /// The store that `access` could overtake: the last write to its location in its past, if nothing forces that.
    fn overtaken<M: Model>(&self, access: Slot, seen: Slot, past: Bits<N>) -> Option<Slot> {
        let node = self.node(access);
        let mut write = seen;
        while write != NONE && !past.has(write) {
            write = self.node(write).co_before;
        }
        let is_other_store =
            write != NONE && self.node(write).role == Role::Store && self.node(write).thread != node.thread;
        (is_other_store && !self.is_forced::<M>(write, past, node)).then_some(write)
    }

    /// Whether something in `past` needed `store` to be in memory to read it.
    fn is_taken(&self, store: Slot, past: Bits<N>) -> bool {
        let thread = self.node(store).thread;
        let mut readers = (self.node(store).readers & past).iter();
        readers.any(|reader| self.node(reader).thread != thread || self.node(reader).role == Role::UpdateRead)
    }

    /// Whether an event of `past` that is not a store comes after `store` in the order of moments, or a store that
    /// `access` waits for.
    fn is_forced<M: Model>(&self, store: Slot, past: Bits<N>, access: &Node<N>) -> bool {
        let mut reached = Bits::one(store);
        let mut rest = reached;
        while let Some(store) = rest.pop() {
            let is_awaited = self.node(store).thread == access.thread && waits::<M, N>(self.node(store), access);
            if is_awaited || self.is_taken(store, past) {
                return true;
            }
            let Some(mut later) = self.later_stores::<M>(store, past) else { return true };
            let follower = self.node(store).co_after;
            if follower != NONE && past.has(follower) {
                if self.node(follower).role == Role::UpdateWrite {
                    return true;
                }
                later.insert(follower);
            }
            rest |= later & !reached;
            reached |= later;
        }
        past.iter().any(|slot| self.joins(slot, reached))
    }

    /// The stores of `past` that the thread of `store` has later and that wait for it, if nothing else does.
    fn later_stores<M: Model>(&self, store: Slot, past: Bits<N>) -> Option<Bits<N>> {
        let earlier = self.node(store);
        let mut stores = Bits::EMPTY;
        let mut is_followed = false;
        let mut slot = self.strand(earlier.thread).last;
        while slot != store {
            let later = self.node(slot);
            if past.has(slot) {
                let is_store = later.role == Role::Store;
                // Whatever follows such a store waits for it and all before it.
                let drains = is_store && is_followed && later.access.order == Order::SeqCst;
                let waits = waits::<M, N>(earlier, later);
                if drains || waits && !is_store {
                    return None;
                }
                if waits {
                    stores.insert(slot);
                }
                is_followed = true;
            }
            slot = later.before;
        }
        let drains = earlier.access.order == Order::SeqCst && is_followed;
        (!drains).then_some(stores)
    }

    /// Whether `slot` waits for the end of a thread that has one of `stores`.
    fn joins(&self, slot: Slot, stores: Bits<N>) -> bool {
        let Role::Join(child) = self.node(slot).role else { return false };
        stores.iter().any(|store| self.node(store).thread == child)
    }
}

/// Whether `later` waits for `store`, an earlier one of its thread, whatever it reads.
fn waits<M: Model, const N: usize>(store: &Node<N>, later: &Node<N>) -> bool {
    let keeps_order = || M::keeps_order(store.access, later.access);
    match (later.role, later.idle) {
        (Role::Choice(_) | Role::Other, _) => false,
        (Role::Join(_), _) => later.access.order.releases() && keeps_order(),
        (Role::Fence, _) => later.access.order == Order::SeqCst,
        (Role::Read | Role::Blocked | Role::Vain | Role::UpdateRead, Idle::Load) => false,
        (Role::Read | Role::Blocked | Role::Vain | Role::UpdateRead, Idle::LoadInSource) => {
            !M::FAILURE_IS_LOAD && keeps_order()
        }
        _ => keeps_order(),
    }
}
