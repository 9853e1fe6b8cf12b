//! The steps of an execution in another order, in which each thread goes on for as long as it can.
//!
//! Steps that do not depend on each other may be swapped, so every order that keeps dependent steps in place is an
//! execution of the same trace. What a step that went wrong does not depend on is left out.

use teetotal_memory::dependence::depends;
use teetotal_memory::{Model, ModelVisitor, Step};
use teetotal_program::ThreadId;

use crate::replay::Replayed;

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
    /// Whether a step must come after an earlier one.
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
            self.left[position] = self.before[last][position];
        }
    }

    /// The step to take next.
    fn next(&self) -> Option<usize> {
        let ready = || (0..self.steps.len()).filter(|&position| self.is_ready(position));
        let own = self.next_of_turn();
        let goes_on = own.filter(|&own| self.is_ready(own));
        // A commit that the thread waits for comes before another thread gets its turn.
        let helps = || ready().find(|&p| self.steps[p].is_commit() && own.is_some_and(|own| self.before[own][p]));
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

    /// Whether nothing that must come before it is left.
    fn is_ready(&self, position: usize) -> bool {
        self.left[position] && !(0..position).any(|earlier| self.left[earlier] && self.before[position][earlier])
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
