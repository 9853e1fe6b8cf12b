//! The walk over combinations of local states, depth first.

use std::ops::Range;

use rustc_hash::FxHashSet;
use teetotal_engine::driver::{Flow, Progress, StopSignal};
use teetotal_engine::{Collector, Coverage, Limits, Stats, StopReason, System};
use teetotal_judge::Level;
use teetotal_memory::{Model, Step};
use teetotal_program::{ExplicitState, Failure, Loc, ThreadId};

use super::ahead::{Ahead, Arrival, Target};
use super::automata::{Automata, Memory, Possible};
use super::local::Standing;
use super::reduction::Reduction;
use super::rounds::Rounds;
use super::rows::{Marks, Rows};
use super::show::Show;
use super::way::{Beginning, Turn, Way};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// How many workers; results do not depend on it.
    pub jobs: usize,
    /// How many states are stored before the other workers help.
    pub alone: usize,
    /// Whether steps whose order cannot matter are left out.
    pub reduce: bool,
}

impl Settings {
    /// As a check searches.
    #[must_use]
    pub fn new(limits: Limits, jobs: usize) -> Self {
        Settings { limits, jobs, alone: 2_048, reduce: true }
    }
}

/// How many steps are taken between two looks at the limits and at the stop signal.
const INTERVAL: u64 = 1_024;

/// Of states in which one step is possible, every so many in a row are stored.
pub(super) const PASSED: u32 = 16;

/// An execution with fewer steps than this is not asked whether it goes round.
const SHORT: u64 = 256;

/// A buffer with more stores than this belongs to a thread that stores without end, or to one that is as good.
pub(super) const LONG_BUFFER: usize = 1_000;

/// No buffer holds more stores than this where a program does not end, if nobody says otherwise.
const SHORT_BUFFER: u64 = 8;

/// Shows one execution of each class of `system`; an outcome or a condition shows the locations `seen`.
pub fn search<S, M>(
    system: &System<S, M>,
    seen: &[Loc],
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> Coverage
where
    S: ExplicitState,
    M: Model,
{
    if let Some((thread, Failure::EndlessLoop { instruction })) = system.initial_failure() {
        return Coverage::Stopped(StopReason::EndlessLoop { thread, instruction });
    }
    let before = collector.stats;
    let halted = walk(system, seen, Memory::Histories, collector, settings, signal);
    let Err(Halt::GoesRound { thread, instruction }) = halted else { return coverage(halted) };
    if collector.needs() > Level::State {
        return Coverage::Stopped(StopReason::EndlessLoop { thread, instruction });
    }
    // What was shown is true all the same, but it counts among what is shown now.
    let in_vain = collector.stats.executions - before.executions;
    collector.stats = before;
    collector.stats.abandoned += in_vain;
    let limits = Limits { buffer: settings.limits.buffer.or(Some(SHORT_BUFFER)), ..settings.limits };
    coverage(walk(system, seen, Memory::Places, collector, &Settings { limits, ..*settings }, signal))
}

/// Shows an execution of each class, as `memory_of` tells them apart.
fn walk<S, M>(
    system: &System<S, M>,
    seen: &[Loc],
    memory_of: Memory,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> Result<(), Halt>
where
    S: ExplicitState,
    M: Model,
{
    let mut show = Show::new(system, collector);
    let (halted, stats) = Search::new(system, seen, memory_of, settings, &mut show).run(signal);
    let is_partial = show.is_partial;
    collector.stats.add(&stats);
    if is_partial { halted.and(Err(StopReason::Undecided.into())) } else { halted }
}

fn coverage(halted: Result<(), Halt>) -> Coverage {
    match halted {
        Ok(()) => Coverage::Complete,
        Err(Halt::Stop(reason)) => Coverage::Stopped(reason),
        Err(Halt::GoesRound { thread, instruction }) => {
            Coverage::Stopped(StopReason::EndlessLoop { thread, instruction })
        }
    }
}

/// Why a walk ends before it has been everywhere.
#[derive(Clone, Copy, Debug)]
enum Halt {
    Stop(StopReason),
    /// A thread goes round without end, so that there is no end of classes.
    GoesRound {
        thread: ThreadId,
        instruction: u32,
    },
}

impl From<StopReason> for Halt {
    fn from(reason: StopReason) -> Self {
        Halt::Stop(reason)
    }
}

/// Calls `each` with one execution of each class.
pub fn visit<S, M>(
    system: &System<S, M>,
    seen: &[Loc],
    settings: &Settings,
    each: &mut dyn FnMut(Vec<Step>),
) -> Coverage
where
    S: ExplicitState,
    M: Model,
{
    coverage(Search::new(system, seen, Memory::Histories, settings, &mut Each(each)).run(&|| None).0)
}

/// Somebody who is shown the executions.
pub(super) trait Audience<S, M> {
    /// Sees the execution that leads to a state in which nothing is possible.
    fn execution(&mut self, state: &System<S, M>, way: &Way<'_, S, M>) -> Flow;

    /// Sees a state in which threads have failed, and after which others may go on without end.
    fn failure(&mut self, _: &System<S, M>, _: &Way<'_, S, M>) -> Flow {
        Flow::Continue
    }
}

struct Each<'e>(&'e mut dyn FnMut(Vec<Step>));

impl<S: ExplicitState, M: Model> Audience<S, M> for Each<'_> {
    fn execution(&mut self, _: &System<S, M>, way: &Way<'_, S, M>) -> Flow {
        (self.0)(way.steps());
        Flow::Continue
    }
}

struct Search<'s, S, M, A> {
    automata: Automata<S, M>,
    /// All states that are stored, and those of them that the walk has come to.
    rows: Rows,
    visited: Marks,
    classes: Rows,
    reduction: Reduction,
    beginning: Beginning,
    turns: Vec<Turn>,
    chosen: Vec<Possible>,
    /// What other workers have found out about states that the walk has still to come to.
    ahead: Ahead,
    /// How many steps the execution has had.
    depth: u64,
    /// What cut an execution short, if something did.
    cut: Option<StopReason>,
    memory_of: Memory,
    /// The states on the way in which a thread had just gone back.
    rounds: Rounds,
    /// The threads that were seen to fail without an end, and where.
    failed: FxHashSet<(usize, u32)>,
    audience: &'s mut A,
    settings: &'s Settings,
    steps: u64,
    /// The state at hand and the next one, kept to save allocations.
    row: Vec<u32>,
    next: Vec<u32>,
    possible: Vec<Possible>,
}

