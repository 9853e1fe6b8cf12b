//! Look-alikes of `std::thread`.

use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use teetotal_program::ThreadId as Number;

use crate::request::What;
use crate::runtime::{is_active, perform};
use crate::turn::hint;

/// What a thread leaves behind.
pub type Result<T> = std::thread::Result<T>;

/// A thread that can be waited for.
#[derive(Debug)]
pub struct JoinHandle<T>(Handle<T>);

#[derive(Debug)]
enum Handle<T> {
    Real(std::thread::JoinHandle<T>),
    Modeled { number: Number, result: Arc<Mutex<Option<T>>> },
}

/// Starts a thread that runs `f`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if !is_active() {
        return JoinHandle(Handle::Real(std::thread::spawn(f)));
    }
    let result = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&result);
    let body = move || {
        let value = f();
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
    };
    let number = perform(What::Spawn { body: Some(Box::new(body)) }, Location::caller());
    JoinHandle(Handle::Modeled { number: Number(number as u16), result })
}

impl<T> JoinHandle<T> {
    /// Waits for the thread.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(handle) => handle.join(),
            Handle::Modeled { number, result } => {
                perform(What::Join { thread: number }, Location::caller());
                let value = result.lock().unwrap_or_else(PoisonError::into_inner).take();
                Ok(value.expect("a thread that has ended left something behind"))
            }
        }
    }
}

/// Says that the thread waits for something that others do.
#[track_caller]
pub fn yield_now() {
    if is_active() { hint(Location::caller()) } else { std::thread::yield_now() }
}
