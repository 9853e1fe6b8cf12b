//! What there is to see of a complete graph: the execution that has it.

use teetotal_engine::driver::Flow;
use teetotal_engine::{Collector, More, Move, Schedule, StopReason, System, show};
use teetotal_judge::monitors::robustness::Site;
use teetotal_judge::{Ending, Level, View};
use teetotal_memory::{Model, ModelId, ModelVisitor, Step, Trace};
use teetotal_program::condition::{FinalState, Term};
use teetotal_program::{Failure, Loc, Status, Subject, ThreadId, Value};

use super::consistency::Consistency;
use super::graph::{NONE, Role};
use super::linearization;
use super::position::Path;
use super::walk::{Rewindable, Walk};

/// Where something was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The path to it.
    pub(super) path: Path,
    /// An execution that shows it.
    pub(super) schedule: Schedule,
}

/// A complete graph, whatever the model and the size of its sets.
pub(super) trait CompleteGraph<S>: FinalState + More {
    /// The subject at its end.
    fn subject(&self) -> &S;

    /// Which alternative was chosen at each level on the path to it.
    fn path(&self) -> Path;

    /// The steps of an execution with this graph.
    fn steps(&self) -> Vec<Step>;
}

impl<S: Rewindable, C: Consistency, const N: usize> CompleteGraph<S> for Walk<S, C, N> {
    fn subject(&self) -> &S {
        &self.subject
    }

    fn path(&self) -> Path {
        self.levels.iter().map(|level| level.chosen).collect()
    }

    fn steps(&self) -> Vec<Step> {
        linearization::steps_of(&self.graph)
    }
}

impl<S: Rewindable, C: Consistency, const N: usize> FinalState for Walk<S, C, N> {
    fn value(&self, term: Term) -> Value {
        match term {
            Term::Register(thread, reg) => self.subject.register(thread, reg),
            Term::Memory(loc) => self.graph.value_of(self.graph.location(loc.index()).newest, loc.index()),
        }
    }
}

impl<S: Rewindable, C: Consistency, const N: usize> More for Walk<S, C, N> {
    fn share(&self) -> f64 {
        let parts = self.levels.iter().scan(1.0, |width, level| {
            *width /= f64::from(level.of.max(1));
            Some(*width * f64::from(level.chosen))
        });
        parts.sum()
    }

    fn moves(&self) -> Vec<Move> {
        linearization::moves_of(&self.graph)
    }

    fn memory(&self, loc: Loc) -> Value {
        self.value(Term::Memory(loc))
    }

    fn delays(&self, model: ModelId) -> Vec<(Site, Site)> {
        let mut places = Vec::new();
        C::overtakings(&self.graph, model, |access, store| places.push((store.site(), access.site())));
        places
    }
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// Whether the complete graph counts as an execution.
    pub(super) fn is_execution(&self) -> bool {
        self.endless().is_none() && self.waits_forever()
    }

    /// Whether every thread that waits is blocked forever: it reads the newest writes, and these do not let it go on.
    pub(super) fn waits_forever(&self) -> bool {
        self.threads().all(|thread| {
            let last = self.graph.events(thread).last;
            if let Some(failed) = self.failed_await(thread) {
                return self.fails_forever(thread, failed);
            }
            if last == NONE || self.graph.node(last).role != Role::Blocked {
                return true;
            }
            let node = self.graph.node(last);
            self.graph.location(node.loc()).newest == node.source
        })
    }

    /// The thread that runs on and on without an operation, if one does.
    pub(super) fn endless(&self) -> Option<StopReason> {
        self.threads().find_map(|thread| match self.subject.failure(thread)? {
            Failure::EndlessLoop { instruction } => Some(StopReason::EndlessLoop { thread, instruction }),
            _ => None,
        })
    }
}

