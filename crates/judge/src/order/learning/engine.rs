//! A search for values of variables that satisfies clauses and an order without a cycle, and learns from conflicts.
//!
//! Definition: conflict-driven clause learning, [GRASP] and [CHAFF]. A clause is looked at when one of two of its
//! literals becomes false; of a conflict the clause is learnt that has one literal of the last decision; after some
//! conflicts the search begins anew with what it has learnt. A literal may say that one moment comes before another: then
//! values that close a cycle are a conflict too, and the way back is the clause. We differ in one way: what to decide is
//! asked of somebody else, who knows the rest of the clauses and adds them when they are broken, so that most variables
//! need no value.

use super::activity::Activity;
use super::acyclic::Acyclic;
use super::literal::Literal;

/// What a variable says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// The moment takes its value from a certain writer, as clauses say.
    Choice(usize),
    /// The first moment comes before the second, and if it is false the second before the first.
    Before(usize, usize),
}

/// What came of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Solved {
    /// The order of the moments is one that is wanted.
    Yes,
    No,
    /// There were as many conflicts as the budget allows.
    OutOfBudget,
}

/// What to do when nothing follows from what was decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next {
    /// The order of the moments is one that is wanted.
    Done,
    /// Decide that this is true; it has no value yet.
    Decide(Literal),
    /// Of each of these clauses a literal has to be true.
    Demand(Vec<Vec<Literal>>),
}

pub(super) struct Engine<'o> {
    pub(super) order: Acyclic<'o>,
    variables: Vec<Variable>,
    clauses: Vec<Vec<Literal>>,
    /// For each literal the clauses that are looked at when it becomes false.
    watches: Vec<Vec<usize>>,
    pub(super) activity: Activity,
    /// The same of moments: how much the variables that are about them took part in conflicts.
    pub(super) moments: Activity,
    /// The literals that are true, in the order in which they became so.
    trail: Vec<Literal>,
    /// Where in it each decision is.
    decisions: Vec<usize>,
    /// How many of them the clauses have heeded, and how many the order has.
    heeded: usize,
    ordered: usize,
    /// Whether the clauses contradict each other whatever is decided.
    is_contradictory: bool,
    /// A clause that has no true literal left, unless decisions were taken back since.
    broken: Option<usize>,
    marked: Vec<bool>,
}

struct Variable {
    meaning: Meaning,
    value: Option<bool>,
    /// How many decisions there were when it got its value.
    level: usize,
    /// The clause that gave it.
    reason: Option<usize>,
}

/// So many conflicts, times a number that grows now and then, lie between two beginnings.
const RESTART: u64 = 64;

impl<'o> Engine<'o> {
    /// With nothing to satisfy but the order.
    pub(super) fn new(order: Acyclic<'o>, n_moments: usize) -> Self {
        Engine {
            order,
            variables: Vec::new(),
            clauses: Vec::new(),
            watches: Vec::new(),
            activity: Activity::new(0),
            moments: Activity::new(n_moments),
            trail: Vec::new(),
            decisions: Vec::new(),
            heeded: 0,
            ordered: 0,
            is_contradictory: false,
            broken: None,
            marked: Vec::new(),
        }
    }

    /// A new variable.
    pub(super) fn variable(&mut self, meaning: Meaning) -> usize {
        self.variables.push(Variable { meaning, value: None, level: 0, reason: None });
        self.watches.extend([Vec::new(), Vec::new()]);
        self.marked.push(false);
        self.activity.add();
        self.variables.len() - 1
    }

    /// Whether a literal is true, if its variable has a value.
    #[inline]
    pub(super) fn truth(&self, literal: Literal) -> Option<bool> {
        self.variables[literal.variable()].value.map(|value| value == literal.value())
    }

    /// Demands that one of the literals is true.
    pub(super) fn demand(&mut self, mut clause: Vec<Literal>) {
        let is_certain = |literal: &Literal| self.variables[literal.variable()].level == 0;
        if clause.iter().any(|literal| self.truth(*literal) == Some(true) && is_certain(literal)) {
            return;
        }
        clause.retain(|literal| self.truth(*literal).is_none() || !is_certain(literal));
        // What is not false comes first, then what became false last.
        clause.sort_by_key(|literal| match self.truth(*literal) {
            Some(false) => usize::MAX - self.variables[literal.variable()].level,
            _ => 0,
        });
        match clause[..] {
            [] => self.is_contradictory = true,
            [only] => {
                self.back_to(0);
                self.assign(only, None);
            }
            [first, second, ..] => {
                let number = self.keep(clause);
                match (self.truth(first), self.truth(second)) {
                    (Some(false), _) => {
                        self.back_to(self.variables[first.variable()].level);
                        self.broken = Some(number);
                    }
                    (None, Some(false)) => self.assign(first, Some(number)),
                    _ => {}
                }
            }
        }
    }

    /// Keeps a clause of two literals or more and watches its first two; gives its number.
    fn keep(&mut self, clause: Vec<Literal>) -> usize {
        let number = self.clauses.len();
        clause[..2].iter().for_each(|literal| self.watches[literal.index()].push(number));
        self.clauses.push(clause);
        number
    }

