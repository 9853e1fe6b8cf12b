//! Replacements for `std::sync::atomic`.

use std::fmt;
use std::panic::Location;
use std::sync::atomic as real;

pub use super::flag::AtomicBool;
pub use super::pointer::AtomicPtr;
pub use std::sync::atomic::Ordering;

use teetotal_program::{OnFailure, Order, Value};

use crate::cell::access;
use crate::complaint::Kind;
use crate::entry::call;
use crate::identity::Identity;
use crate::request::{Cell, Function, Matter, Update, What};
use crate::runtime::{current, is_active, perform, settled};
use crate::spurious::goes_wrong;
use crate::statics::{known_ref, own_mut, own_ref};

/// Returns the ordering for the search.
pub(crate) fn order(ordering: Ordering) -> Order {
    match ordering {
        Ordering::Relaxed => Order::Relaxed,
        Ordering::Acquire => Order::Acquire,
        Ordering::Release => Order::Release,
        Ordering::AcqRel => Order::AcqRel,
        _ => Order::SeqCst,
    }
}

/// Returns the failure ordering of a compare-and-swap.
pub(crate) fn on_failure(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        other => other,
    }
}

/// An atomic fence.
#[track_caller]
pub fn fence(ordering: Ordering) {
    assert!(ordering != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    if is_active() {
        let place = Location::caller();
        call(|| perform(What::Fence { order: order(ordering) }, place));
    } else {
        real::fence(ordering);
    }
}

/// A fence for the compiler only; it has no effect in a model.
pub fn compiler_fence(ordering: Ordering) {
    real::compiler_fence(ordering);
}

/// Rejects an ordering that is invalid for loads.
///
/// # Panics
/// If it is one.
#[track_caller]
pub(crate) fn assert_load(ordering: Ordering) {
    assert!(ordering != Ordering::Release, "there is no such thing as a release load");
    assert!(ordering != Ordering::AcqRel, "there is no such thing as an acquire-release load");
}

/// Rejects an ordering that is invalid for stores.
///
/// # Panics
/// If it is one.
#[track_caller]
pub(crate) fn assert_store(ordering: Ordering) {
    assert!(ordering != Ordering::Acquire, "there is no such thing as an acquire store");
    assert!(ordering != Ordering::AcqRel, "there is no such thing as an acquire-release store");
}

/// Rejects an ordering that is invalid for a failed compare-exchange.
///
/// # Panics
/// If it is one.
#[track_caller]
pub(crate) fn assert_failure(ordering: Ordering) {
    assert!(ordering != Ordering::Release, "there is no such thing as a release failure ordering");
    assert!(ordering != Ordering::AcqRel, "there is no such thing as an acquire-release failure ordering");
}

/// Reads a cell under the checker.
#[inline]
pub(crate) fn load(cell: Cell, ordering: Ordering, place: &'static Location<'static>) -> Value {
    perform(What::Load { at: cell, order: order(ordering) }, place)
}

#[inline]
pub(crate) fn store(cell: Cell, value: Value, ordering: Ordering, place: &'static Location<'static>) {
    perform(What::Store { at: cell, value, order: order(ordering) }, place);
}

/// Performs a read-modify-write under the checker; returns the previous value.
#[inline]
pub(crate) fn update(
    cell: Cell,
    update: Update,
    ordering: Ordering,
    failure: Ordering,
    place: &'static Location<'static>,
) -> Value {
    let on_failure = OnFailure::Load(order(failure));
    perform(What::Rmw { at: cell, update, order: order(ordering), on_failure }, place)
}

/// Performs a weak compare-exchange that fails spuriously, in every model a failed compare-exchange; returns the
/// current value.
pub(crate) fn fail_spuriously(
    cell: Cell,
    success: Ordering,
    failure: Ordering,
    place: &'static Location<'static>,
) -> Value {
    update(cell, Update::new(Function::Fail, 0, 64), success, failure, place)
}

/// Returns whether accesses to the cell are part of the search. If not, the cell itself contains its value from now on.
#[track_caller]
pub(crate) fn is_searched(identity: &Identity, settle: impl FnOnce(Value)) -> bool {
    let is_active = is_active();
    if !is_active {
        identity.refuse_outsiders();
    }
    if !is_active && let Some(value) = settled(identity) {
        settle(value);
    }
    is_active
}

/// Reads the cell non-atomically in the current thread, which races with concurrent writes.
#[track_caller]
pub(crate) fn read_unsynchronized(cell: Cell) -> Value {
    access(cell.key, Kind::READ);
    load(cell, Ordering::Relaxed, Location::caller())
}

/// Takes exclusive access to the cell in the current thread, which races with concurrent accesses. Returns its value.
///
/// The cell is a new one from then on, with that value. Whether it was accessed before does not depend on the order of
/// concurrent events.
#[track_caller]
pub(crate) fn take(cell: Cell, identity: &Identity) -> Value {
    access(cell.key, Kind::WRITE);
    if current(|execution| execution.written(cell.key).is_none()).unwrap_or(true) {
        return cell.initial;
    }
    let value = load(cell, Ordering::Relaxed, Location::caller());
    identity.renew();
    let new = identity.key();
    current(|execution| execution.races.borrow_mut().rename(cell.key, new));
    value
}

/// Returns where the value of a cell with a key is before the first operation on it.
#[inline]
pub(crate) fn initial<'a, R>(real: &'a R, identity: &Identity) -> &'a R {
    if identity.is_known_by_address() { known_ref(real) } else { real }
}

