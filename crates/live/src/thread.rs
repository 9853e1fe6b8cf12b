//! Replacements for `std::thread`.

pub mod lenient;
mod scope;

use std::any::Any;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use teetotal_program::{OnFailure, Order, ThreadId as Number};

use crate::hidden::{Name, unseen};
use crate::hint::{hint, note_time_out};
use crate::identity::Identity;
use crate::local::{drop_locals, has_kept};
use crate::request::{Body, Cell, Function, Matter, PARKED, Update, What};
use crate::runtime::{current as execution, is_active, perform, refuse_captured, running};
use crate::spurious::goes_wrong;

pub use self::scope::{Scope, ScopedJoinHandle, scope};
pub use crate::local::{AccessError, LocalKey};
pub use std::thread::available_parallelism;

/// The result of a thread, or the payload of its panic.
pub type Result<T> = std::thread::Result<T>;

/// An owned permission to join a thread.
#[derive(Debug)]
pub struct JoinHandle<T>(Handle<T>);

#[derive(Debug)]
enum Handle<T> {
    Real(std::thread::JoinHandle<T>, Thread),
    Modeled(Modeled<T>),
}

/// A thread under the checker.
#[derive(Debug)]
struct Modeled<T> {
    number: Number,
    result: Packet<T>,
    thread: Thread,
    /// Where it was started.
    place: &'static Location<'static>,
}

/// The result of a thread, which belongs to the thread and its handle: the later of them drops it.
type Packet<T> = crate::sync::Arc<Mutex<Option<T>>>;

/// A handle to a thread.
#[derive(Clone)]
pub struct Thread(Arc<Inner>);

struct Inner {
    name: Option<String>,
    real: Option<std::thread::Thread>,
    number: Option<Number>,
    /// The location of its park token.
    parking: Identity,
    /// The flag that its function has returned, for `is_finished`.
    ended: Identity,
    /// The flag for its scope, if the destructors of its thread-locals are observable.
    returned: Identity,
}

/// The threads of an execution, by number.
pub(crate) type Handles = Vec<Option<Thread>>;

/// The id of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Id {
    Real(std::thread::ThreadId),
    Modeled(Number),
}

impl Thread {
    /// Returns the id of the thread.
    pub fn id(&self) -> ThreadId {
        ThreadId(match (&self.0.real, self.0.number) {
            (Some(real), _) => Id::Real(real.id()),
            (None, number) => Id::Modeled(number.unwrap_or(Number(0))),
        })
    }

