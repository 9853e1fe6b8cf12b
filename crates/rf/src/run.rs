//! Runs an execution as planned, and then on to its end.

use teetotal_engine::{Limits, System, Unsupported};
use teetotal_memory::{Event, EventKind, Model, Recorder, Source, Step, Trace};
use teetotal_program::{Hindsight, Loc, Op, Order, Rewind, Status, Subject, ThreadId};

use super::execution::{Execution, Operation, Turn};
use super::names::{Name, Names};

/// How an execution is to begin.
#[derive(Clone, Default, Debug)]
pub(super) struct Plan {
    pub(super) turns: Vec<Turn>,
    /// Operations that are never performed.
    pub(super) held: Vec<(Name, u32)>,
}

/// What came of a run.
pub(super) enum Ran<K> {
    /// It ended; nothing is possible any more but what is held.
    Ended(Box<Execution<K>>),
    /// It did something else than was planned.
    Lost,
    /// It took more operations than the limit allows.
    Cut(u64),
    Unsupported(Unsupported),
}

/// Runs one execution.
pub(super) struct Run<'r, S: Hindsight, M> {
    pub(super) system: &'r mut System<S, M>,
    pub(super) names: &'r mut Names,
    plan: &'r Plan,
    trace: Trace,
    /// What threads are called in this execution.
    called: Vec<Option<Name>>,
    operations: Vec<Operation<S::Kept>>,
    enabled: Vec<Step>,
    last: Option<ThreadId>,
}

impl<'r, S: Rewind + Hindsight, M: Model> Run<'r, S, M> {
    pub(super) fn new(system: &'r mut System<S, M>, names: &'r mut Names, plan: &'r Plan) -> Self {
        let (trace, called) = (Trace::default(), Vec::new());
        Run { system, names, plan, trace, called, operations: Vec::new(), enabled: Vec::new(), last: None }
    }

    pub(super) fn execution(mut self, limits: &Limits) -> Ran<S::Kept> {
        self.system.settle();
        self.system.restart();
        self.call_first_threads();
        let mut position = 0;
        loop {
            if limits.steps.is_some_and(|limit| self.trace.events().len() as u64 > limit) {
                self.system.subject().give_up();
                return Ran::Cut(self.trace.events().len() as u64 - 1);
            }
            if let Some(turn) = self.plan.turns.get(position) {
                self.let_go_on(*turn);
            }
            self.system.enabled(&mut self.enabled);
            let step = match self.plan.turns.get(position) {
                Some(turn) => match self.planned(*turn) {
                    Some(step) => step,
                    None => {
                        self.system.subject().give_up();
                        return Ran::Lost;
                    }
                },
                None => match self.default_step() {
                    Some(step) => step,
                    None => return Ran::Ended(Box::new(self.end())),
                },
            };
            position += 1;
            if let Err(unsupported) = self.perform(step) {
                return Ran::Unsupported(unsupported);
            }
        }
    }

    /// Calls the threads that nobody starts by their numbers.
    fn call_first_threads(&mut self) {
        let subject = self.system.subject();
        for index in 0..subject.n_threads() {
            let is_started = subject.status(ThreadId::at(index)) != Status::NotStarted;
            self.called.push(is_started.then(|| self.names.of(None, index as u32)));
        }
    }

    /// The thread that is called so, if it was started.
    fn thread_of(&self, name: Name) -> Option<ThreadId> {
        self.called.iter().position(|called| *called == Some(name)).map(ThreadId::at)
    }

    /// Lets a thread go on that is planned to, also if its last iteration looks like a failed await now.
    fn let_go_on(&mut self, turn: Turn) {
        if let Turn::Issue { thread, .. } = turn
            && let Some(thread) = self.thread_of(thread)
            && matches!(self.system.subject().status(thread), Status::FailedAwait(_))
        {
            self.system.subject_mut().set_failed_await(thread, None);
        }
    }

    /// The step that is planned, if it is possible.
    fn planned(&self, turn: Turn) -> Option<Step> {
        let thread_of = |name: Name| self.thread_of(name);
        let step = match turn {
            Turn::Issue { thread, alternative } => Step::Issue { thread: thread_of(thread)?, alternative },
            Turn::Commit { thread, index } => {
                let thread = thread_of(thread)?;
                Step::Commit { thread, loc: self.trace.operation(thread, index)?.loc? }
            }
        };
        self.enabled.contains(&step).then_some(step)
    }

