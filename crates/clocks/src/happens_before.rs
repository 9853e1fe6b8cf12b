//! The happens-before of C11 and Rust along an execution: release and acquire, fences, locks, spawn and join.
//!
//! An operation happens before another if it comes before it in its thread, or synchronizes with it, or by a chain of
//! these [C11, §5.1.2.4]. A release sequence is a release store and the read-modify-writes that read from it in a chain,
//! as in C++20 and Rust.
//!
//! The time of a thread moves on only when it publishes what it did, since nobody can learn of a part of what comes
//! between two such moments. An access at time `t` of its thread happens before where another thread is if that knows
//! at least `t` of the first.

use teetotal_program::{Order, ThreadId};

use crate::clock::Clock;

/// What the threads of an execution know of each other.
#[derive(Clone, Debug, Default)]
pub struct HappensBefore {
    threads: Vec<Knowledge>,
    /// For each operation of each thread what reading its write makes known.
    released: Vec<Vec<Option<Clock>>>,
}

/// What a thread knows.
#[derive(Clone, Debug, Default)]
struct Knowledge {
    clock: Clock,
    /// What it read without acquiring; an acquire fence makes it known.
    read: Clock,
    /// What it knew at its last release fence.
    fenced: Option<Clock>,
}

impl HappensBefore {
    /// Another execution begins. What is allocated is used again.
    pub fn clear(&mut self) {
        self.threads.clear();
        self.released.iter_mut().for_each(Vec::clear);
    }

