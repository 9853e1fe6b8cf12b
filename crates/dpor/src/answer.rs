//! What becomes of an operation that reads.

use teetotal_program::{Loc, OnFailure, Op, Order, Subject, ThreadId, Value};

use super::consistency::{Consistency, ReadKind};
use super::graph::Idle;

/// Where an operation reads, and how it is ordered.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) loc: Loc,
    pub(super) order: Order,
}

/// What becomes of an operation that reads a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// It is a load.
    Load(Value),
    /// It accesses memory at once and writes nothing.
    Failed,
    /// It accesses memory at once and writes this.
    Updated(Value),
    /// The thread waits for another value.
    Blocked,
}

impl Answer {
    /// What kind of read it is.
    pub(super) fn kind(self) -> ReadKind {
        match self {
            Answer::Load(_) | Answer::Blocked => ReadKind::Load,
            Answer::Failed | Answer::Updated(_) => ReadKind::Update,
        }
    }
}

/// Whether an operation reads a value.
pub(super) fn reads(op: Op) -> bool {
    matches!(op, Op::Load { .. } | Op::Await { .. } | Op::Lock { .. } | Op::Rmw { .. } | Op::Unlock { .. })
}

/// What an operation that reads is if it writes nothing.
pub(super) fn idle(op: Op) -> Idle {
    match op {
        Op::Load { .. } | Op::Await { .. } => Idle::Load,
        Op::Rmw { on_failure: OnFailure::Load(_), .. } => Idle::LoadInSource,
        _ => Idle::Update,
    }
}

/// What becomes of `op`, the operation of `thread`, when it reads `value`.
pub(super) fn answer<S: Subject, C: Consistency>(
    subject: &S,
    rules: C,
    thread: ThreadId,
    op: Op,
    value: Value,
) -> Answer {
    match op {
        Op::Load { .. } => Answer::Load(value),
        Op::Await { .. } if subject.accepts(thread, &[value], 0) => Answer::Load(value),
        Op::Await { .. } => Answer::Blocked,
        Op::Lock { .. } => subject.modify(thread, value).map_or(Answer::Blocked, Answer::Updated),
        Op::Rmw { .. } => match subject.modify(thread, value) {
            Some(written) => Answer::Updated(written),
            None if rules.failed_exchange_is_load() && idle(op) == Idle::LoadInSource => Answer::Load(value),
            None => Answer::Failed,
        },
        Op::Unlock { .. } => subject.modify(thread, value).map_or(Answer::Failed, Answer::Updated),
        _ => unreachable!("{op:?} reads nothing"),
    }
}
