//! Rust code as a subject of the search.

mod again;
mod inspection;
mod leaving;

pub use leaving::has_discarded;

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;

use corosensei::stack::DefaultStack;
use rustc_hash::FxHashMap;
use teetotal_program::{Failure, Loc, Op, Order, Rewind, Status, Subject, ThreadId, Value};

use crate::beginning::Beginning;
use crate::complaint::{Complaint, Kind};
use crate::cycles::Cycles;
use crate::entry::Frame;
use crate::fairness::{Exceeded, Fairness};
use crate::fiber::{self, Backend, Fiber};
use crate::fingerprint::Fingerprint;
use crate::heap::watch_poison;
use crate::hidden::Ledger;
use crate::identity::Key;
use crate::local::drop_locals;
use crate::loops::{Head, Loops};
use crate::mend::Mend;
use crate::overflow;
use crate::plain::PlainAccesses;
use crate::possession::Leak;
use crate::pulse::{Pulse, own_pulse, with_pulse};
use crate::races::Races;
use crate::request::{Cell, Request, What};
use crate::runtime::{Ended, Execution, Ran, quiet_panics};
use crate::script::RecordedOp;
use crate::stacks;
use crate::surroundings::{Program, Surroundings, Watches};
use crate::unwinding;
use crate::waiting::OwnState;
use inspection::PlacesOfStd;

/// The body of a model.
pub type Model = Arc<dyn Fn() + Send + Sync>;

/// The default stack size of a thread.
pub const STACK_SIZE: usize = 2 << 20;

/// The file of the code that drops the fields of a value.
const DROP_GLUE: &str = "core/src/ptr/mod.rs";

/// Settings for running a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The stack size of a thread in bytes.
    pub stack_size: usize,
    /// The bound on spurious failures and wake-ups.
    pub spurious: usize,
    /// The bound on reuse of freed blocks.
    pub reuse: usize,
    /// Whether a block that another thread may know of and that is not freed is a leak.
    pub leaks: bool,
    /// In which executions plain accesses are observed.
    pub plain_accesses: PlainAccesses,
    /// The fairness bounds of loops.
    pub fairness: Fairness,
    /// Whether the first of several equal failed awaits is an ordinary iteration, since its reads matter.
    pub keeps_failed_reads: bool,
    pub backend: Backend,
    /// Whether a free that is not known to be ordered after an access is accepted, unless operations of this crate lead
    /// from the access to the free: threads may share objects that are not of this crate.
    pub trusts_frees: bool,
}

impl Default for Setup {
    fn default() -> Self {
        let backend = Backend::default();
        let (stack_size, fairness, keeps_failed_reads) = (STACK_SIZE, Fairness::DEFAULT, false);
        Setup {
            stack_size,
            spurious: 0,
            reuse: 0,
            leaks: false,
            plain_accesses: PlainAccesses::All,
            fairness,
            keeps_failed_reads,
            backend,
            trusts_frees: false,
        }
    }
}

/// A model during an execution.
pub struct Live {
    body: Model,
    /// Heap-allocated, since running code points to it.
    pub(crate) execution: Box<Execution>,
    pub(crate) threads: Vec<Thread>,
    memory: RefCell<Memory>,
    pub(crate) setup: Setup,
    /// What a thread may write besides its own stack, and the load address of the program.
    pub(crate) surroundings: Surroundings,
    pub(crate) program: Rc<Program>,
    /// The pulse of the OS thread that runs it.
    pulse: Option<Arc<Pulse>>,
    pub(crate) own: OwnState,
    /// The number of times that threads were resumed.
    pub(crate) n_runs: u64,
    /// The number of times that threads continued from the head of each loop, by its place.
    pub(crate) departures: FxHashMap<usize, u32>,
    /// What was known of loops of threads that are gone, to be used again.
    #[expect(clippy::vec_box, reason = "threads have them in boxes, which are used again")]
    spare_loops: Vec<Box<Loops>>,
    /// Stacks to use again.
    stacks: Vec<DefaultStack>,
    /// The writer of what the next thread to continue has read.
    pub(crate) source: Option<(ThreadId, u32)>,
    /// Whether this is a replay, in which new cells already have numbers.
    pub(crate) is_rerunning: bool,
    records_places: bool,
    places_of_std: PlacesOfStd,
    /// Whether a known execution is followed, so that a thread continues where its steps say so.
    pub(crate) follows: bool,
    /// Whether the contents of memory are known at this point.
    is_settled: bool,
    /// Whether the replay diverged.
    is_lost: bool,
    /// The repairs with which it is run.
    mend: Mend,
    pub(crate) beginning: Beginning,
    /// The detection of cycles of all threads.
    pub(crate) cycles: Cycles,
}

