//! The races of one execution, event by event.

use teetotal_memory::{Event, EventId, Source, Trace};
use teetotal_program::ir::Program;

use super::clocks::Clocks;
use super::{DataRace, RacingAccess, Role};

/// Sees the races of an execution.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    clocks: Clocks,
    /// For each location and thread the accesses so far, each with its position in its thread.
    accesses: Vec<Vec<Vec<(RacingAccess, u32, EventId)>>>,
    n_events: usize,
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
        self.clocks.clear();
        self.accesses.clear();
        self.n_events = 0;
    }

    /// Takes in the events of `trace` that are new; puts the races that they are part of into `races`.
    pub fn follow(&mut self, program: &Program, trace: &Trace, races: &mut Vec<DataRace>) {
        let mut pairs = Vec::new();
        while let Some(event) = trace.events().get(self.n_events) {
            self.perform(program, event, event.source.as_slice(), &mut pairs);
        }
        races.extend(pairs.into_iter().map(|pair| pair.race));
    }

    /// The next event, which takes what it reads from `sources`.
    pub(super) fn perform(&mut self, program: &Program, event: &Event, sources: &[Source], pairs: &mut Vec<Pair>) {
        let id = EventId::at(self.n_events);
        let role = Role::of(program, event);
        self.clocks.perform(event, role, sources);
        self.n_events += 1;
        let (Some(loc), true) = (event.loc, event.is_read() || event.is_write()) else { return };
        if self.accesses.len() <= loc.index() {
            self.accesses.resize_with(loc.index() + 1, Vec::new);
        }
        let Event { thread, place, .. } = *event;
        let access = RacingAccess { thread, place, is_write: event.is_write(), is_plain: role.is_plain };
        let known = self.clocks.known(thread);
        let by_thread = &mut self.accesses[loc.index()];
        if by_thread.len() <= thread.index() {
            by_thread.resize_with(thread.index() + 1, Vec::new);
        }
        let others = by_thread.iter().enumerate().filter(|(other, _)| *other != thread.index());
        for &(other, index, other_id) in others.flat_map(|(_, accesses)| accesses) {
            let conflicts = other.is_write || access.is_write;
            if conflicts && (other.is_plain || access.is_plain) && known.get(other.thread) <= index {
                let accesses = if other.thread < thread { [other, access] } else { [access, other] };
                pairs.push(Pair { race: DataRace { loc, accesses }, events: [other_id, id] });
            }
        }
        by_thread[thread.index()].push((access, event.index, id));
    }
}
