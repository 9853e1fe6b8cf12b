//! The runtime of an execution: code under the checker stops at each operation and continues when it is answered.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Once};

use rustc_hash::{FxHashMap, FxHashSet};
use teetotal_program::{ThreadId, Value};

use crate::complaint::{Complaint, Place, Race};
use crate::entry::{Frame, call};
use crate::erased::Erased;
use crate::fiber::{Ask, Fiber, Stop};
use crate::generation::Generation;
use crate::heap::{Checked, Heap};
use crate::hidden::{Heads, Ledger, Name, Sections};
use crate::identity::{Identity, Key};
use crate::local::Kept;
use crate::loops::{Noted, mix};
use crate::misuse::Misuse;
use crate::possession::Possessions;
use crate::races::Races;
use crate::request::{Request, What};
use crate::reuse::Reuse;
use crate::spurious::Spurious;
use crate::statics::Copies;
use crate::subject::Setup;
use crate::surroundings::Program;
use crate::sync::{Counts, Loans};
use crate::thread::Handles;
use crate::unwinding;

/// How a thread ended.
pub(crate) type Ended = Result<(), Box<dyn Any + Send>>;

/// The state of an execution besides its threads. There is one for each model that runs on an OS thread.
#[derive(Default)]
pub(crate) struct Execution {
    /// The number of this execution among all executions of the process.
    pub(crate) generation: Generation,
    /// The current thread.
    running: Cell<Option<ThreadId>>,
    /// The handle to stop each thread.
    stops: RefCell<Vec<Option<Stop>>>,
    /// The stack of each thread.
    stacks: RefCell<Vec<Stack>>,
    /// The value of each cell that was accessed.
    slots: RefCell<Vec<Option<Value>>>,
    /// Cells in statics, by address.
    pub(crate) statics: RefCell<FxHashMap<usize, Key>>,
    /// The copies of the statics.
    pub(crate) copies: Copies,
    /// Where the statics are.
    pub(crate) program: Rc<Program>,
    /// The misuse of an object that the current thread is about to use.
    pub(crate) misused: Cell<Option<Misuse>>,
    pub(crate) races: RefCell<Races>,
    /// The race of the operation that was just answered.
    pub(crate) raced: Cell<Option<Race>>,
    /// The panics of threads, in order.
    panics: RefCell<Vec<Panicked>>,
    /// Values that live as long as the execution: statics, and locals of threads.
    pub(crate) kept: RefCell<Kept>,
    /// Values that are set once, by the cell of what sets them.
    pub(crate) once: RefCell<FxHashMap<Key, Erased>>,
    pub(crate) handles: RefCell<Handles>,
    /// The frame from which the current thread has called the library.
    frame: Cell<Frame>,
    /// What the current thread has done since its last operation.
    pub(crate) noted: Cell<Noted>,
    pub(crate) has_noted: Cell<bool>,
    /// Where values are that belong to the execution.
    pub(crate) values: RefCell<Vec<Range<usize>>>,
    /// The leak tracker.
    pub(crate) possessions: RefCell<Possessions>,
    /// The data behind locks that are held.
    pub(crate) loans: Loans,
    /// The counts of every `Arc`.
    pub(crate) arcs: RefCell<Vec<Counts>>,
    /// The threads that hold each `RwLock` for reading, once for each guard.
    pub(crate) readers: RefCell<Vec<(ThreadId, Key)>>,
    /// The abstraction, and what the search has observed.
    pub(crate) ledger: Ledger,
    pub(crate) open: Arc<FxHashSet<Name>>,
    pub(crate) heads: Heads,
    pub(crate) sections: RefCell<Sections>,
    /// The spurious events so far, and their bound.
    pub(crate) spurious: RefCell<Spurious>,
    pub(crate) max_spurious: usize,
    /// Its allocations.
    pub(crate) heap: Heap,
    /// The number of allocations that reused a freed block.
    pub(crate) reuse: Reuse,
    /// Whether synchronization outside of this crate may order a free after accesses.
    pub(crate) trusts_frees: bool,
    /// The number of last references of `Arc`s of this crate that are being dropped, with their values.
    pub(crate) n_dropping: Cell<u32>,
    /// The operation that was asked for last.
    last_place: Cell<Option<&'static Location<'static>>>,
    /// Whether the search has left the execution.
    pub(crate) is_over: Cell<bool>,
    /// Whether the ledger has recorded that there are operations.
    has_operations: Cell<bool>,
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
    let execution = unsafe { execution.as_ref() }?;
    // Allocations of this crate meanwhile are not part of the model.
    let _busy = execution.heap.be_busy();
    Some(f(execution))
}

