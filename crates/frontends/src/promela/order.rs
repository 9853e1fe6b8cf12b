//! In which order the points of a process become code.

use std::collections::{BTreeMap, BTreeSet};

use crate::promela::graph::{Edge, Effect, Graph, START};
use crate::promela::syntax::{Name, Place};

/// A point of a process, and whether it came there without a switch to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Point {
    pub(super) node: usize,
    pub(super) exclusive: bool,
}

/// Where a process begins.
const BEGIN: Point = Point { node: START, exclusive: false };

impl Edge {
    /// The point that it leads to.
    pub(super) fn target(&self) -> Point {
        Point { node: self.to, exclusive: self.exclusive }
    }
}

/// Every point that can be reached, each after those that lead to it, except where there is a loop.
pub(super) fn emission_order(graph: &Graph) -> Vec<Point> {
    let mut left: BTreeMap<Point, usize> = BTreeMap::from([(BEGIN, 0)]);
    let mut path = vec![BEGIN];
    let mut order = Vec::new();
    while let Some(&at) = path.last() {
        let edges = &graph.nodes[at.node].edges;
        let next = left.entry(at).or_default();
        // From the last to the first, so that the first comes first when the order is turned around.
        let Some(edge) = edges.len().checked_sub(*next + 1).map(|index| &edges[index]) else {
            order.push(at);
            path.pop();
            continue;
        };
        *next += 1;
        let to = edge.target();
        if !left.contains_key(&to) {
            left.insert(to, 0);
            path.push(to);
        }
    }
    order.reverse();
    order
}

/// The points to which a process may come back without an operation on shared memory.
pub(super) fn idle_points(graph: &Graph) -> BTreeSet<usize> {
    let mut idle = BTreeSet::new();
    // White, gray and black: not seen, on the path, done.
    let mut seen = vec![0_u8; graph.nodes.len()];
    for start in 0..graph.nodes.len() {
        let mut path = vec![(start, 0)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            seen[at] = seen[at].max(1);
            let edges = &graph.nodes[at].edges;
            // Where a guard looks at memory, so does whoever passes by.
            let looks = edges.iter().any(|edge| edge.guard.as_ref().is_some_and(|guard| guard.n_shared() > 0));
            let quiet: Vec<usize> = edges.iter().filter(|e| !looks && is_quiet(e)).map(|e| e.to).collect();
            let Some(&to) = quiet.get(*next).filter(|_| seen[at] < 2) else {
                seen[at] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            match seen[to] {
                0 => path.push((to, 0)),
                1 => {
                    idle.insert(to);
                }
                _ => {}
            }
        }
    }
    idle
}

/// Whether a statement may be passed without an operation on shared memory.
fn is_quiet(edge: &Edge) -> bool {
    let is_local =
        |place: &Place| matches!(place.name, Name::Local(_)) && place.index.as_ref().is_none_or(|i| i.n_shared() == 0);
    match &edge.effect {
        Effect::Nothing | Effect::Fail(_) => true,
        Effect::Assign(place, value) => is_local(place) && value.n_shared() == 0,
        Effect::Assert(expr) => expr.n_shared() == 0,
        _ => false,
    }
}
