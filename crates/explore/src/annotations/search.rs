//! The search: from one execution to the next, until every class was met.

use std::collections::VecDeque;
use std::rc::Rc;

use teetotal_judge::Ending;
use teetotal_judge::order::{Answer, Demand, Question, Solver};
use teetotal_memory::{EventKind, Model, Step, Trace};
use teetotal_program::{Failure, Hindsight, Loc, Rewind, ThreadId, Value};

use super::archive::{Archive, Known};
use super::changes::{Annotation, Change, Changes, What};
use super::ending;
use super::execution::{Execution, Turn};
use super::index::Index;
use super::names::Names;
use super::refuted::Refuted;
use super::run::{Plan, Ran, Run, Unsupported};
use super::waiting::Waiting;
use crate::dpor::Move;
use crate::driver::{Flow, Progress, StopSignal};
use crate::limits::Limits;
use crate::outcome::{Coverage, Stats, StopReason};
use crate::system::System;

/// So many executions must be performed for each that does something else than was planned.
const PERFORMED_FOR_EACH_LOST: u64 = 100;

/// So many of these are left out before the others are counted.
const LOST_AT_FIRST: u64 = 10;

/// One execution of the search.
#[expect(missing_debug_implementations, reason = "a subject need not be printable")]
pub struct Leaf<'l, S> {
    /// The subject at the end of it.
    pub subject: &'l S,
    pub ending: Ending,
    /// What went wrong, thread by thread.
    pub failures: Vec<(ThreadId, Failure)>,
    trace: &'l Trace,
    n_performed: usize,
    memory: &'l dyn Fn(Loc) -> Value,
}

impl<S> Leaf<'_, S> {
    /// Its steps.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        let steps = self.trace.steps().iter().filter(|record| record.event.index() < self.n_performed);
        let moves = steps.map(|record| {
            let event = self.trace.event(record.event);
            match record.step {
                Step::Issue { thread, alternative } => {
                    let child = if let EventKind::Spawn(child) = event.kind { Some(child) } else { None };
                    Move::Issue { thread, alternative, child }
                }
                Step::Commit { thread, loc } => Move::Commit { thread, index: event.index, loc },
            }
        });
        moves.collect()
    }

    /// What memory holds at the end of it.
    #[must_use]
    pub fn memory(&self, loc: Loc) -> Value {
        (self.memory)(loc)
    }
}

/// Calls `each` with one execution of `subject` for each class: for all in which every read takes its value from the same
/// write, and the same threads wait for good.
///
/// Refuses a subject that does something which an annotation does not show.
pub fn watch<S: Rewind + Hindsight, M: Model>(
    subject: S,
    limits: &Limits,
    signal: StopSignal<'_>,
    each: &mut dyn FnMut(&Leaf<'_, S>) -> Flow,
) -> Result<(Stats, Coverage), Unsupported> {
    let mut search = Search::<S, M> {
        system: System::new(subject),
        names: Names::default(),
        index: Index::default(),
        archive: Archive::new(),
        open: VecDeque::new(),
        limits,
        signal,
        each,
        stats: Stats::default(),
        n_unknown: 0,
        n_lost: 0,
    };
    match search.all() {
        Ok(()) => Ok((search.stats, search.coverage())),
        Err(Halt::Stop(reason)) => Ok((search.stats, Coverage::Stopped(reason))),
        Err(Halt::Unsupported(unsupported)) => Err(unsupported),
    }
}

/// Why the search goes no further.
enum Halt {
    Stop(StopReason),
    Unsupported(Unsupported),
}

/// An annotation, and an execution that agrees with it.
struct Node {
    /// The execution, by its number.
    number: u32,
    /// How much of it is annotated.
    points: Vec<u32>,
    refuted: Rc<Refuted>,
}

struct Search<'s, S: Hindsight, M> {
    system: System<S, M>,
    names: Names,
    index: Index,
    archive: Archive<S::Kept>,
    /// From where others are to be looked for.
    open: VecDeque<Node>,
    limits: &'s Limits,
    signal: StopSignal<'s>,
    each: &'s mut dyn FnMut(&Leaf<'_, S>) -> Flow,
    stats: Stats,
    /// Questions that were given up.
    n_unknown: u64,
    /// Executions that did something else than was planned.
    n_lost: u64,
}

