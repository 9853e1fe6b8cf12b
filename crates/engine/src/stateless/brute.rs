//! Brute force: every interleaving of operations and commits, in depth-first order.
//!
//! It has no reduction at all, which makes it the judge of every search that has one.

use teetotal_memory::{Step, Trace};

use crate::strategy::{Choice, Strategy};

/// Every interleaving.
#[derive(Clone, Debug, Default)]
pub struct Brute {
    /// For each step of the current execution, which position was taken of how many.
    path: Vec<(usize, usize)>,
    /// How many steps of the current execution are taken.
    depth: usize,
    started: bool,
}

impl Strategy for Brute {
    fn begin(&mut self) -> bool {
        self.depth = 0;
        if !std::mem::replace(&mut self.started, true) {
            return true;
        }
        while let Some((taken, of)) = self.path.last_mut() {
            *taken += 1;
            if *taken < *of {
                return true;
            }
            self.path.pop();
        }
        false
    }

    fn choose(&mut self, enabled: &[Step], _: &Trace) -> Choice {
        if self.depth == self.path.len() {
            self.path.push((0, enabled.len()));
        }
        let (taken, of) = self.path[self.depth];
        assert_eq!(of, enabled.len(), "the same prefix allowed other steps before; the subject is not deterministic");
        self.depth += 1;
        Choice::Take(taken)
    }

    fn end(&mut self, _: &Trace) {
        // What was cut short below here has no other continuation to try.
        self.path.truncate(self.depth);
    }
}
