//! How many executions there are, from a few of them.
//!
//! A random path down the walk, weighted with one over its probability, counts the executions without bias
//! [KNUTH-ESTIMATE]. We differ in two ways:
//! 1. The probes of a group are not independent: each alternative of a level gets its share of them, so that what a
//!    level decides adds little to the variance while there are probes enough.
//! 2. The first alternative, the maximal one, gets half of what the others get, since fewer executions are below it.
//!
//! What groups say varies by orders of magnitude, nearly as the logarithmic normal distribution does; the interval is one
//! for the mean of such a distribution [LAND-LOGNORMAL], and wider, because few probes miss rare and heavy branches.

use teetotal_engine::{Chance, Limits};
use teetotal_memory::ModelId;

use super::consistency::{Consistency, with_rules};
use super::job::{MAX_WORDS, TooLarge, with_growing_sets};
use super::walk::{Reached, Rewindable, Walk};

/// How many executions there are, as far as some of them tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// About so many.
    pub executions: f64,
    /// Hardly fewer than this.
    pub low: f64,
    /// Hardly more than this.
    pub high: f64,
    /// Whether all of them were seen, so that the number is exact.
    pub is_exact: bool,
    /// How many executions were looked at, at most.
    pub probes: u64,
}

/// Estimates the number of executions of `subject` under `model` from at most `probes` of them, drawn by `seed`.
#[must_use]
pub fn estimate<S: Rewindable + Clone>(
    model: ModelId,
    subject: &S,
    limits: &Limits,
    probes: u64,
    seed: u64,
) -> Estimate {
    let probes = probes.max(1);
    let groups = with_rules!(model, rules => probe_all(subject, rules, limits, probes, seed));
    let interval = match groups.iter().find(|group| group.is_exact) {
        Some(group) => Interval { mean: group.count, low: group.count, high: group.count },
        None => Interval::of(&groups.iter().map(|group| group.count).collect::<Vec<_>>()),
    };
    let is_exact = groups.iter().any(|group| group.is_exact);
    Estimate { executions: interval.mean, low: interval.low, high: interval.high, is_exact, probes }
}

/// What the probes of one group say.
struct Group {
    count: f64,
    /// Whether they are all executions that there are.
    is_exact: bool,
}

/// In so many groups the probes are taken, if they are many.
const GROUPS: u64 = 8;

/// A group has at least so many probes, while there are several groups.
const MIN_PROBES: u64 = 4;

fn probe_all<S: Rewindable + Clone, C: Consistency>(
    subject: &S,
    rules: C,
    limits: &Limits,
    probes: u64,
    seed: u64,
) -> Vec<Group> {
    let probed = with_growing_sets!(probe::<S, C>(subject, rules, limits, probes, seed));
    probed.unwrap_or_else(|TooLarge| unreachable!("the largest sets are never too small"))
}

fn probe<S: Rewindable + Clone, C: Consistency, const N: usize>(
    subject: &S,
    rules: C,
    limits: &Limits,
    probes: u64,
    seed: u64,
) -> Result<Vec<Group>, TooLarge> {
    let n_groups = (probes / MIN_PROBES).clamp(1, GROUPS);
    let walk = Walk::<S, C, N>::new(subject.clone(), rules);
    let mut prober = Prober { walk, steps: limits.steps, chance: Chance::of_execution(seed, 0), is_exact: true };
    let mut group = |index| {
        prober.walk.leave(0);
        prober.is_exact = true;
        let count = prober.below(probes / n_groups + u64::from(index < probes % n_groups))?;
        Ok(Group { count, is_exact: prober.is_exact })
    };
    (0..n_groups).map(&mut group).collect()
}

/// Goes down the walk at random.
struct Prober<S, C: Consistency, const N: usize> {
    walk: Walk<S, C, N>,
    /// The limit on the steps of an execution.
    steps: Option<u64>,
    chance: Chance,
    /// Whether no alternative was left out.
    is_exact: bool,
}