impl<S: Rewind + Hindsight, M: Model> Search<'_, S, M> {
    fn all(&mut self) -> Result<(), Halt> {
        self.go(&Plan::default(), &Annotation::default(), Rc::default())?;
        while let Some(node) = self.open.pop_front() {
            self.look_from(&node)?;
        }
        Ok(())
    }

    /// Whether too many executions did something else than was planned.
    fn is_fickle(&self) -> bool {
        self.n_lost * PERFORMED_FOR_EACH_LOST > self.stats.executions
    }

    fn coverage(&self) -> Coverage {
        if self.is_fickle() {
            Coverage::Stopped(StopReason::NotDeterministic)
        } else if self.n_lost > 0 {
            Coverage::Stopped(StopReason::Unrepeatable(self.n_lost))
        } else if self.n_unknown > 0 {
            Coverage::Stopped(StopReason::Undecided)
        } else {
            Coverage::Complete
        }
    }

    /// Looks for executions that agree with so much of this one and do one thing otherwise.
    fn look_from(&mut self, node: &Node) -> Result<(), Halt> {
        let Node { number, points, refuted } = node;
        let Some(known) = self.known(*number)? else { return Ok(()) };
        let Known { execution, pasts } = &*known;
        let mut solver = self.solver(execution, &execution.trace);
        let (events, waiting): (Vec<_>, _) = {
            let changes = Changes::new(self.system.subject(), execution, pasts, M::FAILURE_IS_LOAD, points);
            (changes.events().collect(), Waiting::new(&changes))
        };
        let size = points.iter().sum();
        self.stats.states += 1;
        let mut found = Vec::new();
        for event in events {
            found.clear();
            Changes::new(self.system.subject(), execution, pasts, M::FAILURE_IS_LOAD, points)
                .of(event, &waiting, &mut found);
            for change in &found {
                let annotation = &change.annotation;
                let is_done = refuted.has(change.history) || self.index.is_met(annotation);
                if is_done || self.index.is_covered(annotation, size) {
                    continue;
                }
                self.index.meet(annotation);
                let agreeing = self.index.agreeing(annotation).next();
                if let Some(other) = agreeing {
                    self.look_later(other, &annotation.points, Refuted::after(refuted));
                } else if let Some(plan) = self.plan(&known, &mut solver, change) {
                    self.go(&plan, annotation, Refuted::after(refuted))?;
                } else {
                    refuted.add(change.history);
                }
            }
        }
        self.count(&solver);
        Ok(())
    }

    fn solver<'t>(&self, execution: &Execution<S::Kept>, trace: &'t Trace) -> Solver<'t> {
        let initial = |loc: Loc| execution.initial.get(loc.index()).copied().unwrap_or(0);
        let mut solver = Solver::new(M::ID, trace, initial);
        solver.keep_sources();
        solver
    }

    fn count(&mut self, solver: &Solver<'_>) {
        let effort = solver.effort();
        self.stats.solver_calls += effort.questions;
        self.stats.solver_work += effort.frontiers + effort.conflicts;
    }

    /// How to run an execution in which the change happens, if there is one.
    fn plan(&mut self, known: &Known<S::Kept>, solver: &mut Solver<'_>, change: &Change) -> Option<Plan> {
        let Known { execution, pasts } = known;
        let event = *execution.trace.event(change.event);
        let name = execution.name(event.thread)?;
        let mut counts: Vec<u32> = change.counts.clone();
        let mut held = Vec::new();
        // What stands there because it is held is not performed.
        for (thread, count) in counts.iter_mut().enumerate() {
            let Some(&last) = (*count as usize).checked_sub(1).and_then(|last| pasts.threads[thread].get(last)) else {
                continue;
            };
            if !execution.is_performed(last) && last != change.event {
                *count -= 1;
                held.extend(execution.names[thread].map(|name| (name, *count)));
            }
        }
        let turns = match change.what {
            What::Waits => {
                held.push((name, event.index));
                execution.turns_of(&counts)
            }
            What::Takes(alternative) => {
                counts[event.thread.index()] -= 1;
                let mut turns = execution.turns_of(&counts);
                turns.push(Turn::Issue { thread: name, alternative });
                turns
            }
            What::Reads(source, outcome) => {
                let demands = [Demand::Source { read: change.event, source }];
                let question = Question { events: &counts, demands: &demands };
                let is_alike = (outcome.kind, outcome.written.is_some()) == (event.kind, event.written.is_some());
                let answer = if is_alike {
                    solver.ask(&question)
                } else {
                    let trace = execution.trace.with_event(change.event, outcome);
                    let mut other = self.solver(execution, &trace);
                    let answer = other.ask(&question);
                    self.count(&other);
                    answer
                };
                match answer {
                    Answer::Possible(steps) => execution.turns(&pasts.threads, &steps),
                    Answer::Impossible => return None,
                    Answer::Unknown => {
                        self.n_unknown += 1;
                        return None;
                    }
                }
            }
        };
        Some(Plan { turns, held })
    }

    /// Runs an execution that agrees with the annotation, shows it, and looks for others from it later.
    fn go(&mut self, plan: &Plan, annotation: &Annotation, refuted: Rc<Refuted>) -> Result<(), Halt> {
        let Some(execution) = self.run(plan)? else { return Ok(()) };
        let known = Known::new(execution);
        let number = self.index.add(&known.pasts);
        self.archive.add(&known, &plan.held);
        let is_as_planned = annotation.histories.is_empty() || self.index.agreeing(annotation).last() == Some(number);
        if is_as_planned {
            self.look_later(number, &annotation.points, refuted);
        } else {
            self.n_lost += 1;
        }
        let is_real = self.is_over();
        if is_real {
            self.stats.classes += 1;
            self.show(&known.execution)?;
        } else {
            self.stats.abandoned += 1;
        }
        self.end_otherwise(&known, plan, is_real)
    }

    /// The execution with this number, which is run again if it is not kept.
    fn known(&mut self, number: u32) -> Result<Option<Rc<Known<S::Kept>>>, Halt> {
        if let Some(known) = self.archive.take(number) {
            return Ok(Some(known));
        }
        let plan = self.archive.plan(number);
        Ok(self.run(&plan)?.map(Known::new))
    }

    /// Others are looked for from the execution later.
    fn look_later(&mut self, number: u32, points: &[u32], refuted: Rc<Refuted>) {
        self.open.push_back(Node { number, points: points.to_vec(), refuted });
        self.index.look_from(number, points);
    }

    /// Whether nothing is possible any more.
    fn is_over(&mut self) -> bool {
        let mut enabled = Vec::new();
        self.system.enabled(&mut enabled);
        enabled.is_empty()
    }

    /// Where threads might wait for good if the writes came in another order, shows that.
    fn end_otherwise(&mut self, known: &Known<S::Kept>, plan: &Plan, is_real: bool) -> Result<(), Halt> {
        let Known { execution, pasts } = known;
        if execution.n_performed == execution.trace.events().len() {
            return Ok(());
        }
        let mut solver = self.solver(execution, &execution.trace);
        let changes = Changes::new(self.system.subject(), execution, pasts, M::FAILURE_IS_LOAD, &[]);
        let found = ending::find(&changes, &mut solver);
        self.count(&solver);
        match found {
            ending::Ending::AsIs | ending::Ending::Never => Ok(()),
            ending::Ending::Unknown => {
                self.n_unknown += 1;
                Ok(())
            }
            ending::Ending::Otherwise(steps) => {
                let plan = Plan { turns: execution.turns(&pasts.threads, &steps), held: plan.held.clone() };
                let Some(other) = self.run(&plan)? else { return Ok(()) };
                if !self.is_over() {
                    self.n_lost += 1;
                    return Ok(());
                }
                self.stats.classes += u64::from(!is_real);
                self.show(&other)
            }
        }
    }

    /// Runs an execution; nothing if it did something else than was planned.
    fn run(&mut self, plan: &Plan) -> Result<Option<Execution<S::Kept>>, Halt> {
        let progress = Progress { executions: self.stats.executions, states: 0 };
        if let Some(reason) = self.signal.stop(progress) {
            return Err(Halt::Stop(reason));
        }
        if let Some(limit) = self.limits.executions.filter(|&limit| self.stats.executions >= limit) {
            return Err(Halt::Stop(StopReason::Executions(limit)));
        }
        if let Some(limit) = self.limits.memory.filter(|&limit| self.archive.bytes() >= limit) {
            return Err(Halt::Stop(StopReason::Memory(limit)));
        }
        if self.n_lost > LOST_AT_FIRST && self.is_fickle() {
            return Err(Halt::Stop(StopReason::NotDeterministic));
        }
        match Run::new(&mut self.system, &mut self.names, plan).execution(self.limits) {
            Ran::Ended(execution) => {
                self.stats.steps += execution.n_performed as u64;
                Ok(Some(execution))
            }
            Ran::Lost => {
                self.n_lost += 1;
                Ok(None)
            }
            Ran::Cut(steps) => Err(Halt::Stop(StopReason::Steps(steps))),
            Ran::Unsupported(unsupported) => Err(Halt::Unsupported(unsupported)),
        }
    }

    /// Shows the execution that was just run.
    fn show(&mut self, execution: &Execution<S::Kept>) -> Result<(), Halt> {
        let ending = self.system.ending();
        self.stats.executions += 1;
        match ending {
            Ending::Completed => self.stats.completed += 1,
            Ending::Blocked(_) => self.stats.blocked += 1,
            Ending::Discarded => self.stats.discarded += 1,
            Ending::Failed => self.stats.failed += 1,
        }
        let subject = self.system.subject();
        let threads = (0..subject.n_threads()).map(ThreadId::at);
        let failures: Vec<_> = threads.filter_map(|thread| Some((thread, subject.failure(thread)?))).collect();
        if let Some(&(thread, Failure::EndlessLoop { instruction })) =
            failures.iter().find(|(_, failure)| matches!(failure, Failure::EndlessLoop { .. }))
        {
            return Err(Halt::Stop(StopReason::EndlessLoop { thread, instruction }));
        }
        let machine = self.system.machine();
        let memory = |loc: Loc| machine.memory(loc);
        let (trace, n_performed) = (&execution.trace, execution.n_performed);
        match (self.each)(&Leaf { subject, ending, failures, trace, n_performed, memory: &memory }) {
            Flow::Stop(reason) => Err(Halt::Stop(reason)),
            Flow::Continue | Flow::NextExecution => Ok(()),
        }
    }
}
