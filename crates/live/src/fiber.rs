//! Fibers, the threads of a model: code that stops at each operation until it is answered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use teetotal_program::Value;

use crate::entry::Frame;
use crate::pulse::{self, Pulse};
use crate::request::{Body, Request};
use crate::runtime::{Ended, Here, Ran, Stack as Bounds, begin_fiber};
use crate::stacks;

/// How the threads of a model run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    /// As coroutines with stacks of their own, all on one OS thread.
    #[default]
    Coroutines,
    /// On one OS thread each, for code that keeps state in thread-locals of the standard library.
    ///
    /// They still run one at a time. A switch takes about a thousand times as long as between coroutines.
    OsThreads,
}

/// What a fiber stops with: a request, which is on its stack, and its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) request: *mut Request,
    pub(crate) frame: Frame,
}

impl Ask {
    /// Takes the request.
    ///
    /// # Safety
    /// The fiber has stopped with it just now, and does not use it again.
    #[inline]
    pub(crate) unsafe fn take(self) -> Request {
        // SAFETY: upheld by the caller.
        unsafe { self.request.read() }
    }
}

/// A thread under the checker: it receives answers and makes requests.
pub(crate) enum Fiber {
    Coroutine(Coroutine<Value, Ask, Ended, DefaultStack>),
    OsThread(OsThread),
}

/// A handle with which a fiber stops itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Coroutine(*const Yielder<Value, Ask>),
    OsThread(*const Handover),
}

impl Fiber {
    /// Creates a thread that runs `body` on the stack that `stack` returns, if it needs one, of this many `bytes`.
    pub(crate) fn new(backend: Backend, bytes: usize, stack: impl FnOnce() -> DefaultStack, body: Body) -> Self {
        match backend {
            Backend::Coroutines => Fiber::on_stack(stack(), body),
            Backend::OsThreads => Fiber::OsThread(OsThread::new(bytes, body)),
        }
    }

    fn on_stack(stack: DefaultStack, body: Body) -> Self {
        let (end, bytes) = (stack.limit().get(), stack.base().get() - stack.limit().get());
        Fiber::Coroutine(Coroutine::with_stack(stack, move |yielder: &Yielder<Value, Ask>, _: Value| {
            run_on(Stop::Coroutine(yielder), (end, bytes), body)
        }))
    }

    /// Resumes it with `answer` until its next operation.
    #[inline(always)]
    pub(crate) fn resume(&mut self, answer: Value) -> Ran {
        match self {
            Fiber::Coroutine(fiber) => match fiber.resume(answer) {
                CoroutineResult::Yield(ask) => Ran::Asks(ask),
                CoroutineResult::Return(ended) => Ran::Ended(ended),
            },
            Fiber::OsThread(thread) => thread.handover.resume(answer),
        }
    }

    /// Takes the stack of a fiber that has ended.
    pub(crate) fn into_stack(self) -> Option<DefaultStack> {
        match self {
            Fiber::Coroutine(fiber) => Some(fiber.into_stack()),
            Fiber::OsThread(thread) => {
                // Its thread-locals are dropped before anything else happens.
                let _ = thread.handle.join();
                None
            }
        }
    }

    /// Takes the stack of a fiber that is never resumed, with everything on it.
    ///
    /// An OS thread cannot be ended, and sleeps forever.
    ///
    /// # Safety
    /// No thread that may have borrowed from it runs any more.
    pub(crate) unsafe fn give_up(self) -> Option<DefaultStack> {
        match self {
            Fiber::Coroutine(mut fiber) => {
                // SAFETY: as above.
                unsafe { fiber.force_reset() };
                Some(fiber.into_stack())
            }
            Fiber::OsThread(_) => None,
        }
    }
}