    /// Stores leave their buffers first; then a thread goes on as long as it can, then the next.
    fn default_step(&self) -> Option<Step> {
        let is_free = |step: &&Step| step.is_commit() || !self.is_held(step.thread());
        let mut steps = self.enabled.iter().filter(is_free);
        let commit = self.enabled.iter().find(|step| step.is_commit());
        let same = || self.enabled.iter().filter(is_free).find(|step| Some(step.thread()) == self.last);
        commit.or_else(same).or_else(|| steps.next()).copied()
    }

    fn is_held(&self, thread: ThreadId) -> bool {
        let Some(name) = self.called.get(thread.index()).copied().flatten() else { return false };
        self.plan.held.iter().any(|&(held, index)| held == name && index == self.performed(thread))
    }

    /// How many operations `thread` has performed.
    fn performed(&self, thread: ThreadId) -> u32 {
        self.trace.events().iter().rev().find(|event| event.thread == thread).map_or(0, |event| event.index + 1)
    }

    fn perform(&mut self, step: Step) -> Result<(), Unsupported> {
        let thread = step.thread();
        let subject = self.system.subject();
        let operation = match subject.status(thread) {
            Status::Ready(op) if !step.is_commit() => {
                check(subject, thread, op)?;
                let is_plain = matches!(op, Op::Load { .. } | Op::Store { .. } | Op::Fence { .. });
                Some(Operation { op, kept: (!is_plain).then(|| subject.keep(thread)) })
            }
            _ => None,
        };
        self.system.perform(step, &mut self.trace);
        let Some(operation) = operation else { return Ok(()) };
        self.operations.push(operation);
        self.last = Some(thread);
        let n_threads = self.system.subject().n_threads();
        self.called.resize(n_threads.max(self.called.len()), None);
        if let Some(Event { kind: EventKind::Spawn(child), index, .. }) = self.trace.events().last() {
            let parent = self.called[thread.index()];
            self.called[child.index()] = Some(self.names.of(parent, *index));
        }
        Ok(())
    }

    /// What is left when nothing is possible any more.
    fn end(mut self) -> Execution<S::Kept> {
        let n_performed = self.trace.events().len();
        let subject = self.system.subject();
        let (mut wishes, mut restored) = (Vec::new(), Vec::new());
        for index in 0..subject.n_threads() {
            let thread = ThreadId::at(index);
            wishes.extend(subject.waits_while(thread));
            if let Status::FailedAwait(failed) = subject.status(thread) {
                let is_failed = |event: &Event| event.thread == thread && event.index >= failed.since;
                let writes = self.trace.ids().filter(|(_, event)| event.is_write() && is_failed(event));
                restored.extend(writes.filter_map(|(id, event)| Some((event.loc?, id))));
            }
            let Status::Ready(op) = subject.status(thread) else { continue };
            let Some((event, loc)) = standing(subject, thread, op) else { continue };
            self.trace.step(Step::Issue { thread, alternative: 0 });
            Recorder::event(&mut self.trace, Event { loc: Some(loc), ..event });
            self.operations.push(Operation { op, kept: Some(subject.keep(thread)) });
        }
        let initial = (0..subject.n_locations()).map(|loc| subject.initial(Loc::at(loc))).collect();
        let Run { trace, called: names, operations, .. } = self;
        Execution { trace, n_performed, names, operations, initial, wishes, restored }
    }
}

/// Whether the search can take the operation.
fn check<S: Rewind>(subject: &S, thread: ThreadId, op: Op) -> Result<(), Unsupported> {
    let mut locations = Vec::new();
    if let Op::Await { .. } = op {
        subject.awaited(thread, &mut locations);
    }
    let reason = match op {
        Op::GlobalFence => "a fence that drains the buffers of all threads",
        Op::Await { alternatives, .. } if alternatives != 1 => "a step that chooses by what it reads",
        Op::Await { .. } if locations.len() != 1 => "a step that reads several locations at once",
        _ if subject.exclusive().is_some() => "an atomic section",
        _ if subject.rests(thread).is_some() => "a thread held back by the fairness bound",
        _ => return Ok(()),
    };
    Err(Unsupported { reason })
}

/// The operation at which `thread` waits, as an event.
fn standing(subject: &impl Subject, thread: ThreadId, op: Op) -> Option<(Event, Loc)> {
    let (kind, loc, order, written) = match op {
        Op::Lock { loc, order } => (EventKind::Lock, loc, order, Some(1)),
        Op::Await { .. } => {
            let mut locations = Vec::new();
            subject.awaited(thread, &mut locations);
            (EventKind::Load, *locations.first()?, Order::Plain, None)
        }
        _ => return None,
    };
    let event = Event {
        kind,
        read: Some(0),
        written,
        source: Some(Source::Initial),
        order,
        place: subject.place(thread),
        ..Event::blank(thread)
    };
    Some((event, loc))
}
