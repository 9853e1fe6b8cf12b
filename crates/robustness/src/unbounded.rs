//! Robustness of programs whose executions may be without end, by a search over states.
//!
//! They are states of sequential consistency, each with a guess of one store that waits in its buffer.
//!
//! Robustness is reduced to reachability under sequential consistency, as in [TRENCHER, §4], where one thread delays
//! its stores. We differ in two ways:
//! 1. No buffer is simulated. What comes before the access that goes wrong is itself an execution of sequential
//!    consistency, values included, so it is enough to know which events could not have happened with the store
//!    pending.
//! 2. One construction serves TSO and PSO with barriers, release stores and both kinds of read-modify-writes.
//!
//! The argument is in `docs/theory/robustness.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use teetotal_engine::driver::{Progress, StopSignal};
use teetotal_engine::{Construct, Constructed, Coverage, Limits, Schedule, StopReason, System, trace_of};
use teetotal_judge::Finding;
use teetotal_judge::monitors::robustness::{Attempt, Delay, Site};
use teetotal_memory::models::Strongest;
use teetotal_memory::{Event, EventId, ModelId, Recorder, Step};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Failure, Loc, Reg, Snapshot, Status, Subject, ThreadId, Value};

use super::Constructor;
use super::guess::Guess;

/// A variable with more different values than this counts as unbounded.
const MANY_VALUES: usize = 1_024;

/// How many states are expanded between two looks at the stop signal.
const SIGNAL_INTERVAL: usize = 4_096;

/// What the search found.
#[derive(Debug)]
pub struct Decided {
    pub violations: Vec<Shown>,
    pub coverage: Coverage,
    /// States of the program with a guess.
    pub states: u64,
    /// Whether full fences after the stores of all violations are known to leave none.
    pub fences_suffice: bool,
}

/// A violation, with an execution of the model.
#[derive(Debug)]
pub struct Shown {
    pub finding: Finding,
    /// The execution of sequential consistency in which it was seen, if only those were searched.
    pub schedule: Option<Schedule>,
    pub relaxed: Vec<Step>,
    /// In how many states it was seen.
    pub seen: u64,
}

/// A variable that takes more values than a search over states can store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unbounded {
    pub variable: String,
}

/// Decides whether `program` is robust under `model`.
pub fn decide(
    program: &Arc<Program>,
    model: ModelId,
    limits: &Limits,
    signal: StopSignal<'_>,
) -> Result<Decided, Unbounded> {
    let system = System::<Interpreter, Strongest>::new(Interpreter::new(Arc::clone(program)));
    let mut search = Search {
        program,
        model,
        known: FxHashMap::default(),
        states: Vec::new(),
        ways: Vec::new(),
        values: Values::new(program),
        found: BTreeMap::new(),
        system,
    };
    let coverage = search.run(limits, signal)?;
    Ok(search.finish(coverage))
}

/// How a state was first reached.
#[derive(Clone, Copy, Debug)]
struct Way {
    parent: u32,
    step: Step,
    /// Whether the store of this step is the one that waits.
    guessed: bool,
}

/// Where a pair of places was seen to be at fault.
#[derive(Clone, Default, Debug)]
struct Sightings {
    /// The states, and the thread that could go before the store.
    states: Vec<(u32, ThreadId)>,
}

struct Search<'s> {
    program: &'s Arc<Program>,
    model: ModelId,
    known: FxHashMap<Box<[u8]>, u32>,
    states: Vec<(Box<[u8]>, Option<Guess>)>,
    ways: Vec<Option<Way>>,
    values: Values,
    /// By the store and the access.
    found: BTreeMap<(Site, Site), Sightings>,
    system: System<Interpreter, Strongest>,
}

/// The values that each variable was seen to hold.
pub(super) struct Values {
    variables: Vec<Term>,
    seen: Vec<BTreeSet<Value>>,
}

