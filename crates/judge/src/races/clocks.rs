//! Who knows what: clocks along an execution.

use teetotal_memory::{Event, EventId, EventKind, Source};
use teetotal_program::ThreadId;

use super::Role;

/// For each thread, how many of its events are known.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Clock(Vec<u32>);

impl Clock {
    pub(super) fn get(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    fn set(&mut self, thread: ThreadId, time: u32) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        self.0[thread.index()] = time;
    }

    fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own = (*own).max(*other));
    }
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

/// The clocks of an execution so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Clocks {
    threads: Vec<Knowledge>,
    /// For each event what reading its write makes known, if anything.
    released: Vec<Option<Clock>>,
}

impl Clocks {
    pub(super) fn clear(&mut self) {
        self.threads.clear();
        self.released.clear();
    }

    fn knowledge(&mut self, thread: ThreadId) -> &mut Knowledge {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, Knowledge::default);
        }
        &mut self.threads[thread.index()]
    }

    /// What `thread` knows.
    pub(super) fn known(&self, thread: ThreadId) -> &Clock {
        &self.threads[thread.index()].clock
    }

    /// The next event of the execution, which takes what it reads from `sources`; there may be several for a lock, which
    /// knows of every unlock before it, and none where it is not known with whom it synchronizes.
    pub(super) fn perform(&mut self, event: &Event, role: Role, sources: &[Source]) {
        let thread = event.thread;
        let mut obtained = Clock::default();
        for source in sources {
            if let Source::Write(EventId(write)) = source
                && let Some(Some(released)) = self.released.get(*write as usize)
            {
                obtained.join(released);
            }
        }
        match event.kind {
            EventKind::Join(child) => {
                let ended = self.knowledge(child).clock.clone();
                self.knowledge(thread).clock.join(&ended);
            }
            EventKind::Fence | EventKind::GlobalFence if role.acquires => {
                let knowledge = self.knowledge(thread);
                let read = std::mem::take(&mut knowledge.read);
                knowledge.clock.join(&read);
            }
            _ => {}
        }
        let knowledge = self.knowledge(thread);
        if role.acquires {
            knowledge.clock.join(&obtained)
        } else {
            knowledge.read.join(&obtained)
        }
        knowledge.clock.set(thread, event.index + 1);
        self.release(event, role, obtained);
    }

    /// Keeps what somebody else learns from this event.
    fn release(&mut self, event: &Event, role: Role, obtained: Clock) {
        let knowledge = self.knowledge(event.thread);
        let clock = knowledge.clock.clone();
        let mut released = None;
        match event.kind {
            EventKind::Spawn(child) => self.knowledge(child).clock.join(&clock),
            EventKind::Fence | EventKind::GlobalFence if role.releases => knowledge.fenced = Some(clock),
            _ if event.is_write() => {
                released = if role.releases { Some(clock) } else { knowledge.fenced.clone() };
                // A read-modify-write goes on with what it read from.
                if event.is_read() && obtained != Clock::default() {
                    released.get_or_insert_default().join(&obtained);
                }
            }
            _ => {}
        }
        self.released.push(released);
    }
}
