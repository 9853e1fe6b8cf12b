//! Robustness by a search of the model itself, for programs with steps that access memory more than once.
//!
//! An await of several locations, a guarded step that stores and an atomic section are one moment each under
//! sequential consistency and several in the model, so that what comes before an event need not be an execution. Here
//! the states of the model are searched, each with what the steps that are not over come before. The search ends where
//! buffers are bounded; `docs/theory/robustness.md` says why it is right.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use teetotal_engine::driver::{Progress, StopSignal};
use teetotal_engine::{Coverage, Limits, Schedule, StopReason, System, counted, trace_of};
use teetotal_judge::monitors::robustness::Site;
use teetotal_judge::{Ending, Finding};
use teetotal_memory::{Event, EventId, Model, ModelId, ModelVisitor, Recorder, Step, StoreBuffer};
use teetotal_program::ir::{Instruction, Interpreter, Program};
use teetotal_program::{Failure, Loc, Op, Snapshot, Status, Subject, ThreadId};

use super::closing::delays_of;
use super::enumeration::{Enumerated, SC_PREFIXES, enumerate, is_sequentially_consistent};
use super::precedence::{Cyclic, Issued};
use super::sections::{FailedAttempt, MayDivide, Orders};
use super::unbounded::{Decided, Shown, Unbounded, Values};

/// Stores in one buffer where no limit is set.
const BUFFER: u64 = 64;
/// States where no limit is set, and where something was found already.
const STATES: u64 = 4_000_000;
const STATES_AFTER_VIOLATION: u64 = 20_000;
/// Cycles of executions that count that are looked at one by one, and doubts.
const CYCLES: usize = 200;
const DOUBTS: usize = 20;
/// How many states are expanded between two looks at the stop signal.
const SIGNAL_INTERVAL: usize = 4_096;

/// Decides whether `program` is robust under `model`, or looks for what breaks it as far as the limits allow.
pub fn search_model(
    program: &Arc<Program>,
    model: ModelId,
    limits: &Limits,
    signal: StopSignal<'_>,
) -> Result<Decided, Unbounded> {
    let mut decided = model.visit_buffers(Start { program, limits, signal })?;
    if decided.coverage.is_complete() {
        try_fences(program, model, limits, signal, &mut decided)?;
    } else {
        decided.fences_suffice = false;
    }
    Ok(decided)
}

/// Tries a fence after the store of each violation, and all of them together.
fn try_fences(
    program: &Arc<Program>,
    model: ModelId,
    limits: &Limits,
    signal: StopSignal<'_>,
    decided: &mut Decided,
) -> Result<(), Unbounded> {
    let stores_of = |decided: &Decided| -> BTreeSet<(ThreadId, u32)> {
        let delays = decided.violations.iter().filter_map(|shown| match &shown.finding {
            Finding::NotRobust(delay) => Some(delay.store_at),
            _ => None,
        });
        delays.map(|site| (site.thread, site.place)).collect()
    };
    let left = |stores: &BTreeSet<(ThreadId, u32)>| -> Result<Decided, Unbounded> {
        let fenced = Arc::new(program.with_fences_after(stores));
        model.visit_buffers(Start { program: &fenced, limits, signal })
    };
    let stores = stores_of(decided);
    let mut helpful = BTreeSet::new();
    for &store in &stores {
        let fenced = left(&BTreeSet::from([store]))?;
        // A fence comes after the store, whose place is the same.
        if fenced.coverage.is_complete() && !stores_of(&fenced).contains(&store) {
            helpful.insert(store);
        }
    }
    for shown in &mut decided.violations {
        if let Finding::NotRobust(delay) = &mut shown.finding {
            delay.fence_helps = Some(helpful.contains(&(delay.store_at.thread, delay.store_at.place)));
        }
    }
    decided.fences_suffice = stores.is_empty() || {
        let fenced = left(&stores)?;
        fenced.coverage.is_complete() && fenced.violations.is_empty()
    };
    Ok(())
}

struct Start<'s> {
    program: &'s Arc<Program>,
    limits: &'s Limits,
    signal: StopSignal<'s>,
}

