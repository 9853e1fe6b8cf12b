//! Detection of changes to data behind a lock while the lock is held.
//!
//! A loop that changes it does not only wait, although it restores the lock. The value itself is compared, not what it
//! points to. A guard or a reference from it may be held for many iterations, so data is compared at each operation of
//! the thread that holds the lock.

use std::cell::RefCell;

use teetotal_program::ThreadId;

use crate::identity::Key;
use crate::loops::mix;
use crate::runtime::{current, is_active, note, note_effect, running};
use crate::waiting::hash_bytes;

/// Data that a guard permits to change.
#[derive(Debug, Default)]
pub(super) struct Lent {
    /// A hash of what it was before.
    before: Option<u64>,
}

/// The data that guards of an execution permit to change.
#[derive(Debug, Default)]
pub(crate) struct Loans(RefCell<Vec<Loan>>);

/// Data that a thread may change, since it holds the lock.
#[derive(Debug)]
struct Loan {
    thread: ThreadId,
    key: Key,
    address: usize,
    n_bytes: usize,
    /// A hash of what was there at the last operation.
    hash: u64,
}

/// Larger data counts as changed.
const MOST_BYTES: usize = 4096;

impl Lent {
    /// `data`, which belongs to `key`, may be changed from now on.
    pub(super) fn begin<T: ?Sized>(&mut self, key: impl FnOnce() -> Key, data: *const T) {
        if self.before.is_some() || !is_active() {
            return;
        }
        self.before = hash_of(data);
        match (self.before, running()) {
            (Some(hash), Some(thread)) => {
                // SAFETY: the guard of the lock says that there is a value.
                let (address, n_bytes) = (data.cast::<u8>() as usize, unsafe { size_of_val(&*data) });
                let loan = Loan { thread, key: key(), address, n_bytes, hash };
                current(|execution| execution.loans.0.borrow_mut().push(loan));
            }
            _ => note_effect(),
        }
    }

    /// `data`, which belongs to `key`, may no longer be changed.
    pub(super) fn end<T: ?Sized>(&mut self, key: impl FnOnce() -> Key, data: *const T) {
        if let Some(before) = self.before.take()
            && is_active()
            && let Some(after) = hash_of(data)
        {
            let key = key();
            let loan = current(|execution| execution.loans.take(key)).flatten();
            let change = change(key, loan.map_or(before, |loan| loan.hash), after);
            note(|noted| {
                noted.balance = noted.balance.wrapping_add(change);
                noted.changes_data |= before != after;
            });
        }
    }
}

impl Loans {
    /// Resets everything for another execution.
    pub(crate) fn clear(&mut self) {
        self.0.get_mut().clear();
    }

    /// Returns a hash of the changes to the data lent to `thread` since its last operation; 0 if there are none.
    #[inline]
    pub(crate) fn changes(&self, thread: ThreadId) -> u64 {
        let mut loans = self.0.borrow_mut();
        let own = loans.iter_mut().filter(|loan| loan.thread == thread);
        own.fold(0_u64, |sum, loan| {
            // SAFETY: the lock is held, so that its data is there.
            let hash = unsafe { hash_bytes(loan.address, loan.n_bytes) };
            sum.wrapping_add(change(loan.key, std::mem::replace(&mut loan.hash, hash), hash))
        })
    }

    fn take(&self, key: Key) -> Option<Loan> {
        let mut loans = self.0.borrow_mut();
        let index = loans.iter().position(|loan| loan.key == key)?;
        Some(loans.swap_remove(index))
    }
}

/// Returns a number for a change of the data at `key`, by its hashes; the numbers of a change and of its reversal
/// cancel out.
fn change(key: Key, before: u64, after: u64) -> u64 {
    let number = |hash| mix(mix(2, key.index() as u64), hash);
    number(after).wrapping_sub(number(before))
}

/// Returns a hash of the bytes of a value, unless it is too large.
fn hash_of<T: ?Sized>(data: *const T) -> Option<u64> {
    // SAFETY: the guard of the lock says that there is a value.
    let n_bytes = unsafe { size_of_val(&*data) };
    // SAFETY: this many bytes are there.
    (n_bytes <= MOST_BYTES).then(|| unsafe { hash_bytes(data.cast::<u8>() as usize, n_bytes) })
}
