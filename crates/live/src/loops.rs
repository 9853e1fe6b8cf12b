//! Waiting loops: iterations of a thread after which everything is as before.
//!
//! An iteration is what a thread does between two calls into the library from the same place. If its own state is the
//! same at both, if nothing else that it may have written differs, and if its operations have no lasting effect on
//! shared memory, then the execution without that iteration exists too, with the same outcome. So a search need not
//! continue after it: the iteration is a *failed await*, and the thread continues only in executions in which it reads
//! something else. A loop whose own state differs is unrolled.
//!
//! `docs/theory/loops.md` has the proof. [`crate::surroundings`] lists what is compared besides the own state.

use std::panic::Location;

use rustc_hash::FxHashMap;
use teetotal_program::{ThreadId, Value};

use crate::fairness::{Exceeded, Fairness, Hints, Patience};
use crate::heap::Heap;
use crate::identity::Key;
use crate::request::Matter;
use crate::surroundings::{Program, Word};

/// A place in the source.
pub(crate) type Place = &'static Location<'static>;

/// The operation of a thread that wrote what was read, if it is not the initial value.
pub(crate) type Source = Option<(ThreadId, u32)>;

/// What an operation did to shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    /// It read this value and wrote nothing.
    Read { key: Key, source: Source, value: Value },
    /// It read and wrote in one step, possibly to acquire a lock that it waited for, or to release one.
    Update { key: Key, source: Source, old: Value, new: Value, is_lock: bool },
    /// It neither read nor wrote.
    Neutral,
    /// It took one of several alternatives.
    Choice(Value),
    /// The next operation fails, or a wait ends, spuriously.
    Spurious(Matter),
    /// It stored this value there.
    Store { key: Key, new: Value },
    /// It waited until no other thread could run.
    Rest,
    /// It had an effect that lasts.
    Lasting,
}

/// What code of a model did between two operations, as far as the library knows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Noted {
    /// The number of hints and time-outs, and the place of the last one.
    pub(crate) n_hints: u32,
    pub(crate) hint: Option<Place>,
    /// It had an effect that lasts.
    pub(crate) has_effect: bool,
    /// It changed data behind a lock, which the next thread that acquires the lock observes.
    pub(crate) changes_data: bool,
    /// A hash of its non-atomic accesses; 0 if there are none.
    pub(crate) plain: u64,
    /// The sum over references acquired and released, each with a number of its own; 0 if all were released.
    pub(crate) balance: u64,
}

/// What is known of the loops of one thread in an execution.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    /// The effects of its operations.
    deeds: Vec<Deed>,
    /// What its code did after an operation with this number, if anything.
    noted: Vec<(u32, Noted)>,
    /// The places that it reached recently.
    recent: Recent,
    /// The time of the last occurrence of each own state, by its hash.
    states: FxHashMap<u64, u32>,
    /// Words outside of its own stack that it has changed: after how many operations, and the previous values.
    changed: Vec<(u32, Word)>,
    /// Its hints.
    hints: Hints,
    /// The number of operations at its last arrival at a known head after an iteration that changes the same each time.
    repeated: u32,
    /// The last iteration, if it is a failed await.
    pub(crate) failed: Option<Iteration>,
}

/// An iteration after which everything is as before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Iteration {
    /// The first operation of it.
    pub(crate) since: u32,
    /// Whether something in it failed spuriously, so that it is not repeated forever.
    pub(crate) is_spurious: bool,
    /// Whether its last read is a compare-exchange that failed spuriously.
    pub(crate) ends_spuriously: bool,
    /// Whether it changed something and changed it back.
    pub(crate) restores: bool,
    /// Whether all that it updated are locks that it waited for.
    pub(crate) only_locks: bool,
    /// Whether it is part of a cycle of all threads, after which the whole state is as before.
    pub(crate) recurs: bool,
    /// Where it begins.
    pub(crate) head: Place,
}

impl Iteration {
    /// Creates an iteration after which the thread does not continue; the execution does not count.
    pub(crate) fn dropped(since: u32, head: Place) -> Self {
        let (is_spurious, ends_spuriously, restores, only_locks, recurs) = (true, false, false, true, false);
        Iteration { since, is_spurious, ends_spuriously, restores, only_locks, recurs, head }
    }
}