/// A thread of a model.
pub(crate) struct Thread {
    pub(crate) state: State,
    /// Its code, if that has begun and not ended.
    fiber: Option<Fiber>,
    /// How many operations it has performed.
    pub(crate) performed: u32,
    fingerprint: Fingerprint,
    /// Its last place in code outside of the standard library.
    pub(crate) place: Option<&'static Location<'static>>,
    /// The places of its operations, if recorded.
    places: Vec<&'static Location<'static>>,
    /// Its operations, if recorded.
    done: Vec<RecordedOp>,
    /// The operation that comes after one which is not in the source.
    pub(crate) held: Option<Request>,
    /// Its position in its code.
    pub(crate) frame: Frame,
    /// Its loops.
    pub(crate) loops: Box<Loops>,
    /// Whether its last hint exceeded the fairness bound.
    pub(crate) exceeded: Option<Exceeded>,
    /// The operation up to which its surroundings are compared, and which of them.
    pub(crate) watched_until: u32,
    pub(crate) watches: Watches,
    /// What is known of the place where it stands, if that may be the head of a loop.
    pub(crate) head: Option<Head>,
    /// The thread that its spawn starts, once it has been given a number.
    child: std::cell::Cell<Option<ThreadId>>,
}

impl Thread {
    /// Discards what it has performed so far.
    pub(crate) fn forget_performed(&mut self) {
        self.performed = 0;
        self.places.clear();
        self.loops.forget_beginning();
        self.watched_until = 0;
    }

    /// Compares its surroundings for this many operations.
    ///
    /// It may already be in an iteration of another loop, which goes on where this one ends before.
    pub(crate) fn watch(&mut self, watches: Watches, length: u32) {
        let now = self.loops.len();
        if self.watched_until < now {
            self.watches = watches;
        } else {
            self.watches = self.watches.max(watches);
        }
        self.watched_until = self.watched_until.max(now + length);
    }
}

pub(crate) enum State {
    NotStarted,
    Waiting(Request),
    Finished,
    Failed(Failure, Complaint),
}

/// The locations of cells.
#[derive(Default)]
struct Memory {
    /// For each cell, by its key.
    locations: Vec<Option<Loc>>,
    /// The initial value of each location that has a cell.
    initial: Vec<Option<Value>>,
    /// How many threads have a number.
    n_threads: usize,
}

