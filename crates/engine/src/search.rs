//! The table of searches: what each is called, what it preserves and what it can take; and the interface of all of them.
//!
//! A search is run on a [`Task`]: a program, or Rust code. What it says of both is a row of [`SEARCHES`]; how it takes a
//! program or Rust code is an implementation of [`Search`], in one table for each kind of task.

use std::error::Error;
use std::fmt;

use teetotal_judge::{Extent, Level, MonitorId, MonitorInfo, Preserves};
use teetotal_memory::{Family, ModelId};

/// A search by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum SearchId {
    /// One of the others, whichever fits; a result names the one that was taken.
    #[default]
    Auto,
    /// Every state once.
    Stateful,
    /// Sets of states, with buffers as automata.
    Symbolic,
    /// One execution for each execution graph: program order, reads-from and coherence.
    Dpor,
    /// One execution for all in which every read takes its value from the same write.
    ReadsFrom,
    /// One execution for all that read the same values and end alike.
    Mcr,
    /// Every interleaving within a bound on preemptions.
    Bounded,
    /// Random walks.
    Random,
    /// Random priorities.
    Pct,
    /// Every interleaving.
    Brute,
    /// The one execution of a token.
    Replay,
}

/// What is said of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchInfo {
    /// Its name in code.
    pub id: SearchId,
    /// As on the command line and in the environment.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// What it tells apart in executions, and how many of them it shows.
    pub preserves: Preserves,
    /// Whether it takes programs: litmus tests, Promela models, the intermediate representation.
    pub programs: Takes,
    /// Whether it takes Rust code.
    pub rust: Takes,
    /// Whether it takes models of graphs, which have no store buffers; it takes all others.
    pub graphs: Takes,
    /// The limits that it obeys, by name; every search obeys a limit on time.
    pub limits: &'static [&'static str],
}

/// Whether a search can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// It can.
    Yes,
    /// It cannot, for this reason: the end of "the search `x` ...".
    No(&'static str),
}

/// Why the states of Rust code are not searched.
const NO_STATES: Takes = Takes::No("needs states that can be stored, and the state of Rust code cannot be copied");

/// Why a search of interleavings does not take Rust code.
const NO_INTERLEAVINGS: Takes = Takes::No("runs programs only");

/// Why a search does not take models of graphs.
const NO_GRAPHS: Takes =
    Takes::No("combines states of memory and store buffers, which the model does not have; use `dpor`");

