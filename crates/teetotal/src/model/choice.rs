//! Which search is taken.

use std::collections::BTreeSet;

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
    pub(super) reason: String,
}

impl Choice {
    pub(super) fn new(kind: SearchKind, reason: impl Into<String>) -> Self {
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
            None if builder.search == SearchKind::Auto => Choice::new(SearchKind::Auto, "there are few executions"),
            None => Choice::new(builder.search, "it was asked for"),
        }
    }
}

/// After so many executions it is decided for the first time; then whenever there are twice as many.
const FIRST: u64 = 1 << 11;

/// After so many executions it is not decided again.
const LAST: u64 = 1 << 17;

/// So many executions that read alike have to be there for each that does not, so that `mcr` takes less time.
const FACTOR: u64 = 20;

/// Counts how many executions differ in what they read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    executions: u64,
    classes: BTreeSet<u64>,
    goes_over: bool,
}

impl Tally {
    /// Takes note of an execution; gives whether it is time to go over to `mcr`.
    pub(super) fn count(&mut self, fingerprint: impl FnOnce() -> u64) -> bool {
        if self.executions < LAST && !self.goes_over {
            self.executions += 1;
            self.classes.insert(fingerprint());
            let is_time = self.executions >= FIRST && self.executions.is_power_of_two();
            self.goes_over = is_time && self.classes.len() as u64 * FACTOR <= self.executions;
        }
        self.goes_over
    }

    /// Whether it was time to go over to `mcr`.
    pub(super) fn goes_over(&self) -> bool {
        self.goes_over
    }

    /// Which search there is to go on with, as far as is known.
    pub(super) fn choice(&self) -> Choice {
        let said = format!("{} of the first {} executions differ in what they read", self.classes.len(), self.executions);
        match self.executions {
            _ if self.goes_over => Choice::new(SearchKind::Mcr, format!("only {said}")),
            few if few < FIRST => Choice::new(SearchKind::Dpor, "there are few executions"),
            _ => Choice::new(SearchKind::Dpor, said),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts executions of which every so many read alike, until it goes over.
    fn goes_over_after(every: u64, most: u64) -> Option<u64> {
        let mut tally = Tally::default();
        (1..=most).find(|number| tally.count(|| number / every))
    }

    #[test]
    fn it_goes_over_where_many_executions_read_alike() {
        assert_eq!(goes_over_after(100, 10_000), Some(FIRST));
        assert_eq!(goes_over_after(10, 1_000_000), None);
        assert_eq!(goes_over_after(100, FIRST - 1), None);
    }

    #[test]
    fn what_is_said_fits_what_is_chosen() {
        let mut tally = Tally::default();
        assert_eq!(tally.choice().kind, SearchKind::Dpor);
        (0..FIRST).for_each(|_| _ = tally.count(|| 7));
        let Choice { kind, reason } = tally.choice();
        assert_eq!((kind, reason.as_str()), (SearchKind::Mcr, "only 1 of the first 2048 executions differ in what they read"));
    }
}
