//! What a set of programs covers: how many of them contain each construct and each shape that tells models apart.

use std::fmt;

use crate::coverage::features::FEATURES;
use teetotal_program::ir::Program;

mod features;
mod shapes;

/// Counts of programs by what they contain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    n_programs: u64,
    /// One for each of the features, or none at all before the first program.
    counts: Vec<u64>,
}

impl Coverage {
    /// Counts `program`.
    pub fn add(&mut self, program: &Program) {
        self.n_programs += 1;
        self.counts.resize(FEATURES.len(), 0);
        for (count, (_, has)) in self.counts.iter_mut().zip(FEATURES) {
            *count += u64::from(has(program));
        }
    }

    /// Takes over the counts of `other`.
    pub fn merge(&mut self, other: &Coverage) {
        self.n_programs += other.n_programs;
        self.counts.resize(FEATURES.len(), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// How many programs were counted.
    #[must_use]
    pub fn n_programs(&self) -> u64 {
        self.n_programs
    }

    /// How many of them have the feature called `name`, as in the table.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        let at = FEATURES.iter().position(|(known, _)| *known == name);
        let at = at.unwrap_or_else(|| panic!("there is no feature called `{name}`"));
        self.counts.get(at).copied().unwrap_or(0)
    }

    /// Every feature and how many programs have it.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FEATURES.iter().enumerate().map(|(at, (name, _))| (*name, self.counts.get(at).copied().unwrap_or(0)))
    }
}

impl Extend<Program> for Coverage {
    fn extend<I: IntoIterator<Item = Program>>(&mut self, programs: I) {
        programs.into_iter().for_each(|program| self.add(&program));
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = FEATURES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        writeln!(f, "{:<width$}  {:>8}", "programs", self.n_programs)?;
        for (name, count) in self.rows() {
            let percent = 100.0 * count as f64 / self.n_programs.max(1) as f64;
            writeln!(f, "{name:<width$}  {count:>8}  {percent:>5.1} %")?;
        }
        Ok(())
    }
}
