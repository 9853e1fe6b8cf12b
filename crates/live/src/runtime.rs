//! Threads as coroutines: code under the checker stops at each operation and goes on when it is answered.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Once;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use rustc_hash::FxHashMap;
use teetotal_program::{ThreadId, Value};

use crate::races::{Race, Races};
use crate::request::{Body, Request, What};
use crate::turn::Turn;

/// A thread under the checker: it takes answers and yields requests.
pub(crate) type Fiber = Coroutine<Value, Request, Ended, DefaultStack>;

/// How a thread ended.
pub(crate) type Ended = Result<(), Box<dyn Any + Send>>;

/// Values by the thread that they belong to, if they belong to one, and by name.
type Kept = FxHashMap<(Option<ThreadId>, usize), Box<dyn Any>>;

/// What an execution has beside its threads. There is one for each model that runs on an OS thread.
#[derive(Default)]
pub(crate) struct Execution {
    /// The thread that runs.
    running: Cell<Option<ThreadId>>,
    /// For each thread the way to stop it.
    yielders: RefCell<Vec<*const Yielder<Value, Request>>>,
    pub(crate) races: RefCell<Races>,
    /// What went wrong in the thread that runs, in words.
    pub(crate) message: RefCell<Option<String>>,
    /// Addresses of cells that are gone since the search last looked.
    pub(crate) gone: RefCell<Vec<usize>>,
    /// Values that live as long as the execution: statics, and locals of threads.
    pub(crate) kept: RefCell<Kept>,
    /// What each thread did since it last said that it waits.
    pub(crate) turns: RefCell<Vec<Turn>>,
    /// How many things there are that must not outlive the execution, by name.
    pub(crate) live_objects: RefCell<FxHashMap<&'static str, i64>>,
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Execution").field("running", &self.running).finish_non_exhaustive()
    }
}

thread_local! {
    /// The execution that code on this OS thread is part of.
    static CURRENT: Cell<*const Execution> = const { Cell::new(std::ptr::null()) };
}

/// Calls `f` with the execution that this code is part of, if it is part of one.
pub(crate) fn current<R>(f: impl FnOnce(&Execution) -> R) -> Option<R> {
    let execution = CURRENT.get();
    // SAFETY: the pointer is set only while `enter` holds a reference to the execution.
    unsafe { execution.as_ref() }.map(f)
}

/// Whether this code runs in a thread of a model, so that its operations are the search's affair.
///
/// A thread that unwinds is no longer in the model: what its destructors do goes on outside.
pub(crate) fn is_active() -> bool {
    !CURRENT.get().is_null() && !std::thread::panicking()
}

/// Performs an operation: stops the thread until the search answers.
pub(crate) fn perform(what: What, place: &'static Location<'static>) -> Value {
    let yielder = current(|execution| {
        let thread = execution.running.get().expect("code of a model runs in a thread of it");
        execution.yielders.borrow()[thread.index()]
    });
    let yielder = yielder.expect("operations are performed in a model");
    // SAFETY: the yielder lives on the stack of the coroutine that runs this code.
    unsafe { &*yielder }.suspend(Request { what, place })
}

/// The thread that runs.
pub(crate) fn running() -> Option<ThreadId> {
    current(|execution| execution.running.get()).flatten()
}

/// Ends the thread that runs, because of a data race.
pub(crate) fn fail_with_race(race: Race) -> ! {
    std::panic::panic_any(Raced(race))
}

/// What a thread that finds a data race panics with.
pub(crate) struct Raced(pub(crate) Race);

/// What a fiber did when it ran.
pub(crate) enum Ran {
    Asks(Request),
    Ended(Ended),
}

impl Execution {
    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.yielders.borrow_mut().clear();
        self.races.borrow_mut().clear();
        self.message.take();
        self.gone.take();
        self.turns.take();
        self.live_objects.take();
        drop(self.kept.take());
    }

    /// A thread that runs `body`.
    pub(crate) fn fiber(stack: DefaultStack, body: Body) -> Fiber {
        quiet_panics();
        Coroutine::with_stack(stack, move |yielder: &Yielder<Value, Request>, _: Value| {
            current(|execution| {
                let thread = execution.running.get().expect("a thread runs");
                let mut yielders = execution.yielders.borrow_mut();
                if yielders.len() <= thread.index() {
                    yielders.resize(thread.index() + 1, std::ptr::null());
                }
                yielders[thread.index()] = yielder;
            });
            catch_unwind(AssertUnwindSafe(body))
        })
    }

    /// Lets `fiber`, which is `thread`, run with `answer` to its next operation.
    pub(crate) fn run(&self, thread: ThreadId, fiber: &mut Fiber, answer: Value) -> Ran {
        let before = (CURRENT.replace(self), self.running.replace(Some(thread)));
        let result = fiber.resume(answer);
        CURRENT.set(before.0);
        self.running.set(before.1);
        match result {
            CoroutineResult::Yield(request) => Ran::Asks(request),
            CoroutineResult::Return(ended) => Ran::Ended(ended),
        }
    }
}

/// Keeps panics of threads under the checker from being printed: the search reports them, once.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let told = current(|execution| {
                let payload = info.payload();
                let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
                let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
                let text = text.unwrap_or_else(|| "a value that is no text".to_owned());
                *execution.message.borrow_mut() = Some(format!("{text}{place}"));
            });
            if told.is_none() {
                before(info);
            }
        }));
    });
}
