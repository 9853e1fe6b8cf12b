//! Real code as a subject of the search.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use corosensei::stack::DefaultStack;
use rustc_hash::FxHashMap;
use teetotal_program::{Failure, Loc, Op, Order, Redo, RedoAnswer, Rewind, Status, Subject, ThreadId, Value};

use crate::request::{Cell, Request, Until, What};
use crate::runtime::{Ended, Execution, Fiber, Raced, Ran};

/// The body of a model.
pub type Model = Arc<dyn Fn() + Send + Sync>;

/// How large the stack of a thread is.
const STACK: usize = 256 << 10;

/// A model in the middle of an execution.
pub struct Live {
    body: Model,
    /// Heap-allocated, since running code points to it.
    execution: Box<Execution>,
    threads: Vec<Thread>,
    memory: RefCell<Memory>,
    /// Stacks to use again.
    stacks: Vec<DefaultStack>,
    /// Who wrote what the next thread to go on has read.
    source: Option<(ThreadId, u32)>,
    /// Whether an execution is run again, so that what is new already has a number.
    is_rerunning: bool,
}

/// A thread of a model.
struct Thread {
    state: State,
    /// How many operations it has performed.
    performed: u32,
    /// Where it stands, or stood last.
    place: Option<&'static Location<'static>>,
    /// The thread that its spawn starts, once it has been given a number.
    child: std::cell::Cell<Option<ThreadId>>,
}

enum State {
    NotStarted,
    Waiting(Fiber, Request),
    Finished,
    Failed(Failure, String),
}

