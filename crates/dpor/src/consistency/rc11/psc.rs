//! The SC axiom: `psc` has no cycle.
//!
//! Definition: [RC11, Def. 1].
//!
//! An event that was just added comes before others only in reads-before and modification order: if it reads from an
//! overwritten write, or is placed before another. So a new cycle begins with such an event, or at a fence that
//! happens-before it, and nothing else needs to be looked at.

use teetotal_program::{Order, ThreadId};

use super::super::super::bits::Bits;
use super::super::super::graph::{Graph, NONE, Role, Slot};
use super::Rc11;

/// Whether `psc` has no cycle, if it had none before `slot` was added, and before its source if that was added with it.
pub(super) fn is_acyclic_through<const N: usize>(graph: &Graph<Rc11, N>, slot: Slot) -> bool {
    let node = graph.node(slot);
    let place = match node.role {
        // Another read-modify-write reads from it, which is revisited or leads nowhere.
        Role::UpdateRead if graph.is_updated(node.source, node.loc()) => return true,
        Role::Read | Role::UpdateRead => node.source,
        Role::Store | Role::UpdateWrite => slot,
        _ => return true,
    };
    let (mut starts, mut fences) = (Bits::one(slot), node.label.hb);
    if node.role == Role::UpdateWrite {
        // Its read was not looked at where another read-modify-write had the same source.
        starts.insert(node.before);
    }
    if node.role.is_read() && place != NONE {
        let write = graph.node(place);
        starts.insert(place);
        fences |= write.label.hb;
        if write.role == Role::UpdateWrite {
            starts.insert(write.before);
        }
    }
    let mut relations = Relations { graph, sc: Bits::EMPTY };
    if starts.iter().all(|start| relations.is_newest(start)) {
        return true;
    }
    fences.iter().filter(|&slot| relations.is_fence(slot)).for_each(|fence| starts.insert(fence));
    if !starts.iter().any(|start| graph.node(start).access.order == Order::SeqCst) {
        return true;
    }
    relations.sc = sc_events(graph);
    starts &= relations.sc;
    relations.no_cycle_from(starts)
}

/// The sequentially consistent events.
fn sc_events<const N: usize>(graph: &Graph<Rc11, N>) -> Bits<N> {
    let mut sc = Bits::EMPTY;
    for &slot in &graph.added {
        let node = graph.node(slot);
        let is_event =
            matches!(node.role, Role::Read | Role::UpdateRead | Role::UpdateWrite | Role::Store | Role::Fence);
        if is_event && node.access.order == Order::SeqCst {
            sc.insert(slot);
        }
    }
    sc
}

/// The relations of a graph.
struct Relations<'g, const N: usize> {
    graph: &'g Graph<Rc11, N>,
    sc: Bits<N>,
}

