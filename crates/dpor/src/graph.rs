//! An execution graph: events in program order, the source of each read, coherence, and porf-prefixes.
//!
//! A node is an event, or half of a read-modify-write that wrote: its read and its write are two nodes, of which only the
//! read can be revisited. What a memory model keeps with events is its own affair; see [`Consistency`].

mod node;

use teetotal_program::{ThreadId, Value};

use super::bits::Bits;
use super::consistency::Consistency;

pub(super) use self::node::{Idle, Node, Role};

/// An event of the graph: the position of its node.
pub(super) type Slot = u32;

/// No node; as the source of a read, the initial value.
pub(super) const NONE: Slot = u32::MAX;

/// The graph of an execution in the making.
#[derive(Clone, Debug)]
pub(super) struct Graph<C: Consistency, const N: usize> {
    /// The rules of the model.
    pub(super) rules: C,
    /// What the model keeps of the graph beside its events.
    pub(super) index: C::Index,
    nodes: Vec<Node<C, N>>,
    /// Which nodes there are.
    alive: Bits<N>,
    /// The nodes in the order in which they were added.
    pub(super) added: Vec<Slot>,
    /// How many reads do not let their threads go on.
    pub(super) n_waiting: u32,
    /// How many reads of read-modify-writes there are without their writes.
    pub(super) n_halves: u32,
    /// How many nodes are no operations of their own: second halves, and blocked reads that are retried.
    n_parts: u32,
    /// The nodes that are no events.
    retried: Bits<N>,
    next_stamp: u32,
    threads: Vec<ThreadEvents>,
    locations: Vec<LocationEvents<N>>,
    /// For each node the state of its thread after it.
    states: Vec<Value>,
    width: usize,
}

/// The nodes of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadEvents {
    /// The newest node.
    pub(super) last: Slot,
    /// The node that started it, if one did.
    pub(super) spawn: Slot,
}

/// The writes to one location.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocationEvents<const N: usize> {
    /// The last in coherence.
    pub(super) newest: Slot,
    /// The events that read the initial value.
    pub(super) readers: Bits<N>,
    /// The events that read any value.
    pub(super) all_readers: Bits<N>,
    pub(super) initial: Value,
    /// The first in coherence.
    pub(super) oldest: Slot,
}

impl<C: Consistency, const N: usize> Graph<C, N> {
    /// Without a node; `width` words hold the state of a thread.
    pub(super) fn new(rules: C, n_threads: usize, initial: impl Iterator<Item = Value>, width: usize) -> Self {
        Graph {
            threads: vec![ThreadEvents { last: NONE, spawn: NONE }; n_threads],
            locations: initial
                .map(|initial| LocationEvents {
                    newest: NONE,
                    oldest: NONE,
                    readers: Bits::EMPTY,
                    all_readers: Bits::EMPTY,
                    initial,
                })
                .collect(),
            width,
            ..Graph::empty(rules)
        }
    }

    /// Without threads and locations.
    pub(super) fn empty(rules: C) -> Self {
        Graph {
            rules,
            index: C::Index::default(),
            nodes: Vec::new(),
            alive: Bits::EMPTY,
            added: Vec::new(),
            n_waiting: 0,
            n_halves: 0,
            n_parts: 0,
            retried: Bits::EMPTY,
            next_stamp: 0,
            threads: Vec::new(),
            locations: Vec::new(),
            states: Vec::new(),
            width: 0,
        }
    }

    #[inline]
    pub(super) fn node(&self, slot: Slot) -> &Node<C, N> {
        &self.nodes[slot as usize]
    }

    #[inline]
    pub(super) fn events(&self, thread: ThreadId) -> ThreadEvents {
        self.threads[thread.index()]
    }

    #[inline]
    pub(super) fn location(&self, loc: usize) -> &LocationEvents<N> {
        &self.locations[loc]
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.added.len()
    }

    /// How many operations there are.
    pub(super) fn n_operations(&self) -> usize {
        self.added.len() - self.n_parts as usize
    }

    /// The view of `thread` after its newest event.
    #[inline]
    pub(super) fn view(&self, thread: ThreadId) -> C::View<N> {
        let events = self.events(thread);
        self.view_after(events.last, events)
    }