    /// Returns the name of the thread, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref().or_else(|| self.0.real.as_ref()?.name())
    }

    /// Returns the location of its park token: 0 if it was unparked.
    fn token(&self) -> Cell {
        Cell { key: self.0.parking.key(), initial: 1, may_race: false }
    }

    /// Returns the flag that its function has returned, for `is_finished`.
    fn end(&self) -> Cell {
        Cell { key: self.0.ended.key(), initial: 0, may_race: false }
    }

    /// Returns the flag that its function has returned, for its scope.
    fn returned(&self) -> Cell {
        Cell { key: self.0.returned.key(), initial: 0, may_race: false }
    }

    fn outside(real: std::thread::Thread) -> Self {
        Thread(Arc::new(Inner {
            name: None,
            real: Some(real),
            number: None,
            parking: Identity::new(),
            ended: Identity::new(),
            returned: Identity::new(),
        }))
    }

    /// Unparks the thread, or lets its next park return at once.
    #[track_caller]
    pub fn unpark(&self) {
        if let Some(real) = &self.0.real {
            real.unpark();
        } else if is_active() {
            let update = Update::new(Function::Swap, 0, 64);
            let on_failure = OnFailure::Load(Order::Relaxed);
            perform(What::Rmw { at: self.token(), update, order: Order::Release, on_failure }, Location::caller());
        }
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Returns a handle to the current thread.
pub fn current() -> Thread {
    let modeled = execution(|execution| {
        let number = running()?;
        let mut handles = execution.handles.borrow_mut();
        if handles.len() <= number.index() {
            handles.resize(number.index() + 1, None);
        }
        Some(handles[number.index()].get_or_insert_with(|| handle_for(number, None)).clone())
    });
    modeled.flatten().unwrap_or_else(|| Thread::outside(std::thread::current()))
}

fn handle_for(number: Number, name: Option<String>) -> Thread {
    let (parking, ended, returned) = (Identity::new(), Identity::new(), Identity::new());
    Thread(Arc::new(Inner { name, real: None, number: Some(number), parking, ended, returned }))
}

/// Blocks until the current thread is unparked; may return spuriously.
#[track_caller]
pub fn park() {
    if goes_wrong(Matter::WakeUp, Location::caller()) {
        return;
    }
    if is_active() {
        let update = Update::new(Function::AddUnless { bits: PARKED }, PARKED, 64);
        perform(What::Lock { at: current().token(), update, order: Order::Acquire, timed: false }, Location::caller());
    } else {
        std::thread::park();
    }
}

/// Like [`park`], with a time-out, which in a model may elapse at any time.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    if !is_active() {
        return std::thread::park_timeout(duration);
    }
    // The thread continues, whether it was unparked or not.
    let (update, place) = (Update::new(Function::Swap, 1, 64), Location::caller());
    let on_failure = OnFailure::Load(Order::Relaxed);
    let was_parked = perform(What::Rmw { at: current().token(), update, order: Order::Acquire, on_failure }, place);
    if was_parked != 0 {
        note_time_out(place);
    }
}

/// Sleeps; in a model, a hint like [`yield_now`].
#[track_caller]
pub fn sleep(duration: Duration) {
    if is_active() { hint(Location::caller()) } else { std::thread::sleep(duration) }
}

/// Signals that the thread waits for other threads.
#[track_caller]
pub fn yield_now() {
    if is_active() { hint(Location::caller()) } else { std::thread::yield_now() }
}

/// Returns whether the current thread is unwinding.
pub fn panicking() -> bool {
    std::thread::panicking()
}

/// Starts a thread that runs `f`.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("a thread can be started")
}

/// Settings for a new thread.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Creates settings for a thread without a name.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Sets the name of the thread.
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the stack size; in a model all stacks have the same size.
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if is_active() {
            return Ok(self.spawn_modeled(f, Location::caller()));
        }
        let handle = self.into_real().spawn(f)?;
        let thread = Thread::outside(handle.thread().clone());
        Ok(JoinHandle(Handle::Real(handle, thread)))
    }

    /// Starts the thread under the checker.
    fn spawn_modeled<F, T>(self, f: F, place: &'static Location<'static>) -> JoinHandle<T>
    where
        F: FnOnce() -> T + 'static,
        T: 'static,
    {
        let result = unmodeled(|| Packet::untracked(Mutex::new(None), place));
        let body = body(f, result.clone(), place, Ends::Alone);
        JoinHandle(Handle::Modeled(start(self.name, result, body, place)))
    }

    fn into_real(self) -> std::thread::Builder {
        let builder = std::thread::Builder::new();
        let builder = self.name.into_iter().fold(builder, std::thread::Builder::name);
        self.stack_size.into_iter().fold(builder, std::thread::Builder::stack_size)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the name in the ledger of the end of threads that are started here. The place itself names their results.
fn end_name(place: &'static Location<'static>) -> Name {
    Name::beside(place, 1)
}

/// Returns the name of the destructors of their thread-locals.
fn locals_name(place: &'static Location<'static>) -> Name {
    Name::beside(place, 2)
}

fn is_open(name: Name) -> bool {
    execution(|execution| execution.is_open(name)).unwrap_or(false)
}

/// What waits for the end of a thread, besides handles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Alone,
    InScope,
}

