//! The poison of freed blocks.
//!
//! The poison is the address of memory that cannot be accessed, so that a pointer read from a freed block leads there.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of inaccessible bytes around the poison.
const BYTES: usize = 1 << 20;

/// The poison on systems where no memory can be reserved.
static POISON: AtomicUsize = AtomicUsize::new(0x7eee_eeee_eee8);

/// Reserves the memory that the poison points to.
pub(crate) fn watch_poison() {
    #[cfg(unix)]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: it maps new memory, and touches no other.
            let start = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, libc::PROT_NONE, flags, -1, 0) };
            if start != libc::MAP_FAILED {
                POISON.store(start as usize + BYTES / 2, Ordering::Relaxed);
            }
        });
    }
}

/// Returns whether an access to `address` followed the poison.
pub(crate) fn is_poison(address: usize) -> bool {
    address.abs_diff(POISON.load(Ordering::Relaxed)) < BYTES / 2
}

/// Returns an address near the poison that nothing leads to.
pub(crate) fn resume_address() -> usize {
    POISON.load(Ordering::Relaxed) - BYTES / 2 + 64
}

/// Fills a block with poison.
///
/// # Safety
/// Nothing uses the block any more.
pub(super) unsafe fn fill(start: usize, size: usize) {
    let poison = POISON.load(Ordering::Relaxed).to_ne_bytes();
    // SAFETY: upheld by the caller.
    let bytes = unsafe { std::slice::from_raw_parts_mut(start as *mut u8, size) };
    for chunk in bytes.chunks_mut(poison.len()) {
        chunk.copy_from_slice(&poison[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_any_size_is_filled_to_its_end_and_no_further() {
        for size in 0..40 {
            let mut bytes = [0xff_u8; 48];
            // SAFETY: the bytes are not used meanwhile.
            unsafe { fill(bytes.as_mut_ptr() as usize, size) };
            let word = bytes[..8].try_into().map_or(0, usize::from_ne_bytes);
            assert!(size < 8 || is_poison(word), "{word:x}");
            assert!(bytes[size..].iter().all(|&byte| byte == 0xff), "{size}");
        }
    }

    #[test]
    fn what_is_read_through_a_poisoned_pointer_is_near_the_poison() {
        watch_poison();
        let poison = POISON.load(Ordering::Relaxed);
        assert!([poison, poison + 4_000, poison - 4_000, resume_address()].into_iter().all(is_poison));
        let local = 0_u8;
        let others = [0, 8, &raw const local as usize, poison + BYTES, poison - BYTES];
        assert!(!others.into_iter().any(is_poison));
    }
}
