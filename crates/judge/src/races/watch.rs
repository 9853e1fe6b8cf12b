//! The races of one execution, event by event.
//!
//! All accesses are kept, since every pair of places that race is told of. Where the first race ends the execution, as
//! in real code, fewer would do.

use teetotal_clocks::HappensBefore;
use teetotal_memory::{Event, EventId, EventKind, Source, Trace};
use teetotal_program::ThreadId;
use teetotal_program::ir::Program;

use super::{DataRace, RacingAccess, Role};

/// Sees the races of an execution.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    order: HappensBefore,
    /// For each location and thread the accesses so far, each with its time.
    accesses: Vec<Vec<Vec<(RacingAccess, u32, EventId)>>>,
    /// For each event so far which operation of its thread it is.
    events: Vec<(ThreadId, u32)>,
}

/// A race and the two events that it is of, the earlier one first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pair {
    pub(super) race: DataRace,
    pub(super) events: [EventId; 2],
}

impl Watch {
    /// Another execution begins.
    pub fn clear(&mut self) {
        self.order.clear();
        self.accesses.clear();
        self.events.clear();
    }

    /// Takes in the events of `trace` that are new; puts the races that they are part of into `races`.
    pub fn follow(&mut self, program: &Program, trace: &Trace, races: &mut Vec<DataRace>) {
        let mut pairs = Vec::new();
        while let Some(event) = trace.events().get(self.events.len()) {
            self.perform(program, event, event.source.as_slice(), &mut pairs);
        }
        races.extend(pairs.into_iter().map(|pair| pair.race));
    }

    /// The next event, which takes what it reads from `sources`; there may be several for a lock, which knows of every
    /// unlock before it, and none where it is not known with whom it synchronizes.
    pub(super) fn perform(&mut self, program: &Program, event: &Event, sources: &[Source], pairs: &mut Vec<Pair>) {
        let id = EventId::at(self.events.len());
        let role = Role::of(program, event);
        let time = self.order.time(event.thread);
        self.synchronize(event, role, sources);
        self.events.push((event.thread, event.index));
        let (Some(loc), true) = (event.loc, event.is_read() || event.is_write()) else { return };
        if self.accesses.len() <= loc.index() {
            self.accesses.resize_with(loc.index() + 1, Vec::new);
        }
        let Event { thread, place, .. } = *event;
        let access = RacingAccess { thread, place, is_write: event.is_write(), is_plain: role.is_plain };
        let known = self.order.clock(thread);
        let by_thread = &mut self.accesses[loc.index()];
        if by_thread.len() <= thread.index() {
            by_thread.resize_with(thread.index() + 1, Vec::new);
        }
        let others = by_thread.iter().enumerate().filter(|(other, _)| *other != thread.index());
        for &(other, time, other_id) in others.flat_map(|(_, accesses)| accesses) {
            let conflicts = other.is_write || access.is_write;
            if conflicts && (other.is_plain || access.is_plain) && known.get(other.thread) < time {
                let accesses = if other.thread < thread { [other, access] } else { [access, other] };
                pairs.push(Pair { race: DataRace { loc, accesses }, events: [other_id, id] });
            }
        }
        by_thread[thread.index()].push((access, time, id));
    }

    fn synchronize(&mut self, event: &Event, role: Role, sources: &[Source]) {
        let (Event { thread, index, .. }, Role { order, .. }) = (*event, role);
        let operation_of = |source: &Source| match *source {
            Source::Write(id) => self.events.get(id.index()).copied(),
            Source::Initial => None,
        };
        let sources = sources.iter().filter_map(operation_of);
        sources.clone().for_each(|source| self.order.read(thread, order, source));
        match event.kind {
            EventKind::Fence | EventKind::GlobalFence => self.order.fence(thread, order),
            EventKind::Spawn(child) => self.order.inform(child, thread),
            EventKind::Join(child) => self.order.inform(thread, child),
            // A read-modify-write goes on with what it read from.
            _ if event.is_write() => self.order.write(thread, index, order, sources.filter(|_| event.is_read())),
            _ => {}
        }
    }
}
