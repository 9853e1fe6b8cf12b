//! Whether data behind a lock is changed while the lock is held.
//!
//! A loop that changes it does not only wait, though it leaves the lock as it was. Compared is the value itself, not what
//! it points to.

use crate::identity::Key;
use crate::runtime::{is_active, note_changed, note_effect};
use crate::waiting::hash_bytes;

/// Data that is lent to be changed, as long as a guard is there.
#[derive(Debug, Default)]
pub(super) struct Lent {
    /// A hash of what it was before.
    before: Option<u64>,
}

/// Larger data counts as changed.
const MOST_BYTES: usize = 4096;

impl Lent {
    /// `data` may be changed from now on.
    pub(super) fn begin<T: ?Sized>(&mut self, data: *const T) {
        if self.before.is_none() && is_active() {
            self.before = hash_of(data);
            if self.before.is_none() {
                note_effect();
            }
        }
    }

    /// `data`, which belongs to `key`, may no longer be changed.
    pub(super) fn end<T: ?Sized>(&mut self, key: impl FnOnce() -> Key, data: *const T) {
        if let Some(before) = self.before.take()
            && is_active()
            && let Some(after) = hash_of(data)
        {
            note_changed(key(), before, after);
        }
    }
}

/// A hash of the bytes of a value, unless it is too large.
fn hash_of<T: ?Sized>(data: *const T) -> Option<u64> {
    // SAFETY: the guard of the lock says that there is a value.
    let n_bytes = unsafe { size_of_val(&*data) };
    // SAFETY: so many bytes are there.
    (n_bytes <= MOST_BYTES).then(|| unsafe { hash_bytes(data.cast::<u8>() as usize, n_bytes) })
}
