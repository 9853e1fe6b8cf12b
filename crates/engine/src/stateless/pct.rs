//! Probabilistic concurrency testing: random priorities, and few random points at which one is lowered.
//!
//! The process of the highest priority takes the next step. At each of `depth - 1` points, drawn from the steps that an
//! execution has, the process whose turn it is falls below all that have not fallen, to a place of its own.
//! A bug of depth d, one that d ordered pairs of steps suffice to show, is found by each execution with a probability of at
//! least 1/(n·k^(d-1)), for n processes and k steps. [PCT]. We differ in four ways:
//! 1. A process is a thread or a buffer, since when a store leaves its buffer is as open as when a thread goes on: TSO has
//!    a buffer for each thread, PSO one for each thread and location.
//! 2. A process draws its priority when it is first seen, which orders them as if all had drawn before.
//! 3. The number of steps is that of the longest execution so far. The first execution, which only measures, has no points.
//! 4. A thread that takes very many steps in a row, as in a loop that waits, falls below everybody. The guarantee, which
//!    supposes that no execution is longer than k, is then withdrawn.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use teetotal_memory::{Access, Model, Step, Trace};
use teetotal_program::{Loc, Order, ThreadId};

use crate::chance::Chance;
use crate::outcome::StopReason;
use crate::strategy::{Choice, Strategy};

/// A thread that takes so many steps in a row is taken to be waiting for another.
const PATIENCE: u64 = 500;

/// So many executions, each by random priorities.
#[derive(Clone, Debug)]
pub struct Pct {
    seed: u64,
    depth: u32,
    executions: u64,
    /// Whether a thread has a buffer for each location.
    buffer_per_location: bool,
    /// How many executions are begun.
    begun: u64,
    chance: Chance,
    priorities: BTreeMap<Process, Priority>,
    /// The steps before which a priority is lowered; the first of them to the highest place.
    points: Vec<u64>,
    /// How many steps the current execution has.
    steps: u64,
    /// Who took the last steps, and how many in a row.
    row: (Option<Process>, u64),
    seen: Seen,
}

/// What the executions so far have shown.
#[derive(Clone, Default, Debug)]
struct Seen {
    processes: BTreeSet<Process>,
    /// Of the longest execution.
    steps: u64,
    /// How many executions were begun since that is known.
    executions: u64,
    /// Whether a thread had more than one way to go on.
    choices: bool,
    /// Whether a thread ran out of patience.
    waited: bool,
}

/// What the executions of a search promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guarantee {
    /// Of the bugs that it is about.
    pub depth: u32,
    /// How many threads and buffers there are.
    pub processes: u64,
    /// How many steps the longest execution has.
    pub steps: u64,
    /// How many executions were run with that many steps in mind.
    pub executions: u64,
    /// Whether a choice of the program was taken by chance as well, which the guarantee does not count.
    pub choices: bool,
}

/// Something with a priority: a thread, the buffer of a thread, or its buffer for a location.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Process {
    Thread(ThreadId),
    Buffer(ThreadId, Option<Loc>),
}

/// In ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Priority {
    /// It seems to wait; whoever has waited since fewer steps comes after it.
    Waiting(Reverse<u64>),
    /// It was lowered at a point.
    Lowered(Reverse<usize>),
    /// Drawn by chance.
    Drawn(u64),
}

impl Guarantee {
    /// One in how many executions shows a given bug of that depth, at least; nothing if that is beyond counting.
    #[must_use]
    pub fn one_in(&self) -> Option<u64> {
        let points = self.depth.checked_sub(1)?;
        self.steps.checked_pow(points)?.checked_mul(self.processes)
    }
}

