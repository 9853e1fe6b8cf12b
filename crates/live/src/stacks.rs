//! Reuse of stacks, since creating one takes longer than a small execution.

use std::cell::RefCell;

use corosensei::stack::{DefaultStack, Stack};

/// The number of stacks that are kept for later models on this OS thread.
const MAX_SPARE: usize = 64;

thread_local! {
    /// Unused stacks, with their sizes.
    static SPARE: RefCell<Vec<(usize, DefaultStack)>> = const { RefCell::new(Vec::new()) };
}

/// Returns a stack of `bytes` bytes.
pub(crate) fn take(bytes: usize) -> DefaultStack {
    let spare = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let at = spare.iter().rposition(|(size, _)| *size == bytes)?;
        Some(spare.swap_remove(at).1)
    });
    let spare = spare.ok().flatten();
    spare.unwrap_or_else(|| DefaultStack::new(bytes).expect("there is memory for a stack"))
}

/// Keeps stacks of `bytes` bytes for later.
pub(crate) fn keep(bytes: usize, stacks: impl Iterator<Item = DefaultStack>) {
    // Where the OS thread ends, they are freed.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let room = MAX_SPARE.saturating_sub(spare.len());
        spare.extend(stacks.take(room).map(|stack| (bytes, stack)));
    });
}

/// Fills the first `bytes` bytes that a fiber uses of a stack with zeros.
///
/// Frames have slots that are not written yet. Whether the own state of a thread is what it was must not depend on what
/// earlier executions left there.
pub(crate) fn clear(stack: &mut DefaultStack, bytes: usize) {
    if bytes == 0 {
        // A store of no bytes behind the end of mapped memory is slow on some processors.
        return;
    }
    let (base, limit) = (stack.base().get(), stack.limit().get());
    let bytes = bytes.min((base - limit) / 2);
    // SAFETY: the stack is between its limit and its base, and nothing runs on it. The guard page is at the limit.
    unsafe { std::ptr::write_bytes((base - bytes) as *mut u8, 0, bytes) };
}