/// How the execution ended at whose end `subject` is.
pub(super) fn ending(subject: &impl Subject) -> Ending {
    let mut discarded = false;
    let mut blocked = Vec::new();
    for thread in threads(subject) {
        match subject.status(thread) {
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

/// The threads that went wrong in the execution at whose end `subject` is, and how.
pub(super) fn failures(subject: &impl Subject) -> impl Iterator<Item = (ThreadId, Failure)> {
    threads(subject).filter_map(|thread| Some((thread, subject.failure(thread)?)))
}

fn threads<S: Subject>(subject: &S) -> impl Iterator<Item = ThreadId> + use<S> {
    (0..subject.n_threads()).map(ThreadId::at)
}

fn found<S>(graph: &dyn CompleteGraph<S>) -> Found {
    Found { path: graph.path(), schedule: Schedule::Steps(graph.steps()) }
}

/// Shows executions to a collector.
pub(super) struct Show {
    pub(super) collector: Collector<Found>,
    nothing: Trace,
    /// Performs executions, where monitors look at more than states.
    machine: Option<Box<dyn Performs>>,
    /// The model whose delays they look for, if that is all.
    delays: Option<ModelId>,
    /// Where the delays of the newest graph are.
    places: Vec<(Site, Site)>,
}

impl Show {
    /// Shows executions of `subject` under `model`, whose rules tell of delays or not.
    pub(super) fn new<S, C>(subject: &S, model: ModelId, rules: C, collector: Collector<Found>) -> Self
    where
        S: Rewindable + Clone + 'static,
        C: Consistency,
    {
        let looks_at_more = collector.needs() > Level::State;
        let machine = looks_at_more.then(|| model.visit(MachineOf(subject)));
        let delays = collector.seeks_delays().filter(|_| looks_at_more && rules.tells_overtakings());
        Show { collector, nothing: Trace::default(), machine, delays, places: Vec::new() }
    }

    /// Shows a complete graph.
    pub(super) fn graph<S: Subject>(&mut self, graph: &dyn CompleteGraph<S>) -> Flow {
        let is_new = self.delays.is_none_or(|model| self.is_new(graph, model));
        match &mut self.machine {
            Some(machine) if is_new => machine.perform(graph.steps(), &mut self.collector, &|| found(graph)),
            _ => {
                let flow = self.show(graph);
                self.collector.count_delays(&self.places);
                flow
            }
        }
    }

    /// Whether the graph has a delay between places that were not found yet.
    fn is_new<S>(&mut self, graph: &dyn CompleteGraph<S>, model: ModelId) -> bool {
        self.places = graph.delays(model);
        !self.collector.knows_delays(&self.places)
    }

    /// Shows the execution to monitors that look at states only.
    fn show<S: Subject>(&mut self, graph: &dyn CompleteGraph<S>) -> Flow {
        let Show { collector, nothing, .. } = self;
        let view = |failure| View { trace: nothing, events: &[], state: graph, failure };
        collector.begin_execution();
        let mut flow = Flow::Continue;
        for failure in failures(graph.subject()) {
            let next = collector.watch_step(&view(Some(failure)), || found(graph));
            flow = if flow == Flow::Continue { next } else { flow };
        }
        let ending = ending(graph.subject());
        let next = collector.watch_end_up_to(Level::State, &view(None), &ending, || found(graph));
        if flow == Flow::Continue { next } else { flow }
    }
}

/// Performs executions on a machine for monitors that look at more than states.
trait Performs {
    fn perform(&mut self, steps: Vec<Step>, collector: &mut Collector<Found>, found: &dyn Fn() -> Found) -> Flow;
}

impl<S: Subject + 'static, M: Model> Performs for System<S, M> {
    fn perform(&mut self, steps: Vec<Step>, collector: &mut Collector<Found>, found: &dyn Fn() -> Found) -> Flow {
        show(self, &Schedule::Steps(steps), collector, found).0
    }
}

/// Makes the machine of a model.
struct MachineOf<'s, S>(&'s S);

impl<S: Subject + Clone + 'static> ModelVisitor for MachineOf<'_, S> {
    type Output = Box<dyn Performs>;

    fn visit<M: Model>(self) -> Self::Output {
        Box::new(System::<S, M>::new(self.0.clone()))
    }
}
