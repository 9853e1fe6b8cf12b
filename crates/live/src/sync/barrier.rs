//! A replacement for `std::sync::Barrier`.

use std::fmt;
use std::panic::Location;
use std::sync as real;

use teetotal_program::{OnFailure, Order, Value};

use crate::identity::Identity;
use crate::request::{Cell, Function, Until, Update, What};
use crate::runtime::{is_active, perform};

/// Lets threads wait for each other.
///
/// In a model its state is the number of threads that have arrived.
pub struct Barrier {
    real: real::Barrier,
    identity: Identity,
    size: usize,
}

/// Whether a thread was the leader of its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns whether the thread was the leader: the last one to arrive.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Creates a barrier for `n` threads.
    pub const fn new(n: usize) -> Self {
        Barrier { real: real::Barrier::new(n), identity: Identity::new(), size: n }
    }

    /// Waits until all `n` threads wait.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if !is_active() {
            return BarrierWaitResult(self.real.wait().is_leader());
        }
        let (at, place) = (Cell { key: self.identity.key(), initial: 0, may_race: true }, Location::caller());
        let (size, update) = (self.size.max(1) as Value, Update::new(Function::Add, 1, 64));
        let on_failure = OnFailure::Load(Order::Relaxed);
        let before = perform(What::Rmw { at, update, order: Order::AcqRel, on_failure }, place);
        let all = (before / size + 1) * size;
        if before + 1 < all {
            perform(What::Await { at, until: Until::AtLeast(all), order: Order::Acquire, timed: false }, place);
        }
        BarrierWaitResult(before + 1 == all)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