/// Creates a value for a thread, a channel or a future whose memory is not part of the model.
pub(crate) fn unmodeled<R>(make: impl FnOnce() -> R) -> R {
    let mut make = Some(make);
    let made = execution(|_| make.take().map(|make| make()));
    made.flatten().unwrap_or_else(|| make.take().expect("it is not yet made")())
}

/// Returns the closure of a thread that stores the result of `f`.
///
/// As in the standard library, the thread is finished when `f` has returned, for `is_finished` and for the end of its
/// scope; the destructors of its thread-locals run after that, and before it can be joined.
fn body<'b, F, T>(f: F, result: Packet<T>, place: &'static Location<'static>, ends: Ends) -> impl FnOnce() + 'b
where
    F: FnOnce() -> T + 'b,
    T: 'b,
{
    move || {
        let value = f();
        *locked(&result) = Some(value);
        drop(result);
        if is_open(end_name(place)) {
            // `is_finished` promises no synchronization.
            perform(What::Store { at: current().end(), value: 1, order: Order::Relaxed }, place);
        }
        if ends == Ends::Alone {
            return drop_locals();
        }
        if is_open(locals_name(place)) {
            let (update, on_failure) = (Update::new(Function::Swap, 1, 64), OnFailure::Load(Order::Relaxed));
            perform(What::Rmw { at: current().returned(), update, order: Order::Release, on_failure }, place);
        }
        if has_kept() {
            unseen(locals_name(place), None, drop_locals);
        }
    }
}

fn start<T>(
    name: Option<String>,
    result: Packet<T>,
    body: impl FnOnce() + 'static,
    place: &'static Location<'static>,
) -> Modeled<T> {
    let shared: Arc<Mutex<Option<Thread>>> = unmodeled(Arc::default);
    let own = Arc::clone(&shared);
    let body = move || {
        // The thread knows itself by the handle that its parent has.
        execution(|execution| {
            if let Some(number) = running() {
                let handle = handle_for(number, name);
                *locked(&own) = Some(handle.clone());
                let mut handles = execution.handles.borrow_mut();
                let n_handles = handles.len().max(number.index() + 1);
                handles.resize(n_handles, None);
                handles[number.index()] = Some(handle);
            }
        });
        body();
    };
    let body: Body = unmodeled(|| Box::new(body));
    let number = Number(perform(What::Spawn { body: Some(body) }, place) as u16);
    let thread = locked(&shared).take();
    Modeled { number, result, thread: thread.unwrap_or_else(|| handle_for(number, None)), place }
}

impl<T> Modeled<T> {
    fn join(self, place: &'static Location<'static>) -> Result<T> {
        if is_active() {
            perform(What::Join { thread: self.number }, place);
        }
        let value = locked(&self.result).take();
        value.ok_or_else(|| Box::new("the model was given up") as Box<dyn Any + Send>)
    }

    /// Returns whether it has ended.
    fn is_finished(&self, place: &'static Location<'static>) -> bool {
        if !is_active() {
            return locked(&self.result).is_some();
        }
        execution(|execution| execution.expose(end_name(self.place)));
        let at = self.thread.end();
        // It is an operation in any case, so that a loop around it is one.
        let has_ended = perform(What::Load { at, order: Order::Relaxed }, place) != 0;
        is_open(end_name(self.place)) && has_ended
    }
}

impl<T> JoinHandle<T> {
    /// Waits for the thread to end.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(handle, _) => {
                refuse_captured(Location::caller());
                handle.join()
            }
            Handle::Modeled(modeled) => modeled.join(Location::caller()),
        }
    }

    /// Returns a handle to the thread.
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Real(_, thread) => thread,
            Handle::Modeled(modeled) => &modeled.thread,
        }
    }

    /// Returns whether the function of the thread has returned.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(handle, _) => {
                refuse_captured(Location::caller());
                handle.is_finished()
            }
            Handle::Modeled(modeled) => modeled.is_finished(Location::caller()),
        }
    }
}