impl Pct {
    /// For bugs of `depth`, which is not 0, under the model `M`; the same seed gives the same executions.
    #[must_use]
    pub fn new<M: Model>(seed: u64, depth: u32, executions: u64) -> Self {
        let store = |loc| Access { loc: Some(Loc(loc)), order: Order::Relaxed, epoch: 0 };
        Pct {
            seed,
            depth,
            executions,
            buffer_per_location: !M::keeps_order(store(0), store(1)),
            begun: 0,
            chance: Chance::of_execution(seed, 0),
            priorities: BTreeMap::new(),
            points: Vec::new(),
            steps: 0,
            row: (None, 0),
            seen: Seen::default(),
        }
    }

    /// What each of the last executions promised, if no execution has more steps than the longest of them, nor another
    /// thread or buffer.
    #[must_use]
    pub fn guarantee(&self) -> Option<Guarantee> {
        let Seen { processes, steps, executions, choices, waited } = &self.seen;
        (!waited && *executions > 0).then_some(Guarantee {
            depth: self.depth,
            processes: processes.len() as u64,
            steps: *steps,
            executions: *executions,
            choices: *choices,
        })
    }

    fn process_of(&self, step: Step) -> Process {
        match step {
            Step::Issue { thread, .. } => Process::Thread(thread),
            Step::Commit { thread, loc } => Process::Buffer(thread, Some(loc).filter(|_| self.buffer_per_location)),
        }
    }

    /// Lets every process that is new draw its priority.
    fn draw(&mut self, enabled: &[Step]) {
        for &step in enabled {
            let process = self.process_of(step);
            self.priorities.entry(process).or_insert_with(|| Priority::Drawn(self.chance.any()));
            self.seen.processes.insert(process);
        }
    }

    /// The process of the highest priority that can take a step.
    fn highest(&self, enabled: &[Step]) -> Process {
        let processes = enabled.iter().map(|&step| self.process_of(step));
        processes.max_by_key(|process| (self.priorities[process], *process)).expect("a step is possible")
    }

    /// Whether a thread has gone on for so long that others must get their turn.
    fn is_impatient(&self, process: Process) -> bool {
        matches!(process, Process::Thread(_)) && self.row.0 == Some(process) && self.row.1 >= PATIENCE
    }
}

impl Strategy for Pct {
    fn begin(&mut self) -> bool {
        if self.begun >= self.executions {
            return false;
        }
        self.chance = Chance::of_execution(self.seed, self.begun);
        self.begun += 1;
        self.priorities.clear();
        self.steps = 0;
        self.row = (None, 0);
        self.points.clear();
        if self.seen.steps > 0 {
            let n_points = self.depth.saturating_sub(1);
            self.points.extend((0..n_points).map(|_| 1 + self.chance.below(self.seen.steps)));
            self.seen.executions += 1;
        }
        true
    }

    fn choose(&mut self, enabled: &[Step], _: &Trace) -> Choice {
        self.steps += 1;
        self.draw(enabled);
        for point in 0..self.points.len() {
            if self.points[point] == self.steps {
                let process = self.highest(enabled);
                self.priorities.insert(process, Priority::Lowered(Reverse(point)));
            }
        }
        let mut process = self.highest(enabled);
        if self.is_impatient(process) {
            self.priorities.insert(process, Priority::Waiting(Reverse(self.steps)));
            self.row = (None, 0);
            self.seen.waited = true;
            process = self.highest(enabled);
        }
        self.row = if self.row.0 == Some(process) { (self.row.0, self.row.1 + 1) } else { (Some(process), 1) };
        let own: Vec<usize> = (0..enabled.len()).filter(|&index| self.process_of(enabled[index]) == process).collect();
        self.seen.choices |= own.len() > 1;
        Choice::Take(if own.len() > 1 { own[self.chance.index(own.len())] } else { own[0] })
    }

    fn end(&mut self, _: &Trace) {
        if self.steps > self.seen.steps {
            self.seen.steps = self.steps;
            self.seen.executions = 0;
        }
    }

    fn left_out(&self) -> Option<StopReason> {
        Some(StopReason::Executions(self.executions))
    }
}
