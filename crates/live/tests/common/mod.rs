//! Executions of closures that a test performs step by step, without a search.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::sync::Arc;

use teetotal_live::{Ledger, Live, Setup};
use teetotal_memory::{Machine, Model, Step, Trace};
use teetotal_program::{Op, Status, Subject, ThreadId};

/// A closure in the middle of an execution.
pub(crate) struct Run<M> {
    pub(crate) live: Live,
    pub(crate) machine: Machine<M>,
    pub(crate) trace: Trace,
}

impl<M: Model> Run<M> {
    pub(crate) fn of(body: impl Fn() + Send + Sync + 'static) -> Self {
        Self::with(&Ledger::default(), Setup::default(), body)
    }

    pub(crate) fn with(ledger: &Ledger, setup: Setup, body: impl Fn() + Send + Sync + 'static) -> Self {
        let live = Live::new(Arc::new(body), ledger, setup);
        Run { machine: Machine::new(&live), live, trace: Trace::default() }
    }

    pub(crate) fn restart(&mut self) {
        self.live.restart();
        self.machine.restart(&self.live);
        self.trace.clear();
    }

    pub(crate) fn status(&self, thread: u16) -> Status {
        self.live.status(ThreadId(thread))
    }

    /// The operation that a thread is about to perform.
    pub(crate) fn op(&self, thread: u16) -> Op {
        match self.status(thread) {
            Status::Ready(op) => op,
            other => panic!("thread {thread} has no operation: {other:?}"),
        }
    }

    pub(crate) fn enabled(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        self.machine.enabled(&self.live, &mut steps);
        steps
    }

    /// Performs a step, which must be possible.
    pub(crate) fn step(&mut self, step: Step) {
        let enabled = self.enabled();
        assert!(enabled.contains(&step), "{step:?} is not among {enabled:?}");
        self.machine.perform(&mut self.live, step, &mut self.trace);
    }

    /// Lets a thread perform its operation.
    pub(crate) fn issue(&mut self, thread: u16) {
        self.take(thread, 0);
    }

    /// Lets a thread perform its operation with this alternative.
    pub(crate) fn take(&mut self, thread: u16, alternative: u32) {
        self.step(Step::Issue { thread: ThreadId(thread), alternative });
    }

    /// Takes the first possible step until there is none.
    pub(crate) fn finish(&mut self) {
        for _ in 0..10_000 {
            let Some(&step) = self.enabled().first() else { return };
            self.step(step);
        }
        panic!("the execution does not end");
    }

    /// The locations that were accessed, in order.
    pub(crate) fn locations(&self) -> Vec<u32> {
        self.trace.events().iter().filter_map(|event| event.loc).map(|loc| loc.0).collect()
    }
}