impl Memory {
    /// Returns the location of a cell.
    fn entry(&mut self, key: Key) -> &mut Option<Loc> {
        if self.locations.len() <= key.index() {
            self.locations.resize(key.index() + 1, None);
        }
        &mut self.locations[key.index()]
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl Live {
    /// Creates the model in its initial state; everything that is not concrete in the ledger may be abstracted.
    #[must_use]
    pub fn new(body: Model, ledger: &Ledger, setup: Setup) -> Self {
        let mut live = Live {
            body,
            execution: Box::new(Execution::new(ledger.clone(), &setup)),
            threads: Vec::new(),
            memory: RefCell::default(),
            setup,
            surroundings: Surroundings::default(),
            program: Program::here(),
            pulse: own_pulse(),
            own: OwnState::default(),
            n_runs: 0,
            departures: FxHashMap::default(),
            spare_loops: Vec::new(),
            stacks: Vec::new(),
            source: None,
            is_rerunning: false,
            records_places: false,
            places_of_std: PlacesOfStd::default(),
            follows: false,
            is_settled: false,
            is_lost: false,
            mend: Mend::default(),
            beginning: Beginning::default(),
            cycles: Cycles::default(),
        };
        live.restart();
        live
    }

    /// Returns the model with repairs.
    #[must_use]
    pub fn mended(mut self, mend: &Mend) -> Self {
        if self.mend != *mend {
            self.mend = mend.clone();
            self.abandon();
            self.restart();
        }
        self
    }

    /// Starts recording the places of operations.
    pub fn record_places(&mut self) {
        self.records_places = true;
        if self.execution.heap.is_on() {
            // Allocations before the first operation are recorded too.
            self.execution.heap.record_sites();
            self.abandon();
            self.start_over();
        }
    }

    /// Returns whether a thread continues after a failed await, since the steps of the execution are known.
    pub fn follow(&mut self, follows: bool) {
        self.follows = follows;
    }

    /// Records what `thread` reads with the operation that it performs.
    fn note_read(&mut self, thread: ThreadId, answer: Value) {
        let writer =
            self.source.and_then(|(writer, index)| Some((self.threads.get(writer.index())?.fingerprint, index)));
        let own = &mut self.threads[thread.index()];
        match (writer, &own.state) {
            (Some((writer, written)), _) => own.fingerprint.read(own.performed, writer, written),
            (None, State::Waiting(Request { what: What::Choose { .. }, .. })) => {
                own.fingerprint.take(own.performed, answer);
            }
            // What is there at first is read by whatever reads and has no writer.
            _ => {}
        }
    }

    /// Returns the leaks when all threads have ended.
    #[must_use]
    pub fn leaks(&self) -> Vec<Leak> {
        self.execution.let_go();
        let mut leaks = self.execution.possessions.borrow().leaks();
        if self.setup.leaks {
            leaks.extend(self.execution.heap.leaks());
        }
        leaks
    }

    fn start(&mut self, thread: ThreadId, body: crate::request::Body) {
        quiet_panics();
        overflow::watch();
        watch_poison();
        let Setup { stack_size, mut backend, .. } = self.setup;
        if self.execution.is_open(unwinding::needs_os_threads()) {
            backend = Backend::OsThreads;
        }
        // As long as no head is known, no iteration is a failed await, whatever the stack holds.
        let depth = if self.execution.heads.is_empty() { 0 } else { self.execution.ledger.depth() };
        let stack = || {
            let mut stack = fiber::spare(&mut self.stacks, stack_size);
            stacks::clear(&mut stack, depth);
            stack
        };
        let fiber = Fiber::new(backend, stack_size, stack, body);
        while self.threads.len() <= thread.index() {
            self.threads.push(Thread {
                state: State::NotStarted,
                fiber: None,
                performed: 0,
                fingerprint: Fingerprint::default(),
                place: None,
                places: Vec::new(),
                done: Vec::new(),
                held: None,
                frame: Frame::UNKNOWN,
                loops: self.spare_loops.pop().unwrap_or_default(),
                exceeded: None,
                watched_until: 0,
                watches: Watches::Nothing,
                head: None,
                child: std::cell::Cell::new(None),
            });
        }
        let n_threads = &mut self.memory.get_mut().n_threads;
        *n_threads = (*n_threads).max(self.threads.len());
        self.threads[thread.index()].fiber = Some(fiber);
        self.run(thread, 0);
    }

    /// Resumes `thread` until its next operation.
    fn run(&mut self, thread: ThreadId, answer: Value) {
        self.watch_surroundings(thread);
        self.execution.races.borrow_mut().perform(self.threads[thread.index()].performed);
        self.execution.close_blocks(thread);
        let own = &mut self.threads[thread.index()];
        let fiber = own.fiber.as_mut().expect("a thread that runs has code");
        let ran = with_pulse(self.pulse.as_deref(), thread, own.place, || self.execution.run(thread, fiber, answer));
        if self.surroundings.watches != Watches::Nothing {
            self.execution.heap.open_all();
        }
        if self.execution.has_noted.get() || self.surroundings.watches != Watches::Nothing {
            self.note_code(thread);
        }
        let own = &mut self.threads[thread.index()];
        own.child.set(None);
        own.frame = Frame::UNKNOWN;
        match ran {
            Ran::Asks(ask) => {
                // SAFETY: the thread has just stopped with it. What it asked before was answered.
                own.state = State::Waiting(unsafe { ask.take() });
                self.asks(thread, ask.frame);
            }
            Ran::Ended(ended) => {
                self.stacks.extend(own.fiber.take().and_then(Fiber::into_stack));
                self.execution.races.borrow_mut().end(thread);
                self.threads[thread.index()].state = self.ended(thread, ended);
            }
        }
        if self.execution.heap.take_freed() {
            self.fail_stale_accesses();
        }
        self.arrive(thread);
        if !self.is_rerunning && !self.beginning.runs {
            self.give_numbers(thread);
        }
    }

    /// Handles a new request of `thread`, which is stopped at `frame`.
    fn asks(&mut self, thread: ThreadId, frame: Frame) {
        let own = &mut self.threads[thread.index()];
        let State::Waiting(request) = &mut own.state else { return };
        if own.place.is_none() || !self.places_of_std.has(request.place) {
            own.place = Some(request.place);
        }
        if matches!(request.what, What::Fail(_)) {
            self.failed(thread);
            return;
        }
        if !self.mend.is_empty() {
            own.held = self.mend.apply(request);
        }
        own.frame = frame;
    }

    /// Fails `thread` with its error; other threads may use what is on its stack.
    fn failed(&mut self, thread: ThreadId) {
        let own = &mut self.threads[thread.index()];
        let State::Waiting(Request { what: What::Fail(complaint), .. }) =
            std::mem::replace(&mut own.state, State::NotStarted)
        else {
            unreachable!("thread {thread} has failed")
        };
        let instruction = own.performed;
        let failure = match *complaint {
            Complaint::Race(_) => Failure::Race { instruction },
            Complaint::Panic { .. } | Complaint::Memory(_) => Failure::Panic { instruction },
        };
        own.state = State::Failed(failure, *complaint);
    }

    /// Fails the threads that are about to access memory which was just freed: nothing orders their access before that.
    fn fail_stale_accesses(&mut self) {
        for index in 0..self.threads.len() {
            let (thread, own) = (ThreadId::at(index), &mut self.threads[index]);
            let State::Waiting(request) = &own.state else { continue };
            let address = request.what.cell().and_then(|cell| self.execution.heap.gone(cell.key));
            let fault = address.and_then(|address| {
                self.execution.use_after_free(thread, own.performed, address, Some(request.place.into()))
            });
            let Some(fault) = fault else { continue };
            let failure = Failure::Panic { instruction: own.performed };
            let failed = State::Failed(failure, Complaint::Memory(Box::new(fault)));
            std::mem::forget(std::mem::replace(&mut own.state, failed));
        }
    }

    /// Clears the numbers of locations.
    pub(crate) fn forget_numbers(&mut self) {
        let memory = self.memory.get_mut();
        memory.locations.clear();
        memory.initial.clear();
    }

    /// Assigns numbers to the location that `thread` is about to access and to the thread that it is about to start.
    pub(crate) fn give_numbers(&self, thread: ThreadId) {
        // Numbers are assigned on demand.
        let _ = self.status(thread);
    }

    fn ended(&self, thread: ThreadId, ended: Ended) -> State {
        let Err(payload) = ended else { return State::Finished };
        let instruction = self.threads[thread.index()].performed;
        let (text, place) = self.execution.panic_of(thread, &*payload);
        State::Failed(Failure::Panic { instruction }, Complaint::Panic { text, place })
    }

    pub(crate) fn request(&self, thread: ThreadId) -> Option<&Request> {
        match &self.threads.get(thread.index())?.state {
            State::Waiting(request) => Some(request),
            _ => None,
        }
    }

    /// Returns the location of a cell; a new one gets the next number.
    fn location(&self, cell: Cell) -> Loc {
        let mut memory = self.memory.borrow_mut();
        let next = Loc::at(memory.initial.len());
        let loc = *memory.entry(cell.key).get_or_insert(next);
        if loc == next {
            memory.initial.push(Some(self.beginning.left_in(cell)));
        }
        loc
    }

    /// Assigns `cell` the number that it had in the previous run; returns whether it may be the same cell.
    fn bind(&mut self, cell: Cell, loc: Loc) -> bool {
        let initial = self.beginning.left_in(cell);
        let memory = self.memory.get_mut();
        if memory.initial.len() <= loc.index() {
            memory.initial.resize(loc.index() + 1, None);
        }
        let bound = *memory.entry(cell.key);
        if bound.is_none() && memory.initial[loc.index()].is_none() {
            *memory.entry(cell.key) = Some(loc);
            memory.initial[loc.index()] = Some(initial);
            return true;
        }
        bound == Some(loc)
    }

    /// Returns the number of the thread that the spawn of `thread` starts.
    fn child(&self, thread: ThreadId) -> ThreadId {
        let own = &self.threads[thread.index()].child;
        own.get().unwrap_or_else(|| {
            let mut memory = self.memory.borrow_mut();
            let child = ThreadId::at(memory.n_threads);
            memory.n_threads += 1;
            own.set(Some(child));
            child
        })
    }

    /// Updates the clocks for the operation that `thread` performs with `answer`.
    pub(crate) fn note(&mut self, thread: ThreadId, answer: Value) {
        let source = self.source.take();
        let index = self.threads[thread.index()].performed;
        let Some(request) = self.request(thread) else { return };
        let mut races = self.execution.races.borrow_mut();
        races.perform(index);
        let access =
            |races: &mut Races, cell: &Cell, kind: Kind| self.note_access(races, (thread, request), cell, kind);
        let published = std::cell::Cell::new(None);
        let publish = |value: Value| published.set(self.execution.heap.publish(thread, value).or(published.get()));
        let read = |races: &mut Races, cell: &Cell, order: Order| {
            publish(answer);
            races.read(thread, order, source);
            access(races, cell, Kind::ATOMIC_READ);
            self.execution.touch(cell.key, answer);
        };
        let update = |races: &mut Races, cell: &Cell, order: Order, new: Value| {
            publish(answer);
            publish(new);
            races.read(thread, order, source);
            access(races, cell, Kind::ATOMIC_WRITE);
            races.write(thread, index, order, source);
            self.execution.wrote(cell.key, new);
        };
        match &request.what {
            What::Load { at, order } => read(&mut races, at, *order),
            What::Store { at, order, value } => {
                publish(*value);
                access(&mut races, at, Kind::ATOMIC_WRITE);
                races.write(thread, index, *order, None);
                self.execution.wrote(at.key, *value);
            }
            What::Rmw { at, update: function, order, on_failure } => match function.apply(answer) {
                Some(new) => update(&mut races, at, *order, new),
                None => {
                    self.execution.heap.offer(function.operand);
                    read(&mut races, at, on_failure.order(*order));
                }
            },
            What::Lock { at, update: function, order, .. } => {
                update(&mut races, at, *order, function.apply(answer).unwrap_or(answer));
            }
            What::Unlock { at, order } => {
                access(&mut races, at, Kind::ATOMIC_WRITE);
                races.write(thread, index, *order, source);
                self.execution.wrote(at.key, 0);
            }
            What::Fence { order } => races.fence(thread, *order),
            What::Await { order, .. } => races.read(thread, *order, source),
            What::Spawn { body } => self.note_spawn(&mut races, thread, body.as_deref()),
            What::Join { thread: other } => races.join(thread, *other),
            What::Choose { .. } | What::Rest { .. } | What::Fail(_) => {}
        }
        published.get().inspect(|&block| self.execution.look_at_published(&mut races, thread, block));
    }

    /// Records the access of the operation of `thread` to a cell.
    #[inline]
    fn note_access(&self, races: &mut Races, (thread, request): (ThreadId, &Request), cell: &Cell, kind: Kind) {
        // Only the compiler knows where a guard is dropped, so the place is that of its lock.
        let is_of_drop = matches!(request.what, What::Unlock { .. }) && request.place.file().ends_with(DROP_GLUE);
        let own = if is_of_drop { races.place_of(thread, cell.key) } else { None };
        let place = own.unwrap_or(request.place);
        // What is shared by handles that count is not accessed otherwise, but it must be known to be there.
        let race = match cell.may_race {
            true => races.access(thread, cell.key, place, kind),
            false => races.unknown_creation(thread, cell.key, place, kind),
        };
        if race.is_some() {
            self.execution.raced.set(race);
        }
    }

    /// Records that `thread` starts another one with `body`, which knows the blocks that this points to.
    fn note_spawn(&self, races: &mut Races, thread: ThreadId, body: Option<&dyn FnOnce()>) {
        if let Some(body) = body {
            let start = std::ptr::from_ref(body).cast::<u8>() as usize;
            // SAFETY: it is there.
            unsafe { self.execution.heap.watch_reached(start..start + size_of_val(body)) };
        }
        let child = self.threads[thread.index()].child.get();
        races.spawn(thread, child.expect("a spawn that is performed has a number"));
    }

    /// Returns whether nothing was performed yet, so that there is nothing to take back.
    fn is_at_beginning(&self) -> bool {
        matches!(&self.threads[..], [Thread { state: State::Waiting(..), performed: 0, .. }])
    }

    /// Returns the next operation of `thread`, as performed with `answer`.
    fn about_to_do(&self, thread: ThreadId, answer: Value) -> Option<RecordedOp> {
        let Status::Ready(op) = self.status(thread) else { return None };
        let mut awaited = Vec::new();
        self.awaited(thread, &mut awaited);
        let written = self.modify(thread, answer);
        let place = self.threads.get(thread.index())?.place?;
        let matter = match self.request(thread)?.what {
            What::Choose { matter, .. } => Some(matter),
            _ => None,
        };
        Some(RecordedOp { op, awaited: awaited.pop(), written, matter, place })
    }

    /// Resumes `thread` with `answer`.
    pub(crate) fn go_on(&mut self, thread: ThreadId, answer: Value) {
        let done = if self.records_places { self.about_to_do(thread, answer) } else { None };
        let own = &mut self.threads[thread.index()];
        own.performed += 1;
        own.loops.failed = None;
        if self.records_places {
            if let State::Waiting(request) = &own.state {
                own.places.push(request.place);
            }
            own.done.extend(done);
        }
        let child = own.child.get();
        let State::Waiting(request) = &mut own.state else { unreachable!("thread {thread} stands at an operation") };
        if own.held.is_some() {
            own.state = State::Waiting(own.held.take().expect("it was just seen"));
            if !self.is_rerunning {
                self.give_numbers(thread);
            }
            return;
        }
        self.execution.stand_at(request.place);
        let mut answer = answer;
        if let What::Spawn { body } = &mut request.what {
            let (body, child) = (body.take(), child.expect("a spawn that is performed has a number"));
            self.start(child, body.expect("a thread is started once"));
            let own = &self.threads[thread.index()];
            self.threads[child.index()].fingerprint = own.fingerprint.of_child(own.performed);
            answer = Value::from(child.0);
        }
        self.run(thread, answer);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.abandon();
        self.execution.let_go();
        stacks::keep(self.setup.stack_size, self.stacks.drain(..));
    }
}

impl Clone for Live {
    /// Returns the model in its initial state.
    fn clone(&self) -> Self {
        Live::new(Arc::clone(&self.body), &self.execution.ledger, self.setup).mended(&self.mend)
    }
}

impl Subject for Live {
    const NOTES_SOURCES: bool = true;

    fn reads_from(&mut self, _thread: ThreadId, write: Option<(ThreadId, u32)>) {
        self.source = write;
    }

    fn n_threads(&self) -> usize {
        self.memory.borrow().n_threads
    }

    fn n_locations(&self) -> usize {
        self.memory.borrow().initial.len()
    }

    fn initial(&self, loc: Loc) -> Value {
        self.memory.borrow().initial[loc.index()].unwrap_or(0)
    }

    fn status(&self, thread: ThreadId) -> Status {
        let Some(own) = self.threads.get(thread.index()) else { return Status::NotStarted };
        match &own.state {
            State::NotStarted => Status::NotStarted,
            State::Finished => Status::Finished,
            State::Failed(failure, _) => Status::Failed(*failure),
            State::Waiting(..) if own.loops.failed.is_some() && !self.follows => {
                Status::FailedAwait(own.loops.failed.map(Into::into).expect("it was just seen"))
            }
            State::Waiting(request) => Status::Ready(match &request.what {
                What::Load { at, order } => Op::Load { loc: self.location(*at), order: *order },
                What::Store { at, value, order } => Op::Store { loc: self.location(*at), value: *value, order: *order },
                What::Rmw { at, order, on_failure, .. } => {
                    Op::Rmw { loc: self.location(*at), order: *order, on_failure: *on_failure }
                }
                What::Await { at, order, .. } => {
                    self.location(*at);
                    Op::Await { alternatives: 1, order: *order }
                }
                What::Lock { at, order, .. } => Op::Lock { loc: self.location(*at), order: *order },
                What::Unlock { at, order } => Op::Unlock { loc: self.location(*at), order: *order },
                What::Fence { order } => Op::Fence { order: *order },
                What::Spawn { .. } => Op::Spawn { thread: self.child(thread), order: Order::Release },
                What::Join { thread: other } => Op::Join { thread: *other, order: Order::Acquire },
                What::Choose { alternatives, .. } => Op::Choose { alternatives: *alternatives },
                What::Rest { .. } => Op::Choose { alternatives: 1 },
                What::Fail(_) => unreachable!("a thread that has failed does not wait for an answer"),
            }),
        }
    }

    fn modify(&self, thread: ThreadId, old: Value) -> Option<Value> {
        match &self.request(thread)?.what {
            What::Rmw { update, .. } | What::Lock { update, .. } => update.apply(old),
            What::Unlock { .. } => Some(0),
            _ => None,
        }
    }

    fn awaited(&self, thread: ThreadId, locations: &mut Vec<Loc>) {
        if let Some(Request { what: What::Await { at, .. }, .. }) = self.request(thread) {
            locations.push(self.location(*at));
        }
    }

    fn accepts(&self, thread: ThreadId, values: &[Value], _alternative: u32) -> bool {
        match self.request(thread).map(|request| &request.what) {
            Some(What::Await { until, .. }) => until.accepts(values[0]),
            _ => false,
        }
    }

    fn resume(&mut self, thread: ThreadId, answer: &[Value]) {
        self.is_settled = false;
        let answer = answer.first().copied().unwrap_or(0);
        self.note_read(thread, answer);
        self.depart(thread, answer);
        self.note(thread, answer);
        let is_held_back = self.rests(thread).is_some();
        self.go_on(thread, answer);
        if is_held_back {
            self.look_for_cycle(thread);
        }
    }

    fn restart(&mut self) {
        if !self.is_at_beginning() {
            self.abandon();
            self.start_over();
        }
    }

    fn place(&self, thread: ThreadId) -> u32 {
        // Operations of one thread are told apart by their number; where they stand in the source is asked for apart.
        self.threads.get(thread.index()).map_or(0, |own| own.performed)
    }
}

impl Live {
    /// Begins another execution.
    fn start_over(&mut self) {
        self.execution.begin();
        self.forget_numbers();
        self.cycles.clear();
        self.memory.get_mut().n_threads = 0;
        self.source = None;
        let body = Arc::clone(&self.body);
        let body = move || {
            body();
            drop_locals();
        };
        self.beginning.left.clear();
        self.beginning.runs = self.beginning.max_hidden > 0;
        self.start(ThreadId(0), Box::new(body));
        self.run_beginning();
    }
}