/// Returns the execution that this code is part of, for the allocator and for code that does not allocate.
#[inline]
pub(crate) fn current_unguarded() -> Option<&'static Execution> {
    let execution = CURRENT.get();
    // SAFETY: the pointer is set only while `enter` holds a reference to the execution, and no caller keeps it.
    unsafe { execution.as_ref() }
}

/// Returns whether this code runs in a thread of a model, so that its operations are searched.
pub(crate) fn is_active() -> bool {
    running().is_some()
}

/// Returns whether this code is part of a model.
#[must_use]
pub fn is_in_model() -> bool {
    !CURRENT.get().is_null()
}

/// Returns the number of the current thread and the size of its stack, if `address` is just beyond its end.
///
/// Called by a signal handler, so it neither waits nor allocates.
#[cfg(unix)]
pub(crate) fn overflowed(address: usize) -> Option<(usize, usize)> {
    /// More than a page on every system.
    const GUARD: usize = 1 << 16;
    current(|execution| {
        let thread = execution.running.get()?;
        let Stack { end, bytes, .. } = *execution.stacks.try_borrow().ok()?.get(thread.index())?;
        let is_beyond = end != 0 && (end.saturating_sub(GUARD)..end + GUARD.min(bytes)).contains(&address);
        is_beyond.then_some((thread.index(), bytes))
    })
    .flatten()
}

/// Performs an operation: stops the thread until the search answers.
pub(crate) fn perform(what: What, place: &'static Location<'static>) -> Value {
    let execution = current_unguarded().expect("operations are performed in a model");
    // The answer takes it.
    let mut request = ManuallyDrop::new(Request { what, place });
    if !execution.is_in_call() {
        return call(|| perform_here(execution, &mut request));
    }
    perform_here(execution, &mut request)
}

/// Performs an operation from inside of a call.
///
/// It is inlined, since the processor mispredicts each return after a switch of stacks.
#[inline(always)]
fn perform_here(execution: &Execution, request: &mut ManuallyDrop<Request>) -> Value {
    let thread = execution.running.get().expect("code of a model runs in a thread of it");
    execution.be_seen(thread);
    if let Some(misuse) = execution.misused.get() {
        refuse(misuse, request.place);
    }
    if !matches!(request.what, What::Spawn { .. } | What::Join { .. } | What::Fail(_)) {
        execution.note_operation();
    }
    execution.last_place.set(Some(request.place));
    execution.ask(thread, request)
}

/// Enters a call of the current thread into the library from `frame`; returns the previous frame, if calls are nested.
#[inline]
pub(crate) fn enter_call(frame: Frame) -> Frame {
    current_unguarded().map_or(Frame::UNKNOWN, |execution| execution.frame.replace(frame))
}

/// Leaves the call, and restores the frame `before`.
#[inline]
pub(crate) fn leave_call(before: Frame) {
    if let Some(execution) = current_unguarded() {
        execution.frame.set(before);
    }
}

/// Records something that the code of the current thread does between two operations.
pub(crate) fn note(f: impl FnOnce(&mut Noted)) {
    if let Some(execution) = current_unguarded() {
        let mut noted = execution.noted.get();
        f(&mut noted);
        execution.noted.set(noted);
        execution.has_noted.set(true);
    }
}

/// Records a lasting effect of the current thread.
pub(crate) fn note_effect() {
    note(|noted| noted.has_effect = true);
}

/// Records that the current thread has acquired this many references to the object with this number; releases are
/// negative.
pub(crate) fn note_taken(number: usize, how_many: i64) {
    note(|noted| noted.balance = noted.balance.wrapping_add(mix(1, number as u64).wrapping_mul(how_many as u64)));
}

/// Performs an operation of a destructor, unless the execution is over and its values are dropped.
pub(crate) fn perform_in_drop(what: What, place: &'static Location<'static>) {
    if is_active() {
        perform(what, place);
    }
}

/// Returns the current thread.
#[inline]
pub(crate) fn running() -> Option<ThreadId> {
    current_unguarded()?.running.get()
}

/// Ends the current thread.
///
/// It does not unwind: code could catch the panic, and may be unwinding already.
pub(crate) fn fail(complaint: Complaint, place: &'static Location<'static>) -> ! {
    perform(What::Fail(Box::new(complaint)), place);
    unreachable!("a thread that has failed is not resumed")
}