impl<const N: usize> Relations<'_, N> {
    /// Whether it comes before nothing in reads-before and coherence, apart from its own write.
    fn is_newest(&self, slot: Slot) -> bool {
        let mut is_newest = true;
        self.overwriting(slot, |write| is_newest &= self.graph.node(write).before == slot);
        is_newest
    }

    fn is_fence(&self, slot: Slot) -> bool {
        self.graph.node(slot).role == Role::Fence
    }

    /// Whether no cycle of `psc` can be reached from `starts`.
    fn no_cycle_from(&self, mut starts: Bits<N>) -> bool {
        let mut done = Bits::EMPTY;
        // The events on the path, with what comes after each and is not visited yet.
        let (mut on_path, mut path) = (Bits::EMPTY, Vec::new());
        while let Some(start) = starts.pop() {
            let mut entered = Some(start).filter(|&start| !done.has(start));
            while let Some(at) = entered {
                let next = self.successors(at);
                on_path.insert(at);
                path.push((at, next));
                entered = None;
                while let Some((at, next)) = path.last_mut() {
                    if next.meets(&on_path) {
                        return false;
                    }
                    *next &= !done;
                    entered = next.pop();
                    if entered.is_some() {
                        break;
                    }
                    done.insert(*at);
                    on_path.remove(*at);
                    path.pop();
                }
            }
        }
        true
    }

    /// The events that come after `first` in `psc`.
    fn successors(&self, first: Slot) -> Bits<N> {
        let later = if self.is_fence(first) { self.happen_after(Bits::one(first)) } else { Bits::EMPTY };
        let reached = self.scb(later | Bits::one(first));
        let mut next = reached & self.sc;
        // What leads to a fence by happens-before; from a fence, by happens-before with extended coherence between, too.
        let to_fence = if self.is_fence(first) { reached | Bits::one(first) | self.eco(later) } else { reached };
        for fence in self.sc.iter().filter(|&slot| self.is_fence(slot)) {
            if self.graph.node(fence).label.hb.meets(&to_fence) {
                next.insert(fence);
            }
        }
        next
    }

    /// The events, choices of the program and reads that wait aside.
    fn events(&self) -> impl Iterator<Item = Slot> + '_ {
        self.graph.added.iter().copied().filter(|&slot| self.is_event(slot))
    }

    fn is_event(&self, slot: Slot) -> bool {
        !matches!(self.graph.node(slot).role, Role::Choice(_) | Role::Blocked | Role::Retried)
    }

    /// What something in `first` happens-before.
    fn happen_after(&self, first: Bits<N>) -> Bits<N> {
        let mut later = Bits::EMPTY;
        let is_later = |&slot: &Slot| self.graph.node(slot).label.hb.meets(&first);
        self.events().filter(is_later).for_each(|slot| later.insert(slot));
        later
    }

    /// What comes after one of `starts` in SC-before: program order, program order between different locations around
    /// happens-before, happens-before on one location, coherence and reads-before.
    ///
    /// The beginning and the end of a thread are events without a location.
    fn scb(&self, starts: Bits<N>) -> Bits<N> {
        let (mut reached, mut left) = (Bits::EMPTY, Bits::EMPTY);
        for start in starts.iter() {
            let (own, elsewhere) = self.program_order(start);
            reached |= own;
            left |= elsewhere;
            let node = self.graph.node(start);
            self.overwriting(start, |write| reached.insert(write));
            if node.access.loc.is_some() {
                for slot in self.events() {
                    let other = self.graph.node(slot);
                    if other.access.loc == node.access.loc && other.label.hb.has(start) {
                        reached.insert(slot);
                    }
                }
            }
        }
        let mut entered = Bits::EMPTY;
        for slot in self.events() {
            // The end of a thread happens-before each join of it.
            if let Role::Join(child) = self.graph.node(slot).role
                && starts.iter().any(|start| self.graph.node(start).thread == child)
            {
                left.insert(slot);
                entered.insert(slot);
            }
        }
        entered |= self.happen_after(left);
        entered.iter().for_each(|slot| reached |= self.program_order(slot).1);
        // A spawn happens-before the beginning of its thread.
        for spawn in self.events().filter(|&slot| self.graph.node(slot).role == Role::Spawn) {
            if (left.has(spawn) || left.meets(&self.graph.node(spawn).label.hb))
                && let Some(child) = self.graph.started_by(spawn)
            {
                reached |= self.backwards(child, NONE);
            }
        }
        reached
    }

    /// What comes after `slot` in program order, and what of it accesses another location.
    fn program_order(&self, slot: Slot) -> (Bits<N>, Bits<N>) {
        let node = self.graph.node(slot);
        let later = self.backwards(node.thread, slot);
        if node.access.loc.is_none() {
            return (later, later);
        }
        let mut elsewhere = Bits::EMPTY;
        let is_elsewhere = |&slot: &Slot| self.graph.node(slot).access.loc != node.access.loc;
        later.iter().filter(is_elsewhere).for_each(|slot| elsewhere.insert(slot));
        (later, elsewhere)
    }

    /// The events of `thread` after `slot`, or all of them.
    fn backwards(&self, thread: ThreadId, slot: Slot) -> Bits<N> {
        let mut later = Bits::EMPTY;
        let mut at = self.graph.events(thread).last;
        while at != slot && at != NONE {
            if self.is_event(at) {
                later.insert(at);
            }
            at = self.graph.node(at).before;
        }
        later
    }

    /// Calls `each` with the writes after `slot` in coherence, or in reads-before.
    fn overwriting(&self, slot: Slot, mut each: impl FnMut(Slot)) {
        let node = self.graph.node(slot);
        let place = match node.role {
            Role::Read | Role::UpdateRead => node.source,
            Role::Store | Role::UpdateWrite => slot,
            _ => return,
        };
        let mut write = self.graph.follower(place, node.loc());
        while write != NONE {
            each(write);
            write = self.graph.node(write).co_after;
        }
    }

    /// What comes after one of `starts` in extended coherence order.
    fn eco(&self, starts: Bits<N>) -> Bits<N> {
        let (mut reached, mut writes) = (Bits::EMPTY, Bits::EMPTY);
        for start in starts.iter() {
            self.overwriting(start, |write| writes.insert(write));
            reached |= self.readers(start);
        }
        writes.iter().for_each(|write| reached |= self.readers(write));
        reached | writes
    }

    fn readers(&self, slot: Slot) -> Bits<N> {
        let node = self.graph.node(slot);
        if node.role.is_write() { self.graph.readers(slot, node.loc()) & !self.graph.retried() } else { Bits::EMPTY }
    }
}
