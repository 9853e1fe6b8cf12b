//! Threads as coroutines: code under the checker stops at each operation and goes on when it is answered.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Once};

use rustc_hash::{FxHashMap, FxHashSet};
use teetotal_program::{ThreadId, Value};

use crate::complaint::{Place, Race};
use crate::erased::Erased;
use crate::fiber::{Fiber, Stop};
use crate::generation::Generation;
use crate::hidden::{Ledger, Sections};
use crate::identity::{Identity, Key};
use crate::local::Kept;
use crate::possession::Possessions;
use crate::quarantine::GivenBack;
use crate::races::Races;
use crate::request::{Cell as Accessed, Request, Update, What};
use crate::spurious::Spurious;
use crate::subject::Setup;
use crate::sync::Counts;
use crate::thread::Handles;
use crate::turn::{Turn, note_read, note_update};

/// How a thread ended.
pub(crate) type Ended = Result<(), Box<dyn Any + Send>>;

/// What an execution has beside its threads. There is one for each model that runs on an OS thread.
#[derive(Default)]
pub(crate) struct Execution {
    /// The number of this execution among all that are or were.
    pub(crate) generation: Generation,
    /// The thread that runs.
    running: Cell<Option<ThreadId>>,
    /// For each thread the way to stop it.
    stops: RefCell<Vec<Option<Stop>>>,
    /// For each thread where its stack ends, and how many bytes it has.
    stacks: RefCell<Vec<(usize, usize)>>,
    /// For each cell that was accessed what is in it.
    slots: RefCell<Vec<Option<Value>>>,
    /// Cells that were there before the execution, by address.
    pub(crate) strangers: RefCell<FxHashMap<usize, Key>>,
    pub(crate) races: RefCell<Races>,
    /// The race that the operation which was just answered is part of.
    pub(crate) raced: Cell<Option<Race>>,
    /// What threads panicked with, in the order in which they did.
    panics: RefCell<Vec<Panicked>>,
    /// Values that live as long as the execution: statics, and locals of threads.
    pub(crate) kept: RefCell<Kept>,
    /// Values that are set once, by the cell of what sets them.
    pub(crate) once: RefCell<FxHashMap<Key, Erased>>,
    /// What threads left behind that nobody may ever ask for.
    pub(crate) left: RefCell<Vec<Arc<dyn Any>>>,
    pub(crate) handles: RefCell<Handles>,
    /// What each thread did since it last said that it waits.
    pub(crate) turns: RefCell<Vec<Turn>>,
    /// What must be given back before the execution ends.
    pub(crate) possessions: RefCell<Possessions>,
    /// The counts of every `Arc`.
    pub(crate) arcs: RefCell<Vec<Counts>>,
    /// What is kept from the search, and what is not.
    pub(crate) ledger: Ledger,
    pub(crate) open: Arc<FxHashSet<usize>>,
    pub(crate) sections: RefCell<Sections>,
    /// What threads that unwound have yet to do.
    postponed: RefCell<Vec<(ThreadId, Request)>>,
    /// What happened for no reason, and how often it may.
    pub(crate) spurious: RefCell<Spurious>,
    pub(crate) max_spurious: usize,
    /// How often in a row a thread may change something and say that it waits, and go on while others can.
    pub(crate) changes_in_a_row: u32,
    /// Memory that is not given out again in this execution.
    pub(crate) given_back: GivenBack,
    /// Whether the search no longer looks.
    pub(crate) is_over: Cell<bool>,
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
    running().is_some() && !std::thread::panicking()
}

/// Whether this code is part of a model.
#[must_use]
pub fn is_in_model() -> bool {
    !CURRENT.get().is_null()
}

/// The number of the thread that runs and the size of its stack, if `address` is just beyond the end of that.
///
/// It is called by the handler of a signal, and so neither waits nor asks for memory.
#[cfg(unix)]
pub(crate) fn overflowed(address: usize) -> Option<(usize, usize)> {
    /// More than a page on every system.
    const GUARD: usize = 1 << 16;
    current(|execution| {
        let thread = execution.running.get()?;
        let (end, bytes) = *execution.stacks.try_borrow().ok()?.get(thread.index())?;
        let is_beyond = end != 0 && (end.saturating_sub(GUARD)..end + GUARD.min(bytes)).contains(&address);
        is_beyond.then_some((thread.index(), bytes))
    })
    .flatten()
}

/// Performs an operation: stops the thread until the search answers.
pub(crate) fn perform(what: What, place: &'static Location<'static>) -> Value {
    let execution = CURRENT.get();
    // SAFETY: the pointer is set while code of a model runs.
    let execution = unsafe { execution.as_ref() }.expect("operations are performed in a model");
    let thread = execution.running.get().expect("code of a model runs in a thread of it");
    execution.be_seen(thread);
    while let Some(request) = execution.postponed(thread) {
        execution.ask(thread, request);
    }
    execution.ask(thread, Request { what, place })
}

