//! In which order the points of a process become code.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::promela::graph::{Edge, Effect, Graph, Node, START};
use crate::promela::syntax::{Name, Place};

/// A point of a process, and whether it came there without a switch to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Point {
    pub(super) node: usize,
    pub(super) exclusive: bool,
}

/// Where a process begins.
const BEGIN: Point = Point { node: START, exclusive: false };

/// The point to which an edge leads from a point.
///
/// A statement that takes no step does not begin an `atomic`: it runs on with the step before it, after which others
/// may still go first. So the `atomic` begins with its first statement that takes one.
pub(super) fn target(graph: &Graph, from: Point, edge: &Edge) -> Point {
    let begins = from.exclusive || looks(&graph.nodes[from.node]) || !is_quiet(edge);
    Point { node: edge.to, exclusive: edge.exclusive && begins }
}

/// Whether some guard at a point reads memory, so that passing it does.
fn looks(node: &Node) -> bool {
    node.edges.iter().any(|edge| edge.guard.as_ref().is_some_and(|guard| guard.n_shared() > 0))
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
        let to = target(graph, at, edge);
        if let Entry::Vacant(entry) = left.entry(to) {
            entry.insert(0);
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
            let node = &graph.nodes[at];
            let quiet: Vec<usize> = node.edges.iter().filter(|e| !looks(node) && is_quiet(e)).map(|e| e.to).collect();
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

/// Whether a statement that is executable is passed without an operation on shared memory.
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
