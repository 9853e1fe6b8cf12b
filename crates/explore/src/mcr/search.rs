//! The walk over combinations of local states, depth first.

use teetotal_memory::{Model, Step};
use teetotal_program::{Failure, Loc, ThreadId};

use super::automata::{Automata, Learnable, Possible, Taken};
use super::local::Standing;
use super::reduction::Reduction;
use super::rows::Rows;
use super::show::{Show, Way};
use crate::collector::Collector;
use crate::driver::{Flow, Progress, StopSignal};
use crate::limits::Limits;
use crate::outcome::{Coverage, Stats, StopReason};
use crate::system::System;

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// Whether steps whose order cannot matter are left out.
    pub reduce: bool,
}

/// How many steps are taken between two looks at the limits and at the stop signal.
const INTERVAL: u64 = 1_024;

/// Of states in which one step is possible, every so many in a row are stored.
const PASSED: u32 = 16;

/// Shows one execution of each class of `system`; an outcome or a condition shows the locations `seen`.
pub fn search<S, M>(
    system: &System<S, M>,
    seen: &[Loc],
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> Coverage
where
    S: Learnable + Clone,
    M: Model,
{
    if let Some((thread, Failure::EndlessLoop { instruction })) = system.initial_failure() {
        return Coverage::Stopped(StopReason::EndlessLoop { thread, instruction });
    }
    let mut show = Show::new(system, collector);
    let (coverage, stats) = Search::new(system, seen, settings, &mut show).run(signal);
    collector.stats.add(&stats);
    coverage
}

/// Calls `each` with one execution of each class.
pub fn visit<S, M>(
    system: &System<S, M>,
    seen: &[Loc],
    settings: &Settings,
    each: &mut dyn FnMut(Vec<Step>),
) -> Coverage
where
    S: Learnable + Clone,
    M: Model,
{
    Search::new(system, seen, settings, &mut Each(each)).run(&|| None).0
}

/// Somebody who is shown the executions.
pub(super) trait Audience<S, M> {
    /// Sees the execution that leads to the state `row`, in which nothing is possible.
    fn execution(&mut self, automata: &mut Automata<S, M>, row: &[u32], way: Way<'_>) -> Flow;
}

struct Each<'e>(&'e mut dyn FnMut(Vec<Step>));

impl<S, M> Audience<S, M> for Each<'_> {
    fn execution(&mut self, _: &mut Automata<S, M>, _: &[u32], way: Way<'_>) -> Flow {
        (self.0)(way.steps());
        Flow::Continue
    }
}

/// A state on the way, with the steps from it that are still to be taken.
struct Frame {
    row: u32,
    /// Where its steps begin among the chosen ones; they end with the list.
    first: usize,
    /// The next one.
    next: usize,
    /// How many steps the execution has had, and how many of them were taken.
    depth: u64,
    taken: usize,
}

struct Search<'s, S, M, A> {
    automata: Automata<S, M>,
    visited: Rows,
    classes: Rows,
    reduction: Reduction,
    /// What happens before the first state.
    before: Vec<Step>,
    frames: Vec<Frame>,
    chosen: Vec<Possible>,
    /// The steps of the execution after those at the beginning.
    taken: Vec<Taken>,
    /// How many steps the execution has had.
    depth: u64,
    /// What cut an execution short, if something did.
    cut: Option<StopReason>,
    audience: &'s mut A,
    settings: &'s Settings,
    steps: u64,
    /// The state at hand and the next one, kept to save allocations.
    row: Vec<u32>,
    next: Vec<u32>,
    possible: Vec<Possible>,
}

impl<'s, S: Learnable + Clone, M: Model, A: Audience<S, M>> Search<'s, S, M, A> {
    fn new(system: &System<S, M>, seen: &[Loc], settings: &'s Settings, audience: &'s mut A) -> Self {
        let mut automata = Automata::new(system.clone(), seen);
        automata.reduces &= settings.reduce;
        let length = automata.row_length();
        Search {
            automata,
            visited: Rows::new(length),
            classes: Rows::new(length),
            reduction: Reduction::default(),
            before: Vec::new(),
            frames: Vec::new(),
            chosen: Vec::new(),
            taken: Vec::new(),
            depth: 0,
            cut: None,
            audience,
            settings,
            steps: 0,
            row: Vec::new(),
            next: Vec::new(),
            possible: Vec::new(),
        }
    }

    fn run(mut self, signal: StopSignal<'_>) -> (Coverage, Stats) {
        let stopped = self.walk(signal).err().or(self.cut);
        let stats = Stats {
            classes: self.classes.len() as u64,
            states: self.visited.len() as u64,
            steps: self.steps,
            bytes: self.memory(),
            ..Stats::default()
        };
        (stopped.map_or(Coverage::Complete, Coverage::Stopped), stats)
    }

