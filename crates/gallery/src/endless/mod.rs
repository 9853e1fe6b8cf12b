//! Locks and the like in threads that never end, for questions about executions of any length and buffers without end.
//!
//! The plain versions have no fence; the fenced ones have one wherever some model could delay a store to its harm.

mod barrier;
mod clh_lock;
mod filter_lock;
mod mcs_lock;
mod mutual_exclusion;
mod small;
mod spin_lock;
mod ticket_lock;
mod work_stealing;

pub use barrier::sense_barrier;
pub use clh_lock::clh_lock;
pub use filter_lock::filter_lock;
pub use mcs_lock::mcs_lock;
pub use mutual_exclusion::{dekker_entry, peterson_entry};
pub use small::{stores_in_a_loop, two_writers, unlocking_cycle};
pub use spin_lock::spin_lock;
pub use ticket_lock::ticket_lock;
pub use work_stealing::work_stealing;

use crate::variant::fetch;
use teetotal_program::ir::{Address, Expr, Instruction, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// How often each thread enters the critical section.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HowOften {
    Once,
    Repeated,
}

/// What keeps the stores of a lock before the loads after them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Guard {
    /// Nothing.
    None,
    /// A wait for the buffers of all threads on entry: `sync` of the paper, which is enough under TSO.
    Sync,
    /// Full fences on entry and before leaving, which are enough under PSO too.
    Fences,
}

impl HowOften {
    /// Runs `body` so often.
    fn run(self, t: &mut ThreadBuilder<'_>, body: impl FnOnce(&mut ThreadBuilder<'_>)) {
        match self {
            HowOften::Once => body(t),
            HowOften::Repeated => t.repeat(|t, _| body(t)),
        }
    }

    fn name(self, lock: &str, guard: Guard) -> String {
        let entry = match self {
            HowOften::Once => "once",
            HowOften::Repeated => "repeated",
        };
        let guard = match guard {
            Guard::None => "",
            Guard::Sync => "-sync",
            Guard::Fences => "-fenced",
        };
        format!("{lock}-{entry}{guard}")
    }
}

impl Guard {
    fn on_entry(self, t: &mut ThreadBuilder<'_>) {
        match self {
            Guard::None => {}
            Guard::Sync => t.push(Instruction::GlobalFence),
            Guard::Fences => t.fence(),
        }
    }

    fn before_leaving(self, t: &mut ThreadBuilder<'_>) {
        if self == Guard::Fences {
            t.fence();
        }
    }
}

/// Waits until `from` is something, and forgets what it was.
fn wait(t: &mut ThreadBuilder<'_>, seen: Reg, from: impl Into<Address>, until: Expr) {
    t.push(Instruction::Await { loads: vec![(seen, from.into())], until });
    t.set(seen, 0);
}

/// The critical section of the thread with this number: it must see its own number there.
fn critical_section(t: &mut ThreadBuilder<'_>, seen: Reg, section: Loc, number: u32) {
    t.store(section, u64::from(number));
    fetch(t, seen, section);
    t.assert(seen.eq(u64::from(number)), "another thread is in the critical section");
    t.set(seen, 0);
}

/// Reads `from` into `to` until `until` holds of it.
#[track_caller]
fn spin(t: &mut ThreadBuilder<'_>, to: Reg, from: impl Into<Address>, until: impl Into<Expr>) {
    let (from, until) = (from.into(), until.into());
    t.repeat(|t, labels| {
        fetch(t, to, from);
        t.branch(until, labels.exit);
    });
}

/// The critical section: writes a location and reads it back.
#[track_caller]
fn section(t: &mut ThreadBuilder<'_>, section: Loc, own: u64) {
    t.store(section, own);
    let seen = t.read(section);
    t.assert(seen.eq(own), "the other thread is in the critical section");
}
