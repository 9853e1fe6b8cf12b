//! Scoped threads, which may borrow since they end before what they borrow.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Mutex;

use teetotal_program::{Order, ThreadId as Number};

use super::{Builder, Ends, Modeled, Packet, Result, Thread, body, is_open, locals_name, locked, start, unmodeled};
use crate::request::{Until, What};
use crate::runtime::{is_active, perform};

/// A scope for threads that may borrow data that outlives it.
#[derive(Debug)]
pub struct Scope<'scope, 'env> {
    threads: Threads<'scope, 'env>,
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

enum Threads<'scope, 'env> {
    Real(&'scope std::thread::Scope<'scope, 'env>),
    Modeled {
        /// The threads that were not joined.
        waiting: Mutex<Vec<Started>>,
    },
}

/// A thread, and where it was started.
#[derive(Debug)]
struct Started {
    number: Number,
    thread: Thread,
    place: &'static Location<'static>,
}

impl Started {
    /// Waits until its function has returned, but not for the destructors of its thread-locals.
    fn wait(self, place: &'static Location<'static>) {
        if is_open(locals_name(self.place)) {
            let (at, until) = (self.thread.returned(), Until::AtLeast(1));
            perform(What::Await { at, until, order: Order::Acquire, timed: false }, place);
        } else {
            perform(What::Join { thread: self.number }, place);
        }
    }
}

impl fmt::Debug for Threads<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").finish_non_exhaustive()
    }
}

/// An owned permission to join a thread of a scope.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T>(ScopedHandle<'scope, T>);

#[derive(Debug)]
enum ScopedHandle<'scope, T> {
    Real(std::thread::ScopedJoinHandle<'scope, T>, Thread),
    Modeled(Modeled<T>, &'scope Mutex<Vec<Started>>),
}

/// Runs `f` and waits for the threads that it starts.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    if !is_active() {
        return scope_outside(f);
    }
    let place = Location::caller();
    let threads = Threads::Modeled { waiting: Mutex::default() };
    let scope = Scope { threads, scope: PhantomData, environment: PhantomData };
    // Threads may borrow from the frames that a panic unwinds, so a panic waits for them too.
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    if let Threads::Modeled { waiting } = &scope.threads {
        // A thread of the scope may start others.
        loop {
            let next = locked(waiting).pop();
            let Some(started) = next else { break };
            started.wait(place);
        }
    }
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

/// Runs `f` outside of models and waits for the threads that it starts.
fn scope_outside<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let mut own: *mut () = std::ptr::null_mut();
    let result = std::thread::scope(|real| {
        let scope = Scope { threads: Threads::Real(real), scope: PhantomData, environment: PhantomData };
        let scope = Box::into_raw(Box::new(scope));
        own = scope.cast();
        // SAFETY: it is freed when all threads of the scope have ended.
        f(unsafe { &*scope })
    });
    // SAFETY: it was created above, and there are no references any more.
    drop(unsafe { Box::from_raw(own.cast::<Scope<'_, '_>>()) });
    result
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that runs `f`.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f).expect("a thread can be started")
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread to end.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            ScopedHandle::Real(handle, _) => handle.join(),
            ScopedHandle::Modeled(modeled, waiting) => {
                locked(waiting).retain(|other| other.number != modeled.number);
                modeled.join(Location::caller())
            }
        }
    }

    /// Returns a handle to the thread.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            ScopedHandle::Real(_, thread) => thread,
            ScopedHandle::Modeled(modeled, _) => &modeled.thread,
        }
    }

    /// Returns whether the function of the thread has returned.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            ScopedHandle::Real(handle, _) => handle.is_finished(),
            ScopedHandle::Modeled(modeled, _) => modeled.is_finished(Location::caller()),
        }
    }
}

impl Builder {
    /// Starts the thread in a scope.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> std::io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let place = Location::caller();
        let Threads::Modeled { waiting } = &scope.threads else {
            let Threads::Real(real) = scope.threads else { unreachable!("it is one or the other") };
            let handle = self.into_real().spawn_scoped(real, f)?;
            let thread = Thread::outside(handle.thread().clone());
            return Ok(ScopedJoinHandle(ScopedHandle::Real(handle, thread)));
        };
        let result = unmodeled(|| Packet::untracked(Mutex::new(None), place));
        let body = body(f, result.clone(), place, Ends::InScope);
        let body: Box<dyn FnOnce() + 'scope> = unmodeled(|| Box::new(body));
        // SAFETY: the scope does not end before the thread has dropped everything of this lifetime; a model that is
        // given up runs none of its threads any more.
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let modeled = start(self.name, result, body, place);
        locked(waiting).push(Started { number: modeled.number, thread: modeled.thread.clone(), place });
        Ok(ScopedJoinHandle(ScopedHandle::Modeled(modeled, waiting)))
    }
}
