//! The `Notify` of loom.

use std::panic::Location;

use teetotal_program::{OnFailure, Order};

use crate::identity::Identity;
use crate::request::{Cell, Function, Update, What};
use crate::runtime::{is_active, perform};

/// Lets one thread wait until another notifies it.
#[derive(Debug)]
pub struct Notify {
    identity: Identity,
    real: (std::sync::Mutex<bool>, std::sync::Condvar),
}

impl Notify {
    /// Creates a `Notify` without a notification.
    pub const fn new() -> Self {
        Notify { identity: Identity::new(), real: (std::sync::Mutex::new(false), std::sync::Condvar::new()) }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: 0, may_race: true }
    }

    /// Wakes the waiting thread, or lets the next wait return at once.
    #[track_caller]
    pub fn notify(&self) {
        if !is_active() {
            *self.real.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
            return self.real.1.notify_one();
        }
        let (at, update) = (self.cell(), Update::new(Function::Swap, 1, 64));
        let on_failure = OnFailure::Load(Order::Relaxed);
        perform(What::Rmw { at, update, order: Order::Release, on_failure }, Location::caller());
    }

    /// Waits for a notification, or returns at once if there was one since the last wait.
    #[track_caller]
    pub fn wait(&self) {
        if is_active() {
            let update = Update::new(Function::CompareExchange { expected: 1 }, 0, 64);
            perform(What::Lock { at: self.cell(), update, order: Order::Acquire, timed: false }, Location::caller());
            return;
        }
        if std::thread::panicking() {
            return;
        }
        let notified = self.real.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut notified =
            self.real.1.wait_while(notified, |notified| !*notified).unwrap_or_else(std::sync::PoisonError::into_inner);
        *notified = false;
    }
}

impl Default for Notify {
    fn default() -> Self {
        Notify::new()
    }
}
