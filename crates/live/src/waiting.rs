//! Detection of waiting loops while a model runs.

use teetotal_program::{FailedAwait, ThreadId, Value};

use crate::fairness::Exceeded;
use crate::hidden::{Kind, Name};
use crate::identity::Key;
use crate::loops::{Arrival, Deed, Head, Iteration, Loops, Noted, Place, Source, mix};
use crate::request::{Request, What};
use crate::subject::{Live, State};
use crate::surroundings::{Watches, read};

/// The number of continuations from the head of a loop after which statics are compared only occasionally.
///
/// Threads of a model should not share statics of other crates, since these are not searched: a loop that changes them
/// does so from its first iterations on.
const DEPARTURES: u32 = 64;

/// The hash of the own state that was computed last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnState {
    /// The thread, and the number of times that threads had been resumed.
    of: Option<(ThreadId, u64)>,
    hash: u64,
}

impl From<Iteration> for FailedAwait {
    fn from(iteration: Iteration) -> Self {
        let Iteration { since, is_spurious, ends_spuriously, restores, only_locks, recurs, .. } = iteration;
        FailedAwait { since, is_spurious, ends_spuriously, restores, only_locks, recurs }
    }
}

impl Live {
    /// Returns a hash of the own state of `thread`.
    fn own_state(&mut self, thread: ThreadId) -> u64 {
        let of = Some((thread, self.n_runs));
        if self.own.of != of {
            let range = self.execution.own_state(thread, self.threads[thread.index()].frame);
            // SAFETY: the thread has stopped, so that its stack is there and does not change; it is made of words.
            let words =
                unsafe { std::slice::from_raw_parts(range.start as *const u64, range.len() / size_of::<u64>()) };
            self.own = OwnState { of, hash: hash(words) };
        }
        self.own.hash
    }

    /// Called when `thread` is about to continue with `answer`.
    pub(crate) fn depart(&mut self, thread: ThreadId, answer: Value) {
        let source = self.source;
        let own = &self.threads[thread.index()];
        let State::Waiting(Request { what, place }) = &own.state else { return };
        let (place, deed) = (*place, deed(what, answer, source));
        self.cycles.note(thread, what, answer);
        if let Some(head) = own.head {
            self.leave(thread, place, head);
        }
        self.threads[thread.index()].loops.note(deed);
    }

    /// Called when `thread` continues from `place`, which may be the head of a loop.
    #[cold]
    fn leave(&mut self, thread: ThreadId, place: Place, head: Head) {
        let state = self.own_state(thread);
        let watches = if head.length > 0 { self.watches(place, head) } else { Watches::Nothing };
        let own = &mut self.threads[thread.index()];
        own.head = None;
        own.loops.leave(state);
        if watches != Watches::Nothing && own.watched_until != u32::MAX {
            own.watch(watches, head.length);
        }
    }

    /// Returns what is compared in an iteration from `place` on.
    fn watches(&mut self, place: Place, head: Head) -> Watches {
        if head.changes_statics() {
            return Watches::Nothing;
        }
        let departures = self.departures.entry(std::ptr::from_ref(place) as usize).or_insert(0);
        *departures += 1;
        let is_time = *departures <= DEPARTURES || departures.is_power_of_two();
        if is_time { Watches::Everything } else { Watches::Stacks }
    }

    /// Copies what `thread` may write besides its own stack, if it is in a loop that may wait.
    pub(crate) fn watch_surroundings(&mut self, thread: ThreadId) {
        self.n_runs += 1;
        let own = &self.threads[thread.index()];
        let is_time = own.watches != Watches::Nothing && own.loops.len() <= own.watched_until;
        self.surroundings.watches = if is_time { own.watches } else { Watches::Nothing };
        if is_time {
            self.copy_surroundings(thread);
        }
    }

