//! Data races of Rust code: accesses to a cell that happens-before does not order.
//!
//! Only accesses to a cell that later ones may race with are kept, and the first race ends the execution. The monitor
//! `races` of the crate `judge` keeps all accesses, since it reports every pair of places that race.

use std::panic::Location;

use teetotal_clocks::{Clock, HappensBefore};
use teetotal_program::{Order, ThreadId};

use crate::complaint::{Access, Kind, Race};
use crate::heap::Moment;
use crate::identity::Key;

/// The vector clocks of threads, and the accesses to cells.
#[derive(Debug, Default)]
pub(crate) struct Races {
    /// The number of operations of the current thread.
    performed: u32,
    order: HappensBefore,
    /// The lives of threads that were started, have ended or have causes.
    lives: Vec<Life>,
    /// The accesses to each cell.
    data: Vec<History>,
    /// Whether causality by reads-from and program order, whatever the orderings, is tracked.
    tracks_causes: bool,
    /// The causes of the write of each operation of each thread.
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

    /// Starts tracking causality.
    pub(crate) fn track_causes(&mut self) {
        self.tracks_causes = true;
    }

    /// Returns the life of `thread`, creating it and those of earlier threads if necessary.
    fn life(&mut self, thread: ThreadId) -> &mut Life {
        if self.lives.len() <= thread.index() {
            self.lives.resize_with(thread.index() + 1, Life::default);
        }
        &mut self.lives[thread.index()]
    }

    /// Joins the clock of `thread` into that of `learner`.
    fn inform(&mut self, learner: ThreadId, thread: ThreadId) {
        self.order.inform(learner, thread);
        if self.tracks_causes {
            self.life(learner.max(thread));
            if let Ok([own, learner]) = self.lives.get_disjoint_mut([thread.index(), learner.index()]) {
                learner.causes.join(&own.causes);
            }
        }
    }

    /// Records that `thread` starts `child`.
    pub(crate) fn spawn(&mut self, thread: ThreadId, child: ThreadId) {
        self.inform(child, thread);
        self.life(child).parent = Some(thread);
    }

    /// Returns the parent of `thread`, if it has begun and is not the first thread.
    pub(crate) fn parent(&self, thread: ThreadId) -> Option<ThreadId> {
        self.lives.get(thread.index())?.parent
    }

    /// Joins the final clock of `other` into that of `thread`.
    pub(crate) fn join(&mut self, thread: ThreadId, other: ThreadId) {
        self.inform(thread, other);
    }

    pub(crate) fn fence(&mut self, thread: ThreadId, order: Order) {
        self.order.fence(thread, order);
    }

    /// Records that `thread` reads what `source` wrote.
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

    /// Returns whether what `other` did at its time `time` led to where `thread` is, by reads of what was written after
    /// it, whatever their orderings.
    pub(crate) fn has_led_to(&mut self, (other, time): (ThreadId, u32), thread: ThreadId) -> bool {
        time <= self.life(thread).causes.get(other).max(self.order.clock(thread).get(other))
    }

    /// Records that `thread` has ended.
    pub(crate) fn end(&mut self, thread: ThreadId) {
        let time = self.time(thread);
        self.life(thread).ended = Some(time);
    }

    /// Returns whether all other threads have ended before `thread` now.
    pub(crate) fn knows_ends(&mut self, thread: ThreadId) -> bool {
        self.order.clock(thread);
        let n_threads = self.order.n_threads();
        let (own, lives) = (self.order.clock(thread), &self.lives);
        let mut others = (0..n_threads).map(ThreadId::at).filter(|&other| other != thread);
        let ended = |other: ThreadId| lives.get(other.index()).and_then(|life| life.ended);
        others.all(|other| ended(other).is_some_and(|time| own.get(other) >= time))
    }

    /// Starts the history of a cell.
    #[inline]
    fn make_room(&mut self, key: Key) {
        if self.data.len() <= key.index() {
            self.data.resize_with(key.index() + 1, History::default);
        }
    }

