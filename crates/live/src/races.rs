//! Data races of real code: which accesses to a cell the happens-before of the language leaves unordered.
//!
//! Of the accesses to a cell those are kept that the next may race with, and the first race ends the execution. The
//! monitor `races` of the crate `judge` keeps all accesses instead, since it tells of every pair of places that race.

use std::panic::Location;

use teetotal_clocks::{Clock, HappensBefore};
use teetotal_program::{Order, ThreadId};

use crate::complaint::{Access, Kind, Race};
use crate::heap::Moment;
use crate::identity::Key;

/// Who knows what, and who accessed which data.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// How many operations the thread that runs has performed.
    performed: u32,
    order: HappensBefore,
    /// Of each thread that was started, has ended or has causes.
    lives: Vec<Life>,
    /// For each cell who accessed it.
    data: Vec<History>,
    /// Whether it is known what leads to what, whatever the orderings are: reads-from and program order.
    tracks_causes: bool,
    /// For each operation of each thread what led to its write.
    causes: Vec<Vec<Clock>>,
}

/// The life of a thread.
#[derive(Debug, Default)]
struct Life {
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
        self.order.clear();
        self.lives.clear();
        // What they have allocated is used again.
        self.data.iter_mut().for_each(History::clear);
        self.causes.iter_mut().for_each(Vec::clear);
    }

    /// From now on it is known what leads to what.
    pub(crate) fn track_causes(&mut self) {
        self.tracks_causes = true;
    }

    /// What is known of the life of `thread`, and of the threads before it.
    fn life(&mut self, thread: ThreadId) -> &mut Life {
        if self.lives.len() <= thread.index() {
            self.lives.resize_with(thread.index() + 1, Life::default);
        }
        &mut self.lives[thread.index()]
    }

    /// `learner` learns of everything that `thread` did so far.
    fn inform(&mut self, learner: ThreadId, thread: ThreadId) {
        self.order.inform(learner, thread);
        if self.tracks_causes {
            self.life(learner.max(thread));
            if let Ok([own, learner]) = self.lives.get_disjoint_mut([thread.index(), learner.index()]) {
                learner.causes.join(&own.causes);
            }
        }
    }

    /// `thread` starts `child`.
    pub(crate) fn spawn(&mut self, thread: ThreadId, child: ThreadId) {
        self.inform(child, thread);
        self.life(child).parent = Some(thread);
    }

    /// The thread that has started `thread`, if that has begun and was not the first.
    pub(crate) fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        self.lives.get(thread.index())?.parent
    }

    /// `thread` learns of everything that `other` did.
    pub(crate) fn join(&mut self, thread: ThreadId, other: ThreadId) {
        self.inform(thread, other);
    }

    pub(crate) fn fence(&mut self, thread: ThreadId, order: Order) {
        self.order.fence(thread, order);
    }

    /// `thread` reads what `source` wrote.
    #[inline]
    pub(crate) fn read(&mut self, thread: ThreadId, order: Order, source: Option<(ThreadId, u32)>) {
        let Some((writer, index)) = source else { return };
        if self.tracks_causes {
            self.life(thread);
            if let Some(causes) = self.causes.get(writer.index()).and_then(|list| list.get(index as usize)) {
                self.lives[thread.index()].causes.join(causes);
            }
        }
        self.order.read(thread, order, (writer, index));
    }

    /// Operation `index` of `thread` writes; a read-modify-write goes on with what it read from.
    #[inline]
    pub(crate) fn write(&mut self, thread: ThreadId, index: u32, order: Order, continues: Option<(ThreadId, u32)>) {
        self.order.write(thread, index, order, continues);
        if self.tracks_causes {
            self.note_causes(thread, index);
        }
    }

    /// Keeps what led to the write that is operation `index` of `thread`; what comes later is not part of it.
    fn note_causes(&mut self, thread: ThreadId, index: u32) {
        let published = self.order.publish(thread);
        let own = &mut self.life(thread).causes;
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
        time <= self.life(thread).causes.get(other).max(self.order.clock(thread).get(other))
    }

    /// `thread` has ended.
    pub(crate) fn end(&mut self, thread: ThreadId) {
        let time = self.time(thread);
        self.life(thread).ended = Some(time);
    }

    /// Whether all other threads have ended, and `thread` knows of that.
    pub(crate) fn knows_ends(&mut self, thread: ThreadId) -> bool {
        self.order.clock(thread);
        let n_threads = self.order.n_threads();
        let (own, lives) = (self.order.clock(thread), &self.lives);
        let mut others = (0..n_threads).map(ThreadId::at).filter(|&other| other != thread);
        let ended = |other: ThreadId| lives.get(other.index()).and_then(|life| life.ended);
        others.all(|other| ended(other).is_some_and(|time| own.get(other) >= time))
    }

    /// The cell has a history from now on.
    #[inline]
    fn make_room(&mut self, key: Key) {
        if self.data.len() <= key.index() {
            self.data.resize_with(key.index() + 1, History::default);
        }
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
        self.make_room(key);
        let (clock, history) = (self.order.clock(thread), &mut self.data[key.index()]);
        let second = Access { thread, time, after: self.performed, place, kind };
        if history.has_plain || !kind.is_atomic {
            let is_rival = |access: &&Access| kind.conflicts(access.kind) && access.time > clock.get(access.thread);
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
        self.make_room(key);
        let history = &mut self.data[key.index()];
        history.has_plain = true;
        history.accesses.retain(|access| access.kind != Kind::CREATION);
        let place = Location::caller();
        let Moment { time, after } = born;
        history.accesses.push(Access { thread: owner, time, after, place, kind: Kind::CREATION });
    }

    /// `thread` makes the cell, which is new, at `place`.
    pub(crate) fn construct(&mut self, thread: ThreadId, now: Moment, key: Key, place: &'static Location<'static>) {
        self.make_room(key);
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
        let clock = self.order.clock(thread);
        let is_rival = |access: &&Access| access.time > clock.get(access.thread) && access.thread != thread;
        self.data.get(key.index())?.accesses.iter().find(is_rival).copied()
    }

    /// Whether `thread` knows of what `other` did at its time `time`.
    pub(crate) fn knows_time(&mut self, thread: ThreadId, other: ThreadId, time: u32) -> bool {
        self.order.clock(thread).get(other) >= time
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
        self.order.time(thread)
    }

    /// The cell with the key `old` has the key `new` from now on.
    pub(crate) fn rename(&mut self, old: Key, new: Key) {
        if let Some(history) = self.data.get_mut(old.index()).map(std::mem::take) {
            self.make_room(new);
            self.data[new.index()] = history;
        }
    }

    /// Puts what `thread` knows into `known`, to be known by others; what it does from now on is not part of it.
    pub(crate) fn tell(&mut self, thread: ThreadId, known: &mut Clock) {
        self.order.tell(thread, known);
    }

    /// Whether `thread` knows all that `clock` says.
    pub(crate) fn knows(&mut self, thread: ThreadId, clock: &Clock) -> bool {
        self.order.clock(thread).includes(clock)
    }

    /// `thread` knows what `clock` says, for a while. Gives what it knew before.
    pub(crate) fn learn(&mut self, thread: ThreadId, clock: &Clock) -> Clock {
        self.order.learn(thread, clock)
    }

    /// `thread` knows again only what it knew `before`, and what it did itself.
    pub(crate) fn unlearn(&mut self, thread: ThreadId, before: Clock) {
        self.order.unlearn(thread, before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITER: ThreadId = ThreadId(0);
    const READER: ThreadId = ThreadId(1);
    const OTHER: ThreadId = ThreadId(2);

    impl Races {
        /// Whether an access of `thread` to the first cell races with an earlier one, and that is of which thread.
        fn rival_of(&mut self, thread: ThreadId, kind: Kind) -> Option<ThreadId> {
            self.access(thread, Key::at(0), Location::caller(), kind).map(|race| race.first.thread)
        }
    }

    #[test]
    fn accesses_race_if_nothing_orders_them_and_one_writes_and_one_is_plain() {
        for (first, second, races) in [
            (Kind::WRITE, Kind::READ, true),
            (Kind::READ, Kind::WRITE, true),
            (Kind::WRITE, Kind::ATOMIC_READ, true),
            (Kind::READ, Kind::ATOMIC_WRITE, true),
            (Kind::READ, Kind::READ, false),
            (Kind::READ, Kind::ATOMIC_READ, false),
            (Kind::ATOMIC_WRITE, Kind::ATOMIC_WRITE, false),
        ] {
            let mut seen = Races::default();
            assert_eq!(seen.rival_of(WRITER, first), None);
            assert_eq!(seen.rival_of(READER, second), races.then_some(WRITER), "{first:?}, {second:?}");
        }
    }

    #[test]
    fn an_acquire_read_of_a_release_write_orders_what_came_before_it_and_nothing_after_it() {
        let mut seen = Races::default();
        assert_eq!(seen.rival_of(WRITER, Kind::WRITE), None);
        seen.write(WRITER, 0, Order::Release, None);
        seen.read(READER, Order::Acquire, Some((WRITER, 0)));
        assert_eq!(seen.rival_of(READER, Kind::READ), None);
        assert_eq!(seen.rival_of(WRITER, Kind::WRITE), Some(READER));
    }

    #[test]
    fn a_spawn_and_a_join_order_the_child() {
        let mut seen = Races::default();
        assert_eq!(seen.rival_of(WRITER, Kind::WRITE), None);
        seen.spawn(WRITER, READER);
        assert_eq!((seen.rival_of(READER, Kind::WRITE), seen.parent(READER)), (None, Some(WRITER)));
        assert!(!seen.knows_ends(WRITER));
        seen.end(READER);
        seen.join(WRITER, READER);
        assert_eq!(seen.rival_of(WRITER, Kind::WRITE), None);
        assert!(seen.knows_ends(WRITER));
    }

    #[test]
    fn of_writes_that_are_ordered_the_last_is_told_of() {
        let mut seen = Races::default();
        assert_eq!(seen.rival_of(WRITER, Kind::WRITE), None);
        seen.spawn(WRITER, READER);
        seen.spawn(WRITER, OTHER);
        assert_eq!(seen.rival_of(READER, Kind::WRITE), None);
        assert_eq!(seen.rival_of(OTHER, Kind::READ), Some(READER));
    }

    #[test]
    fn relaxed_reads_are_causes_and_order_nothing() {
        let mut seen = Races::default();
        seen.track_causes();
        assert_eq!(seen.rival_of(WRITER, Kind::WRITE), None);
        let time = seen.time(WRITER);
        seen.write(WRITER, 0, Order::Relaxed, None);
        assert!(!seen.has_led_to((WRITER, time), READER));
        seen.read(READER, Order::Relaxed, Some((WRITER, 0)));
        assert!(seen.has_led_to((WRITER, time), READER));
        assert_eq!(seen.rival_of(READER, Kind::READ), Some(WRITER));
    }

    #[test]
    fn a_renamed_cell_keeps_its_history_and_a_new_execution_has_none() {
        let mut seen = Races::default();
        assert_eq!(seen.access(WRITER, Key::at(5), Location::caller(), Kind::WRITE), None);
        seen.rename(Key::at(5), Key::at(0));
        assert_eq!(seen.rival_of(READER, Kind::READ), Some(WRITER));
        seen.clear();
        assert_eq!(seen.rival_of(READER, Kind::READ), None);
    }
}
