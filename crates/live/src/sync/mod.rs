//! Replacements for `std::sync`.

mod arc;
pub mod atomic;
mod barrier;
pub(crate) mod channel;
mod condvar;
mod counts;
mod flag;
mod lent;
pub mod mpsc;
mod mutex;
mod notify;
mod once;
mod pointer;
mod poison;
mod rwlock;
mod weak;

pub use arc::Arc;
pub use barrier::{Barrier, BarrierWaitResult};
pub use condvar::{Condvar, WaitTimeoutResult};
pub(crate) use counts::Counts;
pub(crate) use lent::Loans;
pub use mutex::{Mutex, MutexGuard};
pub use notify::Notify;
pub(crate) use once::POISONED;
pub use once::{LazyLock, Once, OnceLock, OnceState};
pub(crate) use rwlock::WAITING_WRITERS;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
pub use weak::Weak;
