//! Executions that a test performs step by step.

#![allow(dead_code, reason = "not every test uses all of it")]

use std::sync::Arc;

use teetotal_generate::program;
use teetotal_memory::{Machine, Model, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, ThreadId};

/// A program in the middle of an execution.
#[derive(Clone)]
pub(crate) struct Run<M> {
    pub(crate) machine: Machine<M>,
    pub(crate) subject: Interpreter,
    pub(crate) trace: Trace,
}

impl<M: Model> Run<M> {
    /// At the beginning of the program that `text` says.
    pub(crate) fn of(text: &str) -> Self {
        Self::new(&Arc::new(program(text)))
    }

    pub(crate) fn new(program: &Arc<Program>) -> Self {
        let subject = Interpreter::new(Arc::clone(program));
        Run { machine: Machine::new(&subject), subject, trace: Trace::default() }
    }

    /// Every possible step.
    pub(crate) fn enabled(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        self.machine.enabled(&self.subject, &mut steps);
        steps
    }

    /// Performs a step, which must be possible.
    pub(crate) fn step(&mut self, step: Step) -> &mut Self {
        let enabled = self.enabled();
        assert!(enabled.contains(&step), "{step:?} is not among {enabled:?}");
        self.machine.perform(&mut self.subject, step, &mut self.trace);
        self
    }

    /// Lets these threads perform an operation each.
    pub(crate) fn issue(&mut self, threads: &[u16]) -> &mut Self {
        for &thread in threads {
            self.step(issue(thread));
        }
        self
    }

    /// The oldest store of a thread to a location reaches memory.
    pub(crate) fn commit(&mut self, thread: u16, loc: u32) -> &mut Self {
        self.step(commit(thread, loc))
    }

    /// Whether a thread can perform its operation.
    pub(crate) fn can_go_on(&mut self, thread: u16) -> bool {
        self.enabled().contains(&issue(thread))
    }

    /// The locations of which stores of a thread may reach memory now.
    pub(crate) fn leaving(&mut self, thread: u16) -> Vec<u32> {
        let of_thread = |step| match step {
            Step::Commit { thread: own, loc } if own == ThreadId(thread) => Some(loc.0),
            _ => None,
        };
        self.enabled().into_iter().filter_map(of_thread).collect()
    }

    pub(crate) fn memory(&self, loc: u32) -> u64 {
        self.machine.memory(Loc(loc))
    }

    /// What the last event of a thread read.
    pub(crate) fn last_read(&self, thread: u16) -> Option<u64> {
        let mut own = self.trace.events().iter().filter(|event| event.thread == ThreadId(thread));
        own.next_back().and_then(|event| event.read)
    }
}

pub(crate) fn issue(thread: u16) -> Step {
    Step::Issue { thread: ThreadId(thread), alternative: 0 }
}

pub(crate) fn commit(thread: u16, loc: u32) -> Step {
    Step::Commit { thread: ThreadId(thread), loc: Loc(loc) }
}
