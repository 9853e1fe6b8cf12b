//! Answers questions about one trace.

use teetotal_memory::{EventId, ModelId, Source, Step, Trace};
use teetotal_program::{Loc, Value};

use super::candidates::{Open, Part};
use super::frontier::{self, Found};
use super::layout::Layout;
use super::question::{Answer, Question};
use super::{formula, rules, schedule, script};

/// Answers questions about a trace; what they have in common is found out once.
#[expect(missing_debug_implementations, reason = "nobody wants to read an order of thousands of moments")]
pub struct Solver<'t> {
    layout: Layout<'t>,
    budget: u64,
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
    /// Questions that were given up.
    pub unknown: u64,
}

impl Effort {
    /// Adds what other answers cost.
    pub fn add(&mut self, other: &Effort) {
        self.questions += other.questions;
        self.refuted += other.refuted;
        self.frontiers += other.frontiers;
        self.unknown += other.unknown;
    }
}

/// So many frontiers are tried for a question, if nobody says otherwise.
const BUDGET: u64 = 200_000;

impl<'t> Solver<'t> {
    /// For questions about `trace` under `model`; `initial` says what each location holds at first.
    #[must_use]
    pub fn new(model: ModelId, trace: &'t Trace, initial: impl Fn(Loc) -> Value) -> Self {
        Solver { layout: Layout::new(model, trace, initial), budget: BUDGET, effort: Effort::default() }
    }

    /// Gives up a question after so many frontiers.
    pub fn set_budget(&mut self, frontiers: u64) {
        self.budget = frontiers;
    }

    /// What all answers have cost.
    #[must_use]
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Whether there is such an execution.
    pub fn ask(&mut self, question: &Question<'_>) -> Answer {
        self.effort.questions += 1;
        let part = Part::new(&self.layout, question);
        let mut budget = self.budget;
        let answer = match Open::new(&self.layout, &part, question) {
            Some(open) => self.answer(&part, open, question, &mut budget),
            None => Answer::Impossible,
        };
        self.effort.frontiers += self.budget - budget;
        self.effort.refuted += u64::from(answer == Answer::Impossible && budget == self.budget);
        self.effort.unknown += u64::from(answer == Answer::Unknown);
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

    /// By the rules, then with the writers of the trace, then with all.
    fn answer(&self, part: &Part, mut open: Open, question: &Question<'_>, budget: &mut u64) -> Answer {
        if !rules::close(&self.layout, part, &mut open) {
            return Answer::Impossible;
        }
        match self.as_in_trace(part, &open, budget) {
            Some(order) => self.confirmed(part, question, &order),
            None => self.solve(part, open, question, budget),
        }
    }

    /// By the rules, then by a quick search, then by fixing a writer that is in doubt.
    fn solve(&self, part: &Part, mut open: Open, question: &Question<'_>, budget: &mut u64) -> Answer {
        if !rules::close(&self.layout, part, &mut open) {
            return Answer::Impossible;
        }
        let in_doubt = open.reads.iter().enumerate().filter(|(_, read)| read.writers.len() > 1);
        let fewest = in_doubt.min_by_key(|(_, read)| read.writers.len()).map(|(index, _)| index);
        // Where nothing is in doubt the search is the last resort.
        let share = if fewest.is_some() { quick(&open).min(*budget) } else { *budget };
        let mut left = share;
        let found = frontier::search(&self.layout, part, &open, &mut left);
        *budget -= share - left;
        match (found, fewest) {
            (Found::Order(order), _) => self.confirmed(part, question, &order),
            (Found::Nothing, _) => Answer::Impossible,
            (Found::OutOfBudget, Some(index)) if *budget > 0 => self.fix(part, &open, index, question, budget),
            (Found::OutOfBudget, _) => Answer::Unknown,
        }
    }

    /// An order in which reads take their values from where they took them in the trace, as far as they may.
    fn as_in_trace(&self, part: &Part, open: &Open, budget: &mut u64) -> Option<Vec<usize>> {
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
        let share = quick(open).min(*budget);
        let mut left = share;
        let found = frontier::search(&self.layout, part, &fixed, &mut left);
        *budget -= share - left;
        if let Found::Order(order) = found { Some(order) } else { None }
    }

    /// Tries each writer of a read.
    fn fix(&self, part: &Part, open: &Open, index: usize, question: &Question<'_>, budget: &mut u64) -> Answer {
        let mut is_certain = true;
        for &writer in &open.reads[index].writers {
            // The rules take time too.
            *budget = budget.saturating_sub(2 * quick(open));
            let mut fixed = open.clone();
            fixed.reads[index].writers = vec![writer];
            match self.solve(part, fixed, question, budget) {
                Answer::Impossible => {}
                Answer::Unknown => is_certain = false,
                possible @ Answer::Possible(_) => return possible,
            }
        }
        if is_certain { Answer::Impossible } else { Answer::Unknown }
    }

    /// The execution in which the moments come in this order, if the machine consents.
    fn confirmed(&self, part: &Part, question: &Question<'_>, order: &[usize]) -> Answer {
        let steps = schedule::steps(&self.layout, part, order);
        let is_real = script::perform(&self.layout, part, question, &steps).is_some();
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

/// So many frontiers are enough where hardly a step is taken in vain.
fn quick(open: &Open) -> u64 {
    1_000 + 16 * open.reads.len() as u64
}
