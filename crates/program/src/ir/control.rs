//! Where a thread is, in one word.

use crate::names::Value;
use crate::subject::Failure;

/// The low 32 bits are the instruction at which the thread stands, the rest says what holds it there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Control(pub(super) Value);

impl Control {
    pub(super) const READY: Value = 0;
    pub(super) const NOT_STARTED: Value = 1;
    pub(super) const FINISHED: Value = 2;
    pub(super) const DISCARDED: Value = 3;
    /// The first of the failures, in the order of [`Failure`].
    const FAILED: Value = 4;
    /// One more than the largest state.
    const STATES: Value = 11;

    pub(super) fn new(state: Value, instruction: u32) -> Self {
        Control(state << 32 | Value::from(instruction))
    }

    pub(super) fn failed(failure: Failure) -> Self {
        let kind = match failure {
            Failure::Assertion { .. } => 0,
            Failure::DivisionByZero { .. } => 1,
            Failure::BadAddress { .. } => 2,
            Failure::BadIndex { .. } => 3,
            Failure::NotHolder { .. } => 4,
            Failure::AlreadyStarted { .. } => 5,
            Failure::EndlessLoop { .. } => 6,
        };
        Control::new(Control::FAILED + kind, failure.instruction())
    }

    pub(super) fn state(self) -> Value {
        self.0 >> 32
    }

    pub(super) fn is_ready(self) -> bool {
        self.state() == Control::READY
    }

    pub(super) fn instruction(self) -> u32 {
        self.0 as u32
    }

    /// What went wrong; only where the state says that something did.
    pub(super) fn failure(self) -> Failure {
        let instruction = self.instruction();
        match self.state() - Control::FAILED {
            0 => Failure::Assertion { instruction },
            1 => Failure::DivisionByZero { instruction },
            2 => Failure::BadAddress { instruction },
            3 => Failure::BadIndex { instruction },
            4 => Failure::NotHolder { instruction },
            5 => Failure::AlreadyStarted { instruction },
            _ => Failure::EndlessLoop { instruction },
        }
    }

    /// As a number that is small when the instruction is.
    pub(super) fn pack(self) -> Value {
        Value::from(self.instruction()) * Control::STATES + self.state()
    }

    /// The inverse of [`Control::pack`].
    pub(super) fn unpack(packed: Value) -> Self {
        Control::new(packed % Control::STATES, (packed / Control::STATES) as u32)
    }
}