impl Values {
    /// Of every register and location.
    pub(super) fn new(program: &Program) -> Self {
        let locations = (0..program.locations.len()).map(|index| Term::Memory(Loc::at(index)));
        let registers = program.threads.iter().enumerate().flat_map(|(thread, code)| {
            (0..code.registers.len()).map(move |reg| Term::Register(ThreadId::at(thread), Reg(reg as u16)))
        });
        let variables: Vec<Term> = locations.chain(registers).collect();
        Values { seen: vec![BTreeSet::new(); variables.len()], variables }
    }

    /// Refuses a program with a variable that takes ever more values.
    pub(super) fn note(&mut self, program: &Program, state: &dyn FinalState) -> Result<(), Unbounded> {
        for (&variable, seen) in self.variables.iter().zip(&mut self.seen) {
            seen.insert(state.value(variable));
            if seen.len() > MANY_VALUES {
                return Err(Unbounded { variable: program.term_name(variable) });
            }
        }
        Ok(())
    }
}

/// Takes note of the event of one step.
#[derive(Default)]
struct Noted(Option<Event>);

impl Recorder for Noted {
    fn event(&mut self, event: Event) -> EventId {
        self.0 = Some(event);
        EventId(0)
    }

    fn committed(&mut self, _: EventId) {}

    fn step(&mut self, _: Step) {}
}

