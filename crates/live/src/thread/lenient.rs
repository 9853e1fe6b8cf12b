//! Threads as in loom: their closures need not be `Send`, since under the checker they stay on one OS thread.

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

/// Settings for a new thread.
#[derive(Debug, Default)]
pub struct Builder(super::Builder);

impl Builder {
    /// Creates settings for a thread without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets the name of the thread.
    pub fn name(self, name: String) -> Self {
        Builder(self.0.name(name))
    }

    /// Sets the stack size; in a model all stacks have the same size.
    pub fn stack_size(self, size: usize) -> Self {
        Builder(self.0.stack_size(size))
    }

    /// Starts the thread.
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