/// Ends the current thread if it misuses the object that it is about to use.
#[inline]
pub(crate) fn refuse_misuse(place: &'static Location<'static>) {
    let misuse = current_unguarded().and_then(|execution| execution.misused.get());
    if let Some(misuse) = misuse {
        refuse(misuse, place);
    }
}

#[cold]
fn refuse(misuse: Misuse, place: &'static Location<'static>) -> ! {
    current(|execution| execution.misused.take());
    {
        let fault = match misuse {
            Misuse::Freed(address) | Misuse::Reused(address) => current(|execution| {
                let thread = execution.running()?;
                execution.use_after_free(thread, execution.moment_of(thread).after, address, Some(place.into()))
            })
            .flatten(),
            Misuse::Captured | Misuse::StaticChanged => {
                current(|execution| execution.ledger.note_misuse(misuse.to_string(), place.into()));
                None
            }
        };
        let complaint = match fault {
            Some(fault) => Complaint::Memory(Box::new(fault)),
            None => Complaint::Panic { text: misuse.to_string(), place: Some(place.into()) },
        };
        fail(complaint, place);
    }
}

/// Ends the current thread if it belongs to a model, since it is about to use an object that was created outside of all
/// models.
pub(crate) fn refuse_captured(place: &'static Location<'static>) {
    if is_active() {
        current(|execution| execution.misused.set(Some(Misuse::Captured)));
        refuse_misuse(place);
    }
}

/// Drops a value of a static at the end of an execution. A program never does so, so a panic there is ignored.
pub(crate) fn drop_static(drop: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(drop));
}

/// The stack of a thread.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Stack {
    /// Its lowest address, if that is known.
    pub(crate) end: usize,
    pub(crate) bytes: usize,
    /// The address above the frames of the thread.
    pub(crate) base: usize,
}

