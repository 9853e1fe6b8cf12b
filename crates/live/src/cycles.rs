//! Livelocks that write: cycles of all threads after which the whole state recurs.
//!
//! The state is examined whenever a thread is held back by the fairness bound and no other thread can run. Everything
//! done so far is ordered before such a moment, so the state is well defined: all buffers are empty, and threads
//! continue in turn. If the operations between these moments repeat, with the same values, and the own states of all
//! threads and their surroundings are as before, then they repeat forever. This is a livelock if it does not depend on
//! the order of steps: no thread of the cycle reads or awaits what another one changes. Otherwise another order may
//! leave the cycle, and nothing is reported; but this path has no further outcomes.

use std::ops::Range;

use teetotal_program::{Status, Subject, ThreadId, Value};

use crate::hidden::Kind;
use crate::identity::Key;
use crate::loops::{Deed, Iteration, Noted, mix};
use crate::request::{Request, What};
use crate::subject::{Live, State};
use crate::surroundings::{Watches, Word};
use crate::waiting::hash_bytes;

/// The maximum number of moments at which a thread was held back in a cycle.
const MOST_RESTS: usize = 8;

/// The number of times that a cycle must be observed: more often if the heap cannot be compared.
const TIMES: usize = 3;
const TIMES_WITHOUT_HEAP: usize = 10;

/// The number of times that threads are held back before own states are made comparable.
const RESTS_UNTIL_COMPARED: usize = 4;

/// The number of searches in which statics or thread-locals change during a cycle before the change is attributed to
/// the cycle.
///
/// A cycle takes longer than an iteration, so another OS thread is more likely to change them meanwhile.
const ENOUGH: u32 = 12;

/// The operations of threads since one was first held back.
#[derive(Debug, Default)]
pub(crate) struct Cycles {
    /// For each thread a hash of its operations since a thread was last held back.
    done: Vec<u64>,
    rests: Vec<Rest>,
    /// The sum over references acquired and released, and over the data behind locks.
    balance: u64,
    /// The number of effects that cannot be compared.
    n_effects: u64,
}

/// A moment at which a thread continues because no other can.
#[derive(Debug)]
struct Rest {
    thread: ThreadId,
    /// A hash of the state, and of the operations since the previous moment.
    number: u64,
    /// The number of operations of each thread.
    performed: Vec<u32>,
}

impl Cycles {
    /// Resets the record for another execution.
    pub(crate) fn clear(&mut self) {
        *self = Cycles::default();
    }

    /// Records an operation.
    #[inline]
    pub(crate) fn note(&mut self, thread: ThreadId, what: &What, answer: Value) {
        if !self.rests.is_empty() && !matches!(what, What::Rest { .. }) {
            self.note_done(thread, what, answer);
        }
    }

    #[cold]
    fn note_done(&mut self, thread: ThreadId, what: &What, answer: Value) {
        if self.done.len() <= thread.index() {
            self.done.resize(thread.index() + 1, 0);
        }
        let at = what.cell().map_or(0, |cell| cell.key.index() as u64 + 1);
        let written = match what {
            What::Store { value, .. } => *value,
            What::Rmw { update, .. } | What::Lock { update, .. } => update.apply(answer).unwrap_or(answer),
            _ => 0,
        };
        let done = &mut self.done[thread.index()];
        *done = [at, answer, written].into_iter().fold(*done, mix);
    }

    /// Records what code did between two operations.
    pub(crate) fn note_code(&mut self, noted: &Noted) {
        self.balance = self.balance.wrapping_add(noted.balance);
        self.n_effects += u64::from(noted.has_effect);
    }

    /// Returns the length of a cycle that was observed `times` times at the end, if there is one.
    fn period(&self, times: usize) -> Option<usize> {
        (1..=MOST_RESTS).take_while(|period| period * times < self.rests.len()).find(|&period| {
            let last = &self.rests[self.rests.len() - period * times..];
            last.iter().zip(&last[period..]).all(|(one, other)| one.number == other.number)
        })
    }
}