    /// Searches until `next` is content or the budget is used up; conflicts and questions to `next` each take one off it.
    pub(super) fn solve(&mut self, budget: &mut u64, mut next: impl FnMut(&mut Self) -> Next) -> Solved {
        let (mut run, mut left) = (1, RESTART);
        loop {
            let conflict = self.propagate();
            if self.is_contradictory || conflict.is_some() && self.decisions.is_empty() {
                self.is_contradictory = true;
                return Solved::No;
            }
            if *budget == 0 {
                return Solved::OutOfBudget;
            }
            *budget -= 1;
            if let Some(conflict) = conflict {
                left = left.saturating_sub(1);
                self.learn_from(conflict);
            } else if left == 0 {
                run += 1;
                left = RESTART * luby(run);
                self.back_to(0);
            } else {
                match next(self) {
                    Next::Done => return Solved::Yes,
                    Next::Demand(clauses) => clauses.into_iter().for_each(|clause| self.demand(clause)),
                    Next::Decide(literal) => {
                        debug_assert_eq!(self.truth(literal), None, "what is decided has no value");
                        self.decisions.push(self.trail.len());
                        self.assign(literal, None);
                    }
                }
            }
        }
    }

    fn assign(&mut self, literal: Literal, reason: Option<usize>) {
        let level = self.decisions.len();
        let variable = &mut self.variables[literal.variable()];
        *variable = Variable { value: Some(literal.value()), level, reason, ..*variable };
        self.trail.push(literal);
    }

    fn back_to(&mut self, level: usize) {
        let Some(&length) = self.decisions.get(level) else { return };
        for number in (length..self.ordered).rev() {
            if matches!(self.variables[self.trail[number].variable()].meaning, Meaning::Before(..)) {
                self.order.take_back();
            }
        }
        for literal in self.trail.drain(length..) {
            self.variables[literal.variable()].value = None;
        }
        self.decisions.truncate(level);
        self.heeded = self.heeded.min(length);
        self.ordered = self.ordered.min(length);
    }

    /// Gives values to all variables that have no choice; gives a clause with no true literal if there is one.
    fn propagate(&mut self) -> Option<Vec<Literal>> {
        if let Some(broken) = self.broken.take() {
            let clause = &self.clauses[broken];
            if clause.iter().all(|&literal| self.truth(literal) == Some(false)) {
                return Some(clause.clone());
            }
        }
        loop {
            if let Some(&literal) = self.trail.get(self.heeded) {
                self.heeded += 1;
                if let Some(clause) = self.look_at_watches(literal.opposite()) {
                    return Some(self.clauses[clause].clone());
                }
            } else if let Some(&literal) = self.trail.get(self.ordered) {
                if let Meaning::Before(mut first, mut second) = self.variables[literal.variable()].meaning {
                    if !literal.value() {
                        std::mem::swap(&mut first, &mut second);
                    }
                    if let Err(way) = self.order.add(first, second, literal) {
                        return Some(way.into_iter().chain([literal]).map(Literal::opposite).collect());
                    }
                }
                self.ordered += 1;
            } else {
                return None;
            }
        }
    }

    /// Looks at the clauses that watch a literal, which has become false; gives one that has no true literal left.
    fn look_at_watches(&mut self, literal: Literal) -> Option<usize> {
        let mut watching = std::mem::take(&mut self.watches[literal.index()]);
        let (mut kept, mut conflict) = (0, None);
        for at in 0..watching.len() {
            let number = watching[at];
            if conflict.is_none() && self.finds_other(number, literal) {
                continue;
            }
            watching[kept] = number;
            kept += 1;
            if conflict.is_some() {
                continue;
            }
            let first = self.clauses[number][0];
            match self.truth(first) {
                Some(true) => {}
                Some(false) => conflict = Some(number),
                None => self.assign(first, Some(number)),
            }
        }
        watching.truncate(kept);
        self.watches[literal.index()] = watching;
        conflict
    }

    /// Lets a clause watch another literal than this one, if it has one that is not false.
    fn finds_other(&mut self, number: usize, literal: Literal) -> bool {
        if self.clauses[number][0] == literal {
            self.clauses[number].swap(0, 1);
        }
        if self.truth(self.clauses[number][0]) == Some(true) {
            return false;
        }
        let others = 2..self.clauses[number].len();
        let Some(other) = others.into_iter().find(|&at| self.truth(self.clauses[number][at]) != Some(false)) else {
            return false;
        };
        self.clauses[number].swap(1, other);
        self.watches[self.clauses[number][1].index()].push(number);
        true
    }