    /// Records an access of `thread` to a cell. Returns an access that races with it, if there is one.
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
            // A thread that is ordered after this is ordered after everything before it.
            history.accesses.clear();
        }
        history.has_plain |= !kind.is_atomic;
        match history.accesses.iter_mut().find(|access| access.thread == thread && access.kind == kind) {
            Some(access) => *access = second,
            None => history.accesses.push(second),
        }
        None
    }

    /// Records that `owner` created the cell, or moved it to its place, at the time `born`.
    pub(crate) fn create(&mut self, owner: ThreadId, born: Moment, key: Key) {
        self.make_room(key);
        let history = &mut self.data[key.index()];
        history.has_plain = true;
        history.accesses.retain(|access| access.kind != Kind::CREATION);
        let place = Location::caller();
        let Moment { time, after } = born;
        history.accesses.push(Access { thread: owner, time, after, place, kind: Kind::CREATION });
    }

    /// Records that `thread` creates the cell at `place`.
    pub(crate) fn construct(&mut self, thread: ThreadId, now: Moment, key: Key, place: &'static Location<'static>) {
        self.make_room(key);
        let (history, Moment { time, after }) = (&mut self.data[key.index()], now);
        history.has_plain = true;
        history.accesses.push(Access { thread, time, after, place, kind: Kind::CONSTRUCTION });
    }

    /// Returns the race of an access by `thread` with the creation of a cell, if there is one.
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

    /// Returns the place of the last atomic access of `thread` to a cell, if there was one since the last write of
    /// another kind.
    pub(crate) fn place_of(&self, thread: ThreadId, key: Key) -> Option<&'static Location<'static>> {
        let accesses = &self.data.get(key.index())?.accesses;
        let own = accesses.iter().find(|access| access.thread == thread && access.kind == Kind::ATOMIC_WRITE);
        own.map(|access| access.place)
    }

    /// Returns an access to a cell that is not ordered before `thread`, if there is one.
    pub(crate) fn rival(&mut self, thread: ThreadId, key: Key) -> Option<Access> {
        let clock = self.order.clock(thread);
        let is_rival = |access: &&Access| access.time > clock.get(access.thread) && access.thread != thread;
        self.data.get(key.index())?.accesses.iter().find(is_rival).copied()
    }

    /// Returns whether what `other` did at its time `time` happens before `thread` now.
    pub(crate) fn knows_time(&mut self, thread: ThreadId, other: ThreadId, time: u32) -> bool {
        self.order.clock(thread).get(other) >= time
    }

    /// The last access of `thread` to a cell lasted until `time`.
    pub(crate) fn lasted(&mut self, thread: ThreadId, key: Key, kind: Kind, time: u32) {
        let accesses = self.data.get_mut(key.index()).into_iter().flat_map(|history| &mut history.accesses);
        let own = accesses.filter(|access| access.thread == thread && access.kind == kind);
        own.for_each(|access| access.time = access.time.max(time));
    }

    /// Records the number of operations that the current thread has performed.
    pub(crate) fn perform(&mut self, performed: u32) {
        self.performed = performed;
    }

    /// Returns the time of `thread`, which is running.
    pub(crate) fn moment(&mut self, thread: ThreadId) -> Moment {
        Moment { time: self.time(thread), after: self.performed }
    }

    /// Returns the number of its own steps in the clock of `thread`.
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

    /// Returns whether the clock of `thread` includes `clock`.
    pub(crate) fn knows(&mut self, thread: ThreadId, clock: &Clock) -> bool {
        self.order.clock(thread).includes(clock)
    }

    /// Temporarily joins `clock` into the clock of `thread`. Returns the previous clock.
    pub(crate) fn learn(&mut self, thread: ThreadId, clock: &Clock) -> Clock {
        self.order.learn(thread, clock)
    }

    /// Restores the clock of `thread` to `before`, except for its own steps.
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
