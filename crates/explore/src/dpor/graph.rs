//! An execution as a graph: events in program order, the source of each read, and coherence.
//!
//! A node is an event, or half of a read-modify-write that wrote: its read and its write are two nodes, of which only the
//! read can be revisited. `order` holds, for each node, everything that comes directly before it at the moment when it
//! happens: when a store reaches memory, when anything else is performed. A graph is an execution of the model exactly
//! when this order has no cycle; see `docs/theory/dpor.md`.

mod node;

use teetotal_program::{ThreadId, Value};

use super::bits::Bits;

pub(super) use self::node::{Idle, Node, Progress, Role};

/// A node: its position in the graph.
pub(super) type Slot = u32;

/// No node; as the source of a read, the initial value.
pub(super) const NONE: Slot = u32::MAX;

/// The graph of an execution in the making.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph<const N: usize> {
    nodes: Vec<Node<N>>,
    /// Which nodes there are.
    alive: Bits<N>,
    /// The nodes in the order in which they were added.
    pub(super) added: Vec<Slot>,
    /// How many reads do not let their threads go on.
    pub(super) n_waiting: u32,
    /// How many reads of read-modify-writes there are without their writes.
    pub(super) n_halves: u32,
    /// How many nodes are no operations of their own: second halves, and looks in vain.
    n_parts: u32,
    /// The nodes that are no events.
    vain: Bits<N>,
    /// What came before a node that was there already, and that node.
    pub(super) late: Vec<(Slot, Slot)>,
    next_stamp: u32,
    threads: Vec<Strand>,
    locations: Vec<Cell<N>>,
    /// For each node the state of its thread after it.
    states: Vec<Value>,
    width: usize,
}

/// The nodes of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    /// The newest node.
    pub(super) last: Slot,
    /// The node that started it, if one did.
    pub(super) spawn: Slot,
}

/// The writes to one location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<const N: usize> {
    /// The last in coherence.
    pub(super) newest: Slot,
    /// Who reads the initial value.
    pub(super) readers: Bits<N>,
    /// Who reads any value.
    pub(super) all_readers: Bits<N>,
    pub(super) initial: Value,
    /// The first in coherence.
    pub(super) oldest: Slot,
}

impl<const N: usize> Default for Bits<N> {
    fn default() -> Self {
        Bits::EMPTY
    }
}

impl<const N: usize> Graph<N> {
    /// Without a node; `width` words hold the state of a thread.
    pub(super) fn new(n_threads: usize, initial: impl Iterator<Item = Value>, width: usize) -> Self {
        Graph {
            threads: vec![Strand { last: NONE, spawn: NONE }; n_threads],
            locations: initial
                .map(|initial| Cell {
                    newest: NONE,
                    oldest: NONE,
                    readers: Bits::EMPTY,
                    all_readers: Bits::EMPTY,
                    initial,
                })
                .collect(),
            width,
            ..Graph::default()
        }
    }

    #[inline]
    pub(super) fn node(&self, slot: Slot) -> &Node<N> {
        &self.nodes[slot as usize]
    }

    #[inline]
    pub(super) fn strand(&self, thread: ThreadId) -> Strand {
        self.threads[thread.index()]
    }