/// Called when a thread of a model begins to run.
pub(crate) fn begin_fiber(stop: Stop, stack: Stack) {
    current(|execution| {
        let thread = execution.running.get().expect("a thread runs");
        let (mut stops, mut stacks) = (execution.stops.borrow_mut(), execution.stacks.borrow_mut());
        if stops.len() <= thread.index() {
            stops.resize(thread.index() + 1, None);
            stacks.resize(thread.index() + 1, Stack::default());
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

    /// Returns the execution of this OS thread.
    pub(crate) fn now() -> Self {
        Here(CURRENT.get())
    }

    /// Makes code on this OS thread part of the execution.
    pub(crate) fn enter(self) {
        CURRENT.set(self.0);
    }
}

/// Returns the contents of a cell, which a discarded stack may have borrowed forever.
fn fresh<T: Default>(cell: &mut RefCell<T>) -> &mut T {
    if cell.try_borrow_mut().is_err() {
        std::mem::forget(std::mem::take(cell));
    }
    cell.get_mut()
}

/// The result of resuming a fiber.
pub(crate) enum Ran {
    /// It stopped with a request.
    Asks(Ask),
    Ended(Ended),
}

impl Execution {
    pub(crate) fn new(ledger: Ledger, setup: &Setup) -> Self {
        let Setup { spurious: max_spurious, reuse, trusts_frees, .. } = *setup;
        let heap = Heap::new();
        if Checked::is_installed() && !heap.is_on() {
            ledger.note_unchecked_memory();
        }
        let (open, heads, program) = (ledger.names(), ledger.heads(), Program::here());
        let reuse = Reuse::new(reuse, &open);
        let execution =
            Execution { open, heads, ledger, program, max_spurious, heap, reuse, trusts_frees, ..Execution::default() };
        execution.heap.allow_plain(setup.plain_accesses);
        execution.track_plain();
        if trusts_frees && execution.heap.is_on() {
            execution.races.borrow_mut().track_causes();
        }
        execution
    }

    /// Resets everything for another execution.
    pub(crate) fn begin(&mut self) {
        self.let_go();
        fresh(&mut self.stops).clear();
        fresh(&mut self.stacks).clear();
        fresh(&mut self.slots).clear();
        fresh(&mut self.statics).clear();
        self.misused.take();
        fresh(&mut self.races).clear();
        self.raced.take();
        fresh(&mut self.panics).clear();
        self.noted.take();
        fresh(&mut self.values).clear();
        fresh(&mut self.handles).clear();
        fresh(&mut self.possessions).clear();
        fresh(&mut self.arcs).clear();
        fresh(&mut self.readers).clear();
        self.loans.clear();
        std::mem::take(fresh(&mut self.sections));
        fresh(&mut self.spurious).clear();
        self.is_over.set(false);
        self.heap.begin();
        if self.heap.skips_plain() {
            self.ledger.note_sampled_accesses();
        }
        self.reuse.clear();
        self.last_place.take();
        self.n_dropping.take();
        self.generation.renew();
    }

    /// Returns the current thread.
    #[inline]
    pub(crate) fn running(&self) -> Option<ThreadId> {
        self.running.get()
    }

    /// Runs `f`, which is code of the model that this crate calls: its allocations are part of the model.
    pub(crate) fn lend<R>(&self, f: impl FnOnce() -> R) -> R {
        /// Takes it back, also when `f` unwinds.
        struct Lent<'e>(&'e Execution, bool, Frame);
        impl Drop for Lent<'_> {
            fn drop(&mut self) {
                self.0.heap.is_busy.set(self.1);
                self.0.frame.set(self.2);
            }
        }
        let _lent = Lent(self, self.heap.is_busy.replace(false), self.frame.replace(Frame::UNKNOWN));
        f()
    }

    /// Returns whether the current thread is in a call into this crate.
    #[inline]
    pub(crate) fn is_in_call(&self) -> bool {
        self.frame.get().is_known()
    }

    /// Called when a thread continues after its operation at `place`.
    #[inline]
    pub(crate) fn stand_at(&self, place: &'static Location<'static>) {
        self.last_place.set(Some(place));
    }

    /// Returns the place of the last operation that the current thread asked for.
    pub(crate) fn last_place(&self) -> Option<&'static Location<'static>> {
        self.last_place.get()
    }

    /// Executions are left out in which the loop at `place` has more iterations than `bound`.
    pub(crate) fn note_bounded(&self, place: &'static Location<'static>, bound: u32) {
        if !self.is_over.get() {
            self.ledger.note_bounded(place, bound);
        }
    }

    /// Records that the model uses something that the search checks.
    #[inline]
    pub(crate) fn note_operation(&self) {
        if !self.has_operations.replace(true) {
            self.ledger.note_operation();
        }
    }

    /// Something may fail spuriously, though not more often than the bound allows.
    pub(crate) fn note_spurious_bound(&self) {
        if !self.is_over.get() {
            self.ledger.note_spurious_bound();
        }
    }

    /// An allocation may be given the address of a freed block, though not more often than the bound allows.
    pub(crate) fn note_reuse_bound(&self) {
        if !self.is_over.get() {
            self.ledger.note_reuse_bound();
        }
    }

    /// Returns whether one more spurious event is within the bound.
    ///
    /// The bound leaves out exactly the executions with more spurious events: the events that a revisit deletes have
    /// taken their first alternative, which is not spurious (`docs/theory/dpor.md`).
    pub(crate) fn may_be_spurious(&self) -> bool {
        self.spurious.borrow().total() < self.max_spurious
    }

    /// Drops what lives as long as the execution.
    pub(crate) fn let_go(&self) {
        if self.kept.borrow().is_empty() && self.once.borrow().is_empty() && self.copies.is_empty() {
            return;
        }
        self.enter(None, || {
            // What is dropped may ask for what is still there.
            self.kept.take().into_values().for_each(|value| drop_static(|| drop(value)));
            self.once.take().into_values().for_each(|value| drop_static(|| drop(value)));
            self.copies.clear();
        });
    }

    /// Leaks what lives as long as the execution, since it may be unusable.
    ///
    /// A discarded stack may have borrowed it forever.
    pub(crate) fn forget(&mut self) {
        std::mem::forget(std::mem::take(&mut self.kept));
        std::mem::forget(std::mem::take(&mut self.once));
        std::mem::forget(std::mem::take(&mut self.copies));
    }

    /// Runs `f` as part of the execution, in `thread` if it is in one.
    #[inline(always)]
    fn enter<R>(&self, thread: Option<ThreadId>, f: impl FnOnce() -> R) -> R {
        let before = (CURRENT.replace(self), self.running.replace(thread));
        let result = f();
        CURRENT.set(before.0);
        self.running.set(before.1);
        result
    }

    /// Prints the panics of threads, since the process ends here.
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

    /// Returns the text and the place of the panic with which `thread` ended.
    ///
    /// A thread may catch a panic, panic with something else, and go on with the first one, so that the last is not the
    /// one.
    pub(crate) fn panic_of(&self, thread: ThreadId, payload: &(dyn Any + Send)) -> (String, Option<Place>) {
        let text = text_of(payload);
        let panics = self.panics.borrow();
        let this = panics.iter().rev().find(|panic| panic.thread == Some(thread) && panic.text == text);
        let place = this.and_then(|panic| panic.place.clone());
        (text, place)
    }

    /// Returns the panics of `thread` so far, with their places; it may have caught them.
    pub(crate) fn panics_in(&self, thread: ThreadId) -> Vec<(String, Option<Place>)> {
        let panics = self.panics.borrow();
        let own = panics.iter().filter(|panic| panic.thread == Some(thread));
        own.map(|panic| (panic.text.clone(), panic.place.clone())).collect()
    }

    /// Assigns a number to a cell.
    pub(crate) fn new_slot(&self) -> u32 {
        let mut slots = self.slots.borrow_mut();
        slots.push(None);
        slots.len() as u32 - 1
    }

    /// Records that `value` was written to a cell.
    pub(crate) fn wrote(&self, key: Key, value: Value) {
        self.slots.borrow_mut()[key.index()] = Some(value);
    }

    /// The cell with this number holds `value`.
    pub(crate) fn hold(&self, index: usize, value: Value) {
        if let Some(slot) = self.slots.borrow_mut().get_mut(index) {
            *slot = Some(value);
        }
    }

    /// Records that `value` was read from a cell.
    pub(crate) fn touch(&self, key: Key, value: Value) {
        self.slots.borrow_mut()[key.index()].get_or_insert(value);
    }

    /// Returns what was last written to a cell, or read if nothing was written; `None` if it was not accessed.
    pub(crate) fn written(&self, key: Key) -> Option<Value> {
        self.slots.borrow()[key.index()]
    }

    /// Returns for each cell what was last written, or read if nothing was written.
    pub(crate) fn contents(&self) -> Vec<Option<Value>> {
        self.slots.borrow().clone()
    }

    /// Stops the current thread with `request`; returns the answer.
    #[inline(always)]
    fn ask(&self, thread: ThreadId, request: &mut ManuallyDrop<Request>) -> Value {
        let stop = self.stops.borrow()[thread.index()].expect("a thread that runs has begun");
        let (frame, place) = (self.frame.get(), request.place);
        let (panics, is_busy) = (unwinding::stop(), self.heap.is_busy.get());
        if panics.is_err() && matches!(stop, Stop::Coroutine(_)) {
            self.expose(unwinding::needs_os_threads());
        }
        // SAFETY: the thread noted it when it began.
        let answer = unsafe { stop.suspend(Ask { request: &raw mut **request, frame }) };
        self.heap.is_busy.set(is_busy);
        if let Ok(panics) = panics {
            unwinding::resume(panics);
        }
        self.frame.set(frame);
        if let Some(race) = self.raced.take() {
            fail(self.complaint_of(race), place);
        }
        answer
    }

    /// Returns the own state of `thread`, which is stopped at `frame`, as an address range.
    pub(crate) fn own_state(&self, thread: ThreadId, frame: Frame) -> Range<usize> {
        let base = self.stacks.borrow().get(thread.index()).map_or(0, |stack| stack.base);
        if frame.is_known() && frame.low() < base { frame.low()..base } else { 0..0 }
    }

    /// Returns the stack depth of `thread`.
    pub(crate) fn depth(&self, thread: ThreadId, frame: Frame) -> usize {
        self.stacks.borrow().get(thread.index()).map_or(0, |stack| stack.base.wrapping_sub(frame.low()))
    }

    /// Returns how many bytes of its stack `thread` has used; `None` if it is not a stack of this crate.
    pub(crate) fn used(&self, thread: ThreadId, frame: Frame) -> usize {
        self.stacks
            .borrow()
            .get(thread.index())
            .map_or(0, |stack| (stack.end + stack.bytes).saturating_sub(frame.low()))
    }

    /// Resumes `fiber`, which is `thread`, with `answer` until its next operation.
    #[inline(always)]
    pub(crate) fn run(&self, thread: ThreadId, fiber: &mut Fiber, answer: Value) -> Ran {
        self.frame.set(Frame::UNKNOWN);
        let is_busy = self.heap.is_busy.replace(false);
        let ran = self.enter(Some(thread), || fiber.resume(answer));
        self.heap.is_busy.set(is_busy);
        ran
    }
}

/// Returns what was last written to a cell whose execution has ended, while its values are dropped.
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

/// Returns the message in the payload of a panic.
fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic with a value that is no text".to_owned())
}

/// Suppresses the output of panics of threads under the checker: the search reports them once.
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
