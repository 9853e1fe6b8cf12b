//! Data races, by the happens-before of the language: release and acquire, fences, locks, spawn and join.
//!
//! A release sequence is a release store and the read-modify-writes that read from it in a chain, as in C++20 and Rust.

use std::panic::Location;

use teetotal_program::{Order, ThreadId};

use crate::clock::Clock;
use crate::complaint::{Access, Kind, Race};
use crate::heap::Moment;
use crate::identity::Key;

/// Who knows what, and who accessed which data.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// How many operations the thread that runs has performed.
    performed: u32,
    threads: Vec<Knowledge>,
    /// For each cell who accessed it.
    data: Vec<History>,
    /// For each operation of each thread what reading its write makes known.
    released: Vec<Vec<Option<Clock>>>,
    /// Whether it is known what leads to what, whatever the orderings are: reads-from and program order.
    tracks_causes: bool,
    /// For each operation of each thread what led to its write.
    causes: Vec<Vec<Clock>>,
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    clock: Clock,
    /// What it read without acquiring; an acquire fence makes it known.
    read: Clock,
    /// What it knew at its last release fence.
    fenced: Option<Clock>,
    /// The thread that has started it.
    parent: Option<ThreadId>,
    /// When it ended, by its own clock.
    ended: Option<u32>,
    /// What led to where it is, if that is tracked.
    causes: Clock,
}

/// The accesses to a cell that later ones must know of: for each thread the latest of each kind.
#[derive(Clone, Debug, Default)]
struct History {
    accesses: Vec<Access>,
    /// Whether some of them are not atomic.
    has_plain: bool,
}

impl History {
    fn clear(&mut self) {
        self.accesses.clear();
        self.has_plain = false;
    }
}

impl Races {
    pub(crate) fn clear(&mut self) {
        self.threads.clear();
        // What they have allocated is used again.
        self.data.iter_mut().for_each(History::clear);
        self.released.iter_mut().for_each(Vec::clear);
        self.causes.iter_mut().for_each(Vec::clear);
    }

    /// From now on it is known what leads to what.
    pub(crate) fn track_causes(&mut self) {
        self.tracks_causes = true;
    }

    #[inline]
    fn knowledge(&mut self, thread: ThreadId) -> &mut Knowledge {
        if self.threads.len() <= thread.index() {
            self.begin(thread);
        }
        &mut self.threads[thread.index()]
    }

    /// `thread` is known from now on, as are those before it.
    #[cold]
    fn begin(&mut self, thread: ThreadId) {
        for index in self.threads.len()..=thread.index() {
            let mut knowledge = Knowledge::default();
            knowledge.clock.tick(index);
            self.threads.push(knowledge);
        }
        if self.released.len() < self.threads.len() {
            self.released.resize_with(self.threads.len(), Vec::new);
        }
    }

    /// What `thread` did so far is known to whoever learns of it from now on.
    fn publish(&mut self, thread: ThreadId) -> Clock {
        let knowledge = self.knowledge(thread);
        let published = knowledge.clock.clone();
        knowledge.clock.tick(thread.index());
        published
    }

    /// `other` learns of everything that `thread` did so far.
    fn inform(&mut self, other: ThreadId, thread: ThreadId) {
        self.knowledge(thread.max(other));
        if let Ok([own, other]) = self.threads.get_disjoint_mut([thread.index(), other.index()]) {
            other.clock.join(&own.clock);
            if self.tracks_causes {
                other.causes.join(&own.causes);
            }
            own.clock.tick(thread.index());
        }
    }

    /// `thread` starts `child`.
    pub(crate) fn spawn(&mut self, thread: ThreadId, child: ThreadId) {
        self.inform(child, thread);
        self.knowledge(child).parent = Some(thread);
    }