impl<'s, S: ExplicitState, M: Model, A: Audience<S, M>> Search<'s, S, M, A> {
    fn new(
        system: &System<S, M>,
        seen: &[Loc],
        memory_of: Memory,
        settings: &'s Settings,
        audience: &'s mut A,
    ) -> Self {
        let mut automata = Automata::new(system.clone(), seen, memory_of, settings.limits.buffer);
        automata.reduces &= settings.reduce;
        let length = automata.row_length();
        // Where programs do not end every step is looked at, so nothing can be found out before.
        let jobs = if memory_of == Memory::Histories { settings.jobs } else { 1 };
        Search {
            automata,
            rows: Rows::new(length),
            visited: Marks::default(),
            classes: Rows::new(length),
            reduction: Reduction::default(),
            beginning: Beginning::default(),
            turns: Vec::new(),
            chosen: Vec::new(),
            ahead: Ahead::new(jobs, settings.alone, length),
            depth: 0,
            cut: None,
            memory_of,
            rounds: Rounds::default(),
            failed: FxHashSet::default(),
            audience,
            settings,
            steps: 0,
            row: Vec::new(),
            next: Vec::new(),
            possible: Vec::new(),
        }
    }

    fn run(mut self, signal: StopSignal<'_>) -> (Result<(), Halt>, Stats) {
        let halted = self.walk(signal);
        let held_back = self.settings.limits.buffer.filter(|_| self.automata.limit_reached()).map(StopReason::Buffer);
        let cut = self.cut.or(held_back).map_or(Ok(()), |reason| Err(reason.into()));
        let stats = Stats {
            classes: self.classes.len() as u64,
            states: self.visited.len() as u64,
            steps: self.steps,
            bytes: self.rows.bytes_of(self.visited.len() + self.classes.len()) as u64,
            ..Stats::default()
        };
        (halted.and(cut), stats)
    }

