//! Litmus tests made of cycles of edges, each with what every model says about it.
//!
//! A cycle such as `PodWR Fre PodWR Fre` passes once through the events of an execution that sequential consistency
//! forbids: along program order inside a thread, and along reads-from, from-read and coherence elsewhere. The test made
//! of it has just those events, and its condition is satisfied by just those executions that have the cycle.
//! Whether a model allows one of them follows from the edges, and is told by [`Cycle::prediction`].
//!
//! | edge | from | to |
//! |---|---|---|
//! | `PodWR` | a write | the next access of its thread, a read of another location |
//! | `PosRW` | a read | the next access of its thread, a write to the same location |
//! | `MFencedWR`, `SFencesWW`, `LFencedRR` | | as `Pod` and `Pos`, with a fence between them |
//! | `Rfe`, `Rfi` | a write | a read that got its value: in another thread, or the next in its own |
//! | `Fre`, `Fri` | a read | a write that comes after the one it read from |
//! | `Coe`, `Coi` | a write | a later write to the same location |
//!
//! `U` stands for a locked exchange, which reads and writes in one step, as in `PodUR` or `RfeWU`.
//! The idea of tests from cycles is that of the tool diy.

mod edge;
mod enumerate;
mod prediction;
mod skeleton;
mod test;

use std::fmt;
use std::str::FromStr;

pub use edge::{Access, Barrier, Edge, Relation, Whereto};
pub use enumerate::cycles;
pub use prediction::Prediction;

use crate::litmus::cycles::skeleton::Skeleton;
use crate::litmus::syntax::Flavor;
use crate::litmus::{cycles::edge::named, printer};

/// At most this many edges, so that the registers of a thread suffice.
pub const MOST_EDGES: usize = 12;

/// A cycle of edges that a test can be made of.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cycle {
    /// The last of them leads to another thread, so that the first begins in the first access of a thread.
    edges: Vec<Edge>,
    skeleton: Skeleton,
}

/// Why no test is made of some edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CycleError {
    /// This is the name of no edge.
    UnknownEdge(String),
    /// There are so many edges.
    TooLong(usize),
    /// The first ends in something else than what the second begins with.
    Mismatch(Edge, Edge),
    /// Fewer than two edges lead to another thread.
    OneThread,
    /// One edge leads to another location, and none leads back.
    NoWayBack,
    /// A location is written more than twice, and a final state does not show in which order.
    ManyWrites,
    /// The edges demand two orders of the same writes.
    Contradiction,
}

impl Cycle {
    /// The cycle of these edges, in this order, beginning anywhere.
    pub fn new(edges: &[Edge]) -> Result<Cycle, CycleError> {
        if edges.len() > MOST_EDGES {
            return Err(CycleError::TooLong(edges.len()));
        }
        let mut edges = edges.to_vec();
        for (edge, next) in edges.iter().zip(edges.iter().cycle().skip(1)) {
            if edge.to != next.from {
                return Err(CycleError::Mismatch(*edge, *next));
            }
        }
        let external = edges.iter().filter(|edge| edge.is_external()).count();
        let last = edges.iter().rposition(|edge| edge.is_external());
        match last {
            Some(last) if external >= 2 => edges.rotate_left(last + 1),
            _ => return Err(CycleError::OneThread),
        }
        let skeleton = Skeleton::new(&edges)?;
        Ok(Cycle { edges, skeleton })
    }

    /// Its edges; the last leads to another thread.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// How many threads the test has.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.edges.iter().filter(|edge| edge.is_external()).count()
    }

    /// Which models allow it.
    #[must_use]
    pub fn prediction(&self) -> Prediction {
        prediction::of(&self.skeleton)
    }

    /// The litmus test `name`; `remark` says what it is about. There is none for C, and the text is empty.
    #[must_use]
    pub fn text(&self, name: &str, remark: Option<&str>, flavor: Flavor) -> String {
        let test = test::of(&self.skeleton, name, flavor);
        let quoted = remark.map(|remark| format!("\"{remark}\""));
        let remarks: Vec<String> = quoted.into_iter().chain([format!("Cycle={self}")]).collect();
        printer::print(&test, &remarks).unwrap_or_default()
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.edges.iter().map(Edge::to_string).collect();
        f.write_str(&names.join(" "))
    }
}

/// Reads the names of edges with space between them.
impl FromStr for Cycle {
    type Err = CycleError;

    fn from_str(text: &str) -> Result<Self, CycleError> {
        let edges = text.split_whitespace().map(|word| named(word).ok_or(CycleError::UnknownEdge(word.to_owned())));
        Cycle::new(&edges.collect::<Result<Vec<_>, _>>()?)
    }
}

impl fmt::Display for CycleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CycleError::UnknownEdge(word) => write!(f, "there is no edge `{word}`"),
            CycleError::TooLong(found) => write!(f, "a cycle has at most {MOST_EDGES} edges, this one has {found}"),
            CycleError::Mismatch(edge, next) => write!(f, "`{next}` cannot follow `{edge}`"),
            CycleError::OneThread => f.write_str("at least two edges must lead to another thread"),
            CycleError::NoWayBack => f.write_str("one edge leads to another location, and none leads back"),
            CycleError::ManyWrites => f.write_str("a location is written more than twice"),
            CycleError::Contradiction => f.write_str("the edges demand two orders of the same writes"),
        }
    }
}

impl std::error::Error for CycleError {}
