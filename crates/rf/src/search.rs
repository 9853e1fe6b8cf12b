//! The search: from one execution to the next, until every class was met.

use std::collections::VecDeque;
use std::rc::Rc;

use teetotal_engine as engine;
use teetotal_engine::driver::{Flow, Progress, StopSignal};
use teetotal_engine::{Coverage, Limits, Stats, StopReason, System, Unsupported};
use teetotal_judge::Ending;
use teetotal_judge::order::Effort;
use teetotal_memory::{Access, Event, Model, Source, Trace};
use teetotal_program::{Failure, Hindsight, Loc, Op, Order, Rewind, Status, ThreadId, Value};

use super::archive::{Archive, Known};
use super::changes::{Annotation, Changes};
use super::ended::Ended;
use super::ending::{self, End};
use super::execution::Execution;
use super::index::Index;
use super::names::Names;
use super::planning::{Planned, Planner, solver};
use super::refuted::Refuted;
use super::run::{Plan, Ran, Run};
use super::waiting::Waiting;

/// So many executions must be performed for each that does something else than was planned.
const PERFORMED_FOR_EACH_LOST: u64 = 100;

/// So many of these are left out before the others are counted.
const LOST_AT_FIRST: u64 = 10;

/// Calls `each` with one execution of `subject` for each class: for all in which every read takes its value from the same
/// write, and the same threads wait for good.
///
/// Refuses a subject that does something which an annotation does not show.
pub fn watch<S: Rewind + Hindsight, M: Model>(
    subject: S,
    limits: &Limits,
    signal: StopSignal<'_>,
    each: &mut dyn FnMut(&engine::Execution<'_, S>) -> Flow,
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
    };
    let result = search.all();
    search.system.settle();
    match result {
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
    /// How much of it is annotated: of each thread by its name so many operations.
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
    each: &'s mut dyn FnMut(&engine::Execution<'_, S>) -> Flow,
    stats: Stats,
    /// Questions that were given up.
    n_unknown: u64,
}

