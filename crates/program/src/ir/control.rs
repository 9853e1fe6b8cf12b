//! Where a thread is, in one word.

use crate::names::Value;
use crate::subject::Failure;

/// The instruction at which the thread stands, and what holds it there.
///
/// The low two bits tell the usual states apart, so that most control words fit in one byte of a packed state; the
/// others have 3 there and more bits above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Control(pub(super) Value);

impl Control {
    pub(super) const READY: Value = 0;
    pub(super) const NOT_STARTED: Value = 1;
    pub(super) const FINISHED: Value = 2;
    pub(super) const DISCARDED: Value = 3;
    /// The first of the failures, in the order of [`Failure`].
    const FAILED: Value = 4;
    /// More than the largest state; a power of two.
    const STATES: Value = 16;

    pub(super) fn new(state: Value, instruction: u32) -> Self {
        let instruction = Value::from(instruction);
        Control(if state < Control::DISCARDED {
            instruction * 4 + state
        } else {
            (instruction * Control::STATES + state) * 4 + 3
        })
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
            Failure::Panic { .. } => 7,
            Failure::Race { .. } => 8,
        };
        Control::new(Control::FAILED + kind, failure.instruction())
    }

    pub(super) fn state(self) -> Value {
        match self.0 % 4 {
            3 => self.0 / 4 % Control::STATES,
            state => state,
        }
    }

    pub(super) fn is_ready(self) -> bool {
        self.state() == Control::READY
    }

    pub(super) fn instruction(self) -> u32 {
        (if self.0 % 4 == 3 { self.0 / 4 / Control::STATES } else { self.0 / 4 }) as u32
    }

    /// What went wrong, if something did.
    pub(super) fn failure(self) -> Option<Failure> {
        let instruction = self.instruction();
        Some(match self.state().checked_sub(Control::FAILED)? {
            0 => Failure::Assertion { instruction },
            1 => Failure::DivisionByZero { instruction },
            2 => Failure::BadAddress { instruction },
            3 => Failure::BadIndex { instruction },
            4 => Failure::NotHolder { instruction },
            5 => Failure::AlreadyStarted { instruction },
            6 => Failure::EndlessLoop { instruction },
            7 => Failure::Panic { instruction },
            _ => Failure::Race { instruction },
        })
    }
}