impl ModelVisitor for Start<'_> {
    type Output = Result<Decided, Unbounded>;

    fn visit<M: Model>(self) -> Self::Output {
        let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.program)));
        let buffer = self.limits.buffer.unwrap_or(BUFFER).min(BUFFER);
        system.limit_buffers(buffer as usize);
        let code = || self.program.threads.iter().flat_map(|thread| &thread.code);
        let assumes = self.program.filter.is_some() || code().any(|i| matches!(i, Instruction::Assume { .. }));
        let mut search = Search {
            program: self.program,
            system,
            buffer,
            assumes,
            may_fail: self.program.may_fail(),
            known: FxHashMap::default(),
            states: Vec::new(),
            ways: Vec::new(),
            cyclic: Vec::new(),
            doubts: Vec::new(),
            values: Values::new(self.program),
        };
        let coverage = search.run(self.limits, self.signal)?;
        Ok(search.finish(coverage, self.signal))
    }
}

/// How a state was first reached: from which, by which step.
type Way = Option<(u32, Step)>;

struct Search<'s, M> {
    program: &'s Arc<Program>,
    system: System<Interpreter, M>,
    buffer: u64,
    /// Whether an execution may not count in the end.
    assumes: bool,
    /// Whether a thread may fail, so that an execution counts although an assumption fails in it.
    may_fail: bool,
    known: FxHashMap<Box<[u8]>, u32>,
    states: Vec<(Box<[u8]>, Orders)>,
    ways: Vec<Way>,
    /// Where a cycle closes: the state before, and the step.
    cyclic: Vec<(u32, Step)>,
    /// Where it depends on the division of sections whether there is a cycle: the first states, each with the step that
    /// closes it unless the execution ends there.
    doubts: Vec<(u32, Option<Step>)>,
    values: Values,
}

/// The position of the newest store in `buffer` to a location.
fn newest(buffer: &StoreBuffer) -> impl Fn(Loc) -> Option<usize> {
    |loc| buffer.pending().iter().rposition(|pending| pending.loc == loc)
}

/// Takes note of the events of one step.
#[derive(Default)]
struct Noted(Vec<Event>);

impl Recorder for Noted {
    fn event(&mut self, event: Event) -> EventId {
        self.0.push(event);
        EventId(0)
    }

    fn committed(&mut self, _: EventId) {}

    fn step(&mut self, _: Step) {}
}

