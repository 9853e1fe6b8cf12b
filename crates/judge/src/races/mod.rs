//! Data races, by the happens-before of C11 and Rust: release and acquire, fences, locks, waits, spawn and join.
//!
//! Two accesses race if they are of different threads and of one location, one of them writes, one of them is not
//! atomic, and neither happens before the other [C11, §5.1.2.4]. [`Watch`] sees the races of one execution.
//! [`predict`] finds those of other executions in which every thread reads the same values, without running them: reads
//! may then take the same values from other writes, and synchronize with others or with none.

mod locks;
mod predict;
mod rehearsal;
mod watch;

pub use predict::{Prediction, predict};
pub use watch::Watch;

use teetotal_memory::{Event, EventKind};
use teetotal_program::ir::{Instruction, Program};
use teetotal_program::{Loc, Order, ThreadId};

/// Two accesses that race, the one of the lower thread first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DataRace {
    pub loc: Loc,
    pub accesses: [RacingAccess; 2],
}

/// An access, by where it is in the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RacingAccess {
    pub thread: ThreadId,
    /// See `Subject::place`.
    pub place: u32,
    pub is_write: bool,
    pub is_plain: bool,
}

/// What kind of synchronization an event takes part in, which its ordering alone does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Role {
    /// Whether it is an access that is not atomic.
    is_plain: bool,
    /// The ordering of an access of the language that would synchronize alike.
    order: Order,
}

impl Role {
    /// The role of `event` in `program`: a lock and an await acquire, an unlock releases.
    fn of(program: &Program, event: &Event) -> Role {
        let code = program.threads.get(event.thread.index()).map(|thread| &thread.code);
        let instruction = code.and_then(|code| code.get(event.place as usize));
        let waits = matches!(instruction, Some(Instruction::Await { .. } | Instruction::Guarded { .. }));
        let is_access = matches!(event.kind, EventKind::Load | EventKind::Store);
        let is_full = event.kind == EventKind::GlobalFence;
        let acquires = event.order.acquires() || event.kind == EventKind::Lock || waits || is_full;
        let releases = event.order.releases() || event.kind == EventKind::Unlock || is_full;
        let order = match (acquires, releases) {
            (false, false) => Order::Relaxed,
            (true, false) => Order::Acquire,
            (false, true) => Order::Release,
            (true, true) => Order::AcqRel,
        };
        Role { is_plain: is_access && event.order == Order::Plain && !waits, order }
    }
}