impl Live {
    /// Called when `thread` continues because no other can: detects a cycle.
    pub(crate) fn look_for_cycle(&mut self, thread: ThreadId) {
        if self.execution.is_over.get() || self.beginning.runs {
            return;
        }
        let number = mix(self.whole_state(), thread.index() as u64);
        let performed = self.threads.iter().map(|own| own.loops.len()).collect();
        self.cycles.done.clear();
        self.cycles.rests.push(Rest { thread, number, performed });
        let place = self.threads[thread.index()].place;
        if self.execution.heads.is_empty() {
            // Stack slots that are not written yet are equal each time only if heads are known.
            if self.cycles.rests.len() >= RESTS_UNTIL_COMPARED
                && let Some(place) = place
            {
                for (index, own) in self.threads.iter().enumerate().filter(|(_, own)| own.frame.is_known()) {
                    self.execution.ledger.note_depth(self.execution.depth(ThreadId::at(index), own.frame));
                }
                self.begin_anew(thread, Kind::Iteration(1), place);
            }
            return;
        }
        let times = if self.execution.heap.is_on() { TIMES } else { TIMES_WITHOUT_HEAP };
        if self.cycles.period(times - 1).is_some() {
            // If this is a cycle, nothing else may change in its last repetition.
            self.threads.iter_mut().for_each(|own| (own.watched_until, own.watches) = (u32::MAX, Watches::Everything));
        }
        let Some(period) = self.cycles.period(times) else { return };
        let Some(head) = place else { return };
        let first = self.cycles.rests.len() - 1 - period;
        let known = self.execution.heads.at(head).unwrap_or_default();
        if known.suspected_cycles >= ENOUGH || !self.is_untouched_since(first, |word| !self.program.has(word.address)) {
            return;
        }
        // Other OS threads must not decide where an execution ends: the search is not continued with this. In a replay,
        // statics have been judged before.
        if !self.follows && !self.is_untouched_since(first, |word| self.program.has(word.address)) {
            return self.begin_anew(thread, Kind::Cycle(known.suspected_cycles + 1), head);
        }
        let since = self.cycles.rests[first].performed.get(thread.index()).copied().unwrap_or(0);
        let recurs = self.is_livelock(first);
        self.threads[thread.index()].loops.failed =
            Some(Iteration { is_spurious: !recurs, recurs, ..Iteration::dropped(since, head) });
        if recurs && !self.execution.heap.is_on() {
            self.execution.ledger.note_assumed(head);
        }
    }

    /// Returns whether the relevant words have the values of the moment `first`.
    fn is_untouched_since(&self, first: usize, counts: impl Fn(&Word) -> bool) -> bool {
        let performed = self.cycles.rests[first].performed.iter();
        self.threads.iter().zip(performed).all(|(own, &since)| own.loops.is_untouched(since, &counts))
    }

    /// Returns a hash of the own states of all threads, their surroundings, and the operations since the last call.
    fn whole_state(&self) -> u64 {
        self.execution.heap.open_live();
        let mut number = mix(self.cycles.balance, self.cycles.n_effects);
        for (index, own) in self.threads.iter().enumerate() {
            let range = self.execution.own_state(ThreadId::at(index), own.frame);
            let (kind, range) = match &own.state {
                State::Waiting(request) => (std::ptr::from_ref(request.place) as usize as u64, range),
                State::NotStarted => (1, 0..0),
                State::Finished => (2, 0..0),
                State::Failed(..) => (3, 0..0),
            };
            let done = self.cycles.done.get(index).copied().unwrap_or(0);
            number = [kind, done, hash_of(&range)].into_iter().fold(number, mix);
        }
        let values = self.execution.values.borrow();
        values.iter().chain(&self.execution.heap.used()).fold(number, |number, range| mix(number, hash_of(range)))
    }