    /// The view of the thread of `events` after `before`.
    #[inline]
    pub(super) fn view_after(&self, before: Slot, events: ThreadEvents) -> C::View<N> {
        match (before, events.spawn) {
            (NONE, NONE) => C::View::default(),
            (NONE, spawn) => C::view_after_spawn(self, spawn),
            (before, _) => self.node(before).view,
        }
    }

    /// The porf-prefix of an event of the thread of `events` after `before`, without the event.
    #[inline]
    pub(super) fn porf_prefix_after(&self, before: Slot, events: ThreadEvents) -> Bits<N> {
        match (before, events.spawn) {
            (NONE, NONE) => Bits::EMPTY,
            (NONE, spawn) => self.node(spawn).porf,
            (before, _) => self.node(before).porf,
        }
    }

    /// The value that `write` wrote to the location `loc`, or the initial one.
    #[inline]
    pub(super) fn value_of(&self, write: Slot, loc: usize) -> Value {
        if write == NONE { self.location(loc).initial } else { self.node(write).written }
    }

    /// The write that follows `write` in coherence.
    #[inline]
    pub(super) fn follower(&self, write: Slot, loc: usize) -> Slot {
        if write == NONE { self.location(loc).oldest } else { self.node(write).co_after }
    }

    /// The events that read from `previous`, a write to the location of `write` or its initial value.
    #[inline]
    pub(super) fn readers_of(&self, write: Slot, previous: Slot) -> Bits<N> {
        self.readers(previous, self.node(write).loc()) & !self.retried
    }

    /// The events that read from `write`, a write to `loc` or its initial value, also those that are no events.
    #[inline]
    pub(super) fn readers(&self, write: Slot, loc: usize) -> Bits<N> {
        if write == NONE { self.location(loc).readers } else { self.node(write).readers }
    }

    fn readers_mut(&mut self, write: Slot, loc: usize) -> &mut Bits<N> {
        if write == NONE { &mut self.locations[loc].readers } else { &mut self.nodes[write as usize].readers }
    }

    /// Which nodes there are.
    pub(super) fn alive(&self) -> Bits<N> {
        self.alive
    }

    /// The blocked reads that are retried; they are no events.
    pub(super) fn retried(&self) -> Bits<N> {
        self.retried
    }

    /// Where the next node will be, if there is room for one.
    pub(super) fn free_slot(&self) -> Option<Slot> {
        self.alive.first_free()
    }