    fn walk(&mut self, signal: StopSignal<'_>) -> Result<(), Halt> {
        let (row, before) = self.automata.start();
        self.depth = before.len() as u64;
        self.row.clone_from(&row);
        self.beginning = Beginning { before, row };
        self.go_on(signal)?;
        while let Some(turn) = self.turns.last_mut() {
            self.rounds.back_to(turn.depth);
            self.depth = turn.depth;
            let at = turn.next;
            if at == turn.end {
                if !turn.is_known {
                    self.chosen.truncate(turn.first);
                }
                self.turns.pop();
                continue;
            }
            turn.next += 1;
            let arrival = turn.is_known.then(|| self.ahead.arrival(at));
            let step = arrival.map_or_else(|| self.chosen[at], |arrival| arrival.step);
            turn.taken = Some(step);
            let row = turn.row;
            match arrival.filter(|arrival| self.may_jump(arrival)) {
                Some(arrival) => self.jump(&arrival, signal)?,
                None => {
                    self.stand_at(row);
                    self.take(step, signal)?;
                    self.go_on(signal)?;
                }
            }
        }
        Ok(())
    }

    /// Makes a stored state the one at hand.
    fn stand_at(&mut self, row: u32) {
        self.row.clear();
        self.row.extend_from_slice(self.rows.get(row));
    }

    /// Whether nothing on the way to where others have found that a step leads has to be looked at.
    fn may_jump(&self, arrival: &Arrival) -> bool {
        let depth = self.depth + u64::from(arrival.depth);
        let heeds = self.steps % INTERVAL + u64::from(arrival.steps) >= INTERVAL;
        let is_cut = self.settings.limits.steps.is_some_and(|limit| depth >= limit);
        !heeds && !is_cut && (arrival.is_plain || depth <= SHORT)
    }

    /// Goes to where a step leads.
    fn jump(&mut self, arrival: &Arrival, signal: StopSignal<'_>) -> Result<(), Halt> {
        self.steps += u64::from(arrival.steps);
        self.depth += u64::from(arrival.depth);
        match arrival.target {
            Target::End(end) => {
                self.row.clear();
                self.row.extend_from_slice(self.ahead.end(end));
                self.end()
            }
            Target::State(row) if self.visited.add(row) => {
                if self.is_opened_ahead(row) {
                    return Ok(());
                }
                self.stand_at(row);
                self.automata.possible(&self.row, &mut self.possible);
                match self.open(row) {
                    Some(step) => {
                        self.take(step, signal)?;
                        self.go_on(signal)
                    }
                    None => Ok(()),
                }
            }
            Target::State(_) => Ok(()),
        }
    }

    /// Takes a step from the state at hand.
    fn take(&mut self, step: Possible, signal: StopSignal<'_>) -> Result<(), Halt> {
        let taken = self.automata.take(&self.row, step, &mut self.next);
        std::mem::swap(&mut self.row, &mut self.next);
        self.depth += taken.len();
        self.steps += 1;
        if self.memory_of == Memory::Histories {
            let thread = step.thread as usize;
            if taken.goes_back && self.depth > SHORT && !self.rounds.add(self.depth, self.automata.place(&self.row)) {
                return Err(self.goes_round(thread));
            }
            if M::BUFFERS
                && self.settings.limits.buffer.is_none()
                && self.automata.n_pending(&self.row, step.thread) > LONG_BUFFER
            {
                return Err(self.goes_round(thread));
            }
        } else {
            self.show_failures()?;
        }
        if self.steps.is_multiple_of(INTERVAL) {
            self.heed(signal)?;
        }
        Ok(())
    }

    /// Thread `index` has come back to where it was, with everything else as it was.
    fn goes_round(&mut self, index: usize) -> Halt {
        let thread = ThreadId::at(index);
        Halt::GoesRound { thread, instruction: self.automata.load(&self.row).subject().place(thread) }
    }