impl Search<'_> {
    fn run(&mut self, limits: &Limits, signal: StopSignal<'_>) -> Result<Coverage, Unbounded> {
        if let Some((thread, Failure::EndlessLoop { instruction })) = self.system.initial_failure() {
            return Ok(Coverage::Stopped(StopReason::EndlessLoop { thread, instruction }));
        }
        let mut bytes = Vec::new();
        self.system.save(&mut bytes);
        self.add(&bytes, None, None);
        let mut next = 0;
        while next < self.states.len() {
            if let Some(reason) = self.expand(next as u32) {
                return Ok(Coverage::Stopped(reason));
            }
            self.values.note(self.program, &self.system)?;
            next += 1;
            if let Some(limit) = limits.states.filter(|&limit| self.states.len() as u64 > limit) {
                return Ok(Coverage::Stopped(StopReason::States(limit)));
            }
            if next.is_multiple_of(SIGNAL_INTERVAL)
                && let Some(reason) = signal.stop(Progress { executions: 0, states: self.states.len() as u64 })
            {
                return Ok(Coverage::Stopped(reason));
            }
        }
        Ok(Coverage::Complete)
    }

    /// Adds a state if it is new.
    fn add(&mut self, bytes: &[u8], guess: Option<Guess>, way: Option<Way>) {
        let mut key = bytes.to_vec();
        if let Some(guess) = &guess {
            guess.save(&mut key);
        }
        let id = self.states.len() as u32;
        let key = key.into_boxed_slice();
        if let std::collections::hash_map::Entry::Vacant(entry) = self.known.entry(key) {
            entry.insert(id);
            self.states.push((bytes.into(), guess));
            self.ways.push(way);
        }
    }

    /// Looks at a state and takes every step from it.
    fn expand(&mut self, id: u32) -> Option<StopReason> {
        let (bytes, guess) = self.states[id as usize].clone();
        self.system.load(&mut &bytes[..]);
        if let Some(guess) = &guess {
            self.look(id, guess);
        }
        let mut steps = Vec::new();
        self.system.enabled(&mut steps);
        let (n_threads, n_locations) = (self.program.n_threads(), self.program.locations.len());
        for step in steps {
            self.system.load(&mut &bytes[..]);
            let mut noted = Noted::default();
            let memory = self.system.machine().clone();
            let failure = self.system.perform(step, &mut noted);
            if let Some((thread, Failure::EndlessLoop { instruction })) = failure {
                return Some(StopReason::EndlessLoop { thread, instruction });
            }
            let Some(event) = noted.0 else { continue };
            let mut after = Vec::new();
            self.system.save(&mut after);
            let way = |guessed| Some(Way { parent: id, step, guessed });
            match guess.clone() {
                Some(mut guess) => {
                    if guess.perform(self.model, &event) {
                        self.add(&after, Some(guess), way(false));
                    }
                }
                None => {
                    self.add(&after, None, way(false));
                    if let (true, Some(loc)) = (event.is_store(), event.loc) {
                        let guess = Guess::new(&event, memory.memory(loc), n_threads, n_locations);
                        self.add(&after, guess, way(true));
                    }
                }
            }
        }
        None
    }

    /// Looks whether some thread could go before the store that waits.
    fn look(&mut self, id: u32, guess: &Guess) {
        let subject = self.system.subject();
        for thread in (0..subject.n_threads()).map(ThreadId::at) {
            let Status::Ready(op) = subject.status(thread) else { continue };
            if guess.is_overtaken_by(self.model, subject, thread, op) {
                let store = Site { thread: guess.thread, place: guess.place };
                let access = Site { thread, place: subject.place(thread) };
                self.found.entry((store, access)).or_default().states.push((id, thread));
            }
        }
    }

    /// The steps to a state, and how many of them come before and with the store that waits.
    fn steps_to(&self, id: u32) -> (Vec<Step>, usize) {
        let mut ways = Vec::new();
        let mut at = id;
        while let Some(way) = self.ways[at as usize] {
            ways.push(way);
            at = way.parent;
        }
        ways.reverse();
        let guessed = ways.iter().position(|way| way.guessed).unwrap_or(0);
        (ways.into_iter().map(|way| way.step).collect(), guessed)
    }

    /// Makes an execution of the model for each pair of places.
    fn finish(self, coverage: Coverage) -> Decided {
        let mut constructor = Constructor::new(self.program, self.model);
        let mut violations = Vec::new();
        let mut doubtful = false;
        for ((store_at, access_at), Sightings { states }) in &self.found {
            let shown = states.iter().find_map(|&(id, thread)| {
                self.show(&mut constructor, id, (*store_at, *access_at), thread).map(|(delay, schedule, relaxed)| {
                    Shown {
                        finding: Finding::NotRobust(delay),
                        schedule: Some(schedule),
                        relaxed,
                        seen: states.len() as u64,
                    }
                })
            });
            doubtful |= shown.is_none();
            violations.extend(shown);
        }
        // Where assumptions rule out what was found, another way to the same state need not be ruled out.
        let coverage = match coverage {
            Coverage::Complete if doubtful => Coverage::Stopped(StopReason::Continuation),
            coverage => coverage,
        };
        Decided { violations, coverage, states: self.states.len() as u64, fences_suffice: true }
    }

    fn show(
        &self,
        constructor: &mut Constructor,
        id: u32,
        (store_at, access_at): (Site, Site),
        thread: ThreadId,
    ) -> Option<(Delay, Schedule, Vec<Step>)> {
        let (steps, guessed) = self.steps_to(id);
        let schedule = Schedule::Steps(steps);
        let trace = trace_of(self.program, ModelId::STRONGEST, &schedule).trace;
        let store = trace.steps().get(guessed)?.event;
        let index = trace.events().iter().filter(|event| event.thread == thread).count() as u32;
        let loc = trace.event(store).loc?;
        let waits = self.waits_of(access_at);
        let delay = Delay { store, store_at, access_at, loc, index, waits, fence_helps: Some(true) };
        match constructor.construct(&trace, &delay) {
            Constructed::Execution(relaxed) => Some((delay, schedule, relaxed)),
            Constructed::Impossible => None,
        }
    }

    /// What the access waits for where it writes.
    fn waits_of(&self, access: Site) -> teetotal_judge::monitors::robustness::Waits {
        let code = &self.program.threads[access.thread.index()].code;
        Attempt::waits_of(self.model, &code[access.place as usize])
    }
}
