//! A replacement for `std::sync::Condvar`.

use std::fmt;
use std::panic::Location;
use std::sync as real;
use std::sync::{LockResult, PoisonError};
use std::time::Duration;

use teetotal_program::{OnFailure, Order, Value};

use super::mutex::MutexGuard;
use crate::hint::is_time_over;
use crate::identity::Identity;
use crate::lifetimes::orders_frees;
use crate::request::{Cell, Function, Matter, Until, Update, What};
use crate::runtime::{is_active, perform, running};
use crate::spurious::goes_wrong;

/// A condition variable.
///
/// In a model its state is the set of waiting threads, one bit for each; from the 65th on they share bits. A
/// notification orders nothing: what one thread does before it and another after its wait is ordered by the mutex only.
pub struct Condvar {
    real: real::Condvar,
    identity: Identity,
}

/// Whether a wait timed out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the wait timed out.
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// Creates a condition variable without waiting threads.
    pub const fn new() -> Self {
        Condvar { real: real::Condvar::new(), identity: Identity::new() }
    }

    fn cell(&self) -> Cell {
        Cell { key: self.identity.key(), initial: 0, may_race: orders_frees() }
    }

    /// Changes the set of waiting threads; returns the previous set.
    fn change(&self, function: Function, operand: Value, order: Order, place: &'static Location<'static>) -> Value {
        let update = Update::new(function, operand, 64);
        let on_failure = OnFailure::Load(Order::Relaxed);
        perform(What::Rmw { at: self.cell(), update, order, on_failure }, place)
    }

    /// Releases the lock of `guard`, waits for a notification, and takes the lock again.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let place = Location::caller();
        if !is_active() {
            return guard.wait_outside(place, |real| self.real.wait(real).unwrap_or_else(PoisonError::into_inner));
        }
        let own = self.begin(place);
        let lock = guard.free(place);
        if goes_wrong(Matter::WakeUp, place) {
            self.change(Function::And, !own, Order::Relaxed, place);
        } else {
            self.until_notified(own, false, place);
        }
        lock.lock_at(place)
    }

    /// Waits until `condition` no longer holds.
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Like [`Condvar::wait`], with a time-out, which in a model may elapse at any time.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let place = Location::caller();
        if !is_active() {
            let mut timed_out = false;
            let guard = guard.wait_outside(place, |real| {
                let (real, result) = self.real.wait_timeout(real, duration).unwrap_or_else(PoisonError::into_inner);
                timed_out = result.timed_out();
                real
            });
            return paired(guard, timed_out);
        }
        let own = self.begin(place);
        let lock = guard.free(place);
        let mut timed_out = false;
        if is_time_over(place) {
            // It may have been notified just before.
            timed_out = self.change(Function::And, !own, Order::Relaxed, place) & own != 0;
        } else if goes_wrong(Matter::WakeUp, place) {
            self.change(Function::And, !own, Order::Relaxed, place);
        } else {
            // If no thread can notify it any more, it times out.
            timed_out = self.until_notified(own, true, place) & own != 0;
        }
        paired(lock.lock_at(place), timed_out)
    }

    fn until_notified(&self, own: Value, timed: bool, place: &'static Location<'static>) -> Value {
        let until = Until::Clear(own);
        perform(What::Await { at: self.cell(), until, order: Order::Relaxed, timed }, place)
    }

    /// Like [`Condvar::wait_timeout`], until `condition` no longer holds.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let (again, result) = self.wait_timeout(guard, duration)?;
            guard = again;
            if result.timed_out() {
                let still = condition(&mut guard);
                return Ok((guard, WaitTimeoutResult(still)));
            }
        }
    }

    /// Adds the current thread to the waiting threads; returns its bit.
    fn begin(&self, place: &'static Location<'static>) -> Value {
        // Threads that share a bit are woken together, which is a spurious wake-up.
        let own = 1 << (running().map_or(0, |thread| thread.index()) % 64);
        self.change(Function::Or, own, Order::Relaxed, place);
        own
    }

    /// Wakes any one of the waiting threads.
    #[track_caller]
    pub fn notify_one(&self) {
        let place = Location::caller();
        if !is_active() {
            return self.real.notify_one();
        }
        loop {
            let waiting = perform(What::Load { at: self.cell(), order: Order::Relaxed }, place);
            let chosen = match waiting.count_ones() {
                0 => return,
                1 => 0,
                several => perform(What::Choose { alternatives: several, matter: Matter::Waiter }, place),
            };
            let bit = (0..64).map(|bit| 1 << bit).filter(|bit| waiting & bit != 0).nth(chosen as usize).unwrap_or(0);
            let function = Function::CompareExchange { expected: waiting };
            if self.change(function, waiting & !bit, Order::Relaxed, place) == waiting {
                return;
            }
        }
    }

    /// Wakes all waiting threads.
    #[track_caller]
    pub fn notify_all(&self) {
        let place = Location::caller();
        if is_active() {
            self.change(Function::Swap, 0, Order::Relaxed, place);
        } else {
            self.real.notify_all();
        }
    }
}

fn paired<'a, T>(
    guard: LockResult<MutexGuard<'a, T>>,
    timed_out: bool,
) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
    match guard {
        Ok(guard) => Ok((guard, WaitTimeoutResult(timed_out))),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), WaitTimeoutResult(timed_out)))),
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Condvar::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}
