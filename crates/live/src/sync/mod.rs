//! Look-alikes of `std::sync`.

pub mod atomic;
mod condvar;
mod flag;
mod mutex;
mod pointer;
mod rwlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