    fn walk(&mut self, signal: StopSignal<'_>) -> Result<(), StopReason> {
        let (row, before) = self.automata.start();
        self.depth = before.len() as u64;
        self.before = before;
        self.row = row;
        self.go_on(signal)?;
        while let Some(frame) = self.frames.last_mut() {
            self.taken.truncate(frame.taken);
            let Some(&step) = self.chosen.get(frame.next) else {
                self.chosen.truncate(frame.first);
                self.frames.pop();
                continue;
            };
            frame.next += 1;
            self.depth = frame.depth;
            self.row.clear();
            self.row.extend_from_slice(self.visited.get(frame.row));
            self.take(step);
            if self.steps.is_multiple_of(INTERVAL) {
                self.heed(signal)?;
            }
            self.go_on(signal)?;
        }
        Ok(())
    }

    /// Takes a step from the state at hand.
    fn take(&mut self, step: Possible) {
        let taken = self.automata.take(&self.row, step, &mut self.next);
        std::mem::swap(&mut self.row, &mut self.next);
        self.depth += taken.len();
        self.taken.push(taken);
        self.steps += 1;
    }

    /// Goes on from the state at hand to the next one from which several steps are worth taking, if it is new.
    fn go_on(&mut self, signal: StopSignal<'_>) -> Result<(), StopReason> {
        let first = self.chosen.len();
        for passed in 1_u32.. {
            self.possible.clear();
            self.automata.possible(&self.row, &mut self.possible);
            if self.possible.is_empty() {
                return self.end();
            }
            if let Some(limit) = self.settings.limits.steps.filter(|&limit| self.depth >= limit) {
                self.cut.get_or_insert(StopReason::Steps(limit));
                return Ok(());
            }
            // Where one step is possible it takes less time to pass again than to store, if it does not go on and on.
            let mut step = self.possible[0];
            if self.possible.len() > 1 || passed.is_multiple_of(PASSED) {
                let Some(row) = self.visited.insert(&self.row) else { return Ok(()) };
                self.reduction.choose(&self.automata, &self.row, &self.possible, &mut self.chosen);
                if self.chosen.len() > first + 1 {
                    let taken = self.taken.len();
                    self.frames.push(Frame { row, first, next: first, depth: self.depth, taken });
                    return Ok(());
                }
                step = self.chosen[first];
                self.chosen.truncate(first);
            }
            self.take(step);
            if self.steps.is_multiple_of(INTERVAL) {
                self.heed(signal)?;
            }
        }
        Ok(())
    }

    /// Nothing is possible in a state: shows it, unless its class is known.
    fn end(&mut self) -> Result<(), StopReason> {
        if let Some(reason) = self.endless() {
            self.cut.get_or_insert(reason);
            return Ok(());
        }
        self.automata.class_of(&self.row, &mut self.next);
        let limit = self.settings.limits.executions;
        if let Some(limit) = limit.filter(|&limit| self.classes.len() as u64 >= limit) {
            return if self.classes.has(&self.next) { Ok(()) } else { Err(StopReason::Executions(limit)) };
        }
        if self.classes.insert(&self.next).is_none() {
            return Ok(());
        }
        let way = Way { before: &self.before, taken: &self.taken };
        match self.audience.execution(&mut self.automata, &self.row, way) {
            Flow::Stop(reason) => Err(reason),
            Flow::Continue | Flow::NextExecution => Ok(()),
        }
    }

    /// The thread that runs on without an operation in the state at hand, if one does.
    fn endless(&self) -> Option<StopReason> {
        (0..self.automata.n_threads).find_map(|index| match self.automata.local(&self.row, index).standing {
            Standing::Endless(instruction) => {
                Some(StopReason::EndlessLoop { thread: ThreadId::at(index), instruction })
            }
            _ => None,
        })
    }

    fn memory(&self) -> u64 {
        (self.visited.memory() + self.classes.memory() + self.automata.memory()) as u64
    }

    /// Looks at the limits and at the signal.
    fn heed(&self, signal: StopSignal<'_>) -> Result<(), StopReason> {
        let Limits { states, memory, .. } = self.settings.limits;
        let visited = self.visited.len() as u64;
        if let Some(limit) = states.filter(|&limit| visited > limit) {
            return Err(StopReason::States(limit));
        }
        if let Some(limit) = memory.filter(|&limit| self.memory() > limit) {
            return Err(StopReason::Memory(limit));
        }
        let progress = Progress { executions: self.classes.len() as u64, states: visited };
        signal.stop(progress).map_or(Ok(()), Err)
    }
}
