//! A search over states in the order of what it costs to get there, for the cheapest execution that shows something.
//!
//! A state counts together with whose turn it is, since the cost of the next step depends on it. There is no reduction:
//! what it leaves out may be cheaper than what stands for it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use teetotal_engine::{Limits, Schedule, System};
use teetotal_judge::View;
use teetotal_memory::{Model, ModelVisitor, Step, Trace, Unrecorded};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Failure, Snapshot};

use crate::minimize::cost::Cost;
use crate::minimize::goal::{Goal, Lookout};
use crate::minimize::reached::{Reached, StateId, Way};

/// The search gives up after so many states.
const MAX_STATES: usize = 10_000;

/// It gives up as well where states become this large; a thread that stores in a loop fills its buffer at no other cost.
const MAX_BYTES: usize = 2 << 20;

/// What to look for, all at once.
pub(super) struct Cheapest<'c> {
    pub(super) program: &'c Arc<Program>,
    pub(super) limits: &'c Limits,
    /// Each with the cost of an execution that shows it.
    pub(super) goals: Vec<(&'c Goal, Cost)>,
}

/// What came of a goal.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// The cheapest execution that shows it; of several the one that is found first, whatever is known.
    Cheapest(Schedule),
    /// There may be one that is cheaper than the one known.
    GaveUp,
}

impl ModelVisitor for Cheapest<'_> {
    type Output = Vec<Answer>;

    fn visit<M: Model>(self) -> Vec<Answer> {
        let Cheapest { program, limits, goals } = self;
        let mut at = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
        if let Some(limit) = limits.buffer {
            at.limit_buffers(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        let seekers = goals.iter().map(|&(goal, known)| Seeker {
            known,
            lookout: Lookout::new(goal, program),
            answer: at_once(goal, known),
        });
        let search = Search {
            next: at.clone(),
            at,
            seekers: seekers.collect(),
            max_steps: limits.steps.unwrap_or(u64::MAX),
            reached: Reached::default(),
            queue: BinaryHeap::new(),
            n_queued: 0,
            trace: Trace::default(),
        };
        search.run()
    }
}

/// The answer that needs no search: what was shown before the first step costs nothing, a goal of traces is not for states.
fn at_once(goal: &Goal, known: Cost) -> Option<Answer> {
    if known == Cost::default() {
        Some(Answer::Cheapest(Schedule::Choices(Vec::new())))
    } else {
        (!goal.is_of_states()).then_some(Answer::GaveUp)
    }
}

/// One goal, and the answer once there is one.
struct Seeker<'c> {
    known: Cost,
    lookout: Lookout<'c>,
    answer: Option<Answer>,
}

/// What is to be looked at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Item {
    State(StateId),
    /// The step at this position shows what a seeker wants.
    Goal {
        before: StateId,
        choice: u32,
        seeker: usize,
    },
}

struct Search<'c, M> {
    at: System<Interpreter, M>,
    next: System<Interpreter, M>,
    seekers: Vec<Seeker<'c>>,
    max_steps: u64,
    reached: Reached,
    /// By cost; what costs the same comes in the order in which it was found.
    queue: BinaryHeap<Reverse<(Cost, u64, Item)>>,
    n_queued: u64,
    /// Nothing, for whoever wants to see a trace; states are all that is looked at.
    trace: Trace,
}

impl<M: Model> Search<'_, M> {
    fn run(mut self) -> Vec<Answer> {
        let mut bytes = Vec::new();
        self.at.save(&mut bytes);
        let start = Way { cost: Cost::default(), turn: None, last: None };
        if let Some(id) = self.reached.offer(&bytes, start) {
            self.push(start.cost, Item::State(id));
        }
        while let Some(Reverse((cost, _, item))) = self.queue.pop() {
            if cost > self.dearest() || self.reached.len() > MAX_STATES || self.reached.n_bytes() > MAX_BYTES {
                break;
            }
            match item {
                Item::Goal { before, choice, seeker } => {
                    let schedule = self.reached.schedule_to(before, Some(choice));
                    self.seekers[seeker].answer.get_or_insert(Answer::Cheapest(schedule));
                }
                Item::State(id) if self.reached.way_to(id).cost == cost => self.expand(id, &mut bytes),
                // A cheaper way to the state was found since.
                Item::State(_) => {}
            }
        }
        self.seekers.into_iter().map(|seeker| seeker.answer.unwrap_or(Answer::GaveUp)).collect()
    }

    /// What costs more than this is of no use to anybody.
    fn dearest(&self) -> Cost {
        let open = self.seekers.iter().filter(|seeker| seeker.answer.is_none());
        open.map(|seeker| seeker.known).max().unwrap_or_default()
    }

    fn push(&mut self, cost: Cost, item: Item) {
        self.queue.push(Reverse((cost, self.n_queued, item)));
        self.n_queued += 1;
    }

    /// Takes every step from a state.
    fn expand(&mut self, id: StateId, bytes: &mut Vec<u8>) {
        self.at.load(&mut self.reached.bytes_of(id));
        let mut enabled = Vec::new();
        self.at.enabled(&mut enabled);
        if enabled.is_empty() {
            return self.end(id);
        }
        let (way, dearest) = (self.reached.way_to(id), self.dearest());
        for (choice, &step) in (0..).zip(&enabled) {
            let (cost, turn) = way.cost.and(step, way.turn);
            if cost > dearest || u64::from(cost.steps) > self.max_steps {
                continue;
            }
            self.next.copy_from(&self.at);
            if !self.take(step, id, choice, cost) {
                continue;
            }
            bytes.clear();
            self.next.save(bytes);
            if let Some(next) = self.reached.offer(bytes, Way { cost, turn, last: Some((id, choice)) }) {
                self.push(cost, Item::State(next));
            }
        }
    }

    /// Takes a step and looks at what goes wrong in it; gives whether there is a way on.
    fn take(&mut self, step: Step, before: StateId, choice: u32, cost: Cost) -> bool {
        let failure = self.next.perform(step, &mut Unrecorded);
        if let Some((_, Failure::EndlessLoop { .. })) = failure {
            return false;
        }
        if failure.is_some() {
            let view = View { trace: &self.trace, events: &[], state: &self.next, failure };
            let shown: Vec<usize> = (0..self.seekers.len())
                .filter(|&index| self.seekers[index].answer.is_none() && self.seekers[index].lookout.step(&view))
                .collect();
            shown.into_iter().for_each(|seeker| self.push(cost, Item::Goal { before, choice, seeker }));
        }
        true
    }

    /// Nothing more is possible.
    fn end(&mut self, id: StateId) {
        let (ending, cost) = (self.at.ending(), self.reached.way_to(id).cost);
        let view = View { trace: &self.trace, events: &[], state: &self.at, failure: None };
        for seeker in self.seekers.iter_mut().filter(|seeker| seeker.answer.is_none() && cost <= seeker.known) {
            if seeker.lookout.end(&view, &ending) {
                seeker.answer = Some(Answer::Cheapest(self.reached.schedule_to(id, None)));
            }
        }
    }
}
