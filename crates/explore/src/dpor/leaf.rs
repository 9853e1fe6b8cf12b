//! What there is to see at the end of an execution.

use teetotal_judge::monitors::robustness::Site;
use teetotal_judge::{Ending, Level, View};
use teetotal_memory::models::{Pso, Tso};
use teetotal_memory::{Model, ModelId, Step, Trace};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Failure, Status, ThreadId, Value};

use super::graph::{NONE, Node, Role};
use super::linear::{self, Move};
use super::position::Path;
use super::walk::{Rewindable, Walk};
use crate::collector::Collector;
use crate::driver::{self, Flow, Observer};
use crate::limits::Limits;
use crate::outcome::{Coverage, Schedule, StopReason};
use crate::stateless::Replay;
use crate::system::System;

/// Where something was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The way to it.
    pub(super) path: Path,
    /// An execution that shows it.
    pub(super) schedule: Schedule,
}

impl<S: Rewindable, M: Model, const N: usize> FinalState for Walk<S, M, N> {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.subject.register(thread, reg),
            Term::Memory(loc) => self.graph.value_of(self.graph.cell(loc.index()).newest, loc.index()),
        }
    }
}

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    fn all_threads(&self) -> impl Iterator<Item = ThreadId> + use<S, M, N> {
        (0..self.subject.n_threads()).map(ThreadId::at)
    }

    fn found(&self) -> Found {
        Found { path: self.path(), schedule: Schedule::Steps(self.steps()) }
    }

    /// The steps of an execution with this trace.
    pub(super) fn steps(&self) -> Vec<Step> {
        linear::steps_of::<M, N>(&self.graph)
    }

    /// The same by the names that the graph has.
    pub(super) fn moves(&self) -> Vec<Move> {
        linear::moves_of::<M, N>(&self.graph)
    }

    /// Where stores stand that an access could overtake under `model`, and where these accesses stand.
    pub(super) fn delays(&self, model: ModelId) -> Vec<(Site, Site)> {
        let mut places = Vec::new();
        if M::ID == ModelId::Sc {
            self.add_delays(model, &mut places);
        }
        places
    }

    /// The same for a graph of sequential consistency.
    fn add_delays(&self, model: ModelId, places: &mut Vec<(Site, Site)>) {
        let mut add = |access: &Node<N>, store: &Node<N>| places.push((store.site(), access.site()));
        match model {
            ModelId::Sc => {}
            ModelId::Tso => self.graph.overtakings::<Tso>(&mut add),
            ModelId::Pso => self.graph.overtakings::<Pso>(&mut add),
        }
    }

    /// Whether the graph, to which nothing can be added, counts as an execution.
    pub(super) fn is_execution(&self) -> bool {
        self.endless().is_none() && self.waits_in_earnest()
    }

    /// Whether every thread that waits is blocked forever: it reads the newest writes, and these do not let it go on.
    pub(super) fn waits_in_earnest(&self) -> bool {
        self.all_threads().all(|thread| {
            let last = self.graph.strand(thread).last;
            if let Some(failed) = self.failed_await(thread) {
                return self.fails_forever(thread, failed);
            }
            if last == NONE || self.graph.node(last).role != Role::Blocked {
                return true;
            }
            let node = self.graph.node(last);
            self.graph.cell(node.loc()).newest == node.source
        })
    }

    /// The thread that runs on and on without an operation, if one does.
    pub(super) fn endless(&self) -> Option<StopReason> {
        self.all_threads().find_map(|thread| match self.subject.failure(thread)? {
            Failure::EndlessLoop { instruction } => Some(StopReason::EndlessLoop { thread, instruction }),
            _ => None,
        })
    }

    pub(super) fn ending(&self) -> Ending {
        let mut discarded = false;
        let mut blocked = Vec::new();
        for thread in self.all_threads() {
            match self.subject.status(thread) {
                Status::Failed(_) => return Ending::Failed,
                Status::Discarded => discarded = true,
                Status::Ready(_) | Status::FailedAwait(_) => blocked.push(thread),
                Status::NotStarted | Status::Finished => {}
            }
        }
        match (discarded, blocked.is_empty()) {
            (true, _) => Ending::Discarded,
            (false, true) => Ending::Completed,
            (false, false) => Ending::Blocked(blocked),
        }
    }

    /// Performs an execution with this trace for monitors that look at more than states.
    fn perform(&self, collector: &mut Collector<Found>, system: &mut System<S, M>) -> Flow {
        let schedule = Schedule::Steps(self.steps());
        let limits = Limits { steps: None, ..Limits::default() };
        let found = || self.found();
        let mut watch = Watch { collector, found: &found };
        match driver::run(system, &mut Replay::of_schedule(&schedule), &mut watch, &limits, &|| None) {
            Coverage::Stopped(reason) => Flow::Stop(reason),
            Coverage::Complete => Flow::Continue,
        }
    }

    /// Shows the execution to monitors that look at states only.
    fn show(&self, collector: &mut Collector<Found>, nothing: &Trace) -> Flow {
        let view = |failure| View { trace: nothing, events: &[], state: self, failure };
        collector.begin_execution();
        let mut flow = Flow::Continue;
        for thread in self.all_threads() {
            if let Some(failure) = self.subject.failure(thread) {
                let next = collector.watch_step(&view(Some((thread, failure))), || self.found());
                flow = if flow == Flow::Continue { next } else { flow };
            }
        }
        let next = collector.watch_end_up_to(Level::State, &view(None), &self.ending(), || self.found());
        if flow == Flow::Continue { next } else { flow }
    }
}

/// Shows executions to a collector.
pub(super) struct Show<S, M> {
    pub(super) collector: Collector<Found>,
    nothing: Trace,
    /// Performs executions, where monitors look at more than states.
    system: Option<System<S, M>>,
    /// The model whose delays they look for, if that is all.
    delays: Option<ModelId>,
    /// Where the delays of the newest graph are.
    places: Vec<(Site, Site)>,
}

impl<S: Rewindable, M: Model> Show<S, M> {
    pub(super) fn new(subject: &S, collector: Collector<Found>) -> Self
    where
        S: Clone,
    {
        let system = (collector.needs() > Level::State).then(|| System::new(subject.clone()));
        let delays = collector.seeks_delays().filter(|_| M::ID == ModelId::Sc && system.is_some());
        Show { collector, nothing: Trace::default(), system, delays, places: Vec::new() }
    }

    /// Shows the maximal graph of `walk`.
    pub(super) fn graph<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> Flow {
        let is_new = self.delays.is_none() || self.is_new(walk);
        match &mut self.system {
            Some(system) if is_new => walk.perform(&mut self.collector, system),
            _ => {
                let flow = walk.show(&mut self.collector, &self.nothing);
                self.collector.count_delays(&self.places);
                flow
            }
        }
    }

    /// Whether the graph has a delay between places that were not found yet.
    fn is_new<const N: usize>(&mut self, walk: &Walk<S, M, N>) -> bool {
        self.places.clear();
        if let Some(model) = self.delays {
            walk.add_delays(model, &mut self.places);
        }
        !self.collector.knows_delays(&self.places)
    }
}

/// Lets a collector watch one execution.
struct Watch<'w> {
    collector: &'w mut Collector<Found>,
    found: &'w dyn Fn() -> Found,
}

impl Observer for Watch<'_> {
    fn begin(&mut self) {
        self.collector.begin_execution();
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        self.collector.watch_step(view, self.found)
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.collector.watch_end(view, ending, self.found)
    }
}