impl Stop {
    /// Stops the current fiber with a request; returns the answer.
    ///
    /// # Safety
    /// The handle is that of the current fiber.
    #[inline]
    pub(crate) unsafe fn suspend(self, ask: Ask) -> Value {
        match self {
            // SAFETY: the yielder lives on the stack of the coroutine that runs this code.
            Stop::Coroutine(yielder) => unsafe { &*yielder }.suspend(ask),
            // SAFETY: the current thread this code keeps it, and has stopped with what it asks.
            Stop::OsThread(handover) => unsafe { (*handover).suspend(Ran::Asks(ask)) },
        }
    }
}

/// An OS thread that runs only while it is permitted to.
pub(crate) struct OsThread {
    handover: Arc<Handover>,
    handle: JoinHandle<()>,
}

/// Where a thread and its scheduler wait for each other.
#[derive(Debug)]
pub(crate) struct Handover {
    turn: Mutex<Message>,
    changed: Condvar,
}

/// A message between the two.
enum Message {
    Nothing,
    Go(Value, Here, Option<Arc<Pulse>>),
    Ran(Ran),
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Message")
    }
}

/// A value that moves to another thread while its owner waits.
struct Sent<T>(T);

// SAFETY: of the threads of a model and the one that searches only one runs at a time, and each hands over through a
// lock.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn take(self) -> T {
        self.0
    }
}

// SAFETY: as above.
unsafe impl Send for Handover {}
// SAFETY: as above.
unsafe impl Sync for Handover {}

impl OsThread {
    fn new(bytes: usize, body: Body) -> Self {
        let handover = Arc::new(Handover { turn: Mutex::new(Message::Nothing), changed: Condvar::new() });
        let (own, body) = (Arc::clone(&handover), Sent(body));
        let run = move || {
            let body = body.take();
            own.wait_to_go();
            let ended = run_on(Stop::OsThread(Arc::as_ptr(&own)), (0, 0), body);
            Here::NOWHERE.enter();
            own.hand_over(Message::Ran(Ran::Ended(ended)));
        };
        let builder = std::thread::Builder::new().name("a thread of a model".to_owned()).stack_size(bytes);
        let handle = builder.spawn(run).expect("there is room for a thread");
        OsThread { handover, handle }
    }
}

impl Handover {
    fn turn(&self) -> MutexGuard<'_, Message> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_over(&self, message: Message) {
        *self.turn() = message;
        self.changed.notify_all();
    }

    fn resume(&self, answer: Value) -> Ran {
        let pulse = pulse::own_pulse();
        self.hand_over(Message::Go(answer, Here::now(), pulse.clone()));
        let mut turn = self.turn();
        loop {
            match std::mem::replace(&mut *turn, Message::Nothing) {
                Message::Ran(ran) => {
                    pulse.iter().for_each(|pulse| pulse.move_here());
                    return ran;
                }
                other => *turn = other,
            }
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn suspend(&self, ran: Ran) -> Value {
        self.hand_over(Message::Ran(ran));
        self.wait_to_go()
    }

    /// Waits until this thread may run, and then enters the execution that resumed it.
    fn wait_to_go(&self) -> Value {
        let mut turn = self.turn();
        loop {
            match std::mem::replace(&mut *turn, Message::Nothing) {
                Message::Go(answer, here, pulse) => {
                    pulse.iter().for_each(|pulse| pulse.move_here());
                    here.enter();
                    return answer;
                }
                other => *turn = other,
            }
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Runs `body` on the stack that ends there and has this many bytes.
#[inline(never)]
fn run_on(stop: Stop, (end, bytes): (usize, usize), body: Body) -> Ended {
    // What is below this in the stack is the thread's own.
    let base = 0_u64;
    begin_fiber(stop, Bounds { end, bytes, base: std::ptr::from_ref(std::hint::black_box(&base)) as usize });
    let ended = catch_unwind(AssertUnwindSafe(body));
    std::hint::black_box(&base);
    ended
}

/// Returns a stack for a fiber that needs one.
pub(crate) fn spare(spare: &mut Vec<DefaultStack>, bytes: usize) -> DefaultStack {
    spare.pop().unwrap_or_else(|| stacks::take(bytes))
}
