//! The SC axiom: the partial order that sequentially consistent events have to respect has no cycle.
//!
//! Definition: `psc` of [RC11, Def. 1]. The beginning and the end of a thread are events without a location, so that they
//! count where program order between different locations is asked for.

use teetotal_program::{Order, ThreadId};

use super::ExecutionGraph;
use super::set::EventSet;
use crate::event::EventKind;

impl ExecutionGraph {
    /// Whether `psc` has no cycle.
    pub(super) fn is_psc_acyclic(&self) -> bool {
        let sc: Vec<usize> = (0..self.events.len()).filter(|&event| self.is_sc(event)).collect();
        if sc.len() < 2 {
            return true;
        }
        let after: Vec<Vec<usize>> = sc.iter().map(|&event| self.psc_successors(event, &sc)).collect();
        // Depth first; 0 is not seen, 1 on the path, 2 done.
        let mut color = vec![0_u8; sc.len()];
        (0..sc.len()).all(|start| color[start] != 0 || !has_cycle(start, &after, &mut color))
    }

    fn is_sc(&self, event: usize) -> bool {
        let event = &self.events[event];
        event.order == Order::SeqCst && (event.loc.is_some() || event.kind == EventKind::Fence)
    }

    fn is_fence(&self, event: usize) -> bool {
        self.events[event].kind == EventKind::Fence
    }

    fn happens_before(&self, first: usize, second: usize) -> bool {
        first != second && self.events[second].hb.has(first)
    }

    /// The positions in `sc` of the events that come after the event `first` in `psc`.
    fn psc_successors(&self, first: usize, sc: &[usize]) -> Vec<usize> {
        let mut starts = EventSet::default();
        starts.insert(first);
        let mut later = EventSet::default();
        if self.is_fence(first) {
            (0..self.events.len()).filter(|&event| self.happens_before(first, event)).for_each(|e| later.insert(e));
            starts.add_all(&later);
        }
        let reached = self.scb(&starts);
        let seen = if self.is_fence(first) { self.eco(&later) } else { EventSet::default() };
        let is_after = |&second: &usize| {
            if reached.has(second) {
                return true;
            }
            self.is_fence(second) && {
                let hb = &self.events[second].hb;
                hb.meets(&reached, second)
                    || self.is_fence(first) && (self.happens_before(first, second) || hb.meets(&seen, second))
            }
        };
        (0..sc.len()).filter(|&at| is_after(&sc[at])).collect()
    }

    /// What comes after one of `starts` in SC-before: program order, program order between different locations around
    /// happens-before, happens-before on one location, modification order and reads-before.
    fn scb(&self, starts: &EventSet) -> EventSet {
        let (mut reached, mut left) = (EventSet::default(), EventSet::default());
        let mut ended: Vec<ThreadId> = Vec::new();
        for event in starts.iter() {
            let own = &self.events[event];
            for later in self.later_of(own.thread, event) {
                reached.insert(later);
                if own.loc.is_none() || self.events[later].loc != own.loc {
                    left.insert(later);
                }
            }
            ended.push(own.thread);
            let overwriting = self.overwriting(event);
            overwriting.into_iter().for_each(|write| reached.insert(write));
            if own.loc.is_some() {
                let same = (0..self.events.len()).filter(|&other| self.events[other].loc == own.loc);
                same.filter(|&other| self.happens_before(event, other)).for_each(|other| reached.insert(other));
            }
        }
        // The end of a thread happens-before each join of it, and what the join happens-before.
        for (join, event) in self.events.iter().enumerate() {
            if let EventKind::Join(child) = event.kind
                && ended.contains(&child)
            {
                left.insert(join);
                self.continue_from(join, &mut reached);
            }
        }
        for (event, own) in self.events.iter().enumerate().filter(|(_, own)| own.kind != EventKind::Choose) {
            if left.meets(&own.hb, event) {
                self.continue_from(event, &mut reached);
            }
            // The beginning of a thread is an event, too.
            if let EventKind::Spawn(child) = own.kind
                && left.meets(&own.hb, usize::MAX)
            {
                self.later_of(child, 0).for_each(|later| reached.insert(later));
            }
        }
        reached
    }

    /// Adds what comes after `event` in program order between different locations.
    fn continue_from(&self, event: usize, reached: &mut EventSet) {
        let own = &self.events[event];
        let elsewhere = |later: &usize| own.loc.is_none() || self.events[*later].loc != own.loc;
        self.later_of(own.thread, event).filter(elsewhere).for_each(|later| reached.insert(later));
    }

    /// The events of `thread` after the event `after`, or all where that is not of it.
    fn later_of(&self, thread: ThreadId, after: usize) -> impl Iterator<Item = usize> + '_ {
        let is_own = self.events[after].thread == thread;
        let start = if is_own { after + 1 } else { 0 };
        let is_own = move |event: &usize| self.events[*event].thread == thread;
        // A choice of the program is no event of the model.
        (start..self.events.len()).filter(is_own).filter(|&event| self.events[event].kind != EventKind::Choose)
    }

    /// The writes after `event` in modification order, or in reads-before.
    fn overwriting(&self, event: usize) -> Vec<usize> {
        let own = &self.events[event];
        let Some(loc) = own.loc else { return Vec::new() };
        let position = match own.source {
            Some(source) if own.reads => self.rank(loc, source),
            _ if own.reads => 0,
            _ => self.rank(loc, event),
        };
        self.writes(loc)[position..].iter().copied().filter(|&write| write != event).collect()
    }

    /// What comes after one of `starts` in extended coherence order.
    fn eco(&self, starts: &EventSet) -> EventSet {
        let mut reached = EventSet::default();
        for event in starts.iter() {
            let mut writes = self.overwriting(event);
            writes.iter().for_each(|&write| reached.insert(write));
            writes.extend(self.events[event].written.map(|_| event));
            let reads_from = |read: &usize| self.events[*read].source.is_some_and(|source| writes.contains(&source));
            (0..self.events.len()).filter(reads_from).for_each(|read| reached.insert(read));
        }
        reached
    }
}

/// Whether a cycle can be reached from `start`.
fn has_cycle(start: usize, after: &[Vec<usize>], color: &mut [u8]) -> bool {
    color[start] = 1;
    for &next in &after[start] {
        if color[next] == 1 || color[next] == 0 && has_cycle(next, after, color) {
            return true;
        }
    }
    color[start] = 2;
    false
}