    /// Shows the state at hand if a thread has failed in it as it was not seen to before; others may have no end.
    fn show_failures(&mut self) -> Result<(), Halt> {
        let mut is_new = false;
        for failed in self.automata.failed(&self.row) {
            is_new |= self.failed.insert(failed);
        }
        if is_new {
            self.automata.load(&self.row);
            let Search { automata, rows, beginning, turns, row, audience, .. } = self;
            let way = Way { automata, rows, beginning, turns, end: row };
            if let Flow::Stop(reason) = audience.failure(automata.system(), &way) {
                return Err(reason.into());
            }
        }
        Ok(())
    }

    /// Opens a stored state, which is the one at hand with its possible steps: several steps are taken from it one after
    /// the other, and if one is enough that is given.
    fn open(&mut self, row: u32) -> Option<Possible> {
        if self.ahead.is_worth_it(self.rows.len()) {
            if self.ahead.arrivals_from(row).is_none() {
                self.ahead.look_at(row, &mut self.automata, &mut self.rows);
            }
            if self.is_opened_ahead(row) {
                return None;
            }
        }
        let first = self.chosen.len();
        if self.memory_of == Memory::Places {
            self.possible.iter().for_each(|&step| self.automata.learn_if_commit(&self.row, step));
        }
        self.reduction.choose(&self.automata, &self.row, &self.possible, &mut self.chosen);
        if let &[only] = &self.chosen[first..] {
            self.chosen.truncate(first);
            return Some(only);
        }
        let (end, depth) = (self.chosen.len(), self.depth);
        self.turns.push(Turn { row, first, end, is_known: false, next: first, taken: None, depth });
        None
    }

    /// Opens a state if others have found out where its steps lead.
    fn is_opened_ahead(&mut self, row: u32) -> bool {
        let Some(Range { start: first, end }) = self.ahead.arrivals_from(row) else { return false };
        self.turns.push(Turn { row, first, end, is_known: true, next: first, taken: None, depth: self.depth });
        true
    }

    /// An execution has as many steps as the limit allows.
    fn cut_off(&mut self, limit: u64) -> Result<(), Halt> {
        self.cut.get_or_insert(StopReason::Steps(limit));
        self.show_failures()?;
        // Of executions this long there is no end; whoever sets a limit wants to see what is within.
        if Some(limit) == Limits::default().steps { Err(StopReason::Steps(limit).into()) } else { Ok(()) }
    }

    /// Goes on from the state at hand to the next one from which several steps are worth taking, if it is new.
    fn go_on(&mut self, signal: StopSignal<'_>) -> Result<(), Halt> {
        let mut passed = 0;
        loop {
            passed += 1;
            self.automata.possible(&self.row, &mut self.possible);
            if self.possible.is_empty() {
                return self.end();
            }
            if let Some(limit) = self.settings.limits.steps.filter(|&limit| self.depth >= limit) {
                return self.cut_off(limit);
            }
            // Where one step is possible it takes less time to pass again than to store, if it does not go on and on.
            let mut step = self.possible[0];
            if self.possible.len() > 1 || passed == PASSED {
                passed = 0;
                let (row, _) = self.rows.number(&self.row);
                if !self.visited.add(row) {
                    return Ok(());
                }
                let Some(only) = self.open(row) else { return Ok(()) };
                step = only;
            }
            self.take(step, signal)?;
        }
    }

    /// Nothing is possible in a state: shows it, unless its class is known.
    fn end(&mut self) -> Result<(), Halt> {
        if let Some(reason) = self.endless() {
            self.cut.get_or_insert(reason);
            return Ok(());
        }
        self.automata.class_of(&self.row, &mut self.next);
        let limit = self.settings.limits.executions;
        if let Some(limit) = limit.filter(|&limit| self.classes.len() as u64 >= limit) {
            return if self.classes.find(&self.next).is_some() {
                Ok(())
            } else {
                Err(StopReason::Executions(limit).into())
            };
        }
        if self.classes.insert(&self.next).is_none() {
            return Ok(());
        }
        self.automata.load(&self.row);
        let Search { automata, rows, beginning, turns, row, audience, .. } = self;
        let way = Way { automata, rows, beginning, turns, end: row };
        match audience.execution(automata.system(), &way) {
            Flow::Stop(reason) => Err(reason.into()),
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
        (self.rows.memory() + self.classes.memory() + self.automata.memory() + self.ahead.memory()) as u64
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
