//! An execution from the beginning, in one of four notations.
//!
//! They differ in what is sure to mean the same when it is run again.

use teetotal_memory::{EventKind, Step, StepRecord, Trace};
use teetotal_program::{Loc, ThreadId};

use crate::token::TokenStep;

/// An execution from the beginning.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Schedule {
    /// Its steps, of a subject that calls threads and locations always the same.
    Steps(Vec<Step>),
    /// The position of each step among those possible before it, which is all that a search over states keeps of a step.
    Choices(Vec<u32>),
    /// Its steps, of a subject that may call threads and locations something else when it is run again.
    Moves(Vec<Move>),
    /// Its steps as a token has them, for whom the machine lists what is possible in the same order.
    Token(Vec<TokenStep>),
}

impl Schedule {
    /// How many steps it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Schedule::Steps(steps) => steps.len(),
            Schedule::Choices(choices) => choices.len(),
            Schedule::Moves(moves) => moves.len(),
            Schedule::Token(steps) => steps.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A step of an execution, by the names that a search has for threads and operations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Move {
    /// The next operation of a thread, which may start another.
    Issue { thread: ThreadId, alternative: u32, child: Option<ThreadId> },
    /// A store, given as the operation of its thread that it is, reaches memory.
    Commit { thread: ThreadId, index: u32, loc: Loc },
}

impl Move {
    /// A step of `trace`, by the names that it has there.
    #[must_use]
    pub fn of(record: &StepRecord, trace: &Trace) -> Self {
        let event = trace.event(record.event);
        match record.step {
            Step::Issue { thread, alternative } => {
                let child = if let EventKind::Spawn(child) = event.kind { Some(child) } else { None };
                Move::Issue { thread, alternative, child }
            }
            Step::Commit { thread, loc } => Move::Commit { thread, index: event.index, loc },
        }
    }

    /// The step, where threads and locations are called the same.
    #[must_use]
    pub fn step(self) -> Step {
        match self {
            Move::Issue { thread, alternative, .. } => Step::Issue { thread, alternative },
            Move::Commit { thread, loc, .. } => Step::Commit { thread, loc },
        }
    }
}