impl<S: Rewind + Hindsight, M: Model> Search<'_, S, M> {
    fn all(&mut self) -> Result<(), Halt> {
        self.go(&Plan::default(), &Annotation::default(), Rc::default())?;
        // Small annotations first: larger ones are then often agreed with already.
        while let Some(node) = self.open.pop_front() {
            self.look_from(&node)?;
        }
        Ok(())
    }

    /// Whether too many executions did something else than was planned.
    fn is_fickle(&self) -> bool {
        !self.limits.leaves_out_unrepeatable && self.stats.divergences * PERFORMED_FOR_EACH_LOST > self.stats.executions
    }

    fn coverage(&self) -> Coverage {
        if self.is_fickle() {
            Coverage::Stopped(StopReason::NotDeterministic)
        } else if self.stats.divergences > 0 {
            Coverage::Stopped(StopReason::Unrepeatable(self.stats.divergences))
        } else if self.n_unknown > 0 {
            Coverage::Stopped(StopReason::Undecided)
        } else {
            Coverage::Complete
        }
    }

    /// Looks for executions that agree with so much of this one and do one thing otherwise.
    fn look_from(&mut self, node: &Node) -> Result<(), Halt> {
        let Some(known) = self.known(node.number)? else { return Ok(()) };
        let mut planner = Planner::new(M::ID, &known);
        let base = known.pasts.counts_of(&known.execution, &node.points);
        let waiting = Waiting::new(&self.changes(&known, base.clone()));
        let mut found = Vec::new();
        for event in known.execution.open_events(&base) {
            found.clear();
            self.changes(&known, base.clone()).of(event, &waiting, &mut found);
            for change in &found {
                let annotation = &change.annotation;
                if node.refuted.has(change.history) || !self.index.is_new(annotation, &node.points) {
                    continue;
                }
                self.index.meet(annotation);
                let agreeing = self.index.agreeing(annotation).next();
                if let Some(other) = agreeing {
                    self.look_later(other, annotation, Refuted::after(&node.refuted));
                    continue;
                }
                match planner.plan(change) {
                    Planned::Plan(plan) => self.go(&plan, annotation, Refuted::after(&node.refuted))?,
                    Planned::Impossible => node.refuted.add(change.history),
                    Planned::Unknown => self.n_unknown += 1,
                }
            }
        }
        self.count(planner.effort());
        Ok(())
    }

    fn changes<'c>(&'c self, known: &'c Known<S::Kept>, base: Vec<u32>) -> Changes<'c, S> {
        let Known { execution, pasts } = known;
        let store = |loc| Access { loc: Some(Loc(loc)), order: Order::Relaxed, epoch: 0 };
        let (failure_is_load, keeps_stores) = (M::FAILURE_IS_LOAD, M::keeps_order(store(0), store(1)));
        Changes { subject: self.system.subject(), execution, pasts, failure_is_load, keeps_stores, base }
    }

    fn count(&mut self, effort: Effort) {
        self.stats.solver_calls += effort.questions;
        self.stats.solver_work += effort.frontiers + effort.conflicts;
    }

    /// Runs an execution that agrees with the annotation, shows it, and looks for others from it later.
    fn go(&mut self, plan: &Plan, annotation: &Annotation, refuted: Rc<Refuted>) -> Result<(), Halt> {
        let Some(execution) = self.run(plan)? else { return Ok(()) };
        self.note_observations(&execution);
        let known = Known::new(execution);
        let number = self.index.add(&known.pasts);
        self.archive.add(&known, &plan.held);
        if annotation.histories.is_empty() || self.index.agreeing(annotation).last() == Some(number) {
            self.look_later(number, annotation, refuted);
        } else {
            self.stats.divergences += 1;
        }
        let is_real = self.is_over(&known.execution.trace);
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

    /// Others that agree with the annotation are looked for from the execution later.
    fn look_later(&mut self, number: u32, annotation: &Annotation, refuted: Rc<Refuted>) {
        self.open.push_back(Node { number, points: annotation.points.clone(), refuted });
        self.index.look_from(number, &annotation.points);
    }

    /// Whether nothing is possible any more, also of what is held, and every failed await would fail again.
    fn is_over(&mut self, trace: &Trace) -> bool {
        let mut enabled = Vec::new();
        self.system.enabled(&mut enabled);
        enabled.is_empty() && self.fails_forever() && self.updates_alike(trace)
    }

    /// Whether every update in a failed await would read from the same write again, those of failed awaits aside.
    ///
    /// It may be a lock, and the data behind it is what its last owner left.
    fn updates_alike(&self, trace: &Trace) -> bool {
        let subject = self.system.subject();
        let is_failed = |event: &Event| match subject.status(event.thread) {
            Status::FailedAwait(failed) => event.index >= failed.since,
            _ => false,
        };
        let updates =
            trace.events().iter().filter(|event| event.is_write() && event.source.is_some() && is_failed(event));
        updates.filter_map(|event| Some((event, event.loc?))).all(|(event, loc)| {
            let writes = trace.coherence(loc);
            let lasting = |until: usize| writes[..until].iter().rfind(|&&id| !is_failed(trace.event(id)));
            let source = match event.source {
                Some(Source::Write(write)) => writes.iter().position(|&id| id == write).map_or(0, |at| at + 1),
                _ => 0,
            };
            lasting(source) == lasting(writes.len())
        })
    }

    /// Tells the subject where a thread reads what another has changed and changed back in a failed await.
    fn note_observations(&self, execution: &Execution<S::Kept>) {
        let (subject, trace) = (self.system.subject(), &execution.trace);
        for event in trace.events() {
            let Some(Source::Write(write)) = event.source else { continue };
            let write = trace.event(write);
            let is_restored = |failed: teetotal_program::FailedAwait| {
                let is_later = |other: &Event| {
                    other.is_write()
                        && (other.thread, other.loc) == (write.thread, write.loc)
                        && other.index > write.index
                };
                failed.restores && write.index >= failed.since && trace.events().iter().any(is_later)
            };
            match subject.status(write.thread) {
                Status::FailedAwait(failed) if write.thread != event.thread && is_restored(failed) => {
                    subject.note_observed(write.thread);
                }
                _ => {}
            }
        }
    }

    /// Whether no thread in a failed await can ever go on, given what memory holds.
    fn fails_forever(&self) -> bool {
        let (subject, machine) = (self.system.subject(), self.system.machine());
        let threads = || (0..subject.n_threads()).map(ThreadId::at);
        let waits_at = |thread: ThreadId, locs: &[Loc]| match subject.status(thread) {
            Status::FailedAwait(failed) => {
                let locked = if failed.only_locks { subject.restores(thread) } else { Vec::new() };
                subject.waits_while(thread).iter().any(|(loc, _)| locs.contains(loc) && !locked.contains(loc))
            }
            Status::Ready(Op::Lock { loc, .. }) => locs.contains(&loc),
            Status::Ready(Op::Await { .. }) => {
                let mut awaited = Vec::new();
                subject.awaited(thread, &mut awaited);
                awaited.iter().any(|loc| locs.contains(loc))
            }
            _ => false,
        };
        threads().all(|thread| match subject.status(thread) {
            // What it restores may be what another thread waits for, which can see it while it is changed.
            Status::FailedAwait(failed)
                if failed.restores && {
                    let locs = subject.restores(thread);
                    threads().any(|other| other != thread && waits_at(other, &locs))
                } =>
            {
                subject.note_observed(thread);
                false
            }
            Status::FailedAwait(failed) => {
                let holds = |&(loc, value): &(Loc, Value)| machine.memory(loc) == value;
                !failed.is_spurious && subject.waits_while(thread).iter().all(holds)
            }
            _ => true,
        })
    }

    /// Where threads might wait for good if the writes came in another order, shows that.
    fn end_otherwise(&mut self, known: &Known<S::Kept>, plan: &Plan, is_real: bool) -> Result<(), Halt> {
        let Known { execution, pasts } = known;
        if execution.n_performed == execution.trace.events().len() && execution.wishes.is_empty() {
            return Ok(());
        }
        let mut solver = solver(M::ID, execution, &execution.trace);
        let end = ending::find(&self.changes(known, Vec::new()), &mut solver);
        self.count(solver.effort());
        match end {
            End::AsIs | End::Never => Ok(()),
            End::Unknown => {
                self.n_unknown += 1;
                Ok(())
            }
            End::Otherwise(steps) => {
                let plan = Plan { turns: execution.turns(&pasts.threads, &steps), held: plan.held.clone() };
                let Some(other) = self.run(&plan)? else { return Ok(()) };
                if !self.is_over(&other.trace) {
                    self.stats.divergences += 1;
                    return Ok(());
                }
                self.stats.classes += u64::from(!is_real);
                self.show(&other)
            }
        }
    }

    /// Runs an execution; nothing if it did something else than was planned.
    fn run(&mut self, plan: &Plan) -> Result<Option<Execution<S::Kept>>, Halt> {
        if let Some(reason) = self.reason_to_stop() {
            return Err(Halt::Stop(reason));
        }
        match Run::new(&mut self.system, &mut self.names, plan).execution(self.limits) {
            Ran::Ended(execution) => {
                self.stats.steps += execution.n_performed as u64;
                Ok(Some(*execution))
            }
            Ran::Lost => {
                self.stats.divergences += 1;
                Ok(None)
            }
            Ran::Cut(steps) => Err(Halt::Stop(StopReason::Steps(steps))),
            Ran::Unsupported(unsupported) => Err(Halt::Unsupported(unsupported)),
        }
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        let Stats { executions, .. } = self.stats;
        let (limits, bytes) = (self.limits, self.archive.bytes());
        let by_executions = limits.executions.filter(|&limit| executions >= limit).map(StopReason::Executions);
        let by_memory = || limits.memory.filter(|&limit| bytes >= limit).map(StopReason::Memory);
        let by_signal = || self.signal.stop(Progress { executions, states: 0 });
        let is_lost = self.stats.divergences > LOST_AT_FIRST && self.is_fickle();
        by_executions.or_else(by_memory).or_else(by_signal).or(is_lost.then_some(StopReason::NotDeterministic))
    }

    /// Shows the execution that was just run.
    fn show(&mut self, execution: &Execution<S::Kept>) -> Result<(), Halt> {
        let ended = Ended { system: &self.system, trace: &execution.trace, n_performed: execution.n_performed };
        let ended = ended.execution();
        self.stats.executions += 1;
        match ended.ending {
            Ending::Completed => self.stats.completed += 1,
            Ending::Blocked(_) => self.stats.blocked += 1,
            Ending::Discarded => self.stats.discarded += 1,
            Ending::Failed => self.stats.failed += 1,
        }
        let endless = ended.failures.iter().find_map(|&(thread, failure)| match failure {
            Failure::EndlessLoop { instruction } => Some(StopReason::EndlessLoop { thread, instruction }),
            _ => None,
        });
        if let Some(reason) = endless {
            return Err(Halt::Stop(reason));
        }
        match (self.each)(&ended) {
            Flow::Stop(reason) => Err(Halt::Stop(reason)),
            Flow::Continue | Flow::NextExecution => Ok(()),
        }
    }
}
