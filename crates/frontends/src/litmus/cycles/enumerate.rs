//! Every cycle over some edges, up to a length.

use crate::litmus::cycles::edge::Edge;
use crate::litmus::cycles::{Cycle, MOST_EDGES};

/// Every cycle of at most `most_edges` of the edges in `vocabulary`, in at most `most_threads` threads.
///
/// Cycles that differ only in where they begin are given once; what is no cycle is left out.
#[must_use]
pub fn cycles(vocabulary: &[Edge], most_edges: usize, most_threads: usize) -> Vec<Cycle> {
    let mut edges = vocabulary.to_vec();
    edges.sort_unstable();
    edges.dedup();
    let mut growth = Growth { edges, most_edges: most_edges.min(MOST_EDGES), most_threads, found: Vec::new() };
    growth.grow(&mut Vec::new(), 0);
    growth.found
}

struct Growth {
    /// Sorted, each once.
    edges: Vec<Edge>,
    most_edges: usize,
    most_threads: usize,
    found: Vec<Cycle>,
}

impl Growth {
    /// Takes every continuation of `path`, which leads to another thread `external` times.
    fn grow(&mut self, path: &mut Vec<Edge>, external: usize) {
        if external >= 2 && is_first_rotation(path) {
            self.found.extend(Cycle::new(path).ok());
        }
        if path.len() == self.most_edges {
            return;
        }
        for at in 0..self.edges.len() {
            let edge = self.edges[at];
            let fits = path.last().is_none_or(|last| last.to == edge.from);
            // A cycle is found where it begins with its least edge.
            let is_least = path.first().is_none_or(|first| *first <= edge);
            let external = external + usize::from(edge.is_external());
            if fits && is_least && external <= self.most_threads {
                path.push(edge);
                self.grow(path, external);
                path.pop();
            }
        }
    }
}

/// Whether no other beginning of the cycle comes earlier in the order of edges.
fn is_first_rotation(path: &[Edge]) -> bool {
    (1..path.len()).all(|start| path.iter().le(path[start..].iter().chain(&path[..start])))
}