/// What is known in advance about the head of iterations that preserve the own state.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Head {
    /// The maximum number of operations of such an iteration, as far as known.
    pub(crate) length: u32,
    /// Another thread observed an intermediate value that an iteration restores.
    pub(crate) is_observed: bool,
    /// The number of searches in which an iteration seemed to change statics or thread-locals.
    pub(crate) suspicions: u32,
    /// The number of searches in which a cycle of all threads seemed to.
    pub(crate) suspected_cycles: u32,
}

impl Head {
    /// The number of searches in which statics or thread-locals change during an iteration before the change is
    /// attributed to it.
    ///
    /// Another OS thread may change them at the same moment, but hardly ever in one search after the other.
    const ENOUGH: u32 = 8;

    /// Returns whether iterations change statics or thread-locals, so that none of them is a failed await.
    pub(crate) fn changes_statics(self) -> bool {
        self.suspicions >= Head::ENOUGH
    }
}

/// The result of an arrival at a head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    /// The thread was not there before in the same state, or has done something since.
    New,
    /// Its own state is as it was this many operations ago, and it is unknown what else it has changed since.
    Recurs(u32),
    /// Only statics or thread-locals differ from before the iteration.
    ChangesStatics(Iteration),
    /// The iteration changes something, and does the same as the previous one.
    Repeats,
    /// The iteration was a failed await.
    Failed(Iteration),
}

impl Loops {
    /// Resets the record for another execution.
    pub(crate) fn clear(&mut self) {
        self.deeds.clear();
        self.noted.clear();
        self.recent.clear();
        if !self.states.is_empty() {
            self.states.clear();
        }
        self.changed.clear();
        self.hints.clear();
        self.repeated = 0;
        self.failed = None;
    }

    /// Forgets what was done in the beginning of a model; a failed await stays one.
    pub(crate) fn forget_beginning(&mut self) {
        let failed = self.failed.map(|failed| Iteration { since: 0, ..failed });
        self.clear();
        self.failed = failed;
    }

    /// Returns the number of operations.
    pub(crate) fn len(&self) -> u32 {
        self.deeds.len() as u32
    }

    /// Records an operation.
    pub(crate) fn note(&mut self, deed: Deed) {
        self.deeds.push(deed);
    }

    /// Records what the code did since the last operation.
    pub(crate) fn note_code(&mut self, noted: Noted) {
        if noted != Noted::default()
            && let Some(last) = self.len().checked_sub(1)
        {
            self.noted.push((last, noted));
        }
    }

    /// Records words that the code has changed.
    pub(crate) fn note_changes(&mut self, words: impl Iterator<Item = Word>) {
        let at = self.len();
        self.changed.extend(words.map(|word| (at, word)));
    }

    /// Returns the operations from this one on.
    pub(crate) fn deeds_since(&self, since: u32) -> &[Deed] {
        &self.deeds[(since as usize).min(self.deeds.len())..]
    }

    /// Returns the operations that a failed await consists of.
    pub(crate) fn failed_deeds(&self) -> impl Iterator<Item = &Deed> {
        let since = self.failed.map_or(self.deeds.len(), |failed| failed.since as usize);
        self.deeds[since..].iter()
    }

    /// Records a hint at `place`; returns whether it exceeds the fairness bound.
    pub(crate) fn hint(&mut self, place: Place, fairness: &Fairness) -> Option<Exceeded> {
        self.hints.note(place, &self.deeds, fairness)
    }

    /// Records an arrival at `place`, at this stack depth; returns whether it may be the head of a loop, and whether
    /// the fairness bound is exceeded.
    ///
    /// It may be the head of a waiting loop if the thread was there before, several times or with a hint since, and
    /// without a lasting effect in between.
    pub(crate) fn come(
        &mut self,
        thread: ThreadId,
        place: Place,
        depth: usize,
        fairness: &Fairness,
    ) -> (bool, Option<Exceeded>) {
        let now = self.deeds.len() as u32;
        let (arrivals, since, earlier) = self.recent.arrive(place, depth, now);
        // Starting or joining threads is not waiting.
        if since == now || self.deeds.last() == Some(&Deed::Lasting) {
            return (false, None);
        }
        let is_hinted = is_hinted(&self.noted, &self.deeds, since);
        if arrivals.n < ARRIVALS && !is_hinted {
            return (false, None);
        }
        let exceeded = arrivals.patience.note(&self.deeds, since, thread, fairness);
        // One head for each loop suffices, and a loop with hints is held back at these.
        let may_repeat = !is_hinted && self.repeated < since;
        let repeats = || may_repeat && (self.repeats_values(since) || self.repeats_values(earlier));
        (self.iteration(since, thread, place).is_some() || repeats(), exceeded)
    }