/// Performs an operation that nobody waits for the answer of; a thread that unwinds does so when it has ended that.
pub(crate) fn perform_or_postpone(what: What, place: &'static Location<'static>) {
    if is_active() {
        perform(what, place);
        return;
    }
    current(|execution| {
        let Some(thread) = execution.running.get() else { return };
        execution.postponed.borrow_mut().push((thread, Request { what, place }));
    });
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

/// A thread of a model begins to run; its stack ends there and has so many bytes, if that is known.
pub(crate) fn begin_fiber(stop: Stop, stack: (usize, usize)) {
    current(|execution| {
        let thread = execution.running.get().expect("a thread runs");
        let (mut stops, mut stacks) = (execution.stops.borrow_mut(), execution.stacks.borrow_mut());
        if stops.len() <= thread.index() {
            stops.resize(thread.index() + 1, None);
            stacks.resize(thread.index() + 1, (0, 0));
        }
        stops[thread.index()] = Some(stop);
        stacks[thread.index()] = stack;
    });
}

/// Which execution code is part of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here(*const Execution);

impl Here {
    /// None.
    pub(crate) const NOWHERE: Here = Here(std::ptr::null());

    /// That of this OS thread.
    pub(crate) fn now() -> Self {
        Here(CURRENT.get())
    }

    /// From now on code on this OS thread is part of it.
    pub(crate) fn enter(self) {
        CURRENT.set(self.0);
    }
}

/// What a fiber did when it ran.
pub(crate) enum Ran {
    Asks(Request),
    Ended(Ended),
}

impl Execution {
    pub(crate) fn new(ledger: Ledger, setup: &Setup) -> Self {
        let Setup { spurious: max_spurious, changes_in_a_row, .. } = *setup;
        Execution { open: ledger.names(), ledger, max_spurious, changes_in_a_row, ..Execution::default() }
    }

    /// Forgets everything, and is another execution.
    pub(crate) fn begin(&self) {
        self.let_go();
        self.stops.borrow_mut().clear();
        self.stacks.borrow_mut().clear();
        self.slots.borrow_mut().clear();
        self.strangers.borrow_mut().clear();
        self.races.borrow_mut().clear();
        self.raced.take();
        self.panics.borrow_mut().clear();
        self.turns.borrow_mut().clear();
        self.handles.borrow_mut().clear();
        self.possessions.borrow_mut().clear();
        self.arcs.borrow_mut().clear();
        self.sections.take();
        self.postponed.take();
        self.spurious.borrow_mut().clear();
        self.is_over.set(false);
        self.given_back.release();
        self.generation.renew();
    }

    /// Whether something may still happen for no reason.
    ///
    /// The bound leaves out just the executions with more of it: a search adds to an execution only what the whole has,
    /// and what it takes away again happened for good reasons (`docs/theory/dpor.md`).
    pub(crate) fn may_be_spurious(&self) -> bool {
        self.spurious.borrow().total() < self.max_spurious
    }

    /// Drops what lives as long as the execution.
    pub(crate) fn let_go(&self) {
        self.enter(None, || {
            // What is dropped may ask for what is still there.
            drop(self.left.take());
            drop(self.kept.take());
            drop(self.once.take());
        });
    }

    /// Forgets what lives as long as the execution without dropping it, since something is wrong with it.
    pub(crate) fn forget(&self) {
        std::mem::forget(self.left.take());
        std::mem::forget(self.kept.take());
        std::mem::forget(self.once.take());
    }

    /// Runs `f` as part of the execution, in `thread` if it is in one.
    fn enter<R>(&self, thread: Option<ThreadId>, f: impl FnOnce() -> R) -> R {
        let before = (CURRENT.replace(self), self.running.replace(thread));
        let result = f();
        CURRENT.set(before.0);
        self.running.set(before.1);
        result
    }

    /// Says what threads panicked with, since the process ends here.
    #[expect(clippy::print_stderr, reason = "nobody else comes to tell it")]
    fn tell_panics(&self, last: &str) {
        let panics = self.panics.borrow();
        for panic in &*panics {
            eprintln!("teetotal: a thread of a model panicked: {}", panic.text);
        }
        eprintln!("teetotal: {last}, so that the process ends here\nhelp: a destructor must not panic");
        if let Some(Panicked { place: Some(place), .. }) = panics.last() {
            eprintln!("  --> {}:{}:{}", place.file, place.line, place.column);
        }
    }

    /// The text of a panic with which `thread` ended, and where that began.
    ///
    /// A thread may catch a panic, panic with something else, and go on with the first one, so that the last is not the one.
    pub(crate) fn panic_of(&self, thread: ThreadId, payload: &(dyn Any + Send)) -> (String, Option<Place>) {
        let text = text_of(payload);
        let panics = self.panics.borrow();
        let this = panics.iter().rev().find(|panic| panic.thread == Some(thread) && panic.text == text);
        let place = this.and_then(|panic| panic.place.clone());
        (text, place)
    }

    /// A number for a cell.
    pub(crate) fn new_slot(&self) -> u32 {
        let mut slots = self.slots.borrow_mut();
        slots.push(None);
        slots.len() as u32 - 1
    }

    /// Takes note that `value` was written to a cell.
    pub(crate) fn wrote(&self, key: Key, value: Value) {
        self.slots.borrow_mut()[key.index()] = Some(value);
    }

    /// The cell with this number holds `value`.
    pub(crate) fn hold(&self, index: usize, value: Value) {
        if let Some(slot) = self.slots.borrow_mut().get_mut(index) {
            *slot = Some(value);
        }
    }

    /// Takes note that `value` was read from a cell.
    pub(crate) fn touch(&self, key: Key, value: Value) {
        self.slots.borrow_mut()[key.index()].get_or_insert(value);
    }

    /// What was last written to a cell, or read if nothing was written; nothing if it was not accessed.
    pub(crate) fn written(&self, key: Key) -> Option<Value> {
        self.slots.borrow()[key.index()]
    }

    /// For each cell what was last written there, or read if nothing was.
    pub(crate) fn contents(&self) -> Vec<Option<Value>> {
        self.slots.borrow().clone()
    }

    fn postponed(&self, thread: ThreadId) -> Option<Request> {
        let mut postponed = self.postponed.borrow_mut();
        let at = postponed.iter().position(|(own, _)| *own == thread)?;
        Some(postponed.remove(at).1)
    }

    fn ask(&self, thread: ThreadId, request: Request) -> Value {
        let stop = self.stops.borrow()[thread.index()].expect("a thread that runs has begun");
        let noting = Noting::of(&request.what, self);
        // SAFETY: this thread noted it when it began.
        let answer = unsafe { stop.suspend(request) };
        if let Some(race) = self.raced.take() {
            fail_with_race(race);
        }
        noting.note(answer);
        answer
    }

    /// Lets `fiber`, which is `thread`, run with `answer` to its next operation.
    pub(crate) fn run(&self, thread: ThreadId, fiber: &mut Fiber, answer: Value) -> Ran {
        self.enter(Some(thread), || fiber.resume(answer))
    }
}

/// What the turn of a thread takes note of when an operation is answered.
enum Noting {
    Nothing,
    Read(Accessed),
    Write(Accessed, Value, Value),
    Update(Accessed, Update),
    Unlock(Accessed),
}

impl Noting {
    fn of(what: &What, execution: &Execution) -> Self {
        match what {
            What::Load { at, .. } => Noting::Read(*at),
            What::Store { at, value, .. } => {
                Noting::Write(*at, execution.written(at.key).unwrap_or(at.initial), *value)
            }
            What::Rmw { at, update, .. } | What::Lock { at, update, .. } => Noting::Update(*at, *update),
            What::Unlock { at, .. } => Noting::Unlock(*at),
            _ => Noting::Nothing,
        }
    }

    fn note(self, answer: Value) {
        match self {
            Noting::Nothing => {}
            Noting::Read(cell) => note_read(cell, answer),
            Noting::Write(cell, old, new) => note_update(cell, old, new),
            Noting::Update(cell, update) => match update.apply(answer) {
                Some(new) => note_update(cell, answer, new),
                None => note_read(cell, answer),
            },
            Noting::Unlock(cell) => note_update(cell, answer, 0),
        }
    }
}

/// What was last written to a cell that is no longer the search's affair, because its thread unwinds or has ended.
///
/// From then on the cell itself holds what is in it.
pub(crate) fn settled(identity: &Identity) -> Option<Value> {
    current(|execution| {
        let value = execution.written(identity.known(execution)?);
        identity.renew();
        value
    })
    .flatten()
}

/// A panic that began in `thread`, if it began in one.
struct Panicked {
    thread: Option<ThreadId>,
    text: String,
    place: Option<Place>,
}

/// What the payload of a panic says.
fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic with a value that is no text".to_owned())
}

/// Keeps panics of threads under the checker from being printed: the search reports them, once.
pub(crate) fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let told = current(|execution| {
                let text = text_of(info.payload());
                // A panic that cannot unwind, as in a destructor during another panic, is the last thing that happens.
                if text.starts_with("panic in a ") {
                    execution.tell_panics(&text);
                    return;
                }
                let (thread, place) = (execution.running.get(), info.location().map(Place::from));
                execution.panics.borrow_mut().push(Panicked { thread, text, place });
            });
            if told.is_none() {
                before(info);
            }
        }));
    });
}
