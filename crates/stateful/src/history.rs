//! What the search over states remembers of the way to a state, beside the state itself.
//!
//! A state with its history tells more executions apart: with the values read, the search preserves `Values`; with their
//! sources, `ReadsFrom`; with the order of writes, `Trace`. The exact counts of the papers' programs are found this way.

use teetotal_judge::Level;
use teetotal_memory::{Event, EventId, EventKind, Recorder, Source, Step};
use teetotal_program::{Snapshot, Value, packed};

/// Something that is kept with each state.
pub trait History: Recorder + Snapshot + Clone + Send + Sync {
    /// Whether memory keeps who wrote what.
    fn keeps_sources(&self) -> bool;
}

/// Remembers nothing: each state counts once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

impl Recorder for Forgetful {
    fn event(&mut self, _: Event) -> EventId {
        EventId(u32::MAX)
    }

    fn committed(&mut self, _: EventId) {}

    fn step(&mut self, _: Step) {}
}

impl Snapshot for Forgetful {
    fn copy_from(&mut self, _: &Self) {}

    fn save(&self, _: &mut Vec<u8>) {}

    fn load(&mut self, _: &mut &[u8]) {}
}

impl History for Forgetful {
    fn keeps_sources(&self) -> bool {
        false
    }
}

/// How much of each read is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remember {
    /// The value.
    Values,
    /// And the write it came from.
    ReadsFrom,
    /// And the order in which all writes reached memory.
    Trace,
}

/// Remembers the reads of each thread.
///
/// Locks are not among them: a lock reads that the lock is free, and whom it followed is in the order of writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reads {
    remember: Remember,
    /// How many events each thread has.
    counts: Vec<u32>,
    /// The values read by each thread, each with its source where that is remembered.
    reads: Vec<Vec<Value>>,
    /// The writes in the order in which they reached memory, by location, where that is remembered.
    writes: Vec<Vec<Value>>,
    /// The location of each event of each thread, where the order of writes is remembered.
    locations: Vec<Vec<Value>>,
}

/// An event is named by its thread and its position there, which do not depend on the interleaving.
const INDEX_BITS: u32 = 20;

impl Reads {
    /// Nothing read so far by any of `n_threads` threads.
    #[must_use]
    pub fn new(remember: Remember, n_threads: usize, n_locations: usize) -> Self {
        Reads {
            remember,
            counts: vec![0; n_threads],
            reads: vec![Vec::new(); n_threads],
            writes: vec![Vec::new(); n_locations],
            locations: vec![Vec::new(); n_threads],
        }
    }

    /// What tells classes of executions apart: the reads of each thread and, where remembered, the order of writes.
    #[must_use]
    pub fn classes(&self) -> (&[Vec<Value>], &[Vec<Value>]) {
        (&self.reads, &self.writes)
    }

    /// What a search with this history preserves.
    #[must_use]
    pub fn level(&self) -> Level {
        match self.remember {
            Remember::Values => Level::Values,
            Remember::ReadsFrom => Level::ReadsFrom,
            Remember::Trace => Level::Trace,
        }
    }
}

impl Recorder for Reads {
    fn event(&mut self, event: Event) -> EventId {
        let thread = event.thread.index();
        let index = self.counts[thread];
        self.counts[thread] += 1;
        let counts = matches!(event.kind, EventKind::Load | EventKind::Rmw | EventKind::FailedRmw | EventKind::Choose);
        if let Some(value) = event.read.filter(|_| counts) {
            self.reads[thread].push(value);
            if self.remember != Remember::Values {
                self.reads[thread].push(match event.source {
                    None => 0,
                    Some(Source::Initial) => 1,
                    Some(Source::Write(write)) => 2 + Value::from(write.0),
                });
            }
        }
        if self.remember == Remember::Trace {
            self.locations[thread].push(event.loc.map_or(0, |loc| Value::from(loc.0)));
        }
        EventId((thread as u32) << INDEX_BITS | index)
    }

    fn committed(&mut self, event: EventId) {
        if self.remember == Remember::Trace {
            let (thread, index) = (event.0 >> INDEX_BITS, event.0 & ((1 << INDEX_BITS) - 1));
            let loc = self.locations[thread as usize][index as usize];
            self.writes[loc as usize].push(event.0.into());
        }
    }

    fn step(&mut self, _: Step) {}
}

impl Snapshot for Reads {
    fn copy_from(&mut self, other: &Self) {
        self.clone_from(other);
    }

    fn save(&self, out: &mut Vec<u8>) {
        self.counts.iter().for_each(|&count| packed::put(out, count.into()));
        for list in self.reads.iter().chain(&self.writes).chain(&self.locations) {
            packed::put(out, list.len() as u64);
            list.iter().for_each(|&value| packed::put(out, value));
        }
    }

    fn load(&mut self, bytes: &mut &[u8]) {
        self.counts.iter_mut().for_each(|count| *count = packed::take(bytes) as u32);
        for list in self.reads.iter_mut().chain(&mut self.writes).chain(&mut self.locations) {
            let length = packed::take(bytes);
            list.clear();
            list.extend((0..length).map(|_| packed::take(bytes)));
        }
    }
}

impl History for Reads {
    fn keeps_sources(&self) -> bool {
        self.remember != Remember::Values
    }
}
