//! Answers questions about one trace.

use teetotal_memory::{EventId, ModelId, Source, Step, Trace};
use teetotal_program::{Loc, Value};

use super::candidates::{Open, Part};
use super::frontier::{self, Found};
use super::layout::Layout;
use super::question::{Answer, Question};
use super::{formula, learning, rules, schedule, script};

/// Answers questions about a trace; what they have in common is found out once.
#[expect(missing_debug_implementations, reason = "nobody wants to read an order of thousands of moments")]
pub struct Solver<'t> {
    layout: Layout<'t>,
    budget: u64,
    learns_only: bool,
    effort: Effort,
}

/// What answers have cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Questions that were answered.
    pub questions: u64,
    /// Of these, those that the rules alone refuted.
    pub refuted: u64,
    /// Frontiers that were tried.
    pub frontiers: u64,
    /// Questions that were left to the search that learns, and its conflicts with the orders that it looked at.
    pub learning: u64,
    pub conflicts: u64,
    /// Questions that were given up.
    pub unknown: u64,
}

impl Effort {
    /// Adds what other answers cost.
    pub fn add(&mut self, other: &Effort) {
        self.questions += other.questions;
        self.refuted += other.refuted;
        self.frontiers += other.frontiers;
        self.learning += other.learning;
        self.conflicts += other.conflicts;
        self.unknown += other.unknown;
    }
}

/// So much is done for a question, if nobody says otherwise.
const BUDGET: u64 = 50_000;

impl<'t> Solver<'t> {
    /// For questions about `trace` under `model`; `initial` says what each location holds at first.
    #[must_use]
    pub fn new(model: ModelId, trace: &'t Trace, initial: impl Fn(Loc) -> Value) -> Self {
        let layout = Layout::new(model, trace, initial);
        Solver { layout, budget: BUDGET, learns_only: false, effort: Effort::default() }
    }

    /// Gives up a question after so many frontiers, and as many conflicts and orders that were learnt from.
    pub fn set_budget(&mut self, budget: u64) {
        self.budget = budget;
    }

    /// Tries no frontiers from now on, so that all that the rules leave is left to the search that learns.
    pub fn learn_only(&mut self) {
        self.learns_only = true;
    }

    /// From now on every read of which nothing is demanded takes its value from where it did in the trace.
    ///
    /// Values do not matter then: it is for whoever asks to know that an operation goes on with what it reads, and to
    /// perform the answer, which the machine has not done.
    pub fn keep_sources(&mut self) {
        self.layout.keeps_sources = true;
    }

    /// What all answers have cost.
    #[must_use]
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Whether there is such an execution.
    pub fn ask(&mut self, question: &Question<'_>) -> Answer {
        let part = Part::new(&self.layout, question);
        let mut cost = Effort { questions: 1, ..Effort::default() };
        let answer = match Open::new(&self.layout, &part, question) {
            Some(open) => self.answer(&part, open, question, &mut cost),
            None => Answer::Impossible,
        };
        cost.refuted = u64::from(answer == Answer::Impossible && cost.frontiers + cost.learning == 0);
        cost.unknown = u64::from(answer == Answer::Unknown);
        self.effort.add(&cost);
        answer
    }

    /// The execution of these steps, which answered the question.
    #[must_use]
    pub fn execution(&self, question: &Question<'_>, steps: &[Step]) -> Option<Trace> {
        let part = Part::new(&self.layout, question);
        script::perform(&self.layout, &part, question, steps)
    }

    /// The question as a formula for an SMT solver, before any rule is applied, to compare with.
    ///
    /// A fence over all buffers is left out of it.
    #[must_use]
    pub fn formula(&self, question: &Question<'_>) -> String {
        let part = Part::new(&self.layout, question);
        let open = Open::new(&self.layout, &part, question);
        formula::write(&self.layout, &part, open.as_ref()).expect("a text can be written to")
    }

