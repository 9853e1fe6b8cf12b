//! Look-alikes of `std::thread`.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use teetotal_program::{OnFailure, Order, ThreadId as Number};

use crate::request::{Body, Cell, Function, Update, What};
use crate::runtime::{current as execution, is_active, perform, running};
use crate::turn::hint;

pub use crate::local::{AccessError, LocalKey};

/// What a thread leaves behind.
pub type Result<T> = std::thread::Result<T>;

/// A thread that can be waited for.
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
    result: Arc<Mutex<Option<T>>>,
    thread: Thread,
}

/// A thread.
#[derive(Clone)]
pub struct Thread(Arc<Inner>);

struct Inner {
    name: Option<String>,
    real: Option<std::thread::Thread>,
    number: Option<Number>,
}

/// Which thread it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Id {
    Real(std::thread::ThreadId),
    Modeled(Number),
}

impl Thread {
    /// Which thread it is.
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match (&self.0.real, self.0.number) {
            (Some(real), _) => Id::Real(real.id()),
            (None, number) => Id::Modeled(number.unwrap_or(Number(0))),
        })
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref().or_else(|| self.0.real.as_ref()?.name())
    }

    /// What it parks at: 0 when somebody has unparked it.
    fn token(&self) -> Cell {
        Cell { address: Arc::as_ptr(&self.0) as usize, initial: 1 }
    }

    /// Lets it go on when it parks, or has parked.
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

/// The thread that runs.
#[must_use]
pub fn current() -> Thread {
    let modeled = execution(|execution| {
        let number = running()?;
        let mut kept = execution.kept.borrow_mut();
        let handle = kept.entry((Some(number), 0)).or_insert_with(|| Box::new(handle_for(Some(number), None)));
        handle.downcast_ref::<Thread>().cloned()
    });
    modeled
        .flatten()
        .unwrap_or_else(|| Thread(Arc::new(Inner { name: None, real: Some(std::thread::current()), number: None })))
}

fn handle_for(number: Option<Number>, name: Option<String>) -> Thread {
    Thread(Arc::new(Inner { name, real: None, number }))
}

/// Waits until somebody unparks the thread.
#[track_caller]
pub fn park() {
    if is_active() {
        perform(What::Lock { at: current().token(), order: Order::Acquire }, Location::caller());
    } else {
        std::thread::park();
    }
}

/// The same, but the time may be over first; under the checker it may at any time.
#[track_caller]
pub fn park_timeout(duration: Duration) {
    let place = Location::caller();
    if !is_active() {
        std::thread::park_timeout(duration);
    } else if perform(What::Choose { alternatives: 2 }, place) == 0 {
        // Whether or not somebody has, the thread goes on.
        let update = Update::new(Function::Swap, 1, 64);
        let on_failure = OnFailure::Load(Order::Relaxed);
        perform(What::Rmw { at: current().token(), update, order: Order::Acquire, on_failure }, place);
    }
}

/// Lets time pass, which under the checker is to let others go on.
#[track_caller]
pub fn sleep(duration: Duration) {
    if is_active() { hint(Location::caller()) } else { std::thread::sleep(duration) }
}

/// Says that the thread waits for something that others do.
#[track_caller]
pub fn yield_now() {
    if is_active() { hint(Location::caller()) } else { std::thread::yield_now() }
}

/// Whether the thread unwinds.
#[must_use]
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

/// How to start a thread.
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// A thread without a name.
    #[must_use]
    pub fn new() -> Self {
        Builder::default()
    }

    /// Gives it a name.
    #[must_use]
    pub fn name(mut self, name: String) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the size of its stack; under the checker all stacks have the same.
    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Self {
        self.stack_size = Some(size);
        self
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if is_active() {
            let result = Arc::new(Mutex::new(None));
            let body = body(f, Arc::clone(&result));
            return Ok(JoinHandle(Handle::Modeled(start(self.name, result, body, Location::caller()))));
        }
        let mut builder = std::thread::Builder::new();
        builder = self.name.into_iter().fold(builder, std::thread::Builder::name);
        builder = self.stack_size.into_iter().fold(builder, std::thread::Builder::stack_size);
        let handle = builder.spawn(f)?;
        let real = handle.thread().clone();
        let thread = Thread(Arc::new(Inner { name: None, real: Some(real), number: None }));
        Ok(JoinHandle(Handle::Real(handle, thread)))
    }
}

