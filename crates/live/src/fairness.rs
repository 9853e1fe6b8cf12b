//! The fairness bound: how many iterations of a loop a thread performs before other threads run first.
//!
//! A scheduler that never runs another thread produces endless executions: of a loop that counts while it waits, or
//! that changes something in each iteration. After a number of iterations such a thread runs only if no other thread
//! can. This leaves out executions, and the coverage names the loop and the bound. Whether a thread is held back
//! depends on its own operations alone, so it is the same in every replay.

use teetotal_program::ThreadId;

use crate::loops::{Deed, Place};

/// The number of iterations of a loop before its thread is held back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fairness {
    /// Iterations that change something and end with a hint or a time-out.
    pub hinted: u32,
    /// Consecutive iterations that only read, and read the same as before.
    pub reading: u32,
    /// Consecutive operations that read nothing new from other threads, some of which change something.
    pub working: u32,
}

impl Default for Fairness {
    fn default() -> Self {
        Fairness::DEFAULT
    }
}

impl Fairness {
    /// The default bounds.
    pub const DEFAULT: Fairness = Fairness { hinted: 4, reading: 20, working: 400 };

    /// Returns bounds for at most `bound` iterations of a loop; larger defaults are kept.
    #[must_use]
    pub fn of(bound: u32) -> Self {
        let Fairness { reading, working, .. } = Fairness::DEFAULT;
        let scaled = bound.saturating_mul(working / Fairness::DEFAULT.hinted);
        Fairness { hinted: bound, reading: reading.max(bound), working: working.max(scaled) }
    }
}

/// A thread has exceeded the fairness bound of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exceeded {
    /// The number of iterations.
    pub(crate) rounds: u32,
    pub(crate) bound: u32,
    /// The place of the hint, if that is the reason.
    pub(crate) hint: Option<Place>,
}

/// How long a thread has read nothing new, at a place that it reaches repeatedly.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Patience {
    /// Consecutive iterations that only read, and read the same as before.
    idle: u32,
    /// Operations since there was news.
    worked: u32,
}

impl Patience {
    /// Records an iteration, the operations from `since` on; returns whether it exceeds the bound.
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

/// The number of operations before an iteration that are compared with its reads.
const HISTORY: usize = 256;

/// Returns whether the operations from `since` on read something from another thread that was not read before.
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

/// The hints of a thread.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The number of hints after an effect, for each place.
    places: Vec<(Place, u32)>,
    /// The number of operations before the last hint.
    last: u32,
}

impl Hints {
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.last = 0;
    }

    /// Records a hint at `place` after these operations; returns whether it exceeds the bound.
    pub(crate) fn note(&mut self, place: Place, deeds: &[Deed], fairness: &Fairness) -> Option<Exceeded> {
        let since = std::mem::replace(&mut self.last, deeds.len() as u32);
        // Consecutive hints count as one.
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

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::identity::Key;
    use crate::loops::Source;

    const ME: ThreadId = ThreadId(1);
    const OTHER: ThreadId = ThreadId(0);
    const FAIRNESS: Fairness = Fairness { hinted: 2, reading: 3, working: 6 };

    fn read(source: Source) -> Deed {
        Deed::Read { key: Key::at(0), source, value: 0 }
    }

    fn store() -> Deed {
        Deed::Store { key: Key::at(1), new: 0 }
    }

    /// Returns the number of iterations of these operations before a thread is held back, if that is within the first
    /// fifty.
    fn iterations(iteration: impl Fn(u32) -> Vec<Deed>) -> Option<(u32, Exceeded)> {
        let (mut patience, mut deeds) = (Patience::default(), Vec::new());
        (0..50).find_map(|round| {
            let since = deeds.len() as u32;
            deeds.extend(iteration(round));
            Some((round, patience.note(&deeds, since, ME, &FAIRNESS)?))
        })
    }

    #[test]
    fn a_loop_that_reads_the_same_is_held_back_after_so_many_iterations() {
        let (round, exceeded) = iterations(|_| vec![read(None)]).expect("it goes on for ever");
        // What the first iteration reads is new.
        assert_eq!(round, FAIRNESS.reading + 1);
        assert_eq!((exceeded.rounds, exceeded.bound, exceeded.hint), (FAIRNESS.reading + 1, FAIRNESS.reading, None));
    }

    #[test]
    fn a_loop_that_writes_is_held_back_after_so_many_operations() {
        let (round, exceeded) = iterations(|_| vec![store(), store()]).expect("it goes on for ever");
        assert_eq!((round, exceeded.rounds, exceeded.bound), (3, 8, FAIRNESS.working));
    }

    #[test]
    fn news_of_another_thread_lets_a_thread_go_on() {
        assert_eq!(iterations(|round| vec![read(Some((OTHER, round))), store()]), None);
        assert!(iterations(|round| vec![read(Some((ME, round))), store()]).is_some(), "its own stores are no news");
        assert!(iterations(|round| vec![read(Some((OTHER, round % 2)))]).is_some(), "what it read before is none");
    }

    #[test]
    fn hints_count_where_something_changes_between_them() {
        let (here, there) = (Location::caller(), place());
        let (mut hints, mut deeds) = (Hints::default(), Vec::new());
        for _ in 0..10 {
            deeds.push(read(None));
            assert_eq!(hints.note(here, &deeds, &FAIRNESS), None, "it only waits");
        }
        for round in 1..=3 {
            deeds.push(store());
            let exceeded = Exceeded { rounds: round, bound: 2, hint: Some(here) };
            assert_eq!(hints.note(here, &deeds, &FAIRNESS), (round > 2).then_some(exceeded));
            assert_eq!(hints.note(here, &deeds, &FAIRNESS), None, "several hints in a row are one");
        }
        deeds.push(store());
        assert_eq!(hints.note(there, &deeds, &FAIRNESS), None, "each place has its own count");
        hints.clear();
        assert_eq!(hints.note(here, &deeds, &FAIRNESS), None);
    }

    #[track_caller]
    fn place() -> Place {
        Location::caller()
    }

    #[test]
    fn a_bound_that_is_set_is_at_least_the_default_for_loops_that_only_read() {
        assert_eq!(Fairness::of(4), Fairness::DEFAULT);
        assert_eq!(Fairness::of(1), Fairness { hinted: 1, ..Fairness::DEFAULT });
        assert_eq!(Fairness::of(50), Fairness { hinted: 50, reading: 50, working: 5_000 });
        assert_eq!(Fairness::of(u32::MAX).working, u32::MAX);
    }
}
