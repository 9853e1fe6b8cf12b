//! Which search is taken.

use std::borrow::Cow;

use teetotal_explore::annotations::Unsupported;

use super::Builder;

/// A search of the executions of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum SearchKind {
    /// Begins with `Dpor`, and goes over to `Mcr` where most executions differ only in the order of writes.
    #[default]
    Auto,
    /// One execution for all that differ neither in what is read nor in the order of writes.
    Dpor,
    /// One execution for all in which every read takes its value from the same write.
    ///
    /// It takes longer for each execution. It has no bound on preemptions, cannot be kept in a file, and uses one
    /// processor core.
    Mcr,
}

impl SearchKind {
    /// All of them.
    pub const ALL: [SearchKind; 3] = [SearchKind::Auto, SearchKind::Dpor, SearchKind::Mcr];

    /// As in the environment.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SearchKind::Auto => "auto",
            SearchKind::Dpor => "dpor",
            SearchKind::Mcr => "mcr",
        }
    }
}

/// The search that is taken, or `Auto` while that is not known, and why.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) kind: SearchKind,
    pub(super) reason: Cow<'static, str>,
}

impl Choice {
    pub(super) fn new(kind: SearchKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Choice { kind, reason: reason.into() }
    }

    /// What is taken first.
    pub(super) fn first(builder: &Builder) -> Self {
        let needs_dpor = [
            (builder.robustness, "only it decides robustness"),
            (builder.preemption_bound.is_some(), "only it has a bound on preemptions"),
            (builder.checkpoint_file.is_some(), "only it can be kept in a file"),
            (builder.jobs > 1 && builder.search == SearchKind::Auto, "only it uses several processor cores"),
        ];
        match needs_dpor.into_iter().find(|(needs, _)| *needs) {
            Some((_, reason)) => Choice::new(SearchKind::Dpor, reason),
            None if builder.search == SearchKind::Auto => Choice::new(SearchKind::Auto, FEW),
            None => Choice::new(builder.search, "it was asked for"),
        }
    }
}

/// Why a search is not thought about.
const FEW: &str = "there are few executions";

/// After so many executions `mcr` may be tried for the first time; then whenever there are `GROWTH` times as many.
const FIRST: u64 = 8;
const GROWTH: u64 = 4;

/// After so many executions it is not tried again.
const LAST: u64 = FIRST * GROWTH.pow(7);

/// So many executions that read alike have to be there for each that does not, so that `mcr` is tried; or half
/// of those that were run.
const FACTOR: u64 = 16;

/// It is tried for so many executions at least.
const LEAST: u64 = 4;

/// An execution of `mcr` takes so many times as long as one of `dpor`, roughly.
const SLOWER: u64 = 8;

/// Counts how many executions differ in what they read.
#[derive(Debug)]
pub(super) struct Tally {
    executions: u64,
    /// One number for all executions that read the same; those since the last time it was looked at may be repeated.
    classes: Vec<u64>,
    /// When `mcr` may be tried next.
    next: u64,
    goes_over: bool,
    refused: Option<Unsupported>,
    /// Executions of `mcr` that were run in vain.
    pub(super) abandoned: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Tally { executions: 0, classes: Vec::new(), next: FIRST, goes_over: false, refused: None, abandoned: 0 }
    }
}

impl Tally {
    /// Takes note of an execution. If it is time to try `mcr`, gives how many executions that is worth.
    ///
    /// The more executions read alike the longer it is tried: if they all do so, it soon has all there is. Trying in vain
    /// takes no longer than what was done before took, unless there is much to win.
    pub(super) fn count(&mut self, fingerprint: impl FnOnce() -> u64) -> Option<u64> {
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

    /// What `mcr` found is what counts.
    pub(super) fn go_over(&mut self) {
        self.goes_over = true;
    }

    /// `mcr` cannot take the model.
    pub(super) fn refuse(&mut self, unsupported: Unsupported) {
        self.refused = Some(unsupported);
    }

    /// The search that was taken.
    pub(super) fn choice(mut self) -> Choice {
        if self.executions < FIRST {
            return Choice::new(SearchKind::Dpor, FEW);
        }
        if let Some(Unsupported { reason }) = self.refused {
            return Choice::new(SearchKind::Dpor, format!("there is {reason}"));
        }
        self.classes.sort_unstable();
        self.classes.dedup();
        let ways = if self.classes.len() == 1 { "one way".to_owned() } else { format!("{} ways", self.classes.len()) };
        let executions = self.executions;
        match self.goes_over {
            true => Choice::new(SearchKind::Mcr, format!("the first {executions} executions read in only {ways}")),
            false => Choice::new(SearchKind::Dpor, format!("the first {executions} executions read in {ways}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When `mcr` is tried and for how long, if every so many executions read alike.
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
        assert_eq!(Tally::default().choice().kind, SearchKind::Dpor);
        let mut tally = Tally::default();
        (0..FIRST).for_each(|number| _ = tally.count(|| number % 2));
        tally.go_over();
        let Choice { kind, reason } = tally.choice();
        assert_eq!(kind, SearchKind::Mcr);
        assert_eq!(reason, "the first 8 executions read in only 2 ways");
    }
}
