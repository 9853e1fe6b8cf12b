//! Threads as loom has them: what they run need not be fit for another thread, since under the checker it stays on one.

use std::panic::Location;

use super::{JoinHandle, is_active};

/// Starts a thread that runs `f`.
///
/// # Panics
/// Outside of a model.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    Builder::new().spawn(f).expect("a thread can be started")
}

/// How to start a thread.
#[derive(Debug, Default)]
pub struct Builder(super::Builder);

impl Builder {
    /// A thread without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Gives it a name.
    pub fn name(self, name: String) -> Self {
        Builder(self.0.name(name))
    }

    /// Sets the size of its stack; under the checker all stacks have the same.
    pub fn stack_size(self, size: usize) -> Self {
        Builder(self.0.stack_size(size))
    }

    /// Starts it.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        assert!(is_active(), "threads of loom are started in a model");
        Ok(self.0.spawn_modeled(f, Location::caller()))
    }
}
