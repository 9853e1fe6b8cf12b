//! How much variables took part in conflicts, late ones counting more: what to decide next.
//!
//! Definition: [CHAFF].

/// A score for each variable.
pub(super) struct Activity {
    scores: Vec<f64>,
    /// How much the next conflict counts.
    increment: f64,
}

/// How much more a conflict counts than the one before.
const FACTOR: f64 = 1.0 / 0.95;

/// Scores are made smaller before they get larger than this.
const LARGE: f64 = 1e100;

impl Activity {
    /// Of so many variables, that is, or moments.
    pub(super) fn new(count: usize) -> Self {
        Activity { scores: vec![0.0; count], increment: 1.0 }
    }

    /// Adds the next variable.
    pub(super) fn add(&mut self) {
        self.scores.push(0.0);
    }

    pub(super) fn of(&self, variable: usize) -> f64 {
        self.scores[variable]
    }

    /// A variable takes part in a conflict.
    pub(super) fn bump(&mut self, variable: usize) {
        self.scores[variable] += self.increment;
        if self.scores[variable] > LARGE {
            self.scores.iter_mut().for_each(|score| *score /= LARGE);
            self.increment /= LARGE;
        }
    }

    /// A conflict is over.
    pub(super) fn age(&mut self) {
        self.increment *= FACTOR;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_conflicts_count_more_and_scores_stay_finite() {
        let mut activity = Activity::new(1);
        activity.add();
        activity.bump(0);
        activity.age();
        activity.bump(1);
        assert!(activity.of(1) > activity.of(0));
        for _ in 0..10_000 {
            activity.age();
            activity.bump(0);
        }
        assert!(activity.of(0).is_finite() && activity.of(0) > activity.of(1));
    }
}
