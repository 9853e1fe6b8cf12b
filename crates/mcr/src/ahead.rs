//! What several workers find out about states that the walk has still to come to.
//!
//! There is one walk, and it goes the same way however many workers there are. When it comes to a state that nobody has
//! looked at, the workers look at that and at some thousand others that are likely to come next, and note where each of
//! their steps leads; the walk then goes from number to number. What it counts and shows is its own, so nothing depends
//! on how far ahead the workers were.

use std::ops::Range;

use teetotal_memory::Model;
use teetotal_program::ExplicitState;

use super::automata::{Automata, Possible};
use super::rows::Rows;
use super::scout::{Found, Missing, Scout};

/// Where a step leads: the next stored state, or one in which nothing is possible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) step: Possible,
    pub(super) target: Target,
    /// How many steps were taken, and how many the execution has for them.
    pub(super) steps: u32,
    pub(super) depth: u32,
    /// Whether no thread has gone back in a loop on the way, and no buffer is long.
    pub(super) is_plain: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// The number of a stored state.
    State(u32),
    /// The number of a state in which nothing is possible, among these.
    End(u32),
}

/// So many states are looked at before the walk goes on, and in a round at most.
const STRETCH: usize = 1 << 13;

/// Below this many states in a round, other workers are not worth waking.
const WORTH_SHARING: usize = 256;

/// Fewer workers than this take longer than the walk alone, since what they find has to be put together.
const MIN_JOBS: usize = 4;

/// More workers than this are of no use.
const MAX_JOBS: usize = 64;

const NOT_YET: (u32, u32) = (u32::MAX, u32::MAX);

/// The workers, and what they have found out.
pub(super) struct Ahead {
    /// One for each worker, and one that learns; none where the walk goes alone.
    scouts: Vec<Scout>,
    learner: Scout,
    /// Before so many states are stored nobody looks ahead.
    alone: usize,
    found: Known,
}

/// What is known of stored states, by their numbers.
struct Known {
    /// For each stored state where its arrivals begin and end.
    known: Vec<(u32, u32)>,
    arrivals: Vec<Arrival>,
    ends: Rows,
    /// States that were found and not looked at; the next one is the last.
    open: Vec<u32>,
}

impl Ahead {
    /// For so many workers on states of so many numbers; the walk goes alone until so many are stored.
    pub(super) fn new(jobs: usize, alone: usize, length: usize) -> Self {
        let n_scouts = if jobs >= MIN_JOBS { jobs.min(MAX_JOBS) } else { 0 };
        Ahead {
            scouts: (0..n_scouts).map(|_| Scout::new(length)).collect(),
            learner: Scout::new(length),
            alone,
            found: Known { known: Vec::new(), arrivals: Vec::new(), ends: Rows::new(length), open: Vec::new() },
        }
    }

    /// Whether the workers are to look at states before the walk comes to them, when so many are stored.
    #[inline]
    pub(super) fn is_worth_it(&self, n_stored: usize) -> bool {
        n_stored >= self.alone && !self.scouts.is_empty()
    }

    /// The arrivals by the steps that are worth taking from a state, if somebody has looked at it.
    #[inline]
    pub(super) fn arrivals_from(&self, row: u32) -> Option<Range<usize>> {
        let &(first, end) = self.found.known.get(row as usize).filter(|known| **known != NOT_YET)?;
        Some(first as usize..end as usize)
    }

    #[inline]
    pub(super) fn arrival(&self, number: usize) -> Arrival {
        self.found.arrivals[number]
    }

    /// A state in which nothing is possible.
    #[inline]
    pub(super) fn end(&self, number: u32) -> &[u32] {
        self.found.ends.get(number)
    }

    /// How much memory it takes.
    pub(super) fn memory(&self) -> usize {
        if self.scouts.is_empty() { 0 } else { self.found.memory() }
    }

    /// Looks at a stored state, and at others that come after it.
    pub(super) fn look_at<S: ExplicitState, M: Model>(
        &mut self,
        row: u32,
        automata: &mut Automata<S, M>,
        rows: &mut Rows,
    ) {
        self.found.known.resize(rows.len(), NOT_YET);
        self.found.open.push(row);
        let mut looked_at = 0;
        while looked_at < STRETCH && !self.found.open.is_empty() {
            let round = self.found.next_round();
            looked_at += round.len();
            self.look_together(&round, automata, rows);
            for scout in &mut self.scouts {
                self.found.keep(&scout.found, rows);
                for &row in &scout.found.unlearnt {
                    learn(&mut self.learner, row, automata, rows, &self.found.ends);
                    self.found.keep(&self.learner.found, rows);
                    self.learner.found.clear();
                }
                scout.found.clear();
            }
        }
    }

    /// Each worker looks at a part.
    fn look_together<S: ExplicitState, M: Model>(&mut self, round: &[u32], automata: &Automata<S, M>, rows: &Rows) {
        let Some((own, others)) = self.scouts.split_first_mut() else { return };
        let ends = &self.found.ends;
        if round.len() < WORTH_SHARING {
            return own.look_at_all(round, automata, rows, ends);
        }
        let mut parts = round.chunks(round.len().div_ceil(1 + others.len()));
        let first = parts.next().unwrap_or(&[]);
        std::thread::scope(|scope| {
            for (scout, part) in others.iter_mut().zip(parts) {
                scope.spawn(move || scout.look_at_all(part, automata, rows, ends));
            }
            own.look_at_all(first, automata, rows, ends);
        });
    }
}

/// Looks at a state from which threads do what was not learnt.
fn learn<S: ExplicitState, M: Model>(
    scout: &mut Scout,
    row: u32,
    automata: &mut Automata<S, M>,
    rows: &Rows,
    ends: &Rows,
) {
    while let Err(missing) = scout.look_at(row, automata, rows, ends) {
        match missing {
            Missing::Possible => automata.possible(&scout.row, &mut scout.possible),
            Missing::Step(step) => {
                automata.take(&scout.row, step, &mut scout.next);
            }
        }
    }
}

impl Known {
    fn memory(&self) -> usize {
        let known = self.known.capacity() * 8 + self.arrivals.capacity() * size_of::<Arrival>();
        known + self.ends.memory() + self.open.capacity() * 4
    }

    /// The states that come next.
    fn next_round(&mut self) -> Vec<u32> {
        let mut round = Vec::new();
        while round.len() < STRETCH
            && let Some(row) = self.open.pop()
        {
            if self.known[row as usize] == NOT_YET {
                round.push(row);
            }
        }
        round
    }

    /// Keeps what a worker has found.
    fn keep(&mut self, found: &Found, rows: &mut Rows) {
        let states: Vec<u32> = found.states.iter().map(|row| self.keep_state(row, rows)).collect();
        let ends: Vec<u32> = found.ends.iter().map(|row| self.ends.number(row).0).collect();
        let offset = self.arrivals.len() as u32;
        for &(row, first, end) in &found.looked_at {
            self.known[row as usize] = (offset + first, offset + end);
        }
        self.arrivals.extend(found.arrivals.iter().map(|(arrival, is_new)| {
            let target = match arrival.target {
                Target::State(number) if *is_new => Target::State(states[number as usize]),
                Target::End(number) if *is_new => Target::End(ends[number as usize]),
                known => known,
            };
            Arrival { target, ..*arrival }
        }));
    }

    /// Stores a state; it is to be looked at if it is new.
    fn keep_state(&mut self, row: &[u32], rows: &mut Rows) -> u32 {
        let (number, is_new) = rows.number(row);
        if is_new {
            self.known.push(NOT_YET);
            self.open.push(number);
        }
        number
    }
}
