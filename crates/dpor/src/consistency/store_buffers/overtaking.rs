//! Which accesses of an execution of sequential consistency could overtake a store under a model with buffers.
//!
//! This asks the definition of `docs/theory/robustness.md` of a graph instead of an execution, so that a search need not
//! perform executions in which there is nothing new to see.

use teetotal_program::Order;

use super::StoreBuffers;
use crate::bits::Bits;
use crate::graph::{Graph, Idle, NONE, Node, Role, Slot};

/// An event under a model of store buffers.
type Event<const N: usize> = Node<StoreBuffers, N>;

impl<const N: usize> Graph<StoreBuffers, N> {
    /// Calls `each` with every access of this graph of sequential consistency that could overtake a store under `weaker`, and
    /// with that store.
    pub(super) fn overtakings(&self, weaker: StoreBuffers, mut each: impl FnMut(&Event<N>, &Event<N>)) {
        let mut hb_prefixes = None;
        for &access in &self.added {
            let Some((before, seen)) = self.candidate(access) else { continue };
            let hb_prefix = hb_prefixes.get_or_insert_with(|| self.hb_prefixes())[before as usize];
            if let Some(store) = self.overtaken(weaker, access, seen, hb_prefix) {
                each(self.node(access), self.node(store));
            }
        }
    }

    /// For each node what comes before it in happens-before, and itself.
    fn hb_prefixes(&self) -> Vec<Bits<N>> {
        let mut hb_prefixes = vec![Bits::EMPTY; self.added.iter().max().map_or(0, |&slot| slot as usize + 1)];
        let mut done = Bits::EMPTY;
        let mut rest = self.added.len();
        while rest > 0 {
            for &slot in &self.added {
                let order = self.node(slot).label.order;
                if done.has(slot) || (order & !done) != Bits::EMPTY {
                    continue;
                }
                let hb_prefix =
                    order.iter().fold(Bits::one(slot), |hb_prefix, earlier| hb_prefix | hb_prefixes[earlier as usize]);
                hb_prefixes[slot as usize] = hb_prefix;
                done.insert(slot);
                rest -= 1;
            }
        }
        hb_prefixes
    }

    /// The node before `access`, and the write that it saw, unless it is plain that it overtakes nothing.
    fn candidate(&self, access: Slot) -> Option<(Slot, Slot)> {
        let node = self.node(access);
        let seen = match node.role {
            Role::Store => node.co_before,
            // Both halves of a read-modify-write are one access.
            role if role.is_read() => node.source,
            // It is blocked forever.
            Role::Retried if self.events(node.thread).last == access => self.location(node.loc()).newest,
            _ => return None,
        };
        let before = if node.before == NONE { self.events(node.thread).spawn } else { node.before };
        if seen == NONE || before == NONE || self.node(seen).thread == node.thread {
            return None;
        }
        let known = self.node(before).porf;
        if known.has(seen) && self.is_taken(seen, known) {
            return None;
        }
        Some((before, seen))
    }

    /// The store that `access` could overtake: the last write to its location in its hb_prefix, if nothing forces that.
    fn overtaken(&self, weaker: StoreBuffers, access: Slot, seen: Slot, hb_prefix: Bits<N>) -> Option<Slot> {
        let node = self.node(access);
        let mut write = seen;
        while write != NONE && !hb_prefix.has(write) {
            write = self.node(write).co_before;
        }
        let is_other_store =
            write != NONE && self.node(write).role == Role::Store && self.node(write).thread != node.thread;
        (is_other_store && !self.is_forced(weaker, write, hb_prefix, node)).then_some(write)
    }

    /// Whether something in `hb_prefix` needed `store` to be in memory to read it.
    fn is_taken(&self, store: Slot, hb_prefix: Bits<N>) -> bool {
        let thread = self.node(store).thread;
        let mut readers = (self.node(store).readers & hb_prefix).iter();
        readers.any(|reader| self.node(reader).thread != thread || self.node(reader).role == Role::UpdateRead)
    }

    /// Whether an event of `hb_prefix` that is not a store comes after `store` in the order of moments, or a store that
    /// `access` waits for.
    fn is_forced(&self, weaker: StoreBuffers, store: Slot, hb_prefix: Bits<N>, access: &Event<N>) -> bool {
        let mut reached = Bits::one(store);
        let mut rest = reached;
        while let Some(store) = rest.pop() {
            let is_awaited = self.node(store).thread == access.thread && waits(weaker, self.node(store), access);
            if is_awaited || self.is_taken(store, hb_prefix) {
                return true;
            }
            let Some(mut later) = self.later_stores(weaker, store, hb_prefix) else { return true };
            let follower = self.node(store).co_after;
            if follower != NONE && hb_prefix.has(follower) {
                if self.node(follower).role == Role::UpdateWrite {
                    return true;
                }
                later.insert(follower);
            }
            rest |= later & !reached;
            reached |= later;
        }
        hb_prefix.iter().any(|slot| self.joins(slot, reached))
    }

    /// The stores of `hb_prefix` that the thread of `store` has later and that wait for it, if nothing else does.
    fn later_stores(&self, weaker: StoreBuffers, store: Slot, hb_prefix: Bits<N>) -> Option<Bits<N>> {
        let earlier = self.node(store);
        let mut stores = Bits::EMPTY;
        let mut is_followed = false;
        let mut slot = self.events(earlier.thread).last;
        while slot != store {
            let later = self.node(slot);
            if hb_prefix.has(slot) {
                let is_store = later.role == Role::Store;
                // Whatever follows such a store waits for it and all before it.
                let drains = is_store && is_followed && later.access.order == Order::SeqCst;
                let waits = waits(weaker, earlier, later);
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
fn waits<const N: usize>(weaker: StoreBuffers, store: &Event<N>, later: &Event<N>) -> bool {
    let keeps_order = || (weaker.keeps_order)(store.access, later.access);
    match (later.role, later.idle) {
        (Role::Choice(_) | Role::Other, _) => false,
        (Role::Join(_), _) => later.access.order.releases() && keeps_order(),
        (Role::Fence, _) => later.access.order == Order::SeqCst,
        (Role::Read | Role::Blocked | Role::Retried | Role::UpdateRead, Idle::Load) => false,
        (Role::Read | Role::Blocked | Role::Retried | Role::UpdateRead, Idle::LoadInSource) => {
            !weaker.failed_exchange_is_load && keeps_order()
        }
        _ => keeps_order(),
    }
}
