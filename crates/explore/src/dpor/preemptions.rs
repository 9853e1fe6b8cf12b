//! How few preemptions an execution with a given graph may have.
//!
//! Each event waits for its past, and for nothing else: a store may stay in its buffer as long as it likes. So the answer
//! is never too high, and it does not fall when events are added.
//!
//! A thread that goes on as far as it can never needs more preemptions later than one that stops before, since what has
//! happened only lets others go on. So only the thread to go on next is tried out, and only where one cannot go on.
//! To leave a thread that has ended or that waits for another is no preemption.

use std::collections::BTreeMap;

use teetotal_program::ThreadId;

use super::bits::Bits;
use super::graph::{Graph, NONE, Role, Slot};

/// The events of a graph, or of a part of it with more at its end, to be performed one after the other.
pub(super) struct Schedules<'g, const N: usize> {
    graph: &'g Graph<N>,
    /// For each thread its events, oldest first.
    threads: Vec<Vec<Event<N>>>,
    /// How many preemptions were left where going on was in vain, for each place and the thread that was left there.
    tried: BTreeMap<(Vec<usize>, usize), u64>,
}

/// An event, or both halves of a read-modify-write.
#[derive(Clone, Copy)]
struct Event<const N: usize> {
    slot: Slot,
    /// The other half, if there is one.
    half: Slot,
    /// What must have happened.
    past: Bits<N>,
    /// Whether its operation is one that waits until it can go on.
    waits: bool,
    /// The location of a lock.
    lock: Option<usize>,
}

/// How far the threads are.
#[derive(Clone)]
struct At<const N: usize> {
    positions: Vec<usize>,
    happened: Bits<N>,
}

impl<'g, const N: usize> Schedules<'g, N> {
    /// Those of the events of `graph` that are in `kept`.
    pub(super) fn new(graph: &'g Graph<N>, kept: Bits<N>) -> Self {
        let threads = (0..graph.n_threads()).map(|index| events(graph, ThreadId::at(index), kept)).collect();
        Schedules { graph, threads, tried: BTreeMap::new() }
    }

    /// The same with one more event at the end of `thread`, which may be one that `waits`.
    pub(super) fn with(&self, thread: ThreadId, slot: Slot, past: Bits<N>, waits: bool) -> Self {
        let mut threads = self.threads.clone();
        threads[thread.index()].push(Event { slot, half: NONE, past, waits, lock: None });
        Schedules { graph: self.graph, threads, tried: BTreeMap::new() }
    }

    /// Whether they can all happen with at most `bound` preemptions.
    pub(super) fn need_at_most(&mut self, bound: u64) -> bool {
        let start = At { positions: vec![0; self.threads.len()], happened: self.graph.vain() };
        self.can_end(&start, None, bound)
    }

    /// Whether everything can happen from here on with at most `left` preemptions, when `last` went on last.
    fn can_end(&mut self, at: &At<N>, last: Option<usize>, left: u64) -> bool {
        let has_ended = |index: usize| at.positions[index] == self.threads[index].len();
        if (0..self.threads.len()).all(has_ended) {
            return true;
        }
        let is_free = last.is_none_or(|last| has_ended(last) || self.waits(at, last));
        let Some(left) = left.checked_sub(u64::from(!is_free)) else { return false };
        let key = (at.positions.clone(), last.filter(|_| !is_free).unwrap_or(usize::MAX));
        if self.tried.get(&key).is_some_and(|&tried| tried >= left) {
            return false;
        }
        self.tried.insert(key, left);
        for index in 0..self.threads.len() {
            if Some(index) != last
                && let Some(next) = self.go_on(at, index)
                && self.can_end(&next, Some(index), left)
            {
                return true;
            }
        }
        false
    }

    /// Lets a thread go on as far as it can, if it can at all.
    fn go_on(&self, at: &At<N>, index: usize) -> Option<At<N>> {
        let events = &self.threads[index];
        let first = at.positions[index];
        let mut position = first;
        let mut happened = at.happened;
        while position < events.len() && events[position].past.is_within(&happened) {
            happened.insert(events[position].slot);
            if events[position].half != NONE {
                happened.insert(events[position].half);
            }
            position += 1;
        }
        if position == first {
            return None;
        }
        let mut positions = at.positions.clone();
        positions[index] = position;
        Some(At { positions, happened })
    }

    /// Whether the next event of a thread, which cannot happen yet, is one that waits for others.
    fn waits(&self, at: &At<N>, index: usize) -> bool {
        let event = &self.threads[index][at.positions[index]];
        event.waits && event.lock.is_none_or(|loc| self.is_held(at, loc))
    }

    /// Whether somebody has the lock at `loc`.
    fn is_held(&self, at: &At<N>, loc: usize) -> bool {
        let mut write = self.graph.cell(loc).newest;
        while write != NONE && !at.happened.has(write) {
            write = self.graph.node(write).co_before;
        }
        match write {
            NONE => self.graph.cell(loc).initial != 0,
            write => {
                let node = self.graph.node(write);
                node.role == Role::UpdateWrite && self.graph.node(node.before).waits
            }
        }
    }
}

/// The events of a thread that are in `kept`, oldest first.
fn events<const N: usize>(graph: &Graph<N>, thread: ThreadId, kept: Bits<N>) -> Vec<Event<N>> {
    let mut events = Vec::new();
    let mut slot = graph.strand(thread).last;
    while slot != NONE {
        let node = graph.node(slot);
        let is_pair = node.role == Role::UpdateWrite;
        let half = if is_pair { node.before } else { NONE };
        if !matches!(node.role, Role::Blocked | Role::Vain) && kept.has(slot) {
            let mut past = node.past;
            past.remove(slot);
            if is_pair {
                past.remove(half);
            }
            let waits = if is_pair { graph.node(half).waits } else { node.waits };
            events.push(Event { slot, half, past, waits, lock: is_pair.then(|| node.loc()) });
        }
        // Of a pair that is kept in part, the read is an event.
        slot = if is_pair && kept.has(slot) { graph.node(half).before } else { node.before };
    }
    events.reverse();
    events
}
