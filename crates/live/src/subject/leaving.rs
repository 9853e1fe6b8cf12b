//! How the search abandons an execution.

use std::sync::atomic::{AtomicBool, Ordering};

use teetotal_program::{ThreadId, Value};

use super::{Live, State, Thread};
use crate::fiber::Fiber;
use crate::identity::Key;
use crate::request::What;

/// The number of operations of each thread before an abandoned execution is given up.
const MAX_TURNS: u32 = 300;

/// The number of operations of all threads before an abandoned execution is given up: they may start more and more
/// threads.
const MAX_CONCLUDED: u32 = 10_000;

/// Whether stacks were discarded in this process, so that what they borrowed from outside of their execution stays
/// borrowed.
static HAS_DISCARDED: AtomicBool = AtomicBool::new(false);

/// Returns whether an execution was abandoned in this process, with everything that its code has borrowed or locked.
#[must_use]
pub fn has_discarded() -> bool {
    HAS_DISCARDED.load(Ordering::Relaxed)
}

impl Live {
    /// Ends an execution that the search abandons.
    ///
    /// Code cannot be unwound at an arbitrary operation, since it need not expect that. If the contents of memory are
    /// known, with every buffer drained, the code runs to its end from there, which is one of its executions. After a
    /// failure, after a divergence, and if threads are blocked forever, their stacks are discarded: their code does not
    /// run any more, what they own is leaked, and the ledger counts it.
    pub(super) fn abandon(&mut self) {
        let has_failed = self.threads.iter().any(|thread| matches!(thread.state, State::Failed(..)));
        let is_done = !self.threads.iter().any(|thread| matches!(thread.state, State::Waiting(..)));
        let is_settled = std::mem::take(&mut self.is_settled);
        if has_failed || !(is_done || is_settled) {
            self.execution.forget();
        } else {
            self.execution.is_over.set(true);
            if !is_done {
                self.conclude();
            }
        }
        let is_ended = |thread: &Thread| matches!(thread.state, State::Finished | State::NotStarted);
        if !has_failed && !self.threads.iter().all(is_ended) {
            // Values of the execution are dropped only after all threads have ended.
            self.execution.forget();
        }
        if !has_failed && self.threads.iter().any(|thread| matches!(thread.state, State::Waiting(..))) {
            let is_os_thread = |thread: &&Thread| matches!(thread.fiber, Some(Fiber::OsThread(_)));
            let os_threads = self.threads.iter().filter(is_os_thread).count();
            HAS_DISCARDED.store(true, Ordering::Relaxed);
            self.execution.ledger.note_discarded(self.execution.heap.live_bytes(), os_threads);
        }
        self.is_lost = false;
        for mut thread in self.threads.drain(..) {
            thread.loops.clear();
            self.spare_loops.push(thread.loops);
            std::mem::forget(thread.held);
            if let State::Waiting(request) = thread.state {
                std::mem::forget(request);
            }
            if let Some(fiber) = thread.fiber {
                // SAFETY: none of the threads that may have borrowed from this one runs any more.
                self.stacks.extend(unsafe { fiber.give_up() });
            }
        }
    }

    /// Runs the threads that can continue, one operation each in turn, on the memory as last written.
    ///
    /// It stops if a thread fails, since others may rely on what that one would have done.
    fn conclude(&mut self) {
        let mut n_left = MAX_CONCLUDED;
        for _ in 0..MAX_TURNS {
            let mut has_gone_on = false;
            for index in 0..self.threads.len() {
                let thread = ThreadId::at(index);
                if self.would_fail_again(thread) {
                    continue;
                }
                if let Some(answer) = self.answer_now(thread) {
                    self.go_on(thread, answer);
                    has_gone_on = true;
                    n_left -= 1;
                }
                let has_failed = |thread: &Thread| matches!(thread.state, State::Failed(..));
                if n_left == 0 || self.threads.iter().any(has_failed) {
                    return;
                }
            }
            if !has_gone_on {
                return;
            }
        }
    }

    /// Returns whether `thread` is in a failed await and would read the same again.
    fn would_fail_again(&self, thread: ThreadId) -> bool {
        let loops = &self.threads[thread.index()].loops;
        let is_same = |(key, value): (Key, Value)| self.execution.written(key).is_none_or(|now| now == value);
        loops.failed.is_some() && loops.failed_reads(thread).next().is_some() && loops.failed_reads(thread).all(is_same)
    }

    /// Returns the answer for `thread` after the search has abandoned the execution, if it can continue.
    pub(crate) fn answer_now(&mut self, thread: ThreadId) -> Option<Value> {
        let what = &self.request(thread)?.what;
        let value = what.cell().map(|cell| self.execution.written(cell.key).unwrap_or(cell.initial));
        let old = value.unwrap_or(0);
        let (goes_on, new) = match what {
            What::Load { .. } | What::Fence { .. } | What::Choose { .. } | What::Rest { .. } => (true, None),
            What::Fail(_) => (false, None),
            What::Store { value, .. } => (true, Some(*value)),
            What::Rmw { update, .. } => (true, update.apply(old)),
            What::Await { until, timed, .. } => (*timed || until.accepts(old), None),
            What::Lock { update, .. } => (update.apply(old).is_some(), update.apply(old)),
            What::Unlock { .. } => (true, Some(0)),
            What::Spawn { .. } => {
                self.child(thread);
                (true, None)
            }
            What::Join { thread: other } => {
                let other = self.threads.get(other.index());
                (other.is_some_and(|other| matches!(other.state, State::Finished)), None)
            }
        };
        if let (Some(cell), Some(new)) = (self.request(thread)?.what.cell(), new) {
            self.execution.wrote(cell.key, new);
        }
        goes_on.then_some(old)
    }
}