/// Returns the cell outside of executions, to be changed without an operation.
pub(crate) fn exclusive<'a, R>(real: &'a mut R, identity: &Identity) -> &'a mut R {
    identity.note_outside();
    own_mut(real)
}

macro_rules! atomic {
    ($name:ident, $int:ty, $bits:expr, $signed:expr) => {
        /// A replacement for the type of the same name in `std::sync::atomic`.
        pub struct $name {
            real: real::$name,
            pub(crate) identity: Identity,
        }

        impl $name {
            /// Creates a cell that holds `value`.
            pub const fn new(value: $int) -> Self {
                $name { real: real::$name::new(value), identity: Identity::new() }
            }

            fn cell(&self) -> Cell {
                let key = self.identity.key();
                let initial = initial(&self.real, &self.identity).load(Ordering::Relaxed);
                Cell { key, initial: Self::raw(initial), may_race: true }
            }

            /// Returns the cell outside of executions.
            fn own(&self) -> &real::$name {
                own_ref(&self.real)
            }

            /// Returns the cell outside of executions, which is about to be changed.
            fn written(&self) -> &real::$name {
                self.identity.note_outside();
                own_ref(&self.real)
            }

            #[track_caller]
            fn is_searched(&self) -> bool {
                is_searched(&self.identity, |value| own_ref(&self.real).store(value as $int, Ordering::Relaxed))
            }

            /// Returns the value for the search.
            fn raw(value: $int) -> Value {
                (value as Value) & (Value::MAX >> (64 - $bits))
            }

            #[inline]
            #[track_caller]
            fn update(&self, function: Function, operand: $int, ordering: Ordering) -> $int {
                let (operand, place) = (Self::raw(operand), Location::caller());
                let old = call(|| {
                    update(self.cell(), Update::new(function, operand, $bits), ordering, Ordering::Relaxed, place)
                });
                old as $int
            }

            /// Loads the value.
            #[inline]
            #[track_caller]
            pub fn load(&self, ordering: Ordering) -> $int {
                assert_load(ordering);
                if !self.is_searched() {
                    return self.own().load(ordering);
                }
                let place = Location::caller();
                call(|| load(self.cell(), ordering, place)) as $int
            }

            /// Stores a value.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $int, ordering: Ordering) {
                assert_store(ordering);
                if !self.is_searched() {
                    return self.written().store(value, ordering);
                }
                let place = Location::caller();
                call(|| store(self.cell(), Self::raw(value), ordering, place));
            }

            /// Stores a value; returns the previous value.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $int, ordering: Ordering) -> $int {
                if self.is_searched() {
                    self.update(Function::Swap, value, ordering)
                } else {
                    self.written().swap(value, ordering)
                }
            }

            /// Stores `new` if the value is `current`; returns the previous value, as an error on failure.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                assert_failure(failure);
                if !self.is_searched() {
                    let result = self.own().compare_exchange(current, new, success, failure);
                    if result.is_ok() {
                        self.identity.note_outside();
                    }
                    return result;
                }
                let place = Location::caller();
                let function = Function::CompareExchange { expected: Self::raw(current) };
                let change = Update::new(function, Self::raw(new), $bits);
                let old = call(|| update(self.cell(), change, success, failure, place)) as $int;
                if old == current { Ok(old) } else { Err(old) }
            }

            /// Like [`Self::compare_exchange`], but may fail spuriously; in a model up to the bound on spurious
            /// failures.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                assert_failure(failure);
                let place = Location::caller();
                if call(|| goes_wrong(Matter::Failure, place)) {
                    return Err(call(|| fail_spuriously(self.cell(), success, failure, place)) as $int);
                }
                self.compare_exchange(current, new, success, failure)
            }

            /// Like [`Self::compare_exchange`], with one ordering; returns the previous value.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $int, new: $int, ordering: Ordering) -> $int {
                self.compare_exchange(current, new, ordering, on_failure(ordering)).unwrap_or_else(|old| old)
            }

            /// Stores `f` of the value; returns the previous value, or the current one as an error if `f` is `None`.
            ///
            /// `f` is called again if another thread has written meanwhile, or if the exchange fails spuriously.
            #[track_caller]
            pub fn fetch_update<F>(&self, success: Ordering, failure: Ordering, mut f: F) -> Result<$int, $int>
            where
                F: FnMut($int) -> Option<$int>,
            {
                let mut old = self.load(failure);
                while let Some(new) = f(old) {
                    match self.compare_exchange_weak(old, new, success, failure) {
                        Ok(old) => return Ok(old),
                        Err(other) => old = other,
                    }
                }
                Err(old)
            }

            /// Loads the value without synchronization.
            ///
            /// # Safety
            /// No other thread may write at the same time.
            #[track_caller]
            pub unsafe fn unsync_load(&self) -> $int {
                if self.is_searched() {
                    read_unsynchronized(self.cell()) as $int
                } else {
                    self.own().load(Ordering::Relaxed)
                }
            }

            /// Calls `f` with a mutable reference to the value.
            #[track_caller]
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $int) -> R) -> R {
                f(self.get_mut())
            }

            /// Returns a mutable reference to the value.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $int {
                let taken = if self.is_searched() { Some(take(self.cell(), &self.identity)) } else { None };
                let value = exclusive(&mut self.real, &self.identity).get_mut();
                if let Some(taken) = taken {
                    *value = taken as $int;
                }
                value
            }

            /// Returns the value.
            #[track_caller]
            pub fn into_inner(mut self) -> $int {
                *self.get_mut()
            }

            /// Returns a pointer to the value; accesses through it are not checked.
            pub const fn as_ptr(&self) -> *mut $int {
                self.real.as_ptr()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(Default::default())
            }
        }

        impl From<$int> for $name {
            fn from(value: $int) -> Self {
                Self::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let value = current(|execution| execution.written(self.identity.known(execution)?)).flatten();
                value.map_or_else(|| self.own().load(Ordering::Relaxed), |value| value as $int).fmt(f)
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $int:ty, $bits:expr, $signed:expr) => {
        atomic!($name, $int, $bits, $signed);

        impl $name {
            integer!(@fetch fetch_add, Add, "Adds to the value, wrapping around on overflow; returns the previous value.", $int);
            integer!(@fetch fetch_sub, Sub, "Subtracts from the value, wrapping around on overflow; returns the previous value.", $int);
            integer!(@fetch fetch_and, And, "Bitwise AND with the value; returns the previous value.", $int);
            integer!(@fetch fetch_nand, Nand, "Bitwise NAND with the value; returns the previous value.", $int);
            integer!(@fetch fetch_or, Or, "Bitwise OR with the value; returns the previous value.", $int);
            integer!(@fetch fetch_xor, Xor, "Bitwise XOR with the value; returns the previous value.", $int);

            /// Stores the maximum; returns the previous value.
            #[track_caller]
            pub fn fetch_max(&self, value: $int, ordering: Ordering) -> $int {
                let function = if $signed { Function::SignedMax } else { Function::Max };
                if self.is_searched() { self.update(function, value, ordering) } else { self.written().fetch_max(value, ordering) }
            }

            /// Stores the minimum; returns the previous value.
            #[track_caller]
            pub fn fetch_min(&self, value: $int, ordering: Ordering) -> $int {
                let function = if $signed { Function::SignedMin } else { Function::Min };
                if self.is_searched() { self.update(function, value, ordering) } else { self.written().fetch_min(value, ordering) }
            }
        }
    };
    (@fetch $fetch:ident, $function:ident, $doc:expr, $int:ty) => {
        #[doc = $doc]
        #[inline]
        #[track_caller]
        pub fn $fetch(&self, value: $int, ordering: Ordering) -> $int {
            if self.is_searched() { self.update(Function::$function, value, ordering) } else { self.written().$fetch(value, ordering) }
        }
    };
}

integer!(AtomicU8, u8, 8, false);
integer!(AtomicU16, u16, 16, false);
integer!(AtomicU32, u32, 32, false);
integer!(AtomicU64, u64, 64, false);
integer!(AtomicUsize, usize, usize::BITS, false);
integer!(AtomicI8, i8, 8, true);
integer!(AtomicI16, i16, 16, true);
integer!(AtomicI32, i32, 32, true);
integer!(AtomicI64, i64, 64, true);
integer!(AtomicIsize, isize, isize::BITS, true);
