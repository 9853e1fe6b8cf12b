//! Watches an execution that comes event by event, however long it is and whoever appears in it.

use std::error::Error;
use std::fmt;

use teetotal_memory::{Event, EventKind, ModelId};
use teetotal_program::{Loc, ThreadId};

use super::borderline::Borderline;
use super::{Attempt, Waits};

/// How many clocks are looked at without thought to forget writes to one location.
const FEW_CLOCKS: usize = 1 << 14;

/// How many entries all clocks together may have: 8 GiB.
const MAX_ENTRIES: usize = 1 << 31;

/// How many entries there are for each location and thread.
const ENTRIES: usize = 5;

/// What a store is remembered by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark {
    /// Grows from event to event.
    pub number: u64,
    pub thread: ThreadId,
    pub loc: Loc,
    /// A name for where it stands, whatever that is to the caller.
    pub place: u32,
}

/// What is kept of it; the rest is known from elsewhere.
#[derive(Clone, Copy, Debug)]
struct Tag {
    number: u64,
    place: u32,
}

/// The default monitor for an execution of any length.
///
/// It keeps a few clocks for each thread and location, and the writes that a thread may still come to know as the last
/// one of its past.
#[derive(Debug)]
pub struct Stream {
    model: ModelId,
    algorithm: Borderline<Tag>,
    n_threads: usize,
    n_locations: usize,
    counts: Vec<u32>,
    /// For each thread whether it has begun and was not joined yet.
    goes_on: Vec<bool>,
    /// For each location how many writes are kept until some are looked at again.
    enough: Vec<usize>,
    /// How many writes are kept, and for how many locations.
    kept: usize,
    written: usize,
    /// How many writes may be kept beside the newest one of each location.
    window: Option<usize>,
    /// Whether writes were forgotten that only a thread which had not begun could ask for.
    forgot_known: bool,
    /// Whether a write may have been forgotten that was asked for later.
    may_miss: bool,
}

/// Why an execution is watched no longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooMuch {
    Events,
    Clocks { n_threads: usize, n_locations: usize },
}

impl fmt::Display for TooMuch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooMuch::Events => write!(formatter, "a thread has more than {} events", u32::MAX),
            TooMuch::Clocks { n_threads, n_locations } => {
                write!(formatter, "the clocks of {n_threads} threads and {n_locations} locations need more than 8 GiB")
            }
        }
    }
}

impl Error for TooMuch {}

impl Stream {
    /// At the beginning; keeps at most `window` writes beside the newest one of each location, if that is set.
    #[must_use]
    pub fn new(model: ModelId, window: Option<usize>) -> Self {
        Stream {
            model,
            algorithm: Borderline::with_room(model, 0, 0),
            n_threads: 0,
            n_locations: 0,
            counts: Vec::new(),
            goes_on: Vec::new(),
            enough: Vec::new(),
            kept: 0,
            written: 0,
            window,
            forgot_known: false,
            may_miss: false,
        }
    }

    /// Another execution begins; threads and locations keep their numbers.
    pub fn begin(&mut self) {
        self.algorithm.begin();
        self.counts.fill(0);
        self.goes_on.fill(false);
        self.enough.fill(0);
        (self.kept, self.written, self.forgot_known) = (0, 0, false);
    }