    #[cold]
    fn copy_surroundings(&mut self, thread: ThreadId) {
        self.execution.heap.open_live();
        self.surroundings.clear();
        for (index, other) in self.threads.iter().enumerate().filter(|(index, _)| *index != thread.index()) {
            let range = self.execution.own_state(ThreadId::at(index), other.frame);
            if matches!(other.state, State::Waiting(..)) && !range.is_empty() {
                // SAFETY: the thread has stopped, and its stack stays where it is.
                unsafe { self.surroundings.add(range) };
            }
        }
        for range in &*self.execution.values.borrow() {
            // SAFETY: values are there as long as the execution.
            unsafe { self.surroundings.add(range.clone()) };
        }
        for range in self.execution.heap.used() {
            // SAFETY: lanes are mapped as long as the program runs.
            unsafe { self.surroundings.add(range) };
        }
        if self.surroundings.watches == Watches::Everything {
            for range in self.program.statics.iter().chain(&self.program.locals) {
                // SAFETY: statics and thread-locals are there as long as the program.
                unsafe { self.surroundings.add(range.clone()) };
            }
        }
    }

    /// Records what the code of `thread` has done since its last operation.
    pub(crate) fn note_code(&mut self, thread: ThreadId) {
        let held = self.execution.loans.changes(thread);
        if held != 0 {
            let noted = self.execution.noted.get();
            self.execution.noted.set(Noted { balance: noted.balance.wrapping_add(held), ..noted });
            self.execution.has_noted.set(true);
        }
        let own = &mut self.threads[thread.index()];
        if self.execution.has_noted.take() {
            let noted = self.execution.noted.take();
            own.loops.note_code(noted);
            self.cycles.note_code(&noted);
            own.exceeded = noted.hint.and_then(|place| own.loops.hint(place, &self.setup.fairness));
        }
        if self.surroundings.watches == Watches::Nothing {
            return;
        }
        own.loops.note_changes(self.surroundings.changes());
    }

    /// Called when `thread` has reached its next operation: detects repetition.
    pub(crate) fn arrive(&mut self, thread: ThreadId) {
        let own = &mut self.threads[thread.index()];
        let exceeded = own.exceeded.take();
        if self.execution.is_over.get() || !own.frame.is_known() {
            return;
        }
        let State::Waiting(Request { place, .. }) = &own.state else { return };
        let place = *place;
        let depth = self.execution.depth(thread, own.frame);
        let (may_loop, mut too_often) = own.loops.come(thread, place, depth, &self.setup.fairness);
        let head = self.execution.heads.at(place).or(may_loop.then(Head::default));
        if let Some(head) = head {
            own.head = Some(head);
            self.execution.ledger.note_depth(self.execution.used(thread, own.frame));
            let state = self.own_state(thread);
            let (own, keeps_reads) = (&mut self.threads[thread.index()], self.setup.keeps_failed_reads);
            let fairness = &self.setup.fairness;
            match own.loops.arrive(thread, place, state, (head, keeps_reads), (&self.program, &self.execution.heap)) {
                Arrival::New => _ = own.loops.note_repetition((place, depth), false, fairness),
                Arrival::Repeats => {
                    too_often = own.loops.note_repetition((place, depth), true, fairness).or(too_often);
                }
                Arrival::Recurs(length) => return self.begin_anew(thread, Kind::Iteration(length), place),
                // In a replay the search has judged statics before.
                Arrival::ChangesStatics(_) if !self.follows => {
                    return self.begin_anew(thread, Kind::Statics(head.suspicions + 1), place);
                }
                Arrival::Failed(iteration) | Arrival::ChangesStatics(iteration) => {
                    own.loops.failed = Some(iteration);
                    if head.suspicions > 0 && own.watches == Watches::Everything && !self.follows {
                        self.execution.clear_suspicions(place);
                    }
                    if !self.execution.heap.is_whole() {
                        self.execution.ledger.note_assumed(own.place.unwrap_or(place));
                    }
                    return;
                }
            }
        }
        if let Some(exceeded) = exceeded.or(too_often) {
            self.hold_back(thread, exceeded);
        }
    }

