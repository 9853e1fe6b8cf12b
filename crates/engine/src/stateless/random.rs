//! A random walk: each possible step is equally likely.
//!
//! This is not uniform over executions: one with many steps that left a choice is less likely than one with few.

use teetotal_memory::{Step, Trace};

use crate::chance::Chance;
use crate::outcome::StopReason;
use crate::strategy::{Choice, Strategy};

/// So many executions, each by chance.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    executions: u64,
    /// How many are begun.
    begun: u64,
    chance: Chance,
}

impl Random {
    /// The same seed gives the same executions.
    #[must_use]
    pub fn new(seed: u64, executions: u64) -> Self {
        Random { seed, executions, begun: 0, chance: Chance::of_execution(seed, 0) }
    }
}

impl Strategy for Random {
    fn begin(&mut self) -> bool {
        self.chance = Chance::of_execution(self.seed, self.begun);
        self.begun += 1;
        self.begun <= self.executions
    }

    fn choose(&mut self, enabled: &[Step], _: &Trace) -> Choice {
        Choice::Take(self.chance.index(enabled.len()))
    }

    fn left_out(&self) -> Option<StopReason> {
        Some(StopReason::Executions(self.executions))
    }
}
