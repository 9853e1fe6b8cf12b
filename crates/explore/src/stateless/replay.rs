//! Replay: the one execution that a schedule or a token gives.

use teetotal_memory::{Step, Trace};

use crate::outcome::Schedule;
use crate::strategy::{Abandon, Choice, Strategy};
use crate::token::{Token, TokenStep};

/// Takes given steps, then no more.
#[derive(Clone, Debug)]
pub struct Replay<'p> {
    plan: Plan<'p>,
    /// The steps taken so far, as a token has them.
    pub taken: Vec<TokenStep>,
    started: bool,
}

/// The steps to take.
#[derive(Clone, Copy, Debug)]
enum Plan<'p> {
    Schedule(&'p Schedule),
    Token(&'p Token),
}

impl<'p> Replay<'p> {
    #[must_use]
    pub fn of_schedule(schedule: &'p Schedule) -> Self {
        Replay { plan: Plan::Schedule(schedule), taken: Vec::new(), started: false }
    }

    #[must_use]
    pub fn of_token(token: &'p Token) -> Self {
        Replay { plan: Plan::Token(token), taken: Vec::new(), started: false }
    }

    /// The step to take at `position`, if there is one and it is possible.
    fn next(&self, position: usize, enabled: &[Step]) -> Result<usize, Abandon> {
        let step = match self.plan {
            Plan::Schedule(Schedule::Steps(steps)) => steps.get(position).copied().map(Some),
            Plan::Schedule(Schedule::Choices(choices)) => {
                choices.get(position).map(|&choice| enabled.get(choice as usize).copied())
            }
            Plan::Token(token) => token.steps.get(position).map(|step| step.find(enabled)),
        };
        let step = step.ok_or(Abandon::EndOfSchedule)?.ok_or(Abandon::NotPossible)?;
        enabled.iter().position(|&e| e == step).ok_or(Abandon::NotPossible)
    }
}

impl Strategy for Replay<'_> {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        match self.next(trace.steps().len(), enabled) {
            Ok(index) => {
                self.taken.push(TokenStep::of(enabled[index], enabled));
                Choice::Take(index)
            }
            Err(reason) => Choice::Abandon(reason),
        }
    }
}
