//! Fibers that stop while they unwind.
//!
//! The standard library counts panics for each OS thread, and all fibers of a model share one. A fiber that performs an
//! operation in a destructor while it unwinds stops there; until it is resumed the count must be that of the other
//! fibers, or `std::thread::panicking` would be true in all of them and their guards would not poison.
//!
//! The count is a private thread-local of the standard library. It is found by its behavior: the one word that is
//! incremented by each panic that unwinds and decremented when it is caught. If it cannot be found, threads of the
//! model run on OS threads of their own as soon as one of them performs an operation while it unwinds.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::OnceLock;

use crate::hidden::{Kind, Name};
use crate::surroundings::Program;

/// The number of panics that unwind through a stopped fiber.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panics(usize);

/// Called when the current fiber is about to stop; returns the panics that unwind through it, which do not count until
/// it is resumed.
///
/// Returns an error if they cannot be distinguished from those of other fibers.
pub(crate) fn stop() -> Result<Panics, Unknown> {
    if !std::thread::panicking() {
        return Ok(Panics(0));
    }
    let count = count().ok_or(Unknown)?;
    // SAFETY: the word is the count of this OS thread, which no other thread accesses.
    Ok(Panics(unsafe { count.replace(0) }))
}

/// Called when a stopped fiber is resumed.
pub(crate) fn resume(panics: Panics) {
    if panics.0 > 0
        && let Some(count) = count()
    {
        // SAFETY: as in `stop`.
        unsafe { count.write(panics.0) };
    }
}

/// The error that the count of panics cannot be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unknown;

/// Returns the name that is concrete if threads of a model need OS threads of their own.
pub(crate) fn needs_os_threads() -> Name {
    static NEEDS: u8 = 0;
    Name::new(Kind::Thing, &NEEDS)
}

/// Returns the word that counts the panics of this OS thread.
fn count() -> Option<*mut usize> {
    // It is at the same place in the thread-locals of every OS thread.
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    let locals = Program::here().locals.clone()?;
    let offset = (*OFFSET.get_or_init(find))?;
    Some((locals.start + offset) as *mut usize)
}

/// Searches for the word that counts panics; returns its offset in the thread-locals.
fn find() -> Option<usize> {
    let before = words()?;
    let [first, second] = while_unwinding(|| [words(), while_unwinding(words)]);
    let (first, second, after) = (first?, second?, words()?);
    let counts = |&index: &usize| {
        let [before, first, second, after] = [&before, &first, &second, &after].map(|words| words[index]);
        (first, second, after) == (before.wrapping_add(1), before.wrapping_add(2), before)
    };
    let mut found = (0..before.len()).filter(counts);
    match (found.next(), found.next()) {
        (Some(index), None) => Some(index * size_of::<usize>()),
        _ => None,
    }
}

/// Returns the thread-locals of this OS thread, word by word.
fn words() -> Option<Vec<usize>> {
    let locals = Program::here().locals.clone()?;
    let start = locals.start as *const usize;
    // SAFETY: thread-locals are there as long as the thread, and start at a word.
    let word = |index: usize| unsafe { start.add(index).read_volatile() };
    start.is_aligned().then(|| (0..locals.len() / size_of::<usize>()).map(word).collect())
}

/// Calls `f` in a destructor while this thread unwinds.
fn while_unwinding<R>(f: impl FnOnce() -> R) -> R {
    struct OnDrop<F: FnOnce()>(Option<F>);
    impl<F: FnOnce()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            if let Some(f) = self.0.take() {
                f();
            }
        }
    }
    let mut result = None;
    let call = std::panic::AssertUnwindSafe(|| {
        let _call = OnDrop(Some(|| result = Some(f())));
        resume_unwind(Box::new(()));
    });
    let unwound = catch_unwind(call);
    debug_assert!(unwound.is_err());
    result.expect("the destructor was called")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_fiber_that_has_stopped_while_it_unwinds_is_not_counted() {
        for _ in 0..2 {
            while_unwinding(|| {
                let panics = stop().expect("the count is found");
                assert!(!std::thread::panicking());
                while_unwinding(|| assert!(std::thread::panicking()));
                assert!(!std::thread::panicking());
                resume(panics);
                assert!(std::thread::panicking());
            });
            assert!(!std::thread::panicking());
        }
        std::thread::spawn(|| while_unwinding(|| assert!(stop().is_ok() && !std::thread::panicking())))
            .join()
            .expect("another OS thread has a count of its own");
    }

    #[test]
    fn a_fiber_that_does_not_unwind_has_nothing_to_count() {
        assert!(matches!(stop(), Ok(Panics(0))));
    }
}