    /// Returns whether the cycle since the moment `first` is one in any order of steps.
    fn is_livelock(&self, first: usize) -> bool {
        let Rest { performed, .. } = &self.cycles.rests[first];
        let mut accesses: Vec<(Key, ThreadId, Value, bool)> = Vec::new();
        for (index, own) in self.threads.iter().enumerate() {
            let thread = ThreadId::at(index);
            let since = performed.get(index).copied().unwrap_or(0);
            for deed in own.loops.deeds_since(since) {
                match *deed {
                    Deed::Read { key, value, .. } => accesses.push((key, thread, value, false)),
                    Deed::Update { key, old, new, .. } => {
                        accesses.extend([(key, thread, old, false), (key, thread, new, true)]);
                    }
                    Deed::Store { key, new } => accesses.push((key, thread, new, true)),
                    Deed::Neutral | Deed::Rest => {}
                    // Another alternative may leave the cycle.
                    Deed::Choice(_) | Deed::Spurious(_) | Deed::Lasting => return false,
                }
            }
        }
        let is_written = |key: Key| accesses.iter().any(|(other, _, _, writes)| *other == key && *writes);
        let is_steady = |(key, thread, value, _): &(Key, ThreadId, Value, bool)| {
            let others = || accesses.iter().filter(|(other, ..)| other == key);
            others().all(|(_, other, ..)| other == thread) || others().all(|(_, _, other, _)| other == value)
        };
        accesses.iter().all(is_steady)
            && (0..self.threads.len()).all(|index| self.goes_round(index, first, &is_written))
    }

    /// Returns whether a thread has ended, is part of the cycle, or is blocked by something that the cycle does not
    /// write.
    fn goes_round(&self, index: usize, first: usize, is_written: &dyn Fn(Key) -> bool) -> bool {
        let (thread, own) = (ThreadId::at(index), &self.threads[index]);
        if self.cycles.rests[first..].iter().any(|rest| rest.thread == thread) {
            return true;
        }
        match (&own.state, self.status(thread)) {
            (State::Finished, _) => true,
            (State::Waiting(..), Status::FailedAwait(failed)) => {
                !failed.is_spurious && !own.loops.failed_reads(thread).any(|(key, _)| is_written(key))
            }
            (State::Waiting(Request { what, .. }), _) => match what {
                What::Join { .. } => true,
                What::Lock { at, timed: false, .. } | What::Await { at, timed: false, .. } => !is_written(at.key),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Returns a hash of memory that is not moved while threads are stopped.
fn hash_of(range: &Range<usize>) -> u64 {
    // SAFETY: own states, values and blocks are there as long as the execution.
    unsafe { hash_bytes(range.start, range.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The period of a cycle that was seen so many times, if moments have these numbers.
    fn period(numbers: &[u64], times: usize) -> Option<usize> {
        let rest = |&number: &u64| Rest { thread: ThreadId(0), number, performed: Vec::new() };
        Cycles { rests: numbers.iter().map(rest).collect(), ..Cycles::default() }.period(times)
    }

    #[test]
    fn a_cycle_is_seen_as_often_as_is_asked_for() {
        assert_eq!(period(&[7, 1, 1, 1], 2), Some(1));
        assert_eq!(period(&[7, 1, 2, 1, 2, 1, 2], 3), Some(2));
        assert_eq!(period(&[7, 1, 2, 1, 2, 1, 2], 4), None);
        assert_eq!(period(&[1, 2, 3, 4], 1), Some(1), "seen once, whatever it is");
    }

    #[test]
    fn the_moment_before_a_cycle_is_no_part_of_it() {
        assert_eq!(period(&[1, 2, 1, 2], 2), None);
        assert_eq!(period(&[7, 1, 2, 1, 2], 2), Some(2));
    }

    #[test]
    fn a_long_cycle_is_none() {
        let length = MOST_RESTS as u64 + 1;
        let numbers: Vec<u64> = std::iter::once(length).chain((0..2 * length).map(|at| at % length)).collect();
        assert_eq!(period(&numbers, 2), None);
    }
}