    /// Records an arrival at a head, and whether the iteration repeats the previous one; returns whether that exceeds
    /// the fairness bound.
    pub(crate) fn note_repetition(
        &mut self,
        (place, depth): (Place, usize),
        repeats: bool,
        fairness: &Fairness,
    ) -> Option<Exceeded> {
        let arrivals = self.recent.at(place, depth);
        arrivals.repetitions = if repeats { arrivals.repetitions + 1 } else { 0 };
        if repeats {
            self.repeated = self.deeds.len() as u32;
        }
        // The first of them repeats nothing yet.
        let (rounds, bound) = (arrivals.repetitions + 1, fairness.hinted);
        (repeats && rounds >= bound).then_some(Exceeded { rounds, bound, hint: None })
    }

    /// Records an arrival at `head` in an own state with this hash.
    ///
    /// Accesses that are not atomic may race, and where it `keeps_reads` all of them matter: then an iteration is a
    /// failed await only if the one before was just the same.
    pub(crate) fn arrive(
        &self,
        thread: ThreadId,
        place: Place,
        state: u64,
        (head, keeps_reads): (Head, bool),
        (program, heap): (&Program, &Heap),
    ) -> Arrival {
        let now = self.len();
        let since = self.states.get(&state).copied().filter(|&since| since < now);
        let Some(since) = since else { return Arrival::New };
        let iteration = self.iteration(since, thread, place);
        if iteration.is_none() && !self.repeats_values(since) {
            return Arrival::New;
        }
        if now - since > head.length {
            return Arrival::Recurs(now - since);
        }
        let is_own = |word: &Word| !program.has(word.address) && !heap.is_vacant(word.address);
        if head.changes_statics() || !self.is_untouched(since, is_own) {
            return Arrival::New;
        }
        let Some(iteration) = iteration else { return Arrival::Repeats };
        if iteration.restores && head.is_observed {
            return if self.repeats_values(since) { Arrival::Repeats } else { Arrival::New };
        }
        let is_to_repeat = keeps_reads || self.has_plain(since);
        if is_to_repeat && !self.repeats(since, thread) {
            return Arrival::New;
        }
        // Other OS threads must not decide where an execution ends: the search is not continued with this.
        if self.is_untouched(since, |word| program.has(word.address)) {
            Arrival::Failed(iteration)
        } else {
            Arrival::ChangesStatics(iteration)
        }
    }

    /// Records that the thread continues from a head, in an own state with this hash.
    pub(crate) fn leave(&mut self, state: u64) {
        self.states.insert(state, self.len());
    }

    fn noted_since(&self, since: u32) -> impl Iterator<Item = &Noted> {
        noted_since(&self.noted, since)
    }

    /// Returns the operations since then as an iteration, unless they have a lasting effect.
    fn iteration(&self, since: u32, thread: ThreadId, head: Place) -> Option<Iteration> {
        let deeds = &self.deeds[since as usize..];
        let balance = self.noted_since(since).fold(0_u64, |sum, noted| sum.wrapping_add(noted.balance));
        let lasts = |noted: &Noted| noted.has_effect || noted.changes_data;
        if balance != 0 || deeds.iter().any(Deed::lasts) || self.noted_since(since).any(lasts) {
            return None;
        }
        let restores = restored(deeds, thread, since)?;
        let is_spurious = deeds.iter().any(Deed::is_spurious);
        let ends_spuriously = ends_spuriously(&self.deeds);
        let only_locks = !deeds.iter().any(|deed| matches!(deed, Deed::Update { is_lock: false, .. }));
        Some(Iteration { since, is_spurious, ends_spuriously, restores, only_locks, recurs: false, head })
    }

    /// Returns whether the operations since then change something, and those before them were the same on the same
    /// values.
    fn repeats_values(&self, since: u32) -> bool {
        let (before, iteration) = self.deeds.split_at(since as usize);
        let is_done = |deed: &&Deed| **deed != Deed::Rest;
        let mut before = before.iter().rev().filter(is_done);
        let is_same = |deed: &Deed| before.next().is_some_and(|earlier| earlier.values() == deed.values());
        let lasts = |noted: &Noted| noted.has_effect || noted.changes_data || noted.balance != 0;
        iteration.iter().any(Deed::has_effect)
            && !iteration.iter().any(|deed| matches!(deed, Deed::Lasting | Deed::Spurious(_)))
            && !self.noted_since(since).any(lasts)
            && iteration.iter().rev().filter(is_done).all(is_same)
    }