    /// The thread that has started `thread`, if that has begun and was not the first.
    pub(crate) fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        self.threads.get(thread.index())?.parent
    }

    /// `thread` learns of everything that `other` did.
    pub(crate) fn join(&mut self, thread: ThreadId, other: ThreadId) {
        self.inform(thread, other);
    }

    pub(crate) fn fence(&mut self, thread: ThreadId, order: Order) {
        let knowledge = self.knowledge(thread);
        if order.acquires() {
            let read = std::mem::take(&mut knowledge.read);
            knowledge.clock.join(&read);
        }
        if order.releases() {
            let published = self.publish(thread);
            self.knowledge(thread).fenced = Some(published);
        }
    }

    /// `thread` reads what `source` wrote.
    pub(crate) fn read(&mut self, thread: ThreadId, order: Order, source: Option<(ThreadId, u32)>) {
        let Some((writer, index)) = source else { return };
        self.knowledge(thread);
        if let Some(causes) = self.causes.get(writer.index()).and_then(|list| list.get(index as usize)) {
            self.threads[thread.index()].causes.join(causes);
        }
        let released = self.released.get(writer.index()).and_then(|list| list.get(index as usize));
        let Some(Some(released)) = released else { return };
        let knowledge = &mut self.threads[thread.index()];
        if order.acquires() { knowledge.clock.join(released) } else { knowledge.read.join(released) }
    }

    /// Operation `index` of `thread` writes; a read-modify-write goes on with what it read from.
    pub(crate) fn write(&mut self, thread: ThreadId, index: u32, order: Order, continues: Option<(ThreadId, u32)>) {
        let mut released =
            if order.releases() { Some(self.publish(thread)) } else { self.knowledge(thread).fenced.clone() };
        if let Some((writer, source)) = continues
            && let Some(Some(earlier)) = self.released.get(writer.index()).and_then(|list| list.get(source as usize))
        {
            released.get_or_insert_default().join(earlier);
        }
        self.knowledge(thread);
        let list = &mut self.released[thread.index()];
        list.resize(index as usize + 1, None);
        list[index as usize] = released;
        if self.tracks_causes {
            self.note_causes(thread, index);
        }
    }

    /// Keeps what led to the write that is operation `index` of `thread`; what comes later is not part of it.
    fn note_causes(&mut self, thread: ThreadId, index: u32) {
        let published = self.publish(thread);
        let own = &mut self.threads[thread.index()].causes;
        own.join(&published);
        let causes = own.clone();
        if self.causes.len() <= thread.index() {
            self.causes.resize_with(thread.index() + 1, Vec::new);
        }
        let list = &mut self.causes[thread.index()];
        list.resize(index as usize + 1, Clock::default());
        list[index as usize] = causes;
    }

    /// Whether what `other` did at its time `time` led to where `thread` is, by reads of what was written after it, whatever their orderings.
    pub(crate) fn has_led_to(&mut self, (other, time): (ThreadId, u32), thread: ThreadId) -> bool {
        let known = self.knowledge(thread);
        time <= known.causes.get(other.index()).max(known.clock.get(other.index()))
    }

    /// `thread` has ended.
    pub(crate) fn end(&mut self, thread: ThreadId) {
        let time = self.time(thread);
        self.knowledge(thread).ended = Some(time);
    }

    /// Whether all other threads have ended, and `thread` knows of that.
    pub(crate) fn knows_ends(&mut self, thread: ThreadId) -> bool {
        self.knowledge(thread);
        let own = &self.threads[thread.index()].clock;
        let mut others = self.threads.iter().enumerate().filter(|(index, _)| *index != thread.index());
        others.all(|(index, other)| other.ended.is_some_and(|time| own.get(index) >= time))
    }

    /// `thread` accesses a cell. Gives the access that nothing orders with it, if there is one.
    pub(crate) fn access(
        &mut self,
        thread: ThreadId,
        key: Key,
        place: &'static Location<'static>,
        kind: Kind,
    ) -> Option<Race> {
        let time = self.time(thread);
        if self.data.len() <= key.index() {
            self.data.resize_with(key.index() + 1, History::default);
        }
        let (clock, history) = (&self.threads[thread.index()].clock, &mut self.data[key.index()]);
        let second = Access { thread, time, after: self.performed, place, kind };
        if history.has_plain || !kind.is_atomic {
            let is_rival =
                |access: &&Access| kind.conflicts(access.kind) && access.time > clock.get(access.thread.index());
            if let Some(first) = history.accesses.iter().find(is_rival) {
                return Some(Race { first: *first, second, key });
            }
        }
        if kind == Kind::WRITE {
            // Whoever knows of this knows of everything before it.
            history.accesses.clear();
        }
        history.has_plain |= !kind.is_atomic;
        match history.accesses.iter_mut().find(|access| access.thread == thread && access.kind == kind) {
            Some(access) => *access = second,
            None => history.accesses.push(second),
        }
        None
    }

    /// `owner` made the cell, or moved it to where it is, when it was `born`.
    pub(crate) fn create(&mut self, owner: ThreadId, born: Moment, key: Key) {
        if self.data.len() <= key.index() {
            self.data.resize_with(key.index() + 1, History::default);
        }
        let history = &mut self.data[key.index()];
        history.has_plain = true;
        history.accesses.retain(|access| access.kind != Kind::CREATION);
        let place = Location::caller();
        let Moment { time, after } = born;
        history.accesses.push(Access { thread: owner, time, after, place, kind: Kind::CREATION });
    }

    /// `thread` makes the cell, which is new, at `place`.
    pub(crate) fn construct(&mut self, thread: ThreadId, now: Moment, key: Key, place: &'static Location<'static>) {
        if self.data.len() <= key.index() {
            self.data.resize_with(key.index() + 1, History::default);
        }
        let (history, Moment { time, after }) = (&mut self.data[key.index()], now);
        history.has_plain = true;
        history.accesses.push(Access { thread, time, after, place, kind: Kind::CONSTRUCTION });
    }

    /// An access by `thread` to a cell that it does not know to be made, if it is one.
    pub(crate) fn unknown_creation(
        &mut self,
        thread: ThreadId,
        key: Key,
        place: &'static Location<'static>,
        kind: Kind,
    ) -> Option<Race> {
        let first = self.rival(thread, key).filter(|access| access.kind.is_creation)?;
        let second = Access { thread, time: self.time(thread), after: self.performed, place, kind };
        Some(Race { first, second, key })
    }

    /// Where `thread` accessed a cell atomically before, if it did since the last write of another kind.
    pub(crate) fn place_of(&self, thread: ThreadId, key: Key) -> Option<&'static Location<'static>> {
        let accesses = &self.data.get(key.index())?.accesses;
        let own = accesses.iter().find(|access| access.thread == thread && access.kind == Kind::ATOMIC_WRITE);
        own.map(|access| access.place)
    }

    /// An access to a cell that `thread` does not know of, if there is one.
    pub(crate) fn rival(&mut self, thread: ThreadId, key: Key) -> Option<Access> {
        self.knowledge(thread);
        let clock = &self.threads[thread.index()].clock;
        let is_rival = |access: &&Access| access.time > clock.get(access.thread.index()) && access.thread != thread;
        self.data.get(key.index())?.accesses.iter().find(is_rival).copied()
    }

    /// Whether `thread` knows of what `other` did at its time `time`.
    pub(crate) fn knows_time(&mut self, thread: ThreadId, other: ThreadId, time: u32) -> bool {
        self.knowledge(thread).clock.get(other.index()) >= time
    }

    /// The last access of `thread` to a cell lasted until `time`.
    pub(crate) fn lasted(&mut self, thread: ThreadId, key: Key, kind: Kind, time: u32) {
        let accesses = self.data.get_mut(key.index()).into_iter().flat_map(|history| &mut history.accesses);
        let own = accesses.filter(|access| access.thread == thread && access.kind == kind);
        own.for_each(|access| access.time = access.time.max(time));
    }

    /// The thread that runs from now on has performed so many operations.
    pub(crate) fn perform(&mut self, performed: u32) {
        self.performed = performed;
    }

    /// When it is for `thread`, which runs.
    pub(crate) fn moment(&mut self, thread: ThreadId) -> Moment {
        Moment { time: self.time(thread), after: self.performed }
    }

    /// How many steps of itself `thread` knows.
    pub(crate) fn time(&mut self, thread: ThreadId) -> u32 {
        self.knowledge(thread).clock.get(thread.index())
    }

    /// The cell with the key `old` has the key `new` from now on.
    pub(crate) fn rename(&mut self, old: Key, new: Key) {
        if let Some(history) = self.data.get_mut(old.index()).map(std::mem::take) {
            if self.data.len() <= new.index() {
                self.data.resize_with(new.index() + 1, History::default);
            }
            self.data[new.index()] = history;
        }
    }

    /// Puts what `thread` knows into `known`, to be known by others; what it does from now on is not part of it.
    pub(crate) fn tell(&mut self, thread: ThreadId, known: &mut Clock) {
        let clock = &mut self.knowledge(thread).clock;
        known.join(clock);
        clock.tick(thread.index());
    }

    /// Whether `thread` knows all that `clock` says.
    pub(crate) fn knows(&mut self, thread: ThreadId, clock: &Clock) -> bool {
        self.knowledge(thread).clock.includes(clock)
    }

    /// `thread` knows what `clock` says, for a while. Gives what it knew before.
    pub(crate) fn learn(&mut self, thread: ThreadId, clock: &Clock) -> Clock {
        let own = &mut self.knowledge(thread).clock;
        let before = own.clone();
        own.join(clock);
        before
    }

    /// `thread` knows again only what it knew `before`, and what it did itself.
    pub(crate) fn unlearn(&mut self, thread: ThreadId, mut before: Clock) {
        let own = &mut self.knowledge(thread).clock;
        before.set(thread.index(), own.get(thread.index()));
        *own = before;
    }
}