    /// Whether everything that the executions imply was told.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.may_miss
    }

    /// How many writes are kept.
    #[must_use]
    pub fn n_kept(&self) -> usize {
        self.kept
    }

    /// `thread` runs from the beginning, or is about to begin by itself.
    pub fn starts(&mut self, thread: ThreadId) -> Result<(), TooMuch> {
        self.make_room(thread.index() + 1, 0)?;
        if !std::mem::replace(&mut self.goes_on[thread.index()], true) {
            self.may_miss |= self.forgot_known;
        }
        Ok(())
    }

    /// Takes in an event of which `index` is not looked at; `number` and `place` are what a store is remembered by.
    ///
    /// Gives the store that may still be in its buffer when the event is about to happen, although it happened before.
    pub fn event(&mut self, event: Event, number: u64, place: u32) -> Result<Option<Mark>, TooMuch> {
        let thread = event.thread.index();
        if thread >= self.n_threads || event.loc.is_some_and(|loc| loc.index() >= self.n_locations) {
            self.make_room(thread + 1, event.loc.map_or(0, |loc| loc.index() + 1))?;
        }
        if !self.goes_on[thread] {
            self.starts(event.thread)?;
        }
        if let EventKind::Spawn(other) | EventKind::Join(other) = event.kind {
            self.make_room(other.index() + 1, 0)?;
            self.goes_on[other.index()] = matches!(event.kind, EventKind::Spawn(_));
        }
        let index = self.counts[thread];
        self.counts[thread] = index.checked_add(1).ok_or(TooMuch::Events)?;
        let event = Event { index, ..event };
        let attempt = Attempt::of(self.model, &event).filter(|_| self.model.rules().has_buffers);
        let overtaken = attempt.and_then(|attempt| self.overtaken(&attempt));
        self.algorithm.perform(Tag { number, place }, &event);
        if let (true, Some(loc)) = (event.is_write(), event.loc) {
            self.wrote(loc);
        }
        Ok(overtaken)
    }

    /// The same for an access at which `thread` waits for good.
    pub fn waits(&mut self, thread: ThreadId, loc: Loc, waits: Waits) -> Result<Option<Mark>, TooMuch> {
        self.make_room(thread.index() + 1, loc.index() + 1)?;
        let attempt = Attempt { thread, loc, waits, waits_to_write: waits, is_store: false };
        Ok(if self.model.rules().has_buffers { self.overtaken(&attempt) } else { None })
    }

    fn overtaken(&mut self, attempt: &Attempt) -> Option<Mark> {
        let write = self.algorithm.overtaken_write(attempt)?;
        let Tag { number, place } = write.id;
        Some(Mark { number, thread: ThreadId::at(write.thread as usize), loc: attempt.loc, place })
    }

    fn make_room(&mut self, n_threads: usize, n_locations: usize) -> Result<(), TooMuch> {
        let room = |wanted: usize, have: usize, step: usize| {
            if wanted <= have { have } else { wanted.next_multiple_of(step).max(have + have / 2) }
        };
        let (n_threads, n_locations) = (room(n_threads, self.n_threads, 4), room(n_locations, self.n_locations, 16));
        if (n_threads, n_locations) == (self.n_threads, self.n_locations) {
            return Ok(());
        }
        if (n_locations + n_threads).saturating_mul(ENTRIES * n_threads) > MAX_ENTRIES {
            return Err(TooMuch::Clocks { n_threads, n_locations });
        }
        self.algorithm.make_room(n_threads, n_locations);
        self.counts.resize(n_threads, 0);
        self.goes_on.resize(n_threads, false);
        self.enough.resize(n_locations, 0);
        (self.n_threads, self.n_locations) = (n_threads, n_locations);
        Ok(())
    }

    /// Forgets what is not needed, now and then.
    fn wrote(&mut self, loc: Loc) {
        let n_writes = self.algorithm.n_kept(loc);
        self.kept += 1;
        self.written += usize::from(n_writes == 1);
        if n_writes > self.enough[loc.index()] {
            self.forget(loc);
        }
        if let Some(window) = self.window
            && self.kept - self.written > window
        {
            self.narrow(window);
        }
    }

    fn forget(&mut self, loc: Loc) {
        let n_clocks = self.n_threads + 2 * self.n_locations;
        let forgotten = if n_clocks <= FEW_CLOCKS || self.algorithm.n_kept(loc) > n_clocks {
            self.algorithm.forget(loc)
        } else {
            let forgotten = self.algorithm.forget_known(loc, &self.goes_on);
            self.forgot_known |= forgotten > 0;
            forgotten
        };
        self.kept -= forgotten;
        let pause = if n_clocks <= FEW_CLOCKS { n_clocks / 8 + 64 } else { 64 };
        self.enough[loc.index()] = 2 * self.algorithm.n_kept(loc) + pause;
    }

    /// Forgets until half of the window is left, the oldest writes first.
    fn narrow(&mut self, window: usize) {
        let locations = (0..self.n_locations).map(Loc::at);
        locations.clone().for_each(|loc| self.forget(loc));
        if self.kept - self.written <= window {
            return;
        }
        let older = locations.clone().flat_map(|loc| self.algorithm.older(loc));
        let mut older: Vec<u64> = older.map(|write| write.number).collect();
        older.sort_unstable();
        let first = older.len() - window / 2;
        let oldest = older.get(first).copied().unwrap_or(u64::MAX);
        for loc in locations {
            self.kept -= self.algorithm.forget_old(loc, |write| write.number < oldest);
        }
        self.may_miss = true;
    }
}
