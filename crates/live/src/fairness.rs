//! The fairness bound: how many iterations of a loop a thread performs before other threads run first.
//!
//! A scheduler that never lets another thread run leaves executions without an end: a loop that counts while it waits,
//! or that changes something each time. From a number of iterations on such a thread goes on only when no other can.
//! Executions are left out that way, and the coverage says at which loop and with which bound. Whether a thread is held
//! back depends on its own operations alone, so that it is the same whenever these are.

use teetotal_program::ThreadId;

use crate::loops::{Deed, Place};

/// How many iterations of a loop a thread performs before it is held back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fairness {
    /// Iterations that change something and end with a hint, or time out.
    pub hinted: u32,
    /// Iterations in a row that only read, and read the same as before.
    pub reading: u32,
    /// Operations in a row that read nothing new of other threads, some of which change something.
    pub working: u32,
}

impl Default for Fairness {
    fn default() -> Self {
        Fairness::DEFAULT
    }
}

impl Fairness {
    /// The bounds unless set.
    pub const DEFAULT: Fairness = Fairness { hinted: 4, reading: 20, working: 400 };

    /// Bounds for loops that go round up to `bound` times; those of which more is allowed by default stay so.
    #[must_use]
    pub fn of(bound: u32) -> Self {
        let Fairness { reading, working, .. } = Fairness::DEFAULT;
        let scaled = bound.saturating_mul(working / Fairness::DEFAULT.hinted);
        Fairness { hinted: bound, reading: reading.max(bound), working: working.max(scaled) }
    }
}

/// A thread has gone round a loop more often than it may.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exceeded {
    /// How often it has.
    pub(crate) rounds: u32,
    pub(crate) bound: u32,
    /// Where it gave a hint, if that is why.
    pub(crate) hint: Option<Place>,
}

/// How long a thread has had no news, at a place that it comes to again and again.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Patience {
    /// Iterations in a row that only read, and read what was read before.
    idle: u32,
    /// Operations since there was news.
    worked: u32,
}

impl Patience {
    /// Takes note of an iteration, the operations from `since` on; returns whether it was one too many.
    pub(crate) fn note(
        &mut self,
        deeds: &[Deed],
        since: u32,
        thread: ThreadId,
        fairness: &Fairness,
    ) -> Option<Exceeded> {
        let iteration = &deeds[since as usize..];
        if has_news(deeds, since, thread) {
            *self = Patience::default();
            return None;
        }
        self.worked += iteration.len() as u32;
        if iteration.iter().any(Deed::has_effect) {
            self.idle = 0;
            let (rounds, bound) = (self.worked, fairness.working);
            return (rounds > bound).then_some(Exceeded { rounds, bound, hint: None });
        }
        self.idle += 1;
        let (rounds, bound) = (self.idle, fairness.reading);
        (rounds > bound).then_some(Exceeded { rounds, bound, hint: None })
    }
}

/// So many operations before an iteration are looked at for what it reads.
const HISTORY: usize = 256;

/// Whether the operations from `since` on read something of another thread that was not read before.
fn has_news(deeds: &[Deed], since: u32, thread: ThreadId) -> bool {
    let (before, iteration) = deeds.split_at(since as usize);
    let read = |deed: &Deed| match *deed {
        Deed::Read { key, source, .. } | Deed::Update { key, source, .. } => Some((key, source)),
        _ => None,
    };
    iteration.iter().filter_map(read).any(|(key, source)| {
        let is_own = source.is_some_and(|(writer, _)| writer == thread);
        !is_own && !before.iter().rev().take(HISTORY).filter_map(read).any(|other| other == (key, source))
    })
}

/// The hints that a thread gave.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// For each place how many came there after an effect.
    places: Vec<(Place, u32)>,
    /// After how many operations the last one came.
    last: u32,
}

impl Hints {
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.last = 0;
    }

    /// Takes note of a hint at `place`, after these operations; returns whether it was one too many.
    pub(crate) fn note(&mut self, place: Place, deeds: &[Deed], fairness: &Fairness) -> Option<Exceeded> {
        let since = std::mem::replace(&mut self.last, deeds.len() as u32);
        // Several hints in a row are one.
        if !deeds[since as usize..].iter().any(Deed::has_effect) {
            return None;
        }
        let known = self.places.iter().position(|(other, _)| std::ptr::eq(*other, place));
        let index = known.unwrap_or_else(|| {
            self.places.push((place, 0));
            self.places.len() - 1
        });
        self.places[index].1 += 1;
        let (rounds, bound) = (self.places[index].1, fairness.hinted);
        (rounds > bound).then_some(Exceeded { rounds, bound, hint: Some(place) })
    }
}
