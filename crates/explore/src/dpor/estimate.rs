//! How many executions there are, from a few of them.
//!
//! A random way down the walk, weighted with the number of alternatives at each level, counts the executions without
//! bias [KNUTH-ESTIMATE, §2]. We differ in one way: several probes are not independent but shared out among the
//! alternatives of a level, each as many as another, as long as there are enough; what one level decides then adds
//! nothing to the variance, and a part with fewer executions than probes is counted exactly.

use teetotal_memory::Model;

use super::job::{MAX_WORDS, TooLarge, with_growing_sets};
use super::walk::{Rewindable, Stand, Walk};
use crate::limits::Limits;

/// An unbiased estimate of the number of executions from at most `probes` of them.
pub fn sample<S: Rewindable + Clone, M: Model>(subject: &S, limits: &Limits, probes: u64, seed: u64) -> f64 {
    let probed = with_growing_sets!(sample_sized::<S, M>(subject, limits, probes, seed));
    probed.unwrap_or(f64::NAN)
}

fn sample_sized<S: Rewindable + Clone, M: Model, const N: usize>(
    subject: &S,
    limits: &Limits,
    probes: u64,
    seed: u64,
) -> Result<f64, TooLarge> {
    let walk = Walk::<S, M, N>::new(subject.clone());
    Prober { walk, steps: limits.steps, chance: Chance(seed) }.below(probes)
}

/// Goes down the walk at random.
struct Prober<S, M, const N: usize> {
    walk: Walk<S, M, N>,
    /// The limit on the steps of an execution.
    steps: Option<u64>,
    chance: Chance,
}

impl<S: Rewindable, M: Model, const N: usize> Prober<S, M, N> {
    /// An estimate of the executions below where the walk is, from at most `probes` of them.
    fn below(&mut self, probes: u64) -> Result<f64, TooLarge> {
        if self.steps.is_some_and(|limit| self.walk.graph.len() as u64 > limit) {
            return Ok(0.0);
        }
        let depth = self.walk.levels.len();
        match self.walk.descend() {
            Stand::NoRoom if N < MAX_WORDS => Err(TooLarge),
            Stand::Maximal => Ok(f64::from(u8::from(self.walk.is_execution()))),
            Stand::NoRoom | Stand::DeadEnd | Stand::Deeper if self.walk.levels.len() == depth => Ok(0.0),
            Stand::NoRoom | Stand::DeadEnd | Stand::Deeper => self.among(depth, probes),
        }
    }

    /// The same for the alternatives of the level at `index`.
    fn among(&mut self, index: usize, probes: u64) -> Result<f64, TooLarge> {
        let of = u64::from(self.walk.levels[index].of);
        let (each, rest) = (probes / of, probes % of);
        let mut alternatives: Vec<u32> = (0..of as u32).collect();
        self.chance.draw(&mut alternatives, rest as usize);
        if each == 0 {
            alternatives.truncate(rest as usize);
        }
        let scale = of as f64 / alternatives.len() as f64;
        let mut sum = 0.0;
        for (position, &taken) in alternatives.iter().enumerate() {
            let probes = each + u64::from((position as u64) < rest);
            sum += match self.walk.turn(index, taken) {
                Stand::Deeper if self.walk.levels.len() > index + 1 => self.among(index + 1, probes)?,
                Stand::Deeper => self.below(probes)?,
                Stand::DeadEnd | Stand::Maximal | Stand::NoRoom => 0.0,
            };
        }
        Ok(scale * sum)
    }
}

/// A stream of numbers that depends on its seed alone: SplitMix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    /// Puts `n` of `items`, drawn at random, to the front.
    fn draw<T>(&mut self, items: &mut [T], n: usize) {
        for at in 0..n.min(items.len()) {
            let other = at + self.below(items.len() - at);
            items.swap(at, other);
        }
    }
}