    /// Restarts the search, with what is now known about `place`; `thread` does not continue in this execution.
    pub(crate) fn begin_anew(&mut self, thread: ThreadId, kind: Kind, place: Place) {
        self.execution.begin_anew_with(Name::new(kind, place));
        let loops = &mut self.threads[thread.index()].loops;
        let since = loops.len();
        loops.failed = Some(Iteration::dropped(since, place));
    }

    /// Lets `thread` continue only if no other thread can, since it has exceeded the fairness bound.
    fn hold_back(&mut self, thread: ThreadId, exceeded: Exceeded) {
        // A single thread delays no other thread.
        let own = &mut self.threads[thread.index()];
        let (State::Waiting(request), None, false) = (&mut own.state, &own.held, self.beginning.runs) else {
            return;
        };
        let place = exceeded.hint.or(own.place).unwrap_or(request.place);
        let rest = Request { what: What::Rest { before: exceeded.rounds }, place };
        own.held = Some(std::mem::replace(request, rest));
        self.execution.note_bounded(place, exceeded.bound);
    }
}

impl Loops {
    /// Returns what the last iteration read and had not written itself, if it is a failed await.
    ///
    /// As long as memory has these values, a repetition of the iteration is the same.
    pub(crate) fn failed_reads(&self, thread: ThreadId) -> impl Iterator<Item = (Key, Value)> + '_ {
        let since = self.failed.map_or(u32::MAX, |failed| failed.since);
        let is_own = move |source: Source| source.is_some_and(|(writer, index)| writer == thread && index >= since);
        self.failed_deeds().filter_map(move |deed| match *deed {
            Deed::Read { key, source, value } | Deed::Update { key, source, old: value, .. } if !is_own(source) => {
                Some((key, value))
            }
            _ => None,
        })
    }
}

/// Returns the effect on shared memory of an operation with this answer, with a value from `source`.
fn deed(what: &What, answer: Value, source: Source) -> Deed {
    let is_lock = matches!(what, What::Lock { .. } | What::Unlock { .. });
    let update = |key, new: Option<Value>| match new {
        Some(new) => Deed::Update { key, source, old: answer, new, is_lock },
        None => Deed::Read { key, source, value: answer },
    };
    match what {
        What::Load { at, .. } | What::Await { at, .. } => Deed::Read { key: at.key, source, value: answer },
        What::Rmw { at, update: function, .. } | What::Lock { at, update: function, .. } => {
            update(at.key, function.apply(answer))
        }
        What::Unlock { at, .. } => update(at.key, Some(0)),
        What::Choose { matter, .. } if matter.is_spurious() && answer != 0 => Deed::Spurious(*matter),
        What::Choose { .. } => Deed::Choice(answer),
        What::Fence { .. } => Deed::Neutral,
        What::Rest { .. } => Deed::Rest,
        What::Store { at, value, .. } => Deed::Store { key: at.key, new: *value },
        What::Spawn { .. } | What::Join { .. } | What::Fail(_) => Deed::Lasting,
    }
}

/// Returns a hash of bytes in memory; equal hashes are assumed to mean equal bytes.
///
/// # Safety
/// The bytes must be readable.
pub(crate) unsafe fn hash_bytes(address: usize, n_bytes: usize) -> u64 {
    let starts = (0..n_bytes).step_by(size_of::<u64>());
    // SAFETY: upheld by the caller.
    starts.fold(0, |hash, start| mix(hash, unsafe { read(address + start, (n_bytes - start).min(size_of::<u64>())) }))
}

/// Returns a hash of words; equal hashes are assumed to mean equal words.
fn hash(words: &[u64]) -> u64 {
    const MULTIPLIERS: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    // Four at a time, which do not wait for each other.
    let mut lanes = [words.len() as u64, 1, 2, 3];
    let mut chunks = words.chunks_exact(lanes.len());
    for chunk in &mut chunks {
        for ((lane, word), multiplier) in lanes.iter_mut().zip(chunk).zip(MULTIPLIERS) {
            *lane = (*lane ^ word).wrapping_mul(multiplier).rotate_left(29);
        }
    }
    let rest = chunks.remainder().iter().fold(0, |hash, &word| mix(hash, word));
    lanes.into_iter().fold(rest, mix)
}
