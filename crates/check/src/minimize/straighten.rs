//! The steps of an execution in another order, in which each thread goes on for as long as it can.
//!
//! Steps that do not depend on each other may be swapped, so every order that keeps dependent steps in place is an
//! execution of the same trace. What a step that went wrong does not depend on is left out.

use teetotal_engine::Replayed;
use teetotal_memory::dependence::depends;
use teetotal_memory::{Model, ModelVisitor, Step};
use teetotal_program::ThreadId;

/// Longer executions are left as they are: who depends on whom takes cubic time.
const MAX_STEPS: usize = 400;

/// Gives the steps in their new order.
pub(super) struct Straighten<'s> {
    pub(super) found: &'s Replayed,
}

impl ModelVisitor for Straighten<'_> {
    type Output = Vec<Step>;

    fn visit<M: Model>(self) -> Vec<Step> {
        let steps: Vec<Step> = self.found.trace.steps().iter().map(|record| record.step).collect();
        if steps.is_empty() || steps.len() > MAX_STEPS {
            return steps;
        }
        let before = all_before::<M>(self.found);
        let mut order = Order { left: vec![true; steps.len()], before, turn: None, steps };
        if self.found.ending.is_none() {
            order.leave_out_what_the_last_does_not_need();
        }
        let mut taken = Vec::new();
        while let Some(position) = order.next() {
            taken.push(order.take(position));
        }
        taken
    }
}

/// For each step, whether it must come after each earlier one.
fn all_before<M: Model>(found: &Replayed) -> Vec<Vec<bool>> {
    let n_steps = found.trace.steps().len();
    let mut before: Vec<Vec<bool>> = Vec::with_capacity(n_steps);
    for later in 0..n_steps {
        let mut row = vec![false; later];
        for earlier in (0..later).rev() {
            if row[earlier] || !depends::<M>(&found.trace, earlier, later) {
                continue;
            }
            row[earlier] = true;
            // Whatever comes before that one comes before this one too.
            (0..earlier).filter(|&first| before[earlier][first]).for_each(|first| row[first] = true);
        }
        before.push(row);
    }
    before
}

struct Order {
    steps: Vec<Step>,
    /// For each step, whether it must come after each earlier one.
    before: Vec<Vec<bool>>,
    /// Which steps are still to be taken.
    left: Vec<bool>,
    /// Who performed the last operation.
    turn: Option<ThreadId>,
}

impl Order {
    fn leave_out_what_the_last_does_not_need(&mut self) {
        let last = self.steps.len() - 1;
        for position in 0..last {
            self.left[position] = self.must_precede(position, last);
        }
    }

    /// The step to take next.
    fn next(&self) -> Option<usize> {
        let ready = || (0..self.steps.len()).filter(|&position| self.is_ready(position));
        let own = self.next_of_turn();
        let goes_on = own.filter(|&own| self.is_ready(own));
        // A commit that the thread waits for comes before another thread gets its turn.
        let helps = || ready().find(|&p| self.steps[p].is_commit() && own.is_some_and(|own| self.must_precede(p, own)));
        let switches = || ready().find(|&position| !self.steps[position].is_commit());
        goes_on.or_else(helps).or_else(switches).or_else(|| ready().next())
    }

    /// The next operation of the thread whose turn it is.
    fn next_of_turn(&self) -> Option<usize> {
        let turn = self.turn?;
        let is_own = |&position: &usize| {
            let step = self.steps[position];
            self.left[position] && !step.is_commit() && step.thread() == turn
        };
        (0..self.steps.len()).find(is_own)
    }

    /// Whether the step at `first` must come before the one at `second`.
    fn must_precede(&self, first: usize, second: usize) -> bool {
        first < second && self.before[second][first]
    }

    /// Whether nothing that must come before it is left.
    fn is_ready(&self, position: usize) -> bool {
        self.left[position] && !(0..position).any(|earlier| self.left[earlier] && self.must_precede(earlier, position))
    }

    fn take(&mut self, position: usize) -> Step {
        self.left[position] = false;
        let step = self.steps[position];
        if !step.is_commit() {
            self.turn = Some(step.thread());
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use teetotal_engine::{Limits, Schedule, run_again};
    use teetotal_generate::{Shape, generate};
    use teetotal_memory::BUFFER_MODELS;
    use teetotal_program::ir::Program;

    use super::*;
    use crate::{Options, SearchId, check};

    /// Who depends on whom does not say that a stretch of one thread stays together.
    fn has_exclusive(program: &Program) -> bool {
        program.threads.iter().any(|thread| thread.places.iter().any(|place| place.exclusive))
    }

    #[test]
    fn a_straightened_execution_has_the_same_trace() {
        let mut changed = 0;
        for seed in 0..300 {
            let program = Arc::new(generate(seed, &Shape::full()));
            if has_exclusive(&program) {
                continue;
            }
            for model in BUFFER_MODELS {
                let limits = Limits { executions: Some(20), ..Limits::default() };
                let options =
                    Options { search: SearchId::Random, seed, minimize: false, limits, ..Options::new(model.id) };
                let outcome = check(&program, &options, &|| None).expect("it can be searched");
                for schedule in outcome.states.values() {
                    let found = run_again(&program, model.id, schedule);
                    let steps = model.id.visit(Straighten { found: &found });
                    let straight = Schedule::Steps(steps);
                    let again = run_again(&program, model.id, &straight);
                    assert_eq!(again.trace.steps().len(), schedule.len(), "{schedule:?} {straight:?}\n{program}");
                    assert_eq!(again.trace.key(), found.trace.key(), "{schedule:?} {straight:?}\n{program}");
                    changed += u64::from(again.trace != found.trace);
                }
            }
        }
        assert!(changed > 100, "only {changed} were changed");
    }
}