    /// What the rules leave of a question; nothing if they refute it.
    #[must_use]
    pub fn narrow(&self, question: &Question<'_>) -> Option<Narrowed<'_>> {
        let part = Part::new(&self.layout, question);
        let mut open = Open::new(&self.layout, &part, question)?;
        rules::close(&self.layout, &part, &mut open).then_some(Narrowed { layout: &self.layout, open })
    }

    /// By the rules, then by frontiers with the writers of the trace and with all, then by learning.
    fn answer(&self, part: &Part, mut open: Open, question: &Question<'_>, cost: &mut Effort) -> Answer {
        if !rules::close(&self.layout, part, &mut open) {
            return Answer::Impossible;
        }
        if !self.learns_only {
            let is_fixed = self.layout.keeps_sources;
            if let Some(order) = if is_fixed { None } else { self.as_in_trace(part, &open, cost) } {
                return self.confirmed(part, question, &order);
            }
            match self.try_frontiers(part, &open, cost) {
                Found::Order(order) => return self.confirmed(part, question, &order),
                Found::Nothing => return Answer::Impossible,
                Found::OutOfBudget => {}
            }
        }
        cost.learning = 1;
        let mut left = self.budget;
        let found = learning::search(&self.layout, part, &open, &mut left);
        cost.conflicts = self.budget - left;
        match found {
            Found::Order(order) => self.confirmed(part, question, &order),
            Found::Nothing => Answer::Impossible,
            Found::OutOfBudget => Answer::Unknown,
        }
    }

    /// An order in which reads take their values from where they took them in the trace, as far as they may.
    fn as_in_trace(&self, part: &Part, open: &Open, cost: &mut Effort) -> Option<Vec<usize>> {
        let mut fixed = open.clone();
        for read in fixed.reads.iter_mut().filter(|read| read.writers.len() > 1) {
            let source = self.layout.trace.event(self.layout.reads[read.read].event).source;
            let writer = source.map(|source| self.layout.writer(source));
            if let Some(writer) = writer.filter(|writer| read.writers.contains(writer)) {
                read.writers = vec![writer];
            }
        }
        if !rules::close(&self.layout, part, &mut fixed) {
            return None;
        }
        match self.try_frontiers(part, &fixed, cost) {
            Found::Order(order) => Some(order),
            Found::Nothing | Found::OutOfBudget => None,
        }
    }

    /// Tries as many frontiers as are enough where hardly a step is taken in vain.
    fn try_frontiers(&self, part: &Part, open: &Open, cost: &mut Effort) -> Found {
        let share = (1_000 + 16 * open.reads.len() as u64).min(self.budget - cost.frontiers);
        let mut left = share;
        let found = frontier::search(&self.layout, part, open, &mut left);
        cost.frontiers += share - left;
        found
    }

    /// The execution in which the moments come in this order, if the machine consents or is not asked.
    fn confirmed(&self, part: &Part, question: &Question<'_>, order: &[usize]) -> Answer {
        let steps = schedule::steps(&self.layout, part, order);
        let is_asked = !self.layout.keeps_sources;
        let is_real = !is_asked || script::perform(&self.layout, part, question, &steps).is_some();
        debug_assert!(is_real, "the machine does not perform {steps:?}, which answers {question:?}");
        if is_real { Answer::Possible(steps) } else { Answer::Unknown }
    }
}

/// What every execution that answers a question has in common, as far as the rules tell.
#[expect(missing_debug_implementations, reason = "nobody wants to read an order of thousands of moments")]
pub struct Narrowed<'n> {
    layout: &'n Layout<'n>,
    open: Open,
}

impl Narrowed<'_> {
    /// Where a read may take its value from.
    #[must_use]
    pub fn sources(&self, read: EventId) -> Vec<Source> {
        let mut open = self.open.reads.iter();
        let Some(open) = open.find(|open| self.layout.reads[open.read].event == read) else { return Vec::new() };
        let source = |moment: usize| self.layout.writes[moment].map(|write| Source::Write(write.event));
        open.writers.iter().filter_map(|writer| writer.map_or(Some(Source::Initial), source)).collect()
    }

    /// Whether one event must happen before another.
    #[must_use]
    pub fn precedes(&self, first: EventId, second: EventId) -> bool {
        self.open.order.precedes(self.layout.moment(first), self.layout.moment(second))
    }
}
