//! Locks and the like in threads that never end, for questions about executions of any length.
//!
//! The plain versions have no fence; the fenced ones have one wherever some model could delay a store to its harm.

mod barrier;
mod clh_lock;
mod mcs_lock;
mod spin_lock;
mod ticket_lock;
mod work_stealing;

pub use barrier::sense_barrier;
pub use clh_lock::clh_lock;
pub use mcs_lock::mcs_lock;
pub use spin_lock::spin_lock;
pub use ticket_lock::ticket_lock;
pub use work_stealing::work_stealing;

use super::variant::fetch;
use crate::ir::{Address, Expr, ThreadBuilder};
use crate::names::{Loc, Reg};

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
