//! Which search Rust code is given, by what its first executions read.

use std::borrow::Cow;

use crate::search::{SearchId, Unsupported};

/// The search that is taken for Rust code, or `Auto` while that is not known, and why.
#[derive(Clone, Debug)]
pub struct RustChoice {
    pub search: SearchId,
    /// The end of "`x` was taken, since ...".
    pub reason: Cow<'static, str>,
}

/// What is asked of Rust code, as far as the choice depends on it.
#[derive(Clone, Copy, Debug)]
pub struct RustAsked {
    pub search: SearchId,
    pub robustness: bool,
    /// Whether executions of the model are graphs.
    pub is_of_graphs: bool,
    /// Whether preemptions are bounded.
    pub is_bounded: bool,
    /// Whether the search is kept in a file.
    pub is_kept: bool,
    pub jobs: usize,
}

impl RustChoice {
    pub fn new(search: SearchId, reason: impl Into<Cow<'static, str>>) -> Self {
        RustChoice { search, reason: reason.into() }
    }

    /// What is taken first.
    #[must_use]
    pub fn first(asked: &RustAsked) -> Self {
        let needs_dpor = [
            (asked.is_of_graphs, "executions of the model are graphs"),
            (asked.robustness, "only it decides robustness"),
            (asked.is_bounded, "only it has a bound on preemptions"),
            (asked.is_kept, "only it has checkpoints"),
            (asked.jobs > 1 && asked.search == SearchId::Auto, "only it uses several processor cores"),
        ];
        match needs_dpor.into_iter().find(|(needs, _)| *needs) {
            Some((_, reason)) => RustChoice::new(SearchId::Dpor, reason),
            None if asked.search == SearchId::Auto => RustChoice::new(SearchId::Auto, FEW),
            None => RustChoice::new(asked.search, "it was requested"),
        }
    }

    /// What is taken where `rf` does not take the code.
    #[must_use]
    pub fn without_reads_from(unsupported: Unsupported) -> Self {
        RustChoice::new(SearchId::Dpor, format!("there is {}", unsupported.reason))
    }
}

/// Why there is nothing to choose.
const FEW: &str = "there are few executions";

/// After so many executions `rf` may be tried for the first time; then whenever there are `GROWTH` times as many.
const FIRST: u64 = 8;
const GROWTH: u64 = 4;

/// After so many executions it is not tried again.
const LAST: u64 = FIRST * GROWTH.pow(7);

/// So many executions that read alike have to be there for each that does not, so that `rf` is tried; or half
/// of those that were run.
const FACTOR: u64 = 16;

/// It is tried for so many executions at least.
const LEAST: u64 = 4;

/// An execution of `rf` takes so many times as long as one of `dpor`, roughly.
const SLOWER: u64 = 8;

/// Counts how many executions differ in what they read.
#[derive(Debug)]
pub struct Tally {
    executions: u64,
    /// One number for all executions that read the same; those since the last time it was looked at may be repeated.
    classes: Vec<u64>,
    /// When `rf` may be tried next.
    next: u64,
    goes_over: bool,
    refused: Option<Unsupported>,
    /// Executions of `rf` that were run without an answer.
    pub abandoned: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { executions: 0, classes: Vec::new(), next: FIRST, goes_over: false, refused: None, abandoned: 0 }
    }
}

impl Tally {
    /// Takes note of an execution. If it is time to try `rf`, returns how many executions that is worth.
    ///
    /// The more executions read alike the longer it is tried: if they all do so, it soon has all there is. A try without an
    /// answer takes no longer than what was done before took, unless there is much to win.
    pub fn count(&mut self, fingerprint: impl FnOnce() -> u64) -> Option<u64> {
        if self.next > LAST || self.refused.is_some() {
            return None;
        }
        self.executions += 1;
        self.classes.push(fingerprint());
        if self.executions < self.next {
            return None;
        }
        self.next *= GROWTH;
        self.classes.sort_unstable();
        self.classes.dedup();
        let ratio = self.executions / self.classes.len() as u64;
        let budget = (self.executions * ratio / (FACTOR * SLOWER)).max(LEAST);
        (ratio >= FACTOR.min(self.executions / 2)).then_some(budget)
    }

    /// What `rf` found is what counts.
    pub fn go_over(&mut self) {
        self.goes_over = true;
    }

    /// `rf` cannot take the model.
    pub fn refuse(&mut self, unsupported: Unsupported) {
        self.refused = Some(unsupported);
    }

    /// The search that was taken.
    #[must_use]
    pub fn choice(mut self) -> RustChoice {
        if self.executions < FIRST {
            return RustChoice::new(SearchId::Dpor, FEW);
        }
        if let Some(unsupported) = self.refused {
            return RustChoice::without_reads_from(unsupported);
        }
        self.classes.sort_unstable();
        self.classes.dedup();
        let executions = self.executions;
        let classes = match self.classes.len() {
            1 => "one reads-from relation".to_owned(),
            n => format!("{n} reads-from relations"),
        };
        match self.goes_over {
            true => {
                RustChoice::new(SearchId::ReadsFrom, format!("the first {executions} executions have only {classes}"))
            }
            false => RustChoice::new(SearchId::Dpor, format!("the first {executions} executions have {classes}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When `rf` is tried and for how long, if every so many executions read alike.
    fn tries(every: u64, most: u64) -> Vec<(u64, u64)> {
        let mut tally = Tally::default();
        (1..=most).filter_map(|number| Some((number, tally.count(|| number / every)?))).collect()
    }

    #[test]
    fn it_is_tried_where_many_executions_read_alike() {
        assert_eq!(tries(100, 3_000), [(8, 4), (32, 8), (128, 64), (512, 340), (2_048, 1_552)]);
        assert_eq!(tries(3, 1_000_000), []);
        assert_eq!(tries(100, FIRST - 1), []);
    }

    #[test]
    fn what_is_said_fits_what_is_chosen() {
        assert_eq!(Tally::default().choice().search, SearchId::Dpor);
        let mut tally = Tally::default();
        (0..FIRST).for_each(|number| _ = tally.count(|| number % 2));
        tally.go_over();
        let RustChoice { search, reason } = tally.choice();
        assert_eq!(search, SearchId::ReadsFrom);
        assert_eq!(reason, "the first 8 executions have only 2 reads-from relations");
    }
}
