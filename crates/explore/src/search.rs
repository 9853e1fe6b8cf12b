//! The table of searches, and what each preserves.

use teetotal_judge::{Extent, Level, MonitorId, MonitorInfo, Preserves};
use teetotal_program::ir::Program;

use crate::dpor;

/// A search by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SearchId {
    /// One of the others, whichever fits the program; an outcome names the one that it was.
    Auto,
    Stateful,
    Symbolic,
    Dpor,
    Mcr,
    Bounded,
    Random,
    Pct,
    Brute,
}

/// What is said of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchInfo {
    pub id: SearchId,
    /// As on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    pub preserves: Preserves,
    /// The limits that it heeds, by name; a limit on time is heeded by all.
    pub limits: &'static [&'static str],
}

/// All searches; the first is the default.
pub const SEARCHES: &[SearchInfo] = &[
    SearchInfo {
        id: SearchId::Auto,
        name: "auto",
        summary: "stateful, or symbolic where a loop may fill a store buffer without end",
        preserves: Preserves { level: Level::State, extent: Extent::All },
        limits: &["states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Stateful,
        name: "stateful",
        summary: "every state once; complete for programs with finitely many states, loops included",
        preserves: Preserves { level: Level::State, extent: Extent::All },
        limits: &["states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Symbolic,
        name: "symbolic",
        summary: "sets of buffer contents at once; complete for loops that fill buffers without end",
        preserves: Preserves { level: Level::State, extent: Extent::All },
        limits: &["states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Dpor,
        name: "dpor",
        summary: "every trace (who reads from whom, in which order writes reach memory) once; for programs that end",
        preserves: Preserves { level: Level::Trace, extent: Extent::All },
        limits: &["executions", "steps"],
    },
    SearchInfo {
        id: SearchId::Mcr,
        name: "mcr",
        summary: "one execution for all that read the same values and end alike; for programs that end",
        preserves: Preserves { level: Level::Values, extent: Extent::All },
        limits: &["executions", "states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Bounded,
        name: "bounded",
        summary: "every interleaving with few preemptions, those with the fewest first; for programs that end",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::WithinBound },
        limits: &["preemptions", "executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Random,
        name: "random",
        summary: "random walks, each possible step equally likely; not uniform over executions",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::Sampled },
        limits: &["executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Pct,
        name: "pct",
        summary: "random priorities of threads and buffers; finds a bug of small depth with a known probability",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::Sampled },
        limits: &["executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Brute,
        name: "brute",
        summary: "every interleaving of operations and commits; for small programs and for testing the others",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::All },
        limits: &["executions", "steps", "buffer"],
    },
];

impl SearchInfo {
    /// Whether the monitor can be trusted under the search.
    ///
    /// A search over states decides robustness in a way of its own, by [`crate::robustness::decide`]. One execution for
    /// all that read the same values shows all races with the help of the order solver.
    #[must_use]
    pub fn fits(&self, monitor: &MonitorInfo) -> bool {
        let reduces = matches!(self.id, SearchId::Auto | SearchId::Stateful) && monitor.id == MonitorId::Robustness;
        let predicts = matches!(self.id, SearchId::Auto | SearchId::Mcr) && monitor.id == MonitorId::Races;
        reduces || predicts || self.preserves.fits(monitor.needs)
    }
}

impl SearchId {
    /// The search that decides robustness of `program` best: by traces where executions end, else by states.
    #[must_use]
    pub fn for_robustness(program: &Program) -> SearchId {
        let by_traces = program.is_loop_free() && dpor::unsupported(program).is_none();
        if by_traces { SearchId::Dpor } else { SearchId::Stateful }
    }

    /// Its row of [`SEARCHES`].
    #[must_use]
    pub fn info(self) -> &'static SearchInfo {
        SEARCHES.iter().find(|info| info.id == self).expect("every search has a row")
    }

    /// The search called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<SearchId> {
        SEARCHES.iter().find(|info| info.name == name).map(|info| info.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn every_limit_is_heeded_by_some_search_and_every_search_heeds_known_ones() {
        let names = Limits::default().entries().map(|(name, _)| name);
        assert!(names.iter().all(|name| SEARCHES.iter().any(|info| info.limits.contains(name))));
        assert!(SEARCHES.iter().flat_map(|info| info.limits).all(|name| names.contains(name)));
    }

    #[test]
    fn every_stateless_search_has_a_row() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/stateless")).expect("it is there");
        for file in files {
            let name = file.expect("readable").file_name().into_string().expect("plain name");
            let stem = name.strip_suffix(".rs").expect("only Rust files are there");
            // These run one given execution; they are no searches.
            let known = ["mod", "follow", "replay"].contains(&stem) || SearchId::by_name(stem).is_some();
            assert!(known, "stateless/{name} has no row in SEARCHES");
        }
    }
}
