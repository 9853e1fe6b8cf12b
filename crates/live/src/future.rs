//! Futures under the checker.

use std::future::Future;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::request::Matter;
use crate::spurious::goes_wrong;
use crate::sync::{Mutex, Notify};
use crate::thread::{self, unmodeled};

/// Wakes a thread that waits for a future.
struct Waking(Notify);

impl Wake for Waking {
    #[track_caller]
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify();
    }
}

/// Runs `future` to completion on the current thread.
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let place = Location::caller();
    let mut future = pin!(future);
    // Its counts are those of the standard library, and establish no order.
    let waking = unmodeled(|| Arc::new(Waking(Notify::new())));
    let waker = Waker::from(Arc::clone(&waking));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        if !goes_wrong(Matter::WakeUp, place) {
            waking.0.wait();
        }
    }
}

/// A `futures::task::AtomicWaker` for models.
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Creates an `AtomicWaker` without a waker.
    #[must_use]
    pub const fn new() -> Self {
        AtomicWaker { waker: Mutex::new(None) }
    }

    /// Registers `waker`. If another thread wakes concurrently, `waker` is woken at once.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        let Ok(mut own) = self.waker.try_lock() else {
            waker.wake();
            thread::yield_now();
            return;
        };
        let before = own.replace(waker);
        drop(own);
        drop(before);
    }

    /// Registers a clone of `waker`.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the registered waker, if there is one.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the registered waker, if there is one.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}
