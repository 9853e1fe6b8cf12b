//! Data races, by the happens-before of the language: release and acquire, fences, locks, spawn and join.
//!
//! A release sequence is a release store and the read-modify-writes that read from it in a chain, as in C++20 and Rust.

use std::panic::Location;

use rustc_hash::FxHashMap;
use teetotal_program::{Order, ThreadId};

use crate::clock::Clock;

/// Who knows what, and who accessed which data.
#[derive(Debug, Default)]
pub(crate) struct Races {
    threads: Vec<Knowledge>,
    data: FxHashMap<usize, History>,
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

/// The accesses to a piece of data that later ones must know of.
#[derive(Debug, Default)]
struct History {
    write: Option<Access>,
    /// One for each thread.
    reads: Vec<Access>,
}

/// An access to data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) thread: ThreadId,
    time: u32,
    pub(crate) place: &'static Location<'static>,
    pub(crate) is_write: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Race {
    pub(crate) first: Access,
    pub(crate) second: Access,
}

impl Races {
    pub(crate) fn clear(&mut self) {
        self.threads.clear();
        self.data.clear();
        self.released.clear();
    }

    fn knowledge(&mut self, thread: ThreadId) -> &mut Knowledge {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Knowledge::default);
            self.released.resize_with(thread.index() + 1, Vec::new);
        }
        let knowledge = &mut self.threads[thread.index()];
        if knowledge.clock.get(thread.index()) == 0 {
            knowledge.clock.tick(thread.index());
        }
        knowledge
    }

    /// What `thread` did so far is known to whoever learns of it from now on.
    fn publish(&mut self, thread: ThreadId) -> Clock {
        let knowledge = self.knowledge(thread);
        let published = knowledge.clock.clone();
        knowledge.clock.tick(thread.index());
        published
    }

    /// `thread` starts `child`.
    pub(crate) fn spawn(&mut self, thread: ThreadId, child: ThreadId) {
        let published = self.publish(thread);
        self.knowledge(child).clock.join(&published);
    }

    /// `thread` learns of everything that `other` did.
    pub(crate) fn join(&mut self, thread: ThreadId, other: ThreadId) {
        let published = self.publish(other);
        self.knowledge(thread).clock.join(&published);
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
        let released = self.released.get(writer.index()).and_then(|list| list.get(index as usize)).cloned().flatten();
        let Some(released) = released else { return };
        let knowledge = self.knowledge(thread);
        if order.acquires() { knowledge.clock.join(&released) } else { knowledge.read.join(&released) }
    }

    /// Operation `index` of `thread` writes; a read-modify-write goes on with what it read from.
    pub(crate) fn write(&mut self, thread: ThreadId, index: u32, order: Order, continues: Option<(ThreadId, u32)>) {
        let mut released =
            if order.releases() { Some(self.publish(thread)) } else { self.knowledge(thread).fenced.clone() };
        if let Some((writer, source)) = continues
            && let Some(Some(earlier)) = self.released.get(writer.index()).and_then(|list| list.get(source as usize))
        {
            let earlier = earlier.clone();
            released.get_or_insert_default().join(&earlier);
        }
        self.knowledge(thread);
        let list = &mut self.released[thread.index()];
        list.resize(index as usize + 1, None);
        list[index as usize] = released;
    }

    /// `thread` accesses the data at `address`. Gives the access that nothing orders with it, if there is one.
    pub(crate) fn access(
        &mut self,
        thread: ThreadId,
        address: usize,
        place: &'static Location<'static>,
        is_write: bool,
    ) -> Option<Race> {
        let clock = self.knowledge(thread).clock.clone();
        let second = Access { thread, time: clock.get(thread.index()), place, is_write };
        let history = self.data.entry(address).or_default();
        let is_unknown = |access: &&Access| access.time > clock.get(access.thread.index());
        let mut rivals = history.write.iter().chain(history.reads.iter().filter(|_| is_write));
        if let Some(first) = rivals.find(is_unknown) {
            return Some(Race { first: *first, second });
        }
        if is_write {
            history.reads.clear();
            history.write = Some(second);
        } else {
            history.reads.retain(|access| access.thread != thread);
            history.reads.push(second);
        }
        None
    }

    /// The data at `address` is gone.
    pub(crate) fn forget(&mut self, address: usize) {
        self.data.remove(&address);
    }
}
