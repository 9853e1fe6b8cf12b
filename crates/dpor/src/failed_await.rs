//! Threads in a failed await: the last iteration of a loop left everything as it was.
//!
//! Its reads are events as any other, and a write that is added later may be given to them; but the thread has no next
//! event. An execution counts only if the iteration would be the same for ever: it reads the newest writes.

use teetotal_program::{FailedAwait, Op, Status, ThreadId};

use super::consistency::Consistency;
use super::graph::{NONE, Node, Role, Slot};
use super::walk::{Rewindable, Walk};

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// The failed await of `thread`, if its last iteration is one.
    ///
    /// The graph knows it as the subject told it when the thread came there; a subject that runs again may not see it.
    pub(super) fn failed_await(&self, thread: ThreadId) -> Option<FailedAwait> {
        match self.graph.events(thread).last {
            NONE => self.failed_await_now(thread),
            last => self.graph.node(last).failed,
        }
    }

    /// The failed await of `thread` as the subject has it now.
    fn failed_await_now(&self, thread: ThreadId) -> Option<FailedAwait> {
        match self.subject.status(thread) {
            Status::FailedAwait(failed) => Some(failed),
            _ => None,
        }
    }

    /// Takes note of whether `thread` has come to the end of a failed await with its newest node.
    pub(super) fn note_failed_await(&mut self, thread: ThreadId) {
        if S::RUNS_AGAIN {
            let failed = self.failed_await_now(thread);
            let last = self.graph.events(thread).last;
            self.graph.node_mut(last).failed = failed;
            if let Some(failed) = failed.filter(|failed| failed.restores)
                && self.iteration(thread, failed).any(|write| self.is_observed(write))
            {
                self.subject.note_observed(thread);
            }
        }
    }

    /// Whether another thread reads from `write`, which is overwritten by the same thread.
    fn is_observed(&self, write: Slot) -> bool {
        let node = self.graph.node(write);
        let is_restored = node.role.is_write() && node.co_after != NONE && {
            let after = self.graph.node(node.co_after);
            after.thread == node.thread && after.index > node.index
        };
        is_restored
            && node.readers.iter().any(|reader| {
                let reader = self.graph.node(reader);
                reader.thread != node.thread && reader.role != Role::Retried
            })
    }

    /// Tells a subject that has run again which threads are in a failed await.
    pub(super) fn tell_failed_awaits(&mut self) {
        for thread in self.threads() {
            let last = self.graph.events(thread).last;
            if last != NONE {
                self.subject.set_failed_await(thread, self.graph.node(last).failed);
            }
        }
    }

    /// The nodes of the failed await of `thread`, the newest first.
    fn iteration(&self, thread: ThreadId, failed: FailedAwait) -> impl Iterator<Item = Slot> + '_ {
        let last = Some(self.graph.events(thread).last).filter(|&last| last != NONE);
        let nodes =
            std::iter::successors(last, |&slot| Some(self.graph.node(slot).before).filter(|&slot| slot != NONE));
        nodes.take_while(move |&slot| self.graph.node(slot).index >= failed.since)
    }

    /// The read by which a failed await of `thread` ended, if it is in one that has a read.
    ///
    /// The thread goes on only in executions in which this read or an earlier one has another source.
    pub(super) fn failed_read(&self, thread: ThreadId) -> Option<Slot> {
        let failed = self.failed_await(thread)?;
        self.iteration(thread, failed).find(|&slot| self.graph.node(slot).role.is_read())
    }

    /// Whether `thread`, whose last iteration is a failed await, can never go on.
    pub(super) fn fails_forever(&self, thread: ThreadId, failed: FailedAwait) -> bool {
        if failed.recurs {
            return true;
        }
        if failed.is_spurious || !self.iteration(thread, failed).all(|slot| self.reads_alike(slot, failed)) {
            return false;
        }
        let holds_up = |other: ThreadId| other != thread && self.waits_at_iteration(other, thread, failed);
        if failed.restores && self.threads().any(holds_up) {
            // The other thread can see what is changed, so that it counts.
            self.subject.note_observed(thread);
            return false;
        }
        true
    }

    /// Whether a read of the failed await would read the same again: the same value, and where the iteration writes there
    /// too, from the same write. It may be a lock, and the data behind it is what its last owner left.
    fn reads_alike(&self, slot: Slot, failed: FailedAwait) -> bool {
        let node = self.graph.node(slot);
        let is_own = node.source != NONE && {
            let source = self.graph.node(node.source);
            source.thread == node.thread && source.index >= failed.since
        };
        // What it wrote itself it writes again.
        !node.role.is_read() || is_own || {
            let newest = self.graph.location(node.loc()).newest;
            self.graph.value_of(newest, node.loc()) == node.read
                && (node.role != Role::UpdateRead || self.lasting(newest) == self.lasting(node.source))
        }
    }

    /// The newest write up to `write` that is not of a failed await.
    fn lasting(&self, mut write: Slot) -> Slot {
        while write != NONE && {
            let node = self.graph.node(write);
            self.failed_await(node.thread).is_some_and(|failed| node.index >= failed.since)
        } {
            write = self.graph.node(write).co_before;
        }
        write
    }

    /// Whether a read reads the newest write there is, its own aside.
    fn is_newest(&self, read: Slot) -> bool {
        let node = self.graph.node(read);
        let newest = self.graph.location(node.loc()).newest;
        newest == node.source || newest != NONE && self.graph.node(newest).before == read
    }

    /// Whether `other` waits for a location that the iteration changes for a while, and so not forever.
    fn waits_at_iteration(&self, other: ThreadId, thread: ThreadId, failed: FailedAwait) -> bool {
        let is_changed = |loc: usize| {
            let mut nodes = self.iteration(thread, failed).map(|slot| self.graph.node(slot));
            nodes.any(|node| {
                node.role == Role::UpdateWrite && node.loc() == loc && node.written != self.graph.node(node.before).read
            })
        };
        if let Some(own) = self.failed_await(other) {
            let mut reads = self.iteration(other, own).map(|slot| self.graph.node(slot));
            let sees = |node: &Node<C, N>| node.role.is_read() && !(own.only_locks && node.role == Role::UpdateRead);
            return reads.any(|node| sees(node) && is_changed(node.loc()));
        }
        match self.subject.status(other) {
            Status::Ready(op @ (Op::Lock { .. } | Op::Await { .. })) => is_changed(self.reading(other, op).loc.index()),
            _ => false,
        }
    }

    /// Whether the newest event of `thread` ended a failed await that no later event can make one of an execution.
    ///
    /// So it is if its last read has an older source than it could have: then it neither reads the newest write at the
    /// end nor is maximal, as what is revisited must be. And so it is if its last read is a compare-exchange that failed
    /// spuriously: with another source it does what it does when it fails as it must.
    pub(super) fn fails_hopelessly(&self, thread: ThreadId) -> bool {
        let (Some(failed), Some(read)) = (self.failed_await(thread), self.failed_read(thread)) else { return false };
        !failed.recurs && (failed.ends_spuriously || !self.is_newest(read))
    }

    /// Tells the subject if `read` takes what another thread has changed and changed back in a failed await.
    pub(super) fn note_observation(&self, read: Slot) {
        let Some(source) = Some(self.graph.node(read).source).filter(|&source| source != NONE) else { return };
        let writer = self.graph.node(source).thread;
        if writer == self.graph.node(read).thread {
            return;
        }
        let Some(failed) = self.failed_await(writer) else { return };
        if failed.restores && self.graph.node(source).index >= failed.since && self.is_observed(source) {
            self.subject.note_observed(writer);
        }
    }
}
