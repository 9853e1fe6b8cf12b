//! Which plain accesses happen before what, by the orderings that a program has.
//!
//! Of the plain accesses of a thread the latest read and the latest write are enough to tell whether another access
//! races with one of them: whatever the later one happens before, so does the earlier one.

use teetotal::sync::atomic::Ordering;

use crate::program::{MOST_THREADS, N_LOCATIONS};

/// A set of plain accesses: two bits for each thread, its latest read and its latest write.
pub(crate) type Accesses = u8;

/// What a thread knows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Own {
    /// The accesses that happen before its next operation.
    known: Accesses,
    /// Those that an acquire fence makes known.
    read: Accesses,
    /// Those that were known at its last release fence.
    fenced: Accesses,
}

/// The happens-before order at a point of an execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Knowledge {
    done: Accesses,
    threads: [Own; MOST_THREADS],
    /// What reading each location in memory makes known.
    memory: [Accesses; N_LOCATIONS],
    /// What reading the lock makes known.
    lock: Accesses,
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

impl Knowledge {
    /// A thread accesses the data, with the accesses that its pending stores make known. Returns whether that is a race.
    pub(crate) fn access<'p>(
        &mut self,
        thread: usize,
        is_write: bool,
        pending: impl Iterator<Item = &'p mut Accesses>,
    ) -> bool {
        let own = 0b11 << (2 * thread);
        let writes: Accesses = 0b10_1010;
        let rivals = if is_write { self.done } else { self.done & writes } & !own;
        if rivals & !self.threads[thread].known != 0 {
            return true;
        }
        // Nothing knows of it yet but the thread itself.
        let access = 1 << (2 * thread + usize::from(is_write));
        pending.for_each(|accesses| *accesses &= !access);
        let threads = self.threads.iter_mut().flat_map(|own| [&mut own.known, &mut own.read, &mut own.fenced]);
        let all = threads.chain(&mut self.memory).chain([&mut self.lock]);
        all.for_each(|accesses| *accesses &= !access);
        self.done |= access;
        self.threads[thread].known |= access;
        false
    }

    /// What is made known by what is in memory at this location.
    pub(crate) fn in_memory(&self, loc: usize) -> Accesses {
        self.memory[loc]
    }

    /// A thread reads a write that makes `accesses` known.
    pub(crate) fn read(&mut self, thread: usize, order: Ordering, accesses: Accesses) {
        let own = &mut self.threads[thread];
        *(if acquires(order) { &mut own.known } else { &mut own.read }) |= accesses;
    }

    /// What a store makes known.
    pub(crate) fn released(&self, thread: usize, order: Ordering) -> Accesses {
        let own = &self.threads[thread];
        if releases(order) { own.known } else { own.fenced }
    }

    /// A store reaches memory.
    pub(crate) fn commit(&mut self, loc: usize, accesses: Accesses) {
        self.memory[loc] = accesses;
    }

    /// A thread reads and writes at once, which goes on with the release sequence that it reads from.
    pub(crate) fn update(&mut self, thread: usize, loc: usize, order: Ordering) {
        let before = self.memory[loc];
        self.read(thread, order, before);
        self.memory[loc] = before | self.released(thread, order);
    }

    pub(crate) fn fence(&mut self, thread: usize) {
        let own = &mut self.threads[thread];
        own.known |= own.read;
        own.fenced = own.known;
    }

    /// A thread takes the lock: an acquire exchange.
    pub(crate) fn lock(&mut self, thread: usize) {
        self.read(thread, Ordering::Acquire, self.lock);
        self.lock |= self.released(thread, Ordering::Acquire);
    }

    /// A thread finds the lock taken: a relaxed load.
    pub(crate) fn find_locked(&mut self, thread: usize) {
        self.read(thread, Ordering::Relaxed, self.lock);
    }

    pub(crate) fn unlock(&mut self, thread: usize) {
        self.lock |= self.released(thread, Ordering::Release);
    }
}