    /// How many threads are known.
    #[inline]
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.threads.len()
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
            knowledge.clock.tick(ThreadId::at(index));
            self.threads.push(knowledge);
        }
        if self.released.len() < self.threads.len() {
            self.released.resize_with(self.threads.len(), Vec::new);
        }
    }

    /// What `thread` knows.
    #[inline]
    pub fn clock(&mut self, thread: ThreadId) -> &Clock {
        &self.knowledge(thread).clock
    }

    /// What time it is for `thread`.
    #[inline]
    pub fn time(&mut self, thread: ThreadId) -> u32 {
        self.clock(thread).get(thread)
    }

    /// What `thread` did so far is known to whoever learns of it from now on.
    #[inline]
    pub fn publish(&mut self, thread: ThreadId) -> Clock {
        let knowledge = self.knowledge(thread);
        let published = knowledge.clock.clone();
        knowledge.clock.tick(thread);
        published
    }

    /// `learner` learns of everything that `thread` did so far, by a spawn or a join.
    pub fn inform(&mut self, learner: ThreadId, thread: ThreadId) {
        self.knowledge(thread.max(learner));
        if let Ok([own, learner]) = self.threads.get_disjoint_mut([thread.index(), learner.index()]) {
            learner.clock.join(&own.clock);
            own.clock.tick(thread);
        }
    }

    /// `thread` passes a fence.
    pub fn fence(&mut self, thread: ThreadId, order: Order) {
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

    /// What is learnt from the write that is this operation of a thread, if anything is.
    #[inline]
    fn released(&self, (writer, index): (ThreadId, u32)) -> Option<&Clock> {
        self.released.get(writer.index())?.get(index as usize)?.as_ref()
    }

    /// `thread` reads what `source` wrote: an operation of a thread.
    #[inline]
    pub fn read(&mut self, thread: ThreadId, order: Order, source: (ThreadId, u32)) {
        self.knowledge(thread);
        let HappensBefore { threads, released } = self;
        let released = released.get(source.0.index()).and_then(|list| list.get(source.1 as usize));
        let Some(Some(released)) = released else { return };
        let knowledge = &mut threads[thread.index()];
        if order.acquires() { knowledge.clock.join(released) } else { knowledge.read.join(released) }
    }

    /// Operation `index` of `thread` writes; a read-modify-write goes on with what it read from.
    #[inline]
    pub fn write(
        &mut self,
        thread: ThreadId,
        index: u32,
        order: Order,
        continues: impl IntoIterator<Item = (ThreadId, u32)>,
    ) {
        let mut released =
            if order.releases() { Some(self.publish(thread)) } else { self.knowledge(thread).fenced.clone() };
        for source in continues {
            if let Some(earlier) = self.released(source) {
                released.get_or_insert_default().join(earlier);
            }
        }
        let list = &mut self.released[thread.index()];
        list.resize(index as usize + 1, None);
        list[index as usize] = released;
    }

    /// Puts what `thread` knows into `known`, to be known by others; what it does from now on is not part of it.
    pub fn tell(&mut self, thread: ThreadId, known: &mut Clock) {
        let clock = &mut self.knowledge(thread).clock;
        known.join(clock);
        clock.tick(thread);
    }

    /// `thread` knows what `clock` says, for a while. Returns what it knew before.
    pub fn learn(&mut self, thread: ThreadId, clock: &Clock) -> Clock {
        let own = &mut self.knowledge(thread).clock;
        let before = own.clone();
        own.join(clock);
        before
    }

    /// `thread` knows again only what it knew `before`, and what it did itself.
    pub fn unlearn(&mut self, thread: ThreadId, mut before: Clock) {
        let own = &mut self.knowledge(thread).clock;
        before.set(thread, own.get(thread));
        *own = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITER: ThreadId = ThreadId(0);
    const READER: ThreadId = ThreadId(1);

    /// Whether what the writer did before operation 0, its write, happens before where the reader is after reading that.
    fn is_known(fenced: bool, write: Order, read: Order, fence: Option<Order>) -> bool {
        let mut order = HappensBefore::default();
        let time = order.time(WRITER);
        if fenced {
            order.fence(WRITER, Order::Release);
        }
        order.write(WRITER, 0, write, None);
        order.read(READER, read, (WRITER, 0));
        fence.into_iter().for_each(|fence| order.fence(READER, fence));
        order.clock(READER).get(WRITER) >= time
    }

    #[test]
    fn an_acquire_read_of_a_release_write_synchronizes() {
        assert!(is_known(false, Order::Release, Order::Acquire, None));
        assert!(!is_known(false, Order::Relaxed, Order::Acquire, None));
        assert!(!is_known(false, Order::Release, Order::Relaxed, None));
    }

    #[test]
    fn fences_do_what_the_accesses_beside_them_do_not() {
        assert!(is_known(true, Order::Relaxed, Order::Acquire, None));
        assert!(is_known(true, Order::Relaxed, Order::Relaxed, Some(Order::Acquire)));
        assert!(!is_known(true, Order::Relaxed, Order::Relaxed, Some(Order::Release)));
    }

    #[test]
    fn a_relaxed_update_goes_on_with_a_release_sequence_and_a_relaxed_store_ends_it() {
        let knows = |continues: Option<(ThreadId, u32)>| {
            let (other, mut order) = (ThreadId(2), HappensBefore::default());
            let time = order.time(WRITER);
            order.write(WRITER, 0, Order::Release, None);
            order.write(other, 0, Order::Relaxed, continues);
            order.read(READER, Order::Acquire, (other, 0));
            order.clock(READER).get(WRITER) >= time
        };
        assert!(knows(Some((WRITER, 0))));
        assert!(!knows(None));
    }

    #[test]
    fn what_comes_after_a_release_is_not_known_by_it() {
        let mut order = HappensBefore::default();
        order.write(WRITER, 0, Order::Release, None);
        let time = order.time(WRITER);
        order.read(READER, Order::Acquire, (WRITER, 0));
        assert!(order.clock(READER).get(WRITER) < time);
    }

    #[test]
    fn a_child_knows_what_came_before_its_start_and_a_parent_what_came_before_its_end() {
        let mut order = HappensBefore::default();
        let before = order.time(WRITER);
        order.inform(READER, WRITER);
        assert!(order.clock(READER).get(WRITER) >= before && order.clock(READER).get(WRITER) < order.time(WRITER));
        let end = order.time(READER);
        order.inform(WRITER, READER);
        assert!(order.clock(WRITER).get(READER) >= end);
    }
}
