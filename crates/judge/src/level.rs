//! How much of an execution a monitor looks at, and how much of the executions a search shows.

/// What of an execution matters. Each level contains those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// Final registers, memory and blocked threads, and the states each thread passes through.
    State,
    /// And the values that each thread reads.
    Values,
    /// And the releases that each acquire, lock and wait synchronized with.
    Synchronization,
    /// And the source of each read, the last write of each location, the unlock that each lock followed.
    ReadsFrom,
    /// And the coherence order: the trace (po, rf, co).
    Trace,
    /// And the order of all steps.
    EveryInterleaving,
}

/// How many of the executions a search shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extent {
    /// All of them, up to what its level does not tell apart.
    All,
    /// Those within a bound.
    WithinBound,
    /// Some.
    Sampled,
}

/// What a search promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preserves {
    pub level: Level,
    pub extent: Extent,
}

impl Preserves {
    /// Whether a monitor with this need can be trusted under the search.
    ///
    /// A search that does not show all executions never lets us say that something holds, so it fits every monitor.
    #[must_use]
    pub fn fits(self, needs: Level) -> bool {
        self.extent != Extent::All || self.level >= needs
    }
}

impl Extent {
    /// As it is printed, to follow what is preserved.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Extent::All => "of all executions",
            Extent::WithinBound => "of the executions within a bound",
            Extent::Sampled => "of a sample of the executions",
        }
    }
}

impl Level {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::State => "state",
            Level::Values => "values",
            Level::Synchronization => "synchronization",
            Level::ReadsFrom => "reads-from",
            Level::Trace => "trace",
            Level::EveryInterleaving => "every interleaving",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_fits_what_needs_no_more_than_it_shows() {
        let all = |level| Preserves { level, extent: Extent::All };
        assert!(all(Level::Trace).fits(Level::State));
        assert!(!all(Level::State).fits(Level::Trace));
        assert!(Preserves { level: Level::State, extent: Extent::Sampled }.fits(Level::EveryInterleaving));
    }
}
