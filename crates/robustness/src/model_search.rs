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
use teetotal_judge::{Ending, Finding};
use teetotal_memory::{Event, EventId, Model, ModelId, ModelVisitor, Recorder, Step};
use teetotal_program::ir::{Instruction, Interpreter, Program};
use teetotal_program::{Failure, Op, Snapshot, Status, Subject, ThreadId};

use super::closing::delays_of;
use super::precedence::{Cyclic, Issued, Precedence};
use super::unbounded::{Decided, Shown, Unbounded, Values};

/// Stores in one buffer where no limit is set.
const BUFFER: u64 = 64;
/// States where no limit is set, and where something was found already.
const STATES: u64 = 4_000_000;
const STATES_AFTER_VIOLATION: u64 = 20_000;
/// Cycles that are looked at one by one.
const CYCLES: usize = 200;
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
            known: FxHashMap::default(),
            states: Vec::new(),
            ways: Vec::new(),
            cyclic: Vec::new(),
            values: Values::new(self.program),
        };
        let coverage = search.run(self.limits, self.signal)?;
        Ok(search.finish(coverage))
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
    known: FxHashMap<Box<[u8]>, u32>,
    states: Vec<(Box<[u8]>, Precedence)>,
    ways: Vec<Way>,
    /// Where a cycle closes: the state before, and the step.
    cyclic: Vec<(u32, Step)>,
    values: Values,
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
        self.add(Precedence::new(self.program.n_threads()), None);
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
    fn add(&mut self, precedence: Precedence, way: Way) {
        let mut key = Vec::new();
        self.system.save(&mut key);
        let bytes: Box<[u8]> = key.as_slice().into();
        precedence.save(&mut key);
        let id = self.states.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(key.into_boxed_slice()) {
            entry.insert(id);
            self.states.push((bytes, precedence));
            self.ways.push(way);
        }
    }

    /// Takes every step from a state.
    fn expand(&mut self, id: u32) -> Result<Option<StopReason>, Unbounded> {
        let (bytes, precedence) = self.states[id as usize].clone();
        self.system.load(&mut &bytes[..]);
        self.values.note(self.program, &self.system)?;
        let mut steps = Vec::new();
        self.system.enabled(&mut steps);
        for step in steps {
            self.system.load(&mut &bytes[..]);
            let mut precedence = precedence.clone();
            let (failure, cyclic) = self.take(step, &mut precedence);
            if let Some((thread, Failure::EndlessLoop { instruction })) = failure {
                return Ok(Some(StopReason::EndlessLoop { thread, instruction }));
            }
            if cyclic.is_err() {
                self.cyclic.push((id, step));
            } else if !(self.assumes && self.is_discarded()) {
                self.add(precedence, Some((id, step)));
            }
        }
        Ok(None)
    }

    /// Performs a step on the system and on what the open steps come before.
    fn take(&mut self, step: Step, precedence: &mut Precedence) -> (Option<(ThreadId, Failure)>, Result<(), Cyclic>) {
        let thread = step.thread();
        let places = &self.program.threads[thread.index()].places;
        let goes_on = |place: u32| places.get(place as usize).is_some_and(|place| place.exclusive);
        let buffer = self.system.machine().buffer(thread).clone();
        let subject = self.system.subject();
        let place = subject.place(thread);
        let status = subject.status(thread);
        let continues = goes_on(place);
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
                precedence.commit(thread, position, loc)
            }
            Step::Issue { .. } => {
                let subject = self.system.subject();
                let is_ready = matches!(subject.status(thread), Status::Ready(_));
                let stays_open = is_ready && goes_on(subject.place(thread));
                let issued = Issued { thread, events: &noted.0, continues, stays_open, starts };
                let newest = |loc| buffer.pending().iter().rposition(|pending| pending.loc == loc);
                precedence.issue(&issued, newest, self.program.locations.len())
            }
        };
        for thread in (0..self.program.n_threads()).map(ThreadId::at).filter(|&thread| self.waits_for_others(thread)) {
            precedence.end_stretch(thread);
        }
        (failure, cyclic)
    }

    /// Whether a thread waits for what another does, so that it would let others continue under every model.
    fn waits_for_others(&self, thread: ThreadId) -> bool {
        let subject = self.system.subject();
        let Status::Ready(op) = subject.status(thread) else { return false };
        subject.exclusive() != Some(thread)
            && match op {
                Op::Await { .. } => true,
                Op::Lock { loc, .. } => self.system.machine().memory(loc) != 0,
                Op::Join { thread: child, .. } => subject.status(child) != Status::Finished,
                _ => false,
            }
    }

    fn is_discarded(&self) -> bool {
        let subject = self.system.subject();
        (0..subject.n_threads()).any(|thread| subject.status(ThreadId::at(thread)) == Status::Discarded)
    }

    fn steps_to(&self, id: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = id;
        while let Some((parent, step)) = self.ways[at as usize] {
            steps.push(step);
            at = parent;
        }
        steps.reverse();
        steps
    }

    /// One execution for each pair of places.
    fn finish(mut self, coverage: Coverage) -> Decided {
        let mut shown: BTreeMap<_, Shown> = BTreeMap::new();
        let (mut doubtful, mut dead) = (false, BTreeSet::new());
        let cyclic = std::mem::take(&mut self.cyclic);
        for &(id, step) in cyclic.iter().take(CYCLES) {
            let mut steps = self.steps_to(id);
            steps.push(step);
            match self.go_on(id, step, &mut dead) {
                Some(Ok(rest)) => steps.extend(rest),
                Some(Err(())) => {
                    doubtful = true;
                    continue;
                }
                None => continue,
            }
            let schedule = Schedule::Steps(steps.clone());
            let trace = trace_of(self.program, M::ID, &schedule).trace;
            let delays = delays_of(self.program, M::ID, &trace);
            doubtful |= delays.is_empty();
            for delay in delays {
                let entry = shown.entry((delay.store_at, delay.access_at)).or_insert_with(|| Shown {
                    finding: Finding::NotRobust(delay),
                    schedule: None,
                    relaxed: steps.clone(),
                    seen: 0,
                });
                entry.seen += 1;
            }
        }
        let coverage = match coverage {
            Coverage::Complete if doubtful && shown.is_empty() => Coverage::Stopped(StopReason::Continuation),
            coverage => coverage,
        };
        let violations = shown.into_values().collect();
        Decided { violations, coverage, states: self.states.len() as u64, fences_suffice: false }
    }

    /// Steps after a cycle has closed, to an end that counts: none if there is no such end, an error if none is found.
    ///
    /// Where every execution counts, what is in the buffers leaves them.
    fn go_on(&mut self, id: u32, step: Step, dead: &mut BTreeSet<Box<[u8]>>) -> Option<Result<Vec<Step>, ()>> {
        let bytes = self.states[id as usize].0.clone();
        self.system.load(&mut &bytes[..]);
        self.system.perform(step, &mut Noted::default());
        if !self.assumes {
            return Some(Ok(self.drain()));
        }
        let mut start = Vec::new();
        self.system.save(&mut start);
        let start: Box<[u8]> = start.into();
        if dead.contains(&start) {
            return None;
        }
        let mut known: FxHashMap<Box<[u8]>, Way> = FxHashMap::default();
        let mut states = vec![start.clone()];
        known.insert(start, None);
        let mut next = 0;
        while next < states.len() {
            let bytes = states[next].clone();
            self.system.load(&mut &bytes[..]);
            let mut steps = Vec::new();
            self.system.enabled(&mut steps);
            if steps.is_empty() && counted(self.program, &self.system, &self.system.ending()) != Ending::Discarded {
                let mut rest = Vec::new();
                let mut at = next as u32;
                while let Some(&Some((parent, step))) = known.get(&states[at as usize]) {
                    rest.push(step);
                    at = parent;
                }
                rest.reverse();
                return Some(Ok(rest));
            }
            for step in steps {
                self.system.load(&mut &bytes[..]);
                self.system.perform(step, &mut Noted::default());
                let mut after = Vec::new();
                self.system.save(&mut after);
                let after: Box<[u8]> = after.into();
                if !self.is_discarded() && !known.contains_key(&after) {
                    known.insert(after.clone(), Some((next as u32, step)));
                    states.push(after);
                }
            }
            next += 1;
            if states.len() as u64 > STATES_AFTER_VIOLATION {
                return Some(Err(()));
            }
        }
        // An execution without an end counts as well, and none was looked for.
        if !self.program.is_loop_free() {
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
