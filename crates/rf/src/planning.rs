//! How to run an execution in which something happens otherwise.

use teetotal_judge::order::{Answer, Demand, Effort, Question, Solver};
use teetotal_memory::{Event, ModelId, Source, Trace};
use teetotal_program::Loc;

use super::archive::Known;
use super::changes::{Change, What};
use super::execution::{Execution, Turn};
use super::run::Plan;

/// Plans executions that differ from one in one thing.
pub(super) struct Planner<'p, K> {
    model: ModelId,
    known: &'p Known<K>,
    solver: Solver<'p>,
    /// What answers of other solvers have cost.
    effort: Effort,
}

/// Whether there is an execution with a change.
pub(super) enum Planned {
    Plan(Plan),
    Impossible,
    /// It was not found out.
    Unknown,
}

/// Answers questions about `trace`, which is that of `execution` or nearly so; its reads keep their sources.
pub(super) fn solver<'t, K>(model: ModelId, execution: &Execution<K>, trace: &'t Trace) -> Solver<'t> {
    let initial = |loc: Loc| execution.initial.get(loc.index()).copied().unwrap_or(0);
    let mut solver = Solver::new(model, trace, initial);
    solver.keep_sources();
    solver
}

impl<'p, K> Planner<'p, K> {
    pub(super) fn new(model: ModelId, known: &'p Known<K>) -> Self {
        let solver = solver(model, &known.execution, &known.execution.trace);
        Planner { model, known, solver, effort: Effort::default() }
    }

    /// What all answers have cost.
    pub(super) fn effort(&self) -> Effort {
        let mut effort = self.solver.effort();
        effort.add(&self.effort);
        effort
    }

    /// How to run an execution in which the change happens.
    pub(super) fn plan(&mut self, change: &Change) -> Planned {
        let execution = &self.known.execution;
        let event = execution.trace.event(change.event);
        let Some(name) = execution.name(event.thread) else { return Planned::Impossible };
        let (mut counts, mut held) = self.split(change);
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
            What::Reads(source, outcome) => match self.ask(change, &counts, source, outcome) {
                Answer::Possible(steps) => execution.turns(&self.known.pasts.threads, &steps),
                Answer::Impossible => return Planned::Impossible,
                Answer::Unknown => return Planned::Unknown,
            },
        };
        Planned::Plan(Plan { turns, held })
    }

    /// How many events each thread performs with the change, and which operations are to wait for good.
    fn split(&self, change: &Change) -> (Vec<u32>, Vec<(super::names::Name, u32)>) {
        let Known { execution, pasts } = self.known;
        let (mut counts, mut held) = (change.counts.clone(), Vec::new());
        for (thread, count) in counts.iter_mut().enumerate() {
            let last = (*count as usize).checked_sub(1).and_then(|last| pasts.threads[thread].get(last));
            if last.is_some_and(|&last| !execution.is_performed(last) && last != change.event) {
                *count -= 1;
                held.extend(execution.names[thread].map(|name| (name, *count)));
            }
        }
        (counts, held)
    }

    /// Whether the event of the change can read from `source`, with which it is `outcome`.
    fn ask(&mut self, change: &Change, counts: &[u32], source: Source, outcome: Event) -> Answer {
        let execution = &self.known.execution;
        let event = execution.trace.event(change.event);
        let demands = [Demand::Source { read: change.event, source }];
        let question = Question { events: counts, demands: &demands };
        let is_alike = (outcome.kind, outcome.written.is_some()) == (event.kind, event.written.is_some());
        if is_alike {
            return self.solver.ask(&question);
        }
        let trace = execution.trace.with_event(change.event, outcome);
        let mut solver = solver(self.model, execution, &trace);
        let answer = solver.ask(&question);
        self.effort.add(&solver.effort());
        answer
    }
}