    /// Whether there is room for `more` nodes.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.added.len() + more <= Bits::<N>::CAPACITY as usize
    }

    /// Adds a node at the end of its thread, for which there must be room.
    pub(super) fn add(&mut self, mut node: Node<C, N>) -> Slot {
        let slot = self.alive.first_free().expect("there is room");
        node.stamp = self.next_stamp;
        self.next_stamp += 1;
        if self.nodes.len() == slot as usize {
            self.nodes.push(node);
            self.states.resize(self.states.len() + self.width, 0);
        } else {
            self.nodes[slot as usize] = node;
        }
        self.added.push(slot);
        self.alive.insert(slot);
        self.join_thread(slot);
        slot
    }

    fn join_thread(&mut self, slot: Slot) {
        let events = &mut self.threads[self.nodes[slot as usize].thread.index()];
        let before = std::mem::replace(&mut events.last, slot);
        let next = match before {
            NONE => 0,
            // It is the same operation that reads again.
            before => self.node(before).index + u32::from(self.node(before).role != Role::Retried),
        };
        let node = &mut self.nodes[slot as usize];
        node.before = before;
        // The two halves of a read-modify-write are one operation.
        node.index = if node.role == Role::UpdateWrite { next - 1 } else { next };
    }

    /// The operation that `write` is, if it is not the initial value.
    pub(super) fn writer(&self, write: Slot) -> Option<(ThreadId, u32)> {
        (write != NONE).then(|| (self.node(write).thread, self.node(write).index))
    }

    /// Takes back the node that was added last.
    pub(super) fn take_back(&mut self) -> Slot {
        let slot = self.added.pop().expect("there is a node to take back");
        self.next_stamp = self.node(slot).stamp;
        self.alive.remove(slot);
        self.leave_thread(slot);
        slot
    }

    fn leave_thread(&mut self, slot: Slot) {
        let Node { thread, before, .. } = *self.node(slot);
        self.threads[thread.index()].last = before;
    }

    /// Lets `slot` read from `source`; the other links of the node are its own affair.
    pub(super) fn link_read(&mut self, slot: Slot, source: Slot) {
        let loc = self.node(slot).loc();
        self.nodes[slot as usize].source = source;
        self.count(slot, 1);
        self.readers_mut(source, loc).insert(slot);
        if self.node(slot).role == Role::Retried {
            self.retried.insert(slot);
            return;
        }
        self.locations[loc].all_readers.insert(slot);
        let follower = self.follower(source, loc);
        if follower != NONE {
            C::insert_before(self, slot, follower);
        }
    }

    /// Counts a node, or no longer.
    fn count(&mut self, slot: Slot, by: i32) {
        match self.node(slot).role {
            Role::Blocked => self.n_waiting = self.n_waiting.wrapping_add_signed(by),
            Role::UpdateRead => self.n_halves = self.n_halves.wrapping_add_signed(by),
            Role::UpdateWrite => self.n_halves = self.n_halves.wrapping_add_signed(-by),
            _ => {}
        }
        if matches!(self.node(slot).role, Role::UpdateWrite | Role::Retried) {
            self.n_parts = self.n_parts.wrapping_add_signed(by);
        }
    }

    /// Takes a read out of the links of others.
    pub(super) fn unlink_read(&mut self, slot: Slot) {
        let Node { source, .. } = *self.node(slot);
        let loc = self.node(slot).loc();
        self.count(slot, -1);
        self.readers_mut(source, loc).remove(slot);
        if self.retried.has(slot) {
            self.retried.remove(slot);
            return;
        }
        self.locations[loc].all_readers.remove(slot);
        let follower = self.follower(source, loc);
        if follower != NONE {
            C::remove_before(self, slot, follower);
        }
    }

    /// Puts the write `slot` directly after `previous` in coherence.
    pub(super) fn link_write(&mut self, slot: Slot, previous: Slot) {
        self.count(slot, 1);
        let loc = self.node(slot).loc();
        let follower = self.follower(previous, loc);
        let node = &mut self.nodes[slot as usize];
        node.co_before = previous;
        node.co_after = follower;
        C::place_after(self, slot, previous);
        self.set_follower(previous, loc, slot);
        match follower {
            NONE => self.locations[loc].newest = slot,
            co_after => {
                self.nodes[co_after as usize].co_before = slot;
                C::insert_before(self, slot, co_after);
            }
        }
    }

    fn set_follower(&mut self, write: Slot, loc: usize, follower: Slot) {
        match write {
            NONE => self.locations[loc].oldest = follower,
            write => self.nodes[write as usize].co_after = follower,
        }
    }

    fn set_newest_or_before(&mut self, write: Slot, loc: usize, previous: Slot) {
        match write {
            NONE => self.locations[loc].newest = previous,
            write => self.nodes[write as usize].co_before = previous,
        }
    }

    /// Takes the write `slot` out of coherence.
    pub(super) fn unlink_write(&mut self, slot: Slot) {
        self.count(slot, -1);
        let Node { co_before, co_after, .. } = *self.node(slot);
        let loc = self.node(slot).loc();
        self.set_follower(co_before, loc, co_after);
        self.set_newest_or_before(co_after, loc, co_before);
        if co_after != NONE {
            C::remove_before(self, slot, co_after);
        }
    }

    pub(super) fn node_mut(&mut self, slot: Slot) -> &mut Node<C, N> {
        &mut self.nodes[slot as usize]
    }

    /// Takes note that `spawn` starts `thread`, or that nothing does.
    pub(super) fn set_spawn(&mut self, thread: ThreadId, spawn: Slot) {
        self.threads[thread.index()].spawn = spawn;
    }

    /// The state of the thread of `slot` after it.
    #[inline]
    pub(super) fn state(&self, slot: Slot) -> &[Value] {
        &self.states[slot as usize * self.width..][..self.width]
    }

    #[inline]
    pub(super) fn state_mut(&mut self, slot: Slot) -> &mut [Value] {
        &mut self.states[slot as usize * self.width..][..self.width]
    }

    /// Becomes `whole` restricted to `kept`, which has the porf-prefix of each of its members, and of `read`, which must
    /// be the last of its thread there, only the stamp.
    pub(super) fn restrict(&mut self, whole: &Self, kept: Bits<N>, read: Slot) {
        let with_read = kept | Bits::one(read);
        self.alive = with_read;
        self.retried = whole.retried & kept;
        self.next_stamp = whole.next_stamp;
        (self.n_waiting, self.n_halves, self.n_parts) = (0, 0, 0);
        self.width = whole.width;
        self.threads.clone_from(&whole.threads);
        self.locations.clone_from(&whole.locations);
        self.added.clear();
        self.added.extend(whole.added.iter().copied().filter(|&slot| with_read.has(slot)));
        self.nodes.resize(whole.nodes.len(), whole.nodes[read as usize]);
        self.states.resize(whole.states.len(), 0);
        for slot in with_read.iter() {
            let node = &mut self.nodes[slot as usize];
            *node = *whole.node(slot);
            C::restrict_label(&mut node.label, kept);
            node.readers &= kept;
            self.states[slot as usize * self.width..][..self.width].copy_from_slice(whole.state(slot));
        }
        kept.iter().for_each(|slot| self.count(slot, 1));
        for events in &mut self.threads {
            while events.last != NONE && !kept.has(events.last) {
                events.last = whole.node(events.last).before;
            }
            if events.spawn != NONE && !kept.has(events.spawn) {
                events.spawn = NONE;
            }
        }
        for loc in 0..self.locations.len() {
            self.close_gaps(whole, loc, kept);
        }
        C::restricted(self, kept);
    }

    /// Links the writes of `whole` to `loc` that are in `kept` with each other.
    fn close_gaps(&mut self, whole: &Self, loc: usize, kept: Bits<N>) {
        let cell = &mut self.locations[loc];
        cell.readers &= kept;
        cell.all_readers &= kept;
        if cell.oldest == NONE {
            return;
        }
        cell.oldest = NONE;
        let mut previous = NONE;
        let mut write = whole.location(loc).oldest;
        while write != NONE {
            if kept.has(write) {
                self.nodes[write as usize].co_before = previous;
                C::place_after(self, write, previous);
                self.set_follower(previous, loc, write);
                previous = write;
            }
            write = whole.node(write).co_after;
        }
        self.set_follower(previous, loc, NONE);
        self.locations[loc].newest = previous;
    }

    /// Puts `read`, which [`Graph::restrict`] left out, at the end of its thread again.
    pub(super) fn put_back(&mut self, read: Slot) {
        self.join_thread(read);
    }

    /// Takes it out again.
    pub(super) fn take_out(&mut self, read: Slot) {
        self.leave_thread(read);
    }

    pub(super) fn n_threads(&self) -> usize {
        self.threads.len()
    }

    /// The thread that `slot` starts, if it is a spawn.
    pub(super) fn started_by(&self, slot: Slot) -> Option<ThreadId> {
        self.threads.iter().position(|events| events.spawn == slot).map(ThreadId::at)
    }

    /// Makes room for as many threads and locations.
    pub(super) fn make_room(&mut self, n_threads: usize, n_locations: usize) {
        if self.threads.len() < n_threads {
            self.threads.resize(n_threads, ThreadEvents { last: NONE, spawn: NONE });
        }
        if self.locations.len() < n_locations {
            self.locations.resize(
                n_locations,
                LocationEvents {
                    newest: NONE,
                    oldest: NONE,
                    readers: Bits::EMPTY,
                    all_readers: Bits::EMPTY,
                    initial: 0,
                },
            );
        }
    }

    /// Sets what a location holds at the beginning.
    pub(super) fn set_initial(&mut self, loc: usize, value: Value) {
        self.locations[loc].initial = value;
    }
}
