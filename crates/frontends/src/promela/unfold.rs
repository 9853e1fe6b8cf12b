//! Follows a process that starts others as far as its variables are known before the model runs.
//!
//! A `run` in a loop that counts becomes as many `run` as the loop has turns, each with its own arguments, so that
//! every process of the model is known.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::promela::graph::{END, Edge, Effect, Graph, Node, START};
use crate::promela::syntax::{Expr, Name, Place, Variable};

/// What is known of each variable of the process.
pub(super) type Known = Vec<Option<i64>>;

/// At most this many points come of one process.
const MOST_NODES: usize = 5_000;

/// `graph` with every `run` in it executed at most once and its arguments known, which are numbers then.
pub(super) fn unfold(
    graph: &Graph,
    locals: &[Variable],
    (known, pid): (Known, i64),
    diagnostics: &mut Diagnostics,
) -> Option<Graph> {
    let unknown = vec![None; locals.len()];
    let mut unfolding =
        Unfolding { graph, locals, pid, runs: reaching_run(graph), points: BTreeMap::new(), nodes: Vec::new() };
    unfolding.point(START, &known);
    unfolding.point(END, &unknown);
    let mut next = 0;
    let mut queue = vec![(START, known), (END, unknown)];
    while let Some((old, known)) = queue.get(next).cloned() {
        for edge in &graph.nodes[old].edges {
            if let Some((mut edge, known)) = unfolding.follow(edge, &known, diagnostics)? {
                let before = unfolding.nodes.len();
                let (to, known) = unfolding.point(edge.to, &known);
                if unfolding.nodes.len() > before {
                    queue.push((edge.to, known));
                }
                edge.to = to;
                unfolding.nodes[next].edges.push(edge);
            }
        }
        next += 1;
        if unfolding.nodes.len() > MOST_NODES {
            let span = graph.nodes[START].span;
            let message = "it is not known before the model runs which processes this one starts";
            diagnostics.add(Diagnostic::new(span, message).help("start them one after the other, without a loop"));
            return None;
        }
    }
    let unfolded = Graph { nodes: unfolding.nodes };
    refuse_endless(&unfolded, diagnostics)?;
    Some(unfolded)
}

struct Unfolding<'g> {
    graph: &'g Graph,
    locals: &'g [Variable],
    pid: i64,
    /// For each point, whether a `run` may still come.
    runs: Vec<bool>,
    points: BTreeMap<(usize, Known), usize>,
    nodes: Vec<Node>,
}

impl Unfolding<'_> {
    /// The point for an old one with what is known there, made if it is new; what no `run` needs is forgotten.
    fn point(&mut self, old: usize, known: &Known) -> (usize, Known) {
        let known = if self.runs[old] { known.clone() } else { vec![None; known.len()] };
        let number = *self.points.entry((old, known.clone())).or_insert(self.nodes.len());
        if number == self.nodes.len() {
            self.nodes.push(Node { edges: Vec::new(), ..self.graph.nodes[old].clone() });
        }
        (number, known)
    }

    /// The edge as it is taken with what is known, and what is known after it; nothing if it is not executable.
    fn follow(&self, edge: &Edge, known: &Known, diagnostics: &mut Diagnostics) -> Option<Option<(Edge, Known)>> {
        let constant = |expr: &Expr| expr.constant(&|local| known[local], Some(self.pid));
        let mut edge = edge.clone();
        match edge.guard.as_ref().and_then(constant) {
            Some(0) => return Some(None),
            Some(_) => (edge.guard, edge.is_else) = (None, false),
            None => {}
        }
        let mut after = known.clone();
        match &mut edge.effect {
            Effect::Assign(place, value) => {
                let value = constant(value);
                self.set(&mut after, place, value);
            }
            Effect::Exchange { into: Some(place), .. } | Effect::CompareExchange { into: Some(place), .. } => {
                self.set(&mut after, place, None);
            }
            Effect::Run(_, arguments) => {
                for argument in arguments {
                    let Some(value) = constant(argument) else {
                        let message = "this argument is not known before the model runs";
                        let help = "compute it from constants and counters of this process";
                        diagnostics.add(Diagnostic::new(argument.span, message).help(help));
                        return None;
                    };
                    *argument = Expr::number(value, argument.span);
                }
            }
            _ => {}
        }
        Some(Some((edge, after)))
    }

    fn set(&self, known: &mut Known, place: &Place, value: Option<i64>) {
        if let Place { name: Name::Local(local), index: None, .. } = place {
            known[*local] = value.map(|value| self.locals[*local].ty.wrap(value));
        }
    }
}

/// For each point, whether a `run` may come after it.
fn reaching_run(graph: &Graph) -> Vec<bool> {
    let mut runs = vec![false; graph.nodes.len()];
    loop {
        let mut changed = false;
        for (at, node) in graph.nodes.iter().enumerate() {
            let reaches = node.edges.iter().any(|edge| matches!(edge.effect, Effect::Run(..)) || runs[edge.to]);
            changed |= reaches && !runs[at];
            runs[at] |= reaches;
        }
        if !changed {
            return runs;
        }
    }
}

/// Refuses a `run` that the process may come to again.
fn refuse_endless(graph: &Graph, diagnostics: &mut Diagnostics) -> Option<()> {
    for (at, node) in graph.nodes.iter().enumerate() {
        for edge in node.edges.iter().filter(|edge| matches!(edge.effect, Effect::Run(..))) {
            if comes_to(graph, edge.to, at) {
                let message = "this `run` is in a loop that may run forever";
                let help = "let the loop count to a number that is known before the model runs";
                diagnostics.add(Diagnostic::new(edge.span, message).help(help));
                return None;
            }
        }
    }
    Some(())
}

fn comes_to(graph: &Graph, from: usize, to: usize) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(graph.nodes[at].edges.iter().map(|edge| edge.to));
        }
    }
    false
}