/// What a thread runs that leaves behind what `f` gives.
fn body<'b, F, T>(f: F, result: Arc<Mutex<Option<T>>>) -> impl FnOnce() + 'b
where
    F: FnOnce() -> T + 'b,
    T: 'b,
{
    move || {
        let value = f();
        *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        crate::local::drop_locals();
    }
}

fn start<T>(
    name: Option<String>,
    result: Arc<Mutex<Option<T>>>,
    body: impl FnOnce() + 'static,
    place: &'static Location<'static>,
) -> Modeled<T> {
    let shared: Arc<Mutex<Option<Thread>>> = Arc::default();
    let own = Arc::clone(&shared);
    let body: Body = Box::new(move || {
        // The thread knows itself by the handle that its parent has.
        execution(|execution| {
            if let Some(number) = running() {
                let handle = handle_for(Some(number), name);
                *own.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.clone());
                execution.kept.borrow_mut().insert((Some(number), 0), Box::new(handle));
            }
        });
        body();
    });
    let number = Number(perform(What::Spawn { body: Some(body) }, place) as u16);
    let thread = shared.lock().unwrap_or_else(PoisonError::into_inner).take();
    Modeled { number, result, thread: thread.unwrap_or_else(|| handle_for(Some(number), None)) }
}

impl<T> Modeled<T> {
    fn join(self, place: &'static Location<'static>) -> Result<T> {
        perform(What::Join { thread: self.number }, place);
        let value = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(value.expect("a thread that has ended left something behind"))
    }
}

impl<T> JoinHandle<T> {
    /// Waits for the thread.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(handle, _) => handle.join(),
            Handle::Modeled(modeled) => modeled.join(Location::caller()),
        }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Real(_, thread) => thread,
            Handle::Modeled(modeled) => &modeled.thread,
        }
    }
}

/// Threads that end before [`scope`] does, and may borrow what outlives it.
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    /// The threads that nobody has waited for.
    waiting: Mutex<Vec<Number>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

/// A thread of a scope.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T> {
    modeled: Modeled<T>,
    waiting: &'scope Mutex<Vec<Number>>,
}

/// Runs `f`, and waits for the threads that it starts.
///
/// # Panics
/// Outside of a model, where the standard library is to be used.
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    assert!(is_active(), "`teetotal::thread::scope` is for models; use `std::thread::scope` outside of them");
    let place = Location::caller();
    let scope = Scope { waiting: Mutex::default(), scope: PhantomData, environment: PhantomData };
    let result = f(&scope);
    let waiting = std::mem::take(&mut *scope.waiting.lock().unwrap_or_else(PoisonError::into_inner));
    for thread in waiting {
        perform(What::Join { thread }, place);
    }
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
        let result = Arc::new(Mutex::new(None));
        let body: Box<dyn FnOnce() + 'scope> = Box::new(body(f, Arc::clone(&result)));
        // SAFETY: the scope does not end before the thread has, and a model that is given up unwinds its threads while
        // the stack of the scope is still there.
        let body: Box<dyn FnOnce() + 'static> = unsafe { std::mem::transmute(body) };
        let modeled = start(None, result, body, Location::caller());
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(modeled.number);
        ScopedJoinHandle { modeled, waiting: &self.waiting }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let number = self.modeled.number;
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).retain(|&other| other != number);
        self.modeled.join(Location::caller())
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        &self.modeled.thread
    }
}
