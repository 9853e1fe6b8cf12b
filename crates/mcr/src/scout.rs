//! A worker that finds out where the steps of states lead, by what was learnt.

use teetotal_memory::Model;
use teetotal_program::ExplicitState;

use super::ahead::{Arrival, Target};
use super::automata::{Automata, Possible, Taken};
use super::reduction::Reduction;
use super::rows::Rows;
use super::search::{LONG_BUFFER, PASSED};

/// Looks at states, one after the other.
pub(super) struct Scout {
    pub(super) found: Found,
    reduction: Reduction,
    chosen: Vec<Possible>,
    /// The state at hand, what is possible there, and the next one.
    pub(super) row: Vec<u32>,
    pub(super) possible: Vec<Possible>,
    pub(super) next: Vec<u32>,
}

/// What a worker has found, in numbers of its own where it is new.
pub(super) struct Found {
    /// States that were not stored, and states in which nothing is possible that were not known.
    pub(super) states: Rows,
    pub(super) ends: Rows,
    /// Which states it has looked at, with where the arrivals of each begin and end.
    pub(super) looked_at: Vec<(u32, u32, u32)>,
    /// Each with whether its target is one of those that were not known.
    pub(super) arrivals: Vec<(Arrival, bool)>,
    /// States from which threads do what was not learnt.
    pub(super) unlearnt: Vec<u32>,
}

/// What has to be learnt of the state at hand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Missing {
    /// What is possible there.
    Possible,
    /// What a step does.
    Step(Possible),
}

impl Scout {
    /// For states of so many numbers.
    pub(super) fn new(length: usize) -> Self {
        Scout {
            found: Found::new(length),
            reduction: Reduction::default(),
            chosen: Vec::new(),
            row: Vec::new(),
            possible: Vec::new(),
            next: Vec::new(),
        }
    }

    /// Looks at stored states.
    pub(super) fn look_at_all<S: ExplicitState, M: Model>(
        &mut self,
        states: &[u32],
        automata: &Automata<S, M>,
        rows: &Rows,
        ends: &Rows,
    ) {
        for &row in states {
            if self.look_at(row, automata, rows, ends).is_err() {
                self.found.unlearnt.push(row);
            }
        }
    }

    /// Looks at a stored state, if all that its steps do was learnt.
    pub(super) fn look_at<S: ExplicitState, M: Model>(
        &mut self,
        row: u32,
        automata: &Automata<S, M>,
        rows: &Rows,
        ends: &Rows,
    ) -> Result<(), Missing> {
        let first = self.found.arrivals.len();
        let looked_at = self.find_arrivals(rows.get(row), automata, rows, ends);
        if looked_at.is_err() {
            self.found.arrivals.truncate(first);
        } else {
            self.found.looked_at.push((row, first as u32, self.found.arrivals.len() as u32));
        }
        looked_at
    }

    fn find_arrivals<S: ExplicitState, M: Model>(
        &mut self,
        state: &[u32],
        automata: &Automata<S, M>,
        rows: &Rows,
        ends: &Rows,
    ) -> Result<(), Missing> {
        self.stand_at(state);
        self.find_possible(automata)?;
        let mut chosen = std::mem::take(&mut self.chosen);
        chosen.clear();
        self.reduction.choose(automata, &self.row, &self.possible, &mut chosen);
        let arrivals = chosen.iter().try_for_each(|&step| {
            self.stand_at(state);
            let arrival = self.arrive(step, automata, rows, ends)?;
            self.found.arrivals.push(arrival);
            Ok(())
        });
        self.chosen = chosen;
        arrivals
    }

    fn stand_at(&mut self, state: &[u32]) {
        self.row.clear();
        self.row.extend_from_slice(state);
    }

    fn find_possible<S: ExplicitState, M: Model>(&mut self, automata: &Automata<S, M>) -> Result<(), Missing> {
        automata.possible_if_known(&self.row, &mut self.possible).map_err(|_| Missing::Possible)
    }

    /// Where a step from the state at hand leads, past states that are not stored; and whether that is new.
    fn arrive<S: ExplicitState, M: Model>(
        &mut self,
        step: Possible,
        automata: &Automata<S, M>,
        rows: &Rows,
        ends: &Rows,
    ) -> Result<(Arrival, bool), Missing> {
        let mut arrival = Arrival { step, target: Target::End(0), steps: 0, depth: 0, is_plain: true };
        let mut step = step;
        loop {
            let taken = self.take(step, automata)?;
            arrival.steps += 1;
            arrival.depth += taken.len() as u32;
            let is_long = M::BUFFERS && automata.n_pending(&self.row, step.thread) > LONG_BUFFER;
            arrival.is_plain &= !taken.goes_back && !is_long;
            self.find_possible(automata)?;
            if self.possible.is_empty() {
                let (number, is_new) = number_of(&self.row, ends, &mut self.found.ends);
                return Ok((Arrival { target: Target::End(number), ..arrival }, is_new));
            }
            if self.possible.len() > 1 || arrival.steps == PASSED {
                let (number, is_new) = number_of(&self.row, rows, &mut self.found.states);
                return Ok((Arrival { target: Target::State(number), ..arrival }, is_new));
            }
            step = self.possible[0];
        }
    }

    fn take<S: ExplicitState, M: Model>(
        &mut self,
        step: Possible,
        automata: &Automata<S, M>,
    ) -> Result<Taken, Missing> {
        let taken = automata.take_if_known(&self.row, step, &mut self.next).map_err(|_| Missing::Step(step))?;
        std::mem::swap(&mut self.row, &mut self.next);
        Ok(taken)
    }
}

/// The number of a row among those that are known, or else among the new ones, and whether it is one of these.
fn number_of(row: &[u32], known: &Rows, new: &mut Rows) -> (u32, bool) {
    match known.find(row) {
        Some(number) => (number, false),
        None => (new.number(row).0, true),
    }
}

impl Found {
    fn new(length: usize) -> Self {
        Found {
            states: Rows::new(length),
            ends: Rows::new(length),
            looked_at: Vec::new(),
            arrivals: Vec::new(),
            unlearnt: Vec::new(),
        }
    }

    /// Forgets it.
    pub(super) fn clear(&mut self) {
        self.states.clear();
        self.ends.clear();
        self.looked_at.clear();
        self.arrivals.clear();
        self.unlearnt.clear();
    }
}
