//! Replay: the one execution that a schedule gives.

use teetotal_memory::{EventKind, Step, Trace};
use teetotal_program::ThreadId;

use crate::schedule::{Move, Schedule};
use crate::strategy::{Abandon, Choice, Strategy};
use crate::token::TokenStep;

/// Takes given steps, then no more.
#[derive(Clone, Debug)]
pub struct Replay<'p> {
    schedule: &'p Schedule,
    names: Names,
    /// The steps taken so far, as a token has them.
    pub taken: Vec<TokenStep>,
    started: bool,
}

/// What the threads of moves are called here.
#[derive(Clone, Debug, Default)]
struct Names {
    /// For each thread that a move has started; the first thread is called the same everywhere.
    threads: Vec<Option<ThreadId>>,
    /// The thread that the last move starts, as the moves call it.
    child: Option<ThreadId>,
}

impl<'p> Replay<'p> {
    #[must_use]
    pub fn of_schedule(schedule: &'p Schedule) -> Self {
        Replay { schedule, names: Names::default(), taken: Vec::new(), started: false }
    }

    /// The position of the step to take after `trace`, if there is one and it is possible.
    fn next(&mut self, trace: &Trace, enabled: &[Step]) -> Result<usize, Abandon> {
        let position = trace.steps().len();
        let step = match self.schedule {
            Schedule::Steps(steps) => steps.get(position).map(|&step| Some(step)),
            Schedule::Choices(choices) => choices.get(position).map(|&choice| enabled.get(choice as usize).copied()),
            Schedule::Moves(moves) => moves.get(position).map(|&step| self.names.step(step, trace)),
            Schedule::Token(steps) => steps.get(position).map(|step| step.find(enabled)),
        };
        let step = step.ok_or(Abandon::EndOfSchedule)?.ok_or(Abandon::NotPossible)?;
        enabled.iter().position(|&possible| possible == step).ok_or(Abandon::NotPossible)
    }
}

impl Names {
    /// Takes note of what the thread is called that the last move started.
    fn learn(&mut self, trace: &Trace) {
        let Some(child) = self.child.take() else { return };
        if let Some(EventKind::Spawn(name)) = trace.events().last().map(|event| event.kind) {
            if self.threads.len() <= child.index() {
                self.threads.resize(child.index() + 1, None);
            }
            self.threads[child.index()] = Some(name);
        }
    }

    /// What a move is called here after `trace`.
    fn step(&mut self, step: Move, trace: &Trace) -> Option<Step> {
        self.learn(trace);
        let started = |thread: ThreadId| self.threads.get(thread.index()).copied().flatten();
        let name = |thread: ThreadId| if thread == ThreadId(0) { Some(thread) } else { started(thread) };
        match step {
            Move::Issue { thread, alternative, child } => {
                let thread = name(thread)?;
                self.child = child;
                Some(Step::Issue { thread, alternative })
            }
            Move::Commit { thread, index, .. } => {
                let thread = name(thread)?;
                Some(Step::Commit { thread, loc: trace.operation(thread, index)?.loc? })
            }
        }
    }
}

impl Strategy for Replay<'_> {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        match self.next(trace, enabled) {
            Ok(index) => {
                self.taken.push(TokenStep::of(enabled[index], enabled));
                Choice::Take(index)
            }
            Err(reason) => Choice::Abandon(reason),
        }
    }
}
