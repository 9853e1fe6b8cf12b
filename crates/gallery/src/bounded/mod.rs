//! Mutual exclusion with bounded waiting: a thread that waited long enough enters all the same.
//!
//! These are the programs of [MCR, Table 2], after the Java sources that come with the tool.
//! The bound makes every execution finite, and it also breaks mutual exclusion under every model, SC included.
//! A test that fails ends the thread there. To go on would change no count of what is read: the other thread is then
//! past every read that could tell the difference.

mod bakery;
mod dekker;
mod lamport;
mod peterson;

pub use bakery::bakery;
pub use dekker::dekker;
pub use lamport::lamport;
pub use peterson::peterson;

use teetotal_program::Reg;
use teetotal_program::ir::{Label, ThreadBuilder};

/// `if counter++ > 1 break`: the third turn leaves the loop.
#[track_caller]
fn break_after_two(t: &mut ThreadBuilder<'_>, counter: Reg, exit: Label) {
    t.set(counter, counter.plus(1));
    t.branch(counter.gt(2), exit);
}