impl<M: Model> Search<'_, M> {
    fn run(&mut self, limits: &Limits, signal: StopSignal<'_>) -> Result<Coverage, Unbounded> {
        if let Some((thread, Failure::EndlessLoop { instruction })) = self.system.initial_failure() {
            return Ok(Coverage::Stopped(StopReason::EndlessLoop { thread, instruction }));
        }
        self.add(Orders::new(self.program.n_threads(), self.program.may_divide_sections()), None);
        let mut next = 0;
        while next < self.states.len() {
            if let Some(reason) = self.expand(next as u32)? {
                return Ok(Coverage::Stopped(reason));
            }
            next += 1;
            let most = if self.cyclic.is_empty() { STATES } else { STATES_AFTER_VIOLATION };
            let most = limits.states.unwrap_or(most);
            if self.states.len() as u64 > most {
                return Ok(Coverage::Stopped(StopReason::States(most)));
            }
            if next.is_multiple_of(SIGNAL_INTERVAL)
                && let Some(reason) = signal.stop(Progress { executions: 0, states: self.states.len() as u64 })
            {
                return Ok(Coverage::Stopped(reason));
            }
        }
        if self.system.machine().limit_reached() {
            return Ok(Coverage::Stopped(StopReason::Buffer(self.buffer)));
        }
        Ok(Coverage::Complete)
    }

    /// Adds the state of the system if it is new.
    fn add(&mut self, orders: Orders, way: Way) {
        let mut key = Vec::new();
        self.system.save(&mut key);
        let bytes: Box<[u8]> = key.as_slice().into();
        orders.save(&mut key);
        let id = self.states.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(key.into_boxed_slice()) {
            entry.insert(id);
            self.states.push((bytes, orders));
            self.ways.push(way);
        }
    }

    /// Takes every step from a state.
    fn expand(&mut self, id: u32) -> Result<Option<StopReason>, Unbounded> {
        let (bytes, orders) = self.states[id as usize].clone();
        self.system.load(&mut &bytes[..]);
        self.values.note(self.program, &self.system)?;
        let mut steps = Vec::new();
        self.system.enabled(&mut steps);
        if steps.is_empty() && orders.is_in_doubt_at_end(&self.blocked_at_end()) {
            self.doubts.push((id, None));
        }
        let was_in_doubt = orders.is_in_doubt();
        for step in steps {
            self.system.load(&mut &bytes[..]);
            let mut orders = orders.clone();
            let (failure, cyclic) = self.take(step, &mut orders);
            if let Some((thread, Failure::EndlessLoop { instruction })) = failure {
                return Ok(Some(StopReason::EndlessLoop { thread, instruction }));
            }
            if cyclic.is_err() {
                self.cyclic.push((id, step));
            } else if self.may_count() {
                if orders.is_in_doubt() && !was_in_doubt {
                    self.doubts.push((id, Some(step)));
                }
                self.add(orders, Some((id, step)));
            }
        }
        Ok(None)
    }

    /// Performs a step on the system and on what the open steps come before.
    fn take(&mut self, step: Step, orders: &mut Orders) -> (Option<(ThreadId, Failure)>, Result<(), Cyclic>) {
        let thread = step.thread();
        let code = &self.program.threads[thread.index()];
        let goes_on = |place: u32| code.places.get(place as usize).is_some_and(|place| place.exclusive);
        let n_locations = self.program.locations.len();
        let buffer = self.system.machine().buffer(thread).clone();
        let subject = self.system.subject();
        let place = subject.place(thread);
        let status = subject.status(thread);
        let is_started = |child: ThreadId| subject.status(child) != Status::NotStarted;
        let starts = match status {
            Status::Ready(Op::Spawn { thread: child, .. }) => Some(child).filter(|&child| !is_started(child)),
            _ => None,
        };
        let mut noted = Noted::default();
        let failure = self.system.perform(step, &mut noted);
        let cyclic = match step {
            Step::Commit { loc, .. } => {
                let position = buffer.oldest(loc).unwrap_or(0);
                orders.commit(thread, position, loc)
            }
            Step::Issue { .. } => {
                let subject = self.system.subject();
                let is_ready = matches!(subject.status(thread), Status::Ready(_));
                let next = subject.place(thread);
                let stays_open = is_ready && goes_on(next);
                let issued = Issued { thread, events: &noted.0, continues: goes_on(place), stays_open, starts };
                let may_divide = MayDivide { before: code.may_divide_at(place), after: code.may_divide_at(next) };
                orders.issue(&issued, may_divide, &newest(&buffer), n_locations)
            }
        };
        for thread in if orders.may_divide() { self.may_divide_now() } else { Vec::new() } {
            if let Some(failed) = self.failed_attempt(thread) {
                orders.attempt(&failed, &newest(self.system.machine().buffer(thread)), n_locations);
            }
        }
        (failure, cyclic)
    }

    /// The threads that are in a section which they may divide now.
    fn may_divide_now(&self) -> Vec<ThreadId> {
        let subject = self.system.subject();
        let threads = (0..self.program.n_threads()).map(ThreadId::at);
        let code = |thread: ThreadId| &self.program.threads[thread.index()];
        let is_ready = |thread: ThreadId| matches!(subject.status(thread), Status::Ready(_));
        threads.filter(|&thread| is_ready(thread) && code(thread).may_divide_at(subject.place(thread))).collect()
    }

    /// The threads that are blocked forever in a section, by what they read.
    fn blocked_at_end(&self) -> Vec<ThreadId> {
        let subject = self.system.subject();
        // A thread that has not ended at the end has not ended before.
        let joins = |thread: ThreadId| matches!(subject.status(thread), Status::Ready(Op::Join { .. }));
        self.may_divide_now().into_iter().filter(|&thread| !joins(thread)).collect()
    }

    /// The operation at which `thread` stands, if it would be blocked now with all stores of the thread in memory.
    fn failed_attempt(&self, thread: ThreadId) -> Option<FailedAttempt> {
        let subject = self.system.subject();
        let Status::Ready(op) = subject.status(thread) else { return None };
        let mut locations = Vec::new();
        match op {
            Op::Await { .. } => subject.awaited(thread, &mut locations),
            Op::Lock { loc, .. } => locations.push(loc),
            Op::Join { thread: child, .. } => {
                let has_more = matches!(subject.status(child), Status::Ready(_));
                return has_more.then(|| FailedAttempt { thread, reads: Vec::new(), joins: Some(child) });
            }
            _ => return None,
        }
        let (mut reads, mut values) = (Vec::new(), Vec::new());
        for loc in locations {
            let seen = self.system.machine().sources(thread, loc).next()?;
            reads.push(Event { loc: Some(loc), forwarded: seen.forwarded, ..Event::blank(thread) });
            values.push(seen.value);
        }
        let succeeds = match op {
            Op::Await { alternatives, .. } => (0..alternatives).any(|taken| subject.accepts(thread, &values, taken)),
            _ => values.iter().any(|&value| subject.modify(thread, value).is_some()),
        };
        (!succeeds).then_some(FailedAttempt { thread, reads, joins: None })
    }

    fn is_discarded(&self) -> bool {
        let subject = self.system.subject();
        self.assumes && (0..subject.n_threads()).any(|thread| subject.status(ThreadId::at(thread)) == Status::Discarded)
    }

    /// Whether an execution may count that continues from here.
    fn may_count(&self) -> bool {
        self.may_fail || !self.is_discarded()
    }

    fn steps_to(&self, id: u32) -> Vec<Step> {
        steps_along(&self.ways, id)
    }

    /// One execution for each pair of places.
    fn finish(mut self, coverage: Coverage, signal: StopSignal<'_>) -> Decided {
        let mut shown = BTreeMap::new();
        let (mut doubtful, mut dead) = (false, BTreeSet::new());
        let cyclic = std::mem::take(&mut self.cyclic);
        let mut looked_at = 0;
        for (id, step) in cyclic {
            let Some(rest) = self.go_on(id, step, &mut dead) else { continue };
            if let Ok(rest) = rest {
                let mut steps = self.steps_to(id);
                steps.push(step);
                steps.extend(rest);
                doubtful |= !self.show(steps, &mut shown);
            } else {
                doubtful = true;
            }
            looked_at += 1;
            if looked_at == CYCLES {
                break;
            }
        }
        let mut stopped = None;
        if !self.doubts.is_empty() && coverage.is_complete() {
            self.system.restart();
            let Enumerated { found, stopped: reason } = enumerate(self.program, self.system.clone(), signal);
            stopped = reason;
            for steps in found {
                if !self.show(steps, &mut shown) && shown.is_empty() {
                    stopped = Some(StopReason::AtomicSection);
                }
            }
            if stopped.is_some() && shown.is_empty() {
                self.complete_doubts(&mut dead, &mut shown);
            }
        }
        let coverage = match (coverage, stopped) {
            (Coverage::Complete, Some(reason)) => Coverage::Stopped(reason),
            (Coverage::Complete, None) if doubtful && shown.is_empty() => Coverage::Stopped(StopReason::Continuation),
            (coverage, _) => coverage,
        };
        let violations = shown.into_values().collect();
        Decided { violations, coverage, states: self.states.len() as u64, fences_suffice: false }
    }

    /// Adds an execution to what it shows; returns whether it shows anything.
    fn show(&self, steps: Vec<Step>, shown: &mut BTreeMap<(Site, Site), Shown>) -> bool {
        let trace = trace_of(self.program, M::ID, &Schedule::Steps(steps.clone())).trace;
        let delays = delays_of(self.program, M::ID, &trace);
        let shows = !delays.is_empty();
        for delay in delays {
            let entry = shown.entry((delay.store_at, delay.access_at)).or_insert_with(|| Shown {
                finding: Finding::NotRobust(delay),
                schedule: None,
                relaxed: steps.clone(),
                seen: 0,
            });
            entry.seen += 1;
        }
        shows
    }

    /// Looks whether one execution from each of the first doubts is one of sequential consistency.
    fn complete_doubts(&mut self, dead: &mut BTreeSet<Box<[u8]>>, shown: &mut BTreeMap<(Site, Site), Shown>) {
        let mut left = SC_PREFIXES;
        for (id, step) in self.doubts.clone().into_iter().take(DOUBTS) {
            self.go_to(id, step);
            let Some(Ok(rest)) = self.reach_end(dead) else { continue };
            let mut steps = self.steps_to(id);
            steps.extend(step);
            steps.extend(rest);
            let trace = trace_of(self.program, M::ID, &Schedule::Steps(steps.clone())).trace;
            if is_sequentially_consistent(self.program, &trace, &mut left) == Some(false) {
                self.show(steps, shown);
            }
        }
    }

    /// Puts the system behind a step from a state.
    fn go_to(&mut self, id: u32, step: Option<Step>) {
        self.system.load(&mut &self.states[id as usize].0[..]);
        if let Some(step) = step {
            self.system.perform(step, &mut Noted::default());
        }
    }

    /// Steps after a cycle has closed, to an end that counts: none if there is no such end, an error if none is found.
    ///
    /// Where every execution counts, what is in the buffers leaves them.
    fn go_on(&mut self, id: u32, step: Step, dead: &mut BTreeSet<Box<[u8]>>) -> Option<Result<Vec<Step>, ()>> {
        self.go_to(id, Some(step));
        if self.assumes { self.reach_end(dead) } else { Some(Ok(self.drain())) }
    }

    /// Steps from the state of the system to an end that counts, as from [`Search::go_on`].
    fn reach_end(&mut self, dead: &mut BTreeSet<Box<[u8]>>) -> Option<Result<Vec<Step>, ()>> {
        let mut start = Vec::new();
        self.system.save(&mut start);
        let start: Box<[u8]> = start.into();
        if dead.contains(&start) {
            return None;
        }
        let mut known = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut states = vec![start];
        let (mut ways, mut edges): (Vec<Way>, _) = (vec![None], Vec::new());
        let mut next = 0;
        while next < states.len() {
            let bytes = states[next].clone();
            self.system.load(&mut &bytes[..]);
            let mut steps = Vec::new();
            self.system.enabled(&mut steps);
            if steps.is_empty() && counted(self.program, &self.system, &self.system.ending()) != Ending::Discarded {
                return Some(Ok(steps_along(&ways, next as u32)));
            }
            for step in steps {
                self.system.load(&mut &bytes[..]);
                self.system.perform(step, &mut Noted::default());
                if !self.may_count() {
                    continue;
                }
                let is_discarded = self.is_discarded();
                let mut after = Vec::new();
                self.system.save(&mut after);
                let after: Box<[u8]> = after.into();
                let id = *known.entry(after.clone()).or_insert(states.len());
                if id == states.len() {
                    states.push(after);
                    ways.push(Some((next as u32, step)));
                }
                if !is_discarded {
                    edges.push((next, id));
                }
            }
            next += 1;
            if states.len() as u64 > STATES_AFTER_VIOLATION {
                return Some(Err(()));
            }
        }
        // An execution without an end counts as well if no assumption fails in it.
        if has_cycle(states.len(), &edges) {
            return Some(Err(()));
        }
        dead.extend(states);
        None
    }

    /// Every commit that is possible, one after the other.
    fn drain(&mut self) -> Vec<Step> {
        let mut taken = Vec::new();
        loop {
            let mut steps = Vec::new();
            self.system.enabled(&mut steps);
            let Some(&step) = steps.iter().find(|step| step.is_commit()) else { return taken };
            self.system.perform(step, &mut Noted::default());
            taken.push(step);
        }
    }
}

/// The steps on the way to a state.
fn steps_along(ways: &[Way], id: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = id;
    while let Some((parent, step)) = ways[at as usize] {
        steps.push(step);
        at = parent;
    }
    steps.reverse();
    steps
}

/// Whether the edges between `n` states form a cycle.
fn has_cycle(n: usize, edges: &[(usize, usize)]) -> bool {
    let (mut entered, mut after) = (vec![0; n], vec![Vec::new(); n]);
    for &(from, to) in edges {
        entered[to] += 1;
        after[from].push(to);
    }
    let mut free: Vec<usize> = (0..n).filter(|&state| entered[state] == 0).collect();
    let mut removed = 0;
    while let Some(state) = free.pop() {
        removed += 1;
        for &next in &after[state] {
            entered[next] -= 1;
            if entered[next] == 0 {
                free.push(next);
            }
        }
    }
    removed < n
}
