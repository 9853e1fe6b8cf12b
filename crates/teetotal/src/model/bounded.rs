//! The executions of a model with few preemptions, for models that have too many others.

use teetotal_explore::dpor::Move;
use teetotal_explore::driver::{Progress, StopSignal};
use teetotal_explore::stateless::Bounded;

use teetotal_explore::{Choice, Coverage, Limits, Stats, StopReason, Strategy, System};
use teetotal_judge::Ending;
use teetotal_live::Live;
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::{Loc, Op, Rewind, Status, Subject, ThreadId};

use super::perform::Way;
use super::problem::problem_of;
use super::search::Wrong;

/// Runs the executions of `live` with at most `bound` preemptions, with fewer ones first.
///
/// A store that stays in its buffer, although it could leave, counts as one.
pub(super) fn search<M: Model>(
    live: Live,
    bound: u64,
    limits: &Limits,
    signal: StopSignal<'_>,
) -> (Stats, Coverage, Option<Wrong>) {
    let system = System::<Live, M>::new(live);
    let mut run = Run { system, trace: Trace::default(), moves: Vec::new(), stores: Vec::new() };
    let mut strategy = Bounded::with_delays(Some(bound));
    let mut stats = Stats::default();
    while strategy.begin() {
        let executions = stats.executions;
        if limits.executions.is_some_and(|limit| executions >= limit) {
            return (stats, Coverage::Stopped(StopReason::Executions(executions)), None);
        }
        if let Some(reason) = signal.stop(Progress { executions, states: 0 }) {
            return (stats, Coverage::Stopped(reason), None);
        }
        let Some(ending) = run.execution(&mut strategy, limits.steps) else {
            return (stats, Coverage::Stopped(StopReason::Steps(limits.steps.unwrap_or(0))), None);
        };
        if !strategy.is_new() {
            continue;
        }
        stats.executions += 1;
        match ending {
            Ending::Completed => stats.completed += 1,
            Ending::Blocked(_) => stats.blocked += 1,
            Ending::Discarded => stats.discarded += 1,
            Ending::Failed => stats.failed += 1,
        }
        if let Some(problem) = problem_of(run.system.subject(), &ending) {
            let wrong = Wrong { path: Vec::new(), way: Way::Moves(run.moves), problem };
            return (stats, Coverage::Stopped(StopReason::Violation), Some(wrong));
        }
    }
    (stats, strategy.left_out().map_or(Coverage::Complete, Coverage::Stopped), None)
}

/// The execution that runs.
struct Run<M> {
    system: System<Live, M>,
    trace: Trace,
    /// Its steps so far.
    moves: Vec<Move>,
    /// Stores that are in buffers, oldest first.
    stores: Vec<(ThreadId, Loc, u32)>,
}

impl<M: Model> Run<M> {
    /// Runs one execution to its end, unless it has too many steps.
    fn execution(&mut self, strategy: &mut Bounded, max_steps: Option<u64>) -> Option<Ending> {
        self.system.restart();
        self.trace.clear();
        self.moves.clear();
        self.stores.clear();
        let mut enabled = Vec::new();
        loop {
            self.system.enabled(&mut enabled);
            self.leave_resting(&mut enabled);
            if enabled.is_empty() || self.has_failed() {
                return Some(self.system.ending());
            }
            if max_steps.is_some_and(|limit| self.moves.len() as u64 >= limit) {
                return None;
            }
            let Choice::Take(taken) = strategy.choose(&enabled, &self.trace) else { return Some(self.system.ending()) };
            self.perform(enabled[taken]);
        }
    }

    fn has_failed(&self) -> bool {
        let subject = self.system.subject();
        (0..subject.n_threads()).any(|index| subject.failure(ThreadId::at(index)).is_some())
    }

    /// Takes out the threads that go on only when nobody else can.
    fn leave_resting(&self, enabled: &mut Vec<Step>) {
        let rests = |step: &Step| !step.is_commit() && self.system.subject().rests(step.thread());
        if enabled.iter().any(|step| !rests(step)) {
            enabled.retain(|step| !rests(step));
        }
    }

    fn perform(&mut self, step: Step) {
        let subject = self.system.subject();
        self.moves.push(match step {
            Step::Issue { thread, alternative } => {
                let child = match subject.status(thread) {
                    Status::Ready(Op::Spawn { thread: child, .. }) => Some(child),
                    Status::Ready(Op::Store { loc, .. }) if M::BUFFERS => {
                        self.stores.push((thread, loc, subject.place(thread)));
                        None
                    }
                    _ => None,
                };
                Move::Issue { thread, alternative, child }
            }
            Step::Commit { thread, loc } => {
                let oldest = self.stores.iter().position(|&(own, at, _)| (own, at) == (thread, loc));
                let index = oldest.map_or(0, |oldest| self.stores.remove(oldest).2);
                Move::Commit { thread, index, loc }
            }
        });
        self.system.perform(step, &mut self.trace);
    }
}