/// Which address is which location.
#[derive(Default)]
struct Memory {
    locations: FxHashMap<usize, Loc>,
    initial: Vec<Value>,
    /// How many threads have a number.
    n_threads: usize,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl Live {
    /// At the beginning of `body`.
    #[must_use]
    pub fn new(body: Model) -> Self {
        let mut live = Live {
            body,
            execution: Box::default(),
            threads: Vec::new(),
            memory: RefCell::default(),
            stacks: Vec::new(),
            source: None,
            is_rerunning: false,
        };
        live.restart();
        live
    }

    /// Where `thread` stands in the source.
    #[must_use]
    pub fn source_place(&self, thread: ThreadId) -> Option<&'static Location<'static>> {
        self.threads.get(thread.index())?.place
    }

    /// What `thread` did wrong, in words.
    #[must_use]
    pub fn message(&self, thread: ThreadId) -> Option<&str> {
        match &self.threads.get(thread.index())?.state {
            State::Failed(_, message) => Some(message),
            _ => None,
        }
    }

    /// Whether `thread` waits with a limit on the time, so that it does not wait for good.
    #[must_use]
    pub fn is_timed(&self, thread: ThreadId) -> bool {
        let request = self.request(thread);
        matches!(request, Some(Request { what: What::Await { until: Until::Clear { timed: true, .. }, .. }, .. }))
    }

    /// What was not given back at the end, with how many there are.
    #[must_use]
    pub fn leaks(&self) -> Vec<(&'static str, i64)> {
        let mut leaks: Vec<_> = self.execution.live_objects.borrow().iter().map(|(&name, &n)| (name, n)).collect();
        leaks.retain(|&(_, n)| n != 0);
        leaks.sort_unstable();
        leaks
    }

    /// Gives up all threads, and lets their stacks be unwound.
    fn abandon(&mut self) {
        // Threads may borrow from those that started them.
        for thread in self.threads.drain(..).rev() {
            if let State::Waiting(mut fiber, request) = thread.state {
                // Destructors that run now are outside of the model.
                fiber.force_unwind();
                drop(request);
                self.stacks.push(fiber.into_stack());
            }
        }
    }

    fn start(&mut self, thread: ThreadId, body: crate::request::Body) {
        let stack = self.stacks.pop();
        let stack = stack.unwrap_or_else(|| DefaultStack::new(STACK).expect("there is memory for a stack"));
        let fiber = Execution::fiber(stack, body);
        while self.threads.len() <= thread.index() {
            self.threads.push(Thread {
                state: State::NotStarted,
                performed: 0,
                place: None,
                child: std::cell::Cell::new(None),
            });
        }
        let n_threads = &mut self.memory.get_mut().n_threads;
        *n_threads = (*n_threads).max(self.threads.len());
        self.run(thread, fiber, 0);
    }

    /// Lets `fiber` run to its next operation.
    fn run(&mut self, thread: ThreadId, mut fiber: Fiber, answer: Value) {
        let ran = self.execution.run(thread, &mut fiber, answer);
        let memory = self.memory.get_mut();
        for address in self.execution.gone.borrow_mut().drain(..) {
            memory.locations.remove(&address);
        }
        let state = match ran {
            Ran::Asks(request) => State::Waiting(fiber, request),
            Ran::Ended(ended) => {
                self.stacks.push(fiber.into_stack());
                self.ended(thread, ended)
            }
        };
        let own = &mut self.threads[thread.index()];
        own.child.set(None);
        if let State::Waiting(_, request) = &state {
            own.place = Some(request.place);
        }
        own.state = state;
        if !self.is_rerunning {
            self.give_numbers(thread);
        }
    }

    /// Gives numbers to the location that `thread` is about to access and to the thread that it is about to start.
    fn give_numbers(&self, thread: ThreadId) {
        // Whatever has no number yet gets one when it is asked for.
        let _ = self.status(thread);
    }

    fn ended(&self, thread: ThreadId, ended: Ended) -> State {
        let Err(payload) = ended else { return State::Finished };
        let instruction = self.threads[thread.index()].performed;
        if let Some(Raced(race)) = payload.downcast_ref::<Raced>() {
            let kind = |is_write| if is_write { "write" } else { "read" };
            let message = format!(
                "data race: {} by thread {} at {} and {} by thread {} at {}",
                kind(race.first.is_write),
                race.first.thread,
                race.first.place,
                kind(race.second.is_write),
                race.second.thread,
                race.second.place
            );
            return State::Failed(Failure::Race { instruction }, message);
        }
        let message = self.execution.message.take().unwrap_or_else(|| "panicked".to_owned());
        State::Failed(Failure::Panic { instruction }, message)
    }

    fn request(&self, thread: ThreadId) -> Option<&Request> {
        match &self.threads.get(thread.index())?.state {
            State::Waiting(_, request) => Some(request),
            _ => None,
        }
    }

    /// The location of a cell; one that is new gets the next number.
    fn location(&self, cell: Cell) -> Loc {
        let mut memory = self.memory.borrow_mut();
        if let Some(&loc) = memory.locations.get(&cell.address) {
            return loc;
        }
        let loc = Loc::at(memory.initial.len());
        memory.initial.push(cell.initial);
        memory.locations.insert(cell.address, loc);
        loc
    }

    /// Gives `cell` the number that it had when this was run before.
    fn bind(&mut self, cell: Cell, loc: Loc) -> bool {
        let memory = self.memory.get_mut();
        if memory.initial.len() <= loc.index() {
            memory.initial.resize(loc.index() + 1, 0);
        }
        match memory.locations.get(&cell.address) {
            Some(&bound) => bound == loc,
            None => {
                memory.locations.insert(cell.address, loc);
                memory.initial[loc.index()] = cell.initial;
                true
            }
        }
    }

    /// The number of the thread that the spawn of `thread` starts.
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

    /// Lets the clocks take note of the operation that `thread` performs with `answer`.
    fn note(&mut self, thread: ThreadId, answer: Value) {
        let source = self.source.take();
        let index = self.threads[thread.index()].performed;
        let Some(request) = self.request(thread) else { return };
        let mut races = self.execution.races.borrow_mut();
        match &request.what {
            What::Load { order, .. } => races.read(thread, *order, source),
            What::Store { order, .. } => races.write(thread, index, *order, None),
            What::Rmw { update, order, on_failure, .. } => match update.apply(answer) {
                Some(_) => {
                    races.read(thread, *order, source);
                    races.write(thread, index, *order, source);
                }
                None => {
                    let order = match on_failure {
                        teetotal_program::OnFailure::Load(order) => *order,
                        teetotal_program::OnFailure::Locked => *order,
                    };
                    races.read(thread, order, source);
                }
            },
            What::Lock { order, .. } => {
                races.read(thread, *order, source);
                races.write(thread, index, Order::Relaxed, source);
            }
            What::Unlock { order, .. } => races.write(thread, index, *order, source),
            What::Fence { order } => races.fence(thread, *order),
            What::Await { .. } => races.read(thread, Order::Acquire, source),
            What::Spawn { .. } => {
                let child = self.threads[thread.index()].child.get();
                races.spawn(thread, child.expect("a spawn that is performed has a number"));
            }
            What::Join { thread: other } => races.join(thread, *other),
            What::Choose { .. } => {}
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.abandon();
        self.execution.clear();
    }
}

impl Clone for Live {
    /// The same model, at its beginning.
    fn clone(&self) -> Self {
        Live::new(Arc::clone(&self.body))
    }
}

impl Subject for Live {
    fn n_threads(&self) -> usize {
        self.memory.borrow().n_threads
    }

    fn n_locations(&self) -> usize {
        self.memory.borrow().initial.len()
    }

    fn initial(&self, loc: Loc) -> Value {
        self.memory.borrow().initial[loc.index()]
    }

    fn status(&self, thread: ThreadId) -> Status {
        let Some(own) = self.threads.get(thread.index()) else { return Status::NotStarted };
        match &own.state {
            State::NotStarted => Status::NotStarted,
            State::Finished => Status::Finished,
            State::Failed(failure, _) => Status::Failed(*failure),
            State::Waiting(_, request) => Status::Ready(match &request.what {
                What::Load { at, order } => Op::Load { loc: self.location(*at), order: *order },
                What::Store { at, value, order } => Op::Store { loc: self.location(*at), value: *value, order: *order },
                What::Rmw { at, order, on_failure, .. } => {
                    Op::Rmw { loc: self.location(*at), order: *order, on_failure: *on_failure }
                }
                What::Await { at, .. } => {
                    self.location(*at);
                    Op::Await { alternatives: 1 }
                }
                What::Lock { at, order } => Op::Lock { loc: self.location(*at), order: *order },
                What::Unlock { at, order } => Op::Unlock { loc: self.location(*at), order: *order },
                What::Fence { order } => Op::Fence { order: *order },
                What::Spawn { .. } => Op::Spawn { thread: self.child(thread), order: Order::Release },
                What::Join { thread: other } => Op::Join { thread: *other, order: Order::Acquire },
                What::Choose { alternatives } => Op::Choose { alternatives: *alternatives },
            }),
        }
    }

    fn modify(&self, thread: ThreadId, old: Value) -> Option<Value> {
        match &self.request(thread)?.what {
            What::Rmw { update, .. } => update.apply(old),
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
        let answer = answer.first().copied().unwrap_or(0);
        self.note(thread, answer);
        let own = &mut self.threads[thread.index()];
        own.performed += 1;
        let child = own.child.get();
        let State::Waiting(fiber, mut request) = std::mem::replace(&mut own.state, State::NotStarted) else {
            unreachable!("thread {thread} stands at an operation")
        };
        let mut answer = answer;
        if let What::Spawn { body } = &mut request.what {
            let (body, child) = (body.take(), child.expect("a spawn that is performed has a number"));
            self.start(child, body.expect("a thread is started once"));
            answer = Value::from(child.0);
        }
        self.run(thread, fiber, answer);
    }

    fn restart(&mut self) {
        self.abandon();
        self.execution.clear();
        *self.memory.get_mut() = Memory::default();
        self.source = None;
        let body = Arc::clone(&self.body);
        self.start(ThreadId(0), Box::new(move || body()));
    }

    fn place(&self, thread: ThreadId) -> u32 {
        // Operations of one thread are told apart by their number; where they stand in the source is asked for apart.
        self.threads.get(thread.index()).map_or(0, |own| own.performed)
    }
}

impl Rewind for Live {
    const RUNS_AGAIN: bool = true;

    fn may_write(&self, thread: ThreadId) -> bool {
        self.request(thread).is_some() || self.threads.len() <= thread.index()
    }

    fn rerun(&mut self, plan: &[Redo], written: &mut [Value]) -> Result<(), usize> {
        self.is_rerunning = true;
        let result = self.redo(plan, written);
        self.is_rerunning = false;
        (0..self.threads.len()).for_each(|index| self.give_numbers(ThreadId::at(index)));
        result
    }

    fn reads_from(&mut self, _thread: ThreadId, write: Option<(ThreadId, u32)>) {
        self.source = write;
    }
}

impl Live {
    /// Runs again as `plan` has it.
    fn redo(&mut self, plan: &[Redo], written: &mut [Value]) -> Result<(), usize> {
        self.restart();
        // Whatever is new after the plan gets numbers that the plan does not use.
        let n_locations = plan.iter().filter_map(|redo| redo.loc).map(|loc| loc.index() + 1).max().unwrap_or(0);
        let children = plan.iter().filter_map(|redo| redo.child).map(|child| child.index() + 1);
        let memory = self.memory.get_mut();
        memory.initial.resize(n_locations, 0);
        memory.n_threads = memory.n_threads.max(children.max().unwrap_or(0));
        for (position, redo) in plan.iter().enumerate() {
            let Some(request) = self.request(redo.thread) else { return Err(position) };
            let cell = match &request.what {
                What::Load { at, .. } | What::Store { at, .. } | What::Rmw { at, .. } => Some(*at),
                What::Await { at, .. } | What::Lock { at, .. } | What::Unlock { at, .. } => Some(*at),
                _ => None,
            };
            let fits = match (cell, redo.loc) {
                (Some(cell), Some(loc)) => self.bind(cell, loc),
                (None, None) => true,
                _ => false,
            };
            if !fits {
                return Err(position);
            }
            self.threads[redo.thread.index()].child.set(redo.child);
            let answer = match redo.answer {
                RedoAnswer::Nothing => 0,
                RedoAnswer::Alternative(taken) => taken.into(),
                RedoAnswer::Initial => redo.loc.map_or(0, |loc| self.initial(loc)),
                RedoAnswer::WrittenBy(id) => written[id as usize],
            };
            if redo.writes {
                let value = match self.request(redo.thread).map(|request| &request.what) {
                    Some(What::Store { value, .. }) => Some(*value),
                    Some(What::Rmw { update, .. }) => update.apply(answer),
                    Some(What::Lock { .. }) => Some(redo.thread.as_holder()),
                    Some(What::Unlock { .. }) => Some(0),
                    _ => None,
                };
                let Some(value) = value else { return Err(position) };
                written[redo.id as usize] = value;
            }
            self.source = redo.source;
            self.resume(redo.thread, &[answer]);
        }
        Ok(())
    }
}