/// All searches; the first is the default.
pub const SEARCHES: &[SearchInfo] = &[
    SearchInfo {
        id: SearchId::Auto,
        name: "auto",
        summary: "chooses stateful, dpor or mcr, or symbolic where loops may fill buffers without bound; dpor under rc11",
        preserves: Preserves { level: Level::State, extent: Extent::All },
        programs: Takes::Yes,
        rust: Takes::Yes,
        graphs: Takes::Yes,
        limits: &["states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Stateful,
        name: "stateful",
        summary: "every state once; complete for programs with finitely many states, loops included",
        preserves: Preserves { level: Level::State, extent: Extent::All },
        programs: Takes::Yes,
        rust: NO_STATES,
        graphs: NO_GRAPHS,
        limits: &["states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Symbolic,
        name: "symbolic",
        summary: "sets of buffer contents at once; complete for loops that fill buffers without bound",
        preserves: Preserves { level: Level::State, extent: Extent::All },
        programs: Takes::Yes,
        rust: NO_STATES,
        graphs: NO_GRAPHS,
        limits: &["states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Dpor,
        name: "dpor",
        summary: "every trace (reads-from and coherence order) once; for programs whose executions end",
        preserves: Preserves { level: Level::Trace, extent: Extent::All },
        programs: Takes::Yes,
        rust: Takes::Yes,
        graphs: Takes::Yes,
        limits: &["executions", "steps"],
    },
    SearchInfo {
        id: SearchId::ReadsFrom,
        name: "rf",
        summary: "one execution for each reads-from relation; for Rust code",
        preserves: Preserves { level: Level::ReadsFrom, extent: Extent::All },
        programs: Takes::No("does not distinguish final states that differ only in the order of writes; use `mcr`"),
        rust: Takes::Yes,
        graphs: Takes::No("takes models of store buffers only; use `dpor`, or another model"),
        limits: &["executions", "steps"],
    },
    SearchInfo {
        id: SearchId::Mcr,
        name: "mcr",
        summary: "one execution for all that read the same values and end alike; for programs whose executions end",
        preserves: Preserves { level: Level::Values, extent: Extent::All },
        programs: Takes::Yes,
        rust: Takes::No("combines states of threads, and the state of Rust code cannot be copied; use `rf`"),
        graphs: NO_GRAPHS,
        limits: &["executions", "states", "steps", "buffer", "memory"],
    },
    SearchInfo {
        id: SearchId::Bounded,
        name: "bounded",
        summary: "every interleaving with few preemptions, the fewest first; for programs whose executions end",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::WithinBound },
        programs: Takes::Yes,
        rust: Takes::No("runs programs only; a preemption bound of `dpor` does this for Rust code"),
        graphs: Takes::Yes,
        limits: &["preemptions", "executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Random,
        name: "random",
        summary: "random walks, each possible step equally likely; not uniform over executions",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::Sampled },
        programs: Takes::Yes,
        rust: NO_INTERLEAVINGS,
        graphs: Takes::Yes,
        limits: &["executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Pct,
        name: "pct",
        summary: "random priorities of threads and buffers; finds a bug of small depth with a known probability",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::Sampled },
        programs: Takes::Yes,
        rust: NO_INTERLEAVINGS,
        graphs: Takes::Yes,
        limits: &["executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Brute,
        name: "brute",
        summary: "every interleaving of operations and commits; for small programs and for testing the others",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::All },
        programs: Takes::Yes,
        rust: NO_INTERLEAVINGS,
        graphs: Takes::Yes,
        limits: &["executions", "steps", "buffer"],
    },
    SearchInfo {
        id: SearchId::Replay,
        name: "replay",
        summary: "the one execution of a token; asked for by the token",
        preserves: Preserves { level: Level::EveryInterleaving, extent: Extent::Sampled },
        programs: Takes::No("runs the execution of a token; use `teetotal replay`"),
        rust: Takes::No("runs the execution of a token; set `TEETOTAL_REPLAY`"),
        graphs: Takes::Yes,
        limits: &[],
    },
];

impl SearchInfo {
    /// Whether the monitor can be trusted under the search.
    ///
    /// A search over states decides robustness in a way of its own. One execution for all that read the same values shows
    /// all races with the help of the order solver.
    #[must_use]
    pub fn fits(&self, monitor: &MonitorInfo) -> bool {
        let decides = matches!(self.id, SearchId::Auto | SearchId::Stateful) && monitor.id == MonitorId::Robustness;
        let predicts = matches!(self.id, SearchId::Auto | SearchId::Mcr) && monitor.id == MonitorId::Races;
        decides || predicts || self.preserves.fits(monitor.needs)
    }

    /// Whether it takes a model.
    #[must_use]
    pub fn takes(&self, model: ModelId) -> Takes {
        match model.info().family {
            Family::Buffers(_) => Takes::Yes,
            Family::Graphs => self.graphs,
        }
    }

    /// The searches that programs can be checked with.
    pub fn of_programs() -> impl Iterator<Item = &'static SearchInfo> + Clone {
        SEARCHES.iter().filter(|info| info.programs == Takes::Yes)
    }

    /// The searches that Rust code can be checked with.
    pub fn of_rust() -> impl Iterator<Item = &'static SearchInfo> + Clone {
        SEARCHES.iter().filter(|info| info.rust == Takes::Yes)
    }
}

impl SearchId {
    /// Its row of [`SEARCHES`].
    #[must_use]
    pub fn info(self) -> &'static SearchInfo {
        SEARCHES.iter().find(|info| info.id == self).expect("every search has a row")
    }

    /// As on the command line and in the environment.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The search called `name`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<SearchId> {
        SEARCHES.iter().find(|info| info.name == name).map(|info| info.id)
    }
}

impl fmt::Display for SearchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a search is run on: a program or Rust code, under a model, with limits, a signal to stop, and whoever is shown the
/// executions.
pub trait Task {
    /// What comes of the search.
    type Answer;
}

/// How a search takes one kind of task.
pub trait Search<T: Task + ?Sized>: Sync {
    /// Its row of [`SEARCHES`].
    fn id(&self) -> SearchId;

    /// Why it cannot take this task, if it cannot.
    fn refusal(&self, _task: &T) -> Option<Unsupported> {
        None
    }

    /// Shows the executions of the task.
    fn run(&self, task: &T) -> T::Answer;
}

/// What a search cannot take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// In words, as part of a sentence: "it has ...".
    pub reason: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.reason)
    }
}

impl Error for Unsupported {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    #[test]
    fn every_limit_is_obeyed_by_some_search_and_every_search_obeys_known_ones() {
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
            assert!(stem == "mod" || SearchId::by_name(stem).is_some(), "stateless/{name} has no row in SEARCHES");
        }
    }

    #[test]
    fn every_search_takes_something_or_says_what_to_use() {
        for info in SEARCHES {
            if let (Takes::No(why), Takes::No(_)) = (info.programs, info.rust) {
                assert!(why.contains("use "), "{}: {why}", info.name);
            }
        }
    }
}
