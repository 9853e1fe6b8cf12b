//! The execution that has led to a state, found again from the states on the way in which there was a choice.

use teetotal_engine::Schedule;
use teetotal_memory::{Model, Step};
use teetotal_program::ExplicitState;

use super::automata::{Automata, Possible};
use super::reduction::Reduction;
use super::rows::Rows;

/// Where executions begin.
#[derive(Default)]
pub(super) struct Beginning {
    /// What happens before the first state.
    pub(super) before: Vec<Step>,
    /// The first state.
    pub(super) row: Vec<u32>,
}

/// A state on the way from which several steps are worth taking.
pub(super) struct Turn {
    pub(super) row: u32,
    /// Where its steps begin, and where they end: among the chosen ones, or among the arrivals if others have found out
    /// where each leads.
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) is_known: bool,
    /// The next one.
    pub(super) next: usize,
    /// The one that was taken last.
    pub(super) taken: Option<Possible>,
    /// How many steps the execution has had.
    pub(super) depth: u64,
}

/// The way from the beginning to a state, which the walk has gone.
pub(super) struct Way<'w, S, M> {
    pub(super) automata: &'w Automata<S, M>,
    pub(super) rows: &'w Rows,
    pub(super) beginning: &'w Beginning,
    pub(super) turns: &'w [Turn],
    /// The state that it leads to.
    pub(super) end: &'w [u32],
}

impl<S: ExplicitState, M: Model> Way<'_, S, M> {
    /// Its steps.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps = self.beginning.before.clone();
        let mut walk = Again { row: self.beginning.row.clone(), ..Again::default() };
        for turn in self.turns {
            walk.pass_to(self.automata, self.rows.get(turn.row), &mut steps);
            turn.taken.into_iter().for_each(|step| walk.take(self.automata, step, &mut steps));
        }
        walk.pass_to(self.automata, self.end, &mut steps);
        steps
    }

    pub(super) fn schedule(&self) -> Schedule {
        Schedule::Steps(self.steps())
    }
}

/// Goes a way again.
#[derive(Default)]
struct Again {
    row: Vec<u32>,
    next: Vec<u32>,
    possible: Vec<Possible>,
    chosen: Vec<Possible>,
    reduction: Reduction,
}

impl Again {
    /// Goes on to a state, without a choice.
    fn pass_to<S: ExplicitState, M: Model>(&mut self, automata: &Automata<S, M>, end: &[u32], steps: &mut Vec<Step>) {
        while self.row != end {
            automata.possible_if_known(&self.row, &mut self.possible).expect("the walk has been here");
            self.chosen.clear();
            self.reduction.choose(automata, &self.row, &self.possible, &mut self.chosen);
            let &[only] = &self.chosen[..] else { unreachable!("where there is a choice the walk takes a turn") };
            self.take(automata, only, steps);
        }
    }

    fn take<S: ExplicitState, M: Model>(&mut self, automata: &Automata<S, M>, step: Possible, steps: &mut Vec<Step>) {
        let taken = automata.take_if_known(&self.row, step, &mut self.next).expect("the walk has taken this step");
        taken.push_to(steps);
        std::mem::swap(&mut self.row, &mut self.next);
    }
}