impl<S: Rewindable, C: Consistency, const N: usize> Prober<S, C, N> {
    /// An estimate of the executions below where the walk is, from at most `probes` of them.
    fn below(&mut self, probes: u64) -> Result<f64, TooLarge> {
        if self.steps.is_some_and(|limit| self.walk.graph.n_operations() as u64 > limit) {
            return Ok(0.0);
        }
        let depth = self.walk.levels.len();
        match self.walk.descend() {
            Reached::NoRoom if N < MAX_WORDS => Err(TooLarge),
            Reached::Complete => Ok(f64::from(u8::from(self.walk.is_execution()))),
            _ if self.walk.levels.len() == depth => Ok(0.0),
            _ => self.among(depth, probes),
        }
    }

    /// The same for the alternatives of the level at `index`.
    ///
    /// One whose share is less than a probe gets it with that probability, and then stands for as many like it.
    fn among(&mut self, index: usize, probes: u64) -> Result<f64, TooLarge> {
        let of = self.walk.levels[index].of;
        let unit = probes as f64 / (2.0 * f64::from(of) - 1.0);
        let mut bound = self.fraction();
        let mut sum = 0.0;
        for chosen in 0..of {
            let share = if chosen == 0 { unit } else { 2.0 * unit };
            self.is_exact &= share >= 1.0;
            // Between two numbers that are `share` apart there are so many integers, or one more.
            let before = bound.floor();
            bound += share;
            let probes = (bound.floor() - before) as u64;
            if probes == 0 {
                continue;
            }
            let found = match self.walk.turn(index, chosen) {
                Reached::Extended if self.walk.levels.len() > index + 1 => self.among(index + 1, probes)?,
                Reached::Extended => self.below(probes)?,
                _ => 0.0,
            };
            sum += found / share.min(1.0);
        }
        Ok(sum)
    }

    /// A number from 0 up to 1, without it.
    fn fraction(&mut self) -> f64 {
        (self.chance.any() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A mean and what it is likely to lie between.
struct Interval {
    mean: f64,
    low: f64,
    high: f64,
}

/// How much wider the interval is than theory has it.
const CAUTION: f64 = 1.3;

/// What is assumed of the variance of logarithms before anything is seen, and for how many observations that counts.
const PRIOR_VARIANCE: f64 = 2.0;
const PRIOR_WEIGHT: usize = 2;

impl Interval {
    /// Around the mean of what `counts`, not empty, are a sample of.
    fn of(counts: &[f64]) -> Self {
        let n = counts.len() as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let logs: Vec<f64> = counts.iter().filter(|count| **count > 0.0).map(|count| count.ln()).collect();
        if logs.is_empty() {
            return Interval { mean, low: 0.0, high: f64::INFINITY };
        }
        let n_logs = logs.len() as f64;
        let center = logs.iter().sum::<f64>() / n_logs;
        let squares: f64 = logs.iter().map(|log| (log - center).powi(2)).sum();
        let freedom = logs.len() - 1 + PRIOR_WEIGHT;
        let variance = (squares + PRIOR_VARIANCE * PRIOR_WEIGHT as f64) / freedom as f64;
        let error = (variance / n_logs + variance * variance / (2.0 * freedom as f64)).sqrt();
        let reach = CAUTION * quantile(freedom) * error;
        let logarithmic = center + variance / 2.0 + (n_logs / n).ln();
        // The mean itself is always inside.
        Interval {
            mean,
            low: (logarithmic - reach).exp().min(mean).max(1.0),
            high: (logarithmic + reach).exp().max(mean),
        }
    }
}

/// The quantile of Student's distribution that 95 of 100 cases stay within.
fn quantile(freedom: usize) -> f64 {
    const QUANTILES: [f64; 10] = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23];
    QUANTILES[freedom.clamp(1, QUANTILES.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_around_the_mean_and_narrower_the_more_is_known() {
        let few = Interval::of(&[10.0, 1_000.0]);
        let many = Interval::of(&[10.0, 1_000.0, 10.0, 1_000.0, 10.0, 1_000.0, 10.0, 1_000.0]);
        assert!(few.low < many.low && many.low < 505.0 && 505.0 < many.high && many.high < few.high);
        assert!((few.mean - 505.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_found_says_nothing() {
        let Interval { mean, low, high } = Interval::of(&[0.0, 0.0]);
        assert_eq!((mean, low, high), (0.0, 0.0, f64::INFINITY));
    }
}