    /// Returns whether every relevant word outside of the own stack that was changed since then has its previous value.
    pub(crate) fn is_untouched(&self, since: u32, counts: impl Fn(&Word) -> bool) -> bool {
        let changed = self.changed.iter().filter(|(at, word)| *at > since && counts(word));
        let changed: Vec<&Word> = changed.map(|(_, word)| word).collect();
        // The first change of a word has its previous value.
        changed.iter().enumerate().all(|(index, word)| {
            let is_first = !changed[..index].iter().any(|earlier| earlier.address == word.address);
            !is_first || word.is_as_before()
        })
    }

    /// Returns whether data that is not atomic was accessed since then.
    fn has_plain(&self, since: u32) -> bool {
        self.noted_since(since).any(|noted| noted.plain != 0)
    }

    /// Returns whether the operations since then repeat those just before.
    fn repeats(&self, since: u32, thread: ThreadId) -> bool {
        let length = self.len() - since;
        let Some(before) = since.checked_sub(length) else { return false };
        let plain = |from: u32| {
            let noted =
                self.noted.iter().filter(move |(at, noted)| (from..from + length).contains(at) && noted.plain != 0);
            noted.map(move |(at, noted)| (at - from, noted.plain))
        };
        let same = |(one, other): (&Deed, &Deed)| one.shape(thread) == other.shape(thread);
        let (before_deeds, deeds) = (&self.deeds[before as usize..since as usize], &self.deeds[since as usize..]);
        before_deeds.iter().zip(deeds).all(same) && plain(before).eq(plain(since))
    }
}

impl Deed {
    /// Returns whether it changes memory.
    pub(crate) fn has_effect(&self) -> bool {
        match self {
            Deed::Update { old, new, .. } => old != new,
            Deed::Store { .. } | Deed::Lasting => true,
            Deed::Read { .. } | Deed::Neutral | Deed::Choice(_) | Deed::Spurious(_) | Deed::Rest => false,
        }
    }

    /// Returns whether its effect is lasting, whatever follows.
    fn lasts(&self) -> bool {
        matches!(self, Deed::Store { .. } | Deed::Lasting)
    }

    /// Returns the effect without the writers of what was read.
    fn values(&self) -> Deed {
        match *self {
            Deed::Read { key, value, .. } => Deed::Read { key, source: None, value },
            Deed::Update { key, old, new, is_lock, .. } => Deed::Update { key, source: None, old, new, is_lock },
            deed => deed,
        }
    }

    fn is_spurious(&self) -> bool {
        matches!(self, Deed::Spurious(_))
    }

    /// Returns the effect and its location, and the source if that is by another thread than `thread`.
    fn shape(&self, thread: ThreadId) -> (u8, Option<Key>, Source) {
        let foreign = |source: Source| source.filter(|(writer, _)| *writer != thread);
        match *self {
            Deed::Read { key, source, .. } => (0, Some(key), foreign(source)),
            Deed::Update { key, source, .. } => (1, Some(key), foreign(source)),
            Deed::Neutral | Deed::Choice(_) | Deed::Rest => (2, None, None),
            Deed::Spurious(_) => (3, None, None),
            Deed::Lasting => (4, None, None),
            Deed::Store { key, .. } => (5, Some(key), None),
        }
    }
}

/// Returns whether `deeds` write something and restore it, or write nothing; `None` if a write is lasting.
///
/// The writes to a restored location read from each other, so no other thread has written in between.
fn restored(deeds: &[Deed], thread: ThreadId, since: u32) -> Option<bool> {
    let mut written: Vec<(Key, Value, Value, u32)> = Vec::new();
    let mut restores = false;
    for (index, deed) in (since..).zip(deeds) {
        let Deed::Update { key, source, old, new, .. } = *deed else { continue };
        restores |= old != new;
        match written.iter_mut().find(|(other, ..)| *other == key) {
            None => written.push((key, old, new, index)),
            Some((_, _, last, at)) if source == Some((thread, *at)) => (*last, *at) = (new, index),
            Some(_) => return None,
        }
    }
    written.iter().all(|(_, first, last, _)| first == last).then_some(restores)
}

fn noted_since(noted: &[(u32, Noted)], since: u32) -> impl Iterator<Item = &Noted> {
    noted.iter().rev().take_while(move |(at, _)| *at >= since).map(|(_, noted)| noted)
}