    /// Learns a clause from a conflict, and takes decisions back until it says something new.
    fn learn_from(&mut self, conflict: Vec<Literal>) {
        let level = self.decisions.len();
        let (mut learnt, mut open, mut at) = (Vec::new(), 0, self.trail.len());
        let mut literals = conflict;
        let only = loop {
            for literal in literals {
                let variable = literal.variable();
                let decided = self.variables[variable].level;
                if decided == 0 || std::mem::replace(&mut self.marked[variable], true) {
                    continue;
                }
                self.bump(variable);
                if decided == level {
                    open += 1;
                } else {
                    learnt.push(literal);
                }
            }
            let next = loop {
                at -= 1;
                if self.marked[self.trail[at].variable()] {
                    break self.trail[at];
                }
            };
            self.marked[next.variable()] = false;
            open -= 1;
            if open == 0 {
                break next.opposite();
            }
            let reason = self.variables[next.variable()].reason.expect("only the decision itself has none");
            literals = self.clauses[reason].iter().copied().filter(|literal| *literal != next).collect();
        };
        learnt.iter().for_each(|literal| self.marked[literal.variable()] = false);
        self.activity.age();
        self.moments.age();
        self.add_learnt(only, learnt);
    }

    /// A variable takes part in a conflict, and so do the moments that it is about.
    fn bump(&mut self, variable: usize) {
        self.activity.bump(variable);
        match self.variables[variable].meaning {
            Meaning::Choice(moment) => self.moments.bump(moment),
            Meaning::Before(first, second) => {
                self.moments.bump(first);
                self.moments.bump(second);
            }
        }
    }

    /// Goes back to the last decision on which the other literals depend, and adds the clause.
    fn add_learnt(&mut self, only: Literal, mut others: Vec<Literal>) {
        let level_of = |literal: &Literal| self.variables[literal.variable()].level;
        let last = (0..others.len()).max_by_key(|&at| level_of(&others[at]));
        let level = last.map_or(0, |at| level_of(&others[at]));
        if let Some(last) = last {
            others.swap(0, last);
        }
        self.back_to(level);
        others.insert(0, only);
        let reason = if others.len() > 1 { Some(self.keep(others)) } else { None };
        self.assign(only, reason);
    }
}

/// 1, 1, 2, 1, 1, 2, 4, and so on: the sequence of [LUBY].
fn luby(number: u64) -> u64 {
    let (mut number, mut size) = (number, 1);
    loop {
        while size < number {
            size = 2 * size + 1;
        }
        if size == number {
            return size.div_ceil(2);
        }
        size = size.div_ceil(2) - 1;
        number -= size;
        size = 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axiomatic::PartialOrder;

    #[test]
    fn pauses_grow_as_in_the_sequence() {
        let pauses: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(pauses, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }

    /// Decides variables by number until all have values.
    fn by_number(n_variables: usize) -> impl FnMut(&mut Engine<'_>) -> Next {
        move |engine| {
            let mut free = (0..n_variables).map(|number| Literal::new(number, true));
            free.find(|&literal| engine.truth(literal).is_none()).map_or(Next::Done, Next::Decide)
        }
    }

    /// So many pigeons in one hole less: there is no way, and that takes conflicts to find out.
    #[test]
    fn pigeons_do_not_fit_into_fewer_holes() {
        let must = PartialOrder::new(1);
        for (holes, expected) in [(4, Solved::No), (5, Solved::Yes)] {
            let mut engine = Engine::new(Acyclic::new(&must, vec![0], 1), 1);
            let sits = |pigeon: usize, hole: usize, value| Literal::new(holes * pigeon + hole, value);
            (0..5 * holes).for_each(|_| _ = engine.variable(Meaning::Choice(0)));
            let mut clauses = Vec::new();
            for pigeon in 0..5 {
                clauses.push((0..holes).map(|hole| sits(pigeon, hole, true)).collect());
                for (other, hole) in (0..pigeon).flat_map(|other| (0..holes).map(move |hole| (other, hole))) {
                    clauses.push(vec![sits(pigeon, hole, false), sits(other, hole, false)]);
                }
            }
            assert_eq!(engine.solve(&mut 1, by_number(5 * holes)), Solved::OutOfBudget, "{holes} holes");
            // Each clause is added when it is broken.
            let mut decide = by_number(5 * holes);
            let solved = engine.solve(&mut 10_000, |engine| {
                let is_broken = |clause: &Vec<Literal>| clause.iter().all(|l| engine.truth(*l) == Some(false));
                let broken = clauses.iter().find(|clause| is_broken(clause)).cloned();
                broken.map_or_else(|| decide(engine), |clause| Next::Demand(vec![clause]))
            });
            assert_eq!(solved, expected, "{holes} holes");
        }
    }

    #[test]
    fn values_that_close_a_cycle_are_not_taken() {
        let must = PartialOrder::new(4);
        let mut engine = Engine::new(Acyclic::new(&must, vec![0, 1, 2, 3], 4), 4);
        let before = |engine: &mut Engine<'_>, first, second| {
            Literal::new(engine.variable(Meaning::Before(first, second)), true)
        };
        let around = [(3, 2), (2, 1), (1, 0), (0, 3)].map(|(first, second)| before(&mut engine, first, second));
        around[..3].iter().for_each(|&literal| engine.demand(vec![literal]));
        assert_eq!(engine.solve(&mut 10, by_number(4)), Solved::Yes);
        assert_eq!(engine.truth(around[3]), Some(false));
        assert_eq!(engine.order.row(), [3, 2, 1, 0]);
        engine.demand(vec![around[3]]);
        assert_eq!(engine.solve(&mut 10, by_number(4)), Solved::No);
    }
}