    #[inline]
    pub(super) fn cell(&self, loc: usize) -> &Cell<N> {
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

    /// What `thread` goes on with.
    pub(super) fn progress(&self, thread: ThreadId) -> Progress<N> {
        let strand = self.strand(thread);
        self.progress_after(strand.last, strand)
    }

    /// What the thread of `strand` goes on with after `before`.
    #[inline]
    pub(super) fn progress_after(&self, before: Slot, strand: Strand) -> Progress<N> {
        match (before, strand.spawn) {
            (NONE, NONE) => Progress::START,
            (NONE, spawn) => Progress { floor: Bits::one(spawn), ..Progress::START },
            (before, _) => self.node(before).after,
        }
    }

    /// What an event of the thread of `strand` after `before` depends on.
    #[inline]
    pub(super) fn past_after(&self, before: Slot, strand: Strand) -> Bits<N> {
        match (before, strand.spawn) {
            (NONE, NONE) => Bits::EMPTY,
            (NONE, spawn) => self.node(spawn).past,
            (before, _) => self.node(before).past,
        }
    }

    /// The value that `write` wrote to the location `loc`, or the initial one.
    #[inline]
    pub(super) fn value_of(&self, write: Slot, loc: usize) -> Value {
        if write == NONE { self.cell(loc).initial } else { self.node(write).written }
    }

    /// The write that follows `write` in coherence.
    #[inline]
    pub(super) fn follower(&self, write: Slot, loc: usize) -> Slot {
        if write == NONE { self.cell(loc).oldest } else { self.node(write).co_after }
    }

    #[inline]
    fn readers(&self, write: Slot, loc: usize) -> Bits<N> {
        if write == NONE { self.cell(loc).readers } else { self.node(write).readers }
    }

    fn readers_mut(&mut self, write: Slot, loc: usize) -> &mut Bits<N> {
        if write == NONE { &mut self.locations[loc].readers } else { &mut self.nodes[write as usize].readers }
    }

    /// Which nodes there are.
    pub(super) fn alive(&self) -> Bits<N> {
        self.alive
    }

    /// The nodes that are no events.
    pub(super) fn vain(&self) -> Bits<N> {
        self.vain
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
    pub(super) fn add(&mut self, mut node: Node<N>) -> Slot {
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
        let strand = &mut self.threads[self.nodes[slot as usize].thread.index()];
        let before = std::mem::replace(&mut strand.last, slot);
        let next = match before {
            NONE => 0,
            // It is the same operation that looks again.
            before => self.node(before).index + u32::from(self.node(before).role != Role::Vain),
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
        if self.node(slot).role == Role::Vain {
            self.vain.insert(slot);
            return;
        }
        self.locations[loc].all_readers.insert(slot);
        let follower = self.follower(source, loc);
        if follower != NONE {
            self.nodes[follower as usize].order.insert(slot);
            self.late.push((slot, follower));
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
        if matches!(self.node(slot).role, Role::UpdateWrite | Role::Vain) {
            self.n_parts = self.n_parts.wrapping_add_signed(by);
        }
    }

    /// Takes a read out of the links of others.
    pub(super) fn unlink_read(&mut self, slot: Slot) {
        let Node { source, .. } = *self.node(slot);
        let loc = self.node(slot).loc();
        self.count(slot, -1);
        self.readers_mut(source, loc).remove(slot);
        if self.vain.has(slot) {
            self.vain.remove(slot);
            return;
        }
        self.locations[loc].all_readers.remove(slot);
        let follower = self.follower(source, loc);
        if follower != NONE {
            self.nodes[follower as usize].order.remove(slot);
            self.forget_late(slot);
        }
    }

    /// Puts the write `slot` directly after `previous` in coherence.
    pub(super) fn link_write(&mut self, slot: Slot, previous: Slot) {
        self.count(slot, 1);
        let loc = self.node(slot).loc();
        let follower = self.follower(previous, loc);
        let readers = self.readers(previous, loc) & !self.vain;
        let node = &mut self.nodes[slot as usize];
        node.co_before = previous;
        node.co_after = follower;
        node.order |= readers;
        if previous != NONE {
            node.order.insert(previous);
        }
        // A read-modify-write reads from its predecessor, but does not come before itself.
        node.order.remove(slot);
        self.set_follower(previous, loc, slot);
        match follower {
            NONE => self.locations[loc].newest = slot,
            co_after => {
                let follower = &mut self.nodes[co_after as usize];
                follower.co_before = slot;
                follower.order.insert(slot);
                self.late.push((slot, co_after));
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
            self.nodes[co_after as usize].order.remove(slot);
            self.forget_late(slot);
        }
    }

    pub(super) fn node_mut(&mut self, slot: Slot) -> &mut Node<N> {
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

    /// Becomes the part of `whole` that is in `kept`, and of `read`, which must be the last of its thread there, only the
    /// stamp. `kept` has the past of each of its members.
    pub(super) fn copy_part(&mut self, whole: &Self, kept: Bits<N>, read: Slot) {
        let with_read = kept | Bits::one(read);
        self.alive = with_read;
        self.vain = whole.vain & kept;
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
            node.order &= kept;
            node.readers &= kept;
            self.states[slot as usize * self.width..][..self.width].copy_from_slice(whole.state(slot));
        }
        kept.iter().for_each(|slot| self.count(slot, 1));
        for strand in &mut self.threads {
            while strand.last != NONE && !kept.has(strand.last) {
                strand.last = whole.node(strand.last).before;
            }
            if strand.spawn != NONE && !kept.has(strand.spawn) {
                strand.spawn = NONE;
            }
        }
        for loc in 0..self.locations.len() {
            self.close_gaps(whole, loc, kept);
        }
        self.find_reach(kept);
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
        let mut write = whole.cell(loc).oldest;
        while write != NONE {
            if kept.has(write) {
                let readers = self.readers(previous, loc) & !self.vain;
                let node = &mut self.nodes[write as usize];
                node.co_before = previous;
                node.order |= readers;
                if previous != NONE {
                    node.order.insert(previous);
                }
                node.order.remove(write);
                self.set_follower(previous, loc, write);
                previous = write;
            }
            write = whole.node(write).co_after;
        }
        self.set_follower(previous, loc, NONE);
        self.locations[loc].newest = previous;
    }

    /// Puts `read`, which [`Graph::copy_part`] left out, at the end of its thread again.
    pub(super) fn replant(&mut self, read: Slot) {
        self.join_thread(read);
    }

    /// Takes it out again.
    pub(super) fn uproot(&mut self, read: Slot) {
        self.leave_thread(read);
    }

    pub(super) fn n_threads(&self) -> usize {
        self.threads.len()
    }

    /// The thread that `slot` starts, if it is a spawn.
    pub(super) fn started_by(&self, slot: Slot) -> Option<ThreadId> {
        self.threads.iter().position(|strand| strand.spawn == slot).map(ThreadId::at)
    }

    /// Makes room for as many threads and locations.
    pub(super) fn make_room(&mut self, n_threads: usize, n_locations: usize) {
        if self.threads.len() < n_threads {
            self.threads.resize(n_threads, Strand { last: NONE, spawn: NONE });
        }
        if self.locations.len() < n_locations {
            self.locations.resize(
                n_locations,
                Cell { newest: NONE, oldest: NONE, readers: Bits::EMPTY, all_readers: Bits::EMPTY, initial: 0 },
            );
        }
    }

    /// Sets what a location holds at the beginning.
    pub(super) fn set_initial(&mut self, loc: usize, value: Value) {
        self.locations[loc].initial = value;
    }
}