/// Returns whether the thread has given a hint since then, or something failed spuriously.
fn is_hinted(noted: &[(u32, Noted)], deeds: &[Deed], since: u32) -> bool {
    noted_since(noted, since).any(|noted| noted.n_hints > 0) || deeds[since as usize..].iter().any(Deed::is_spurious)
}

/// Returns whether the last of `deeds` that reads is a compare-exchange that failed spuriously.
fn ends_spuriously(deeds: &[Deed]) -> bool {
    let last = deeds.iter().rposition(|deed| matches!(deed, Deed::Read { .. } | Deed::Update { .. }));
    let before = last.and_then(|last| deeds[..last].last());
    before == Some(&Deed::Spurious(Matter::Failure))
}

/// The number of arrivals at a place before it is examined more closely.
const ARRIVALS: u32 = 4;

/// The places that a thread has reached: a hash table with open addressing that is cheap to clear.
#[derive(Debug, Default)]
struct Recent {
    /// Empty, or a power of two of slots of which at most half are used; a key of 0 marks a free one.
    slots: Vec<Arrivals>,
    used: Vec<u32>,
}

/// The arrivals at one place.
#[derive(Clone, Copy, Default, Debug)]
struct Arrivals {
    key: usize,
    /// The number of arrivals.
    n: u32,
    /// The numbers of operations at the last two arrivals.
    last: u32,
    earlier: u32,
    patience: Patience,
    /// The number of consecutive iterations that repeat the previous one.
    repetitions: u32,
}

impl Recent {
    const FEWEST_SLOTS: usize = 16;

    fn clear(&mut self) {
        for index in self.used.drain(..) {
            self.slots[index as usize] = Arrivals::default();
        }
    }

    /// Records an arrival after `now` operations; returns the arrivals, and the times of the two previous ones.
    #[inline]
    fn arrive(&mut self, place: Place, depth: usize, now: u32) -> (&mut Arrivals, u32, u32) {
        let key = Recent::key(place, depth);
        if 2 * self.used.len() >= self.slots.len() {
            self.grow();
        }
        let index = self.slot_of(key);
        let arrivals = &mut self.slots[index];
        if arrivals.key != key {
            *arrivals = Arrivals { key, last: now, earlier: now, ..Arrivals::default() };
            self.used.push(index as u32);
        }
        arrivals.n += 1;
        let before = std::mem::replace(&mut arrivals.last, now);
        let earlier = std::mem::replace(&mut arrivals.earlier, before);
        (arrivals, before, earlier)
    }

    /// Returns the arrivals at a place that the thread has reached.
    fn at(&mut self, place: Place, depth: usize) -> &mut Arrivals {
        let index = self.slot_of(Recent::key(place, depth));
        &mut self.slots[index]
    }

    #[inline]
    fn key(place: Place, depth: usize) -> usize {
        (std::ptr::from_ref(place) as usize ^ depth.rotate_left(20)) | 1
    }

    /// Returns the slot of a key, or the free one that it gets.
    #[inline]
    fn slot_of(&self, key: usize) -> usize {
        let mask = self.slots.len() - 1;
        let mut index = mix(0, key as u64) as usize & mask;
        while self.slots[index].key != key && self.slots[index].key != 0 {
            index = (index + 1) & mask;
        }
        index
    }

    #[cold]
    fn grow(&mut self) {
        let n_slots = (2 * self.slots.len()).max(Recent::FEWEST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Arrivals::default(); n_slots]);
        self.used.clear();
        for arrivals in old.into_iter().filter(|arrivals| arrivals.key != 0) {
            let index = self.slot_of(arrivals.key);
            self.slots[index] = arrivals;
            self.used.push(index as u32);
        }
    }
}

/// Puts a number into a hash.
pub(crate) fn mix(hash: u64, number: u64) -> u64 {
    let mixed = (hash ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_place_takes_the_room_of_another() {
        let place = Location::caller();
        let mut recent = Recent::default();
        for _ in 0..2 {
            for round in 0..5 {
                for depth in 0..1_000 {
                    let (arrivals, before, _) = recent.arrive(place, depth, 1_000 * round + depth as u32);
                    assert_eq!(arrivals.n, round + 1);
                    assert_eq!(before, 1_000 * round.saturating_sub(1) + depth as u32);
                }
            }
            recent.clear();
        }
    }
}
