//! A process as SPIN sees it: the points where it may stand, and the statements that lead from one to another.
//!
//! The options of an `if` or `do` all leave from the point where it stands, with those of one inside it that comes
//! first. A `goto` or `break` after a statement is no step of its own.

use std::collections::BTreeMap;

use teetotal_program::Span;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::promela::preprocessor::short;
use crate::promela::syntax::{Action, Binary, Expr, Located, Place, Proctype, Statement, Term, Unary};
use crate::suggest::nearest;

/// The control flow of a proctype. The first node is where it begins, the second where it ends.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// At most this many operators in the meaning of an `else`.
const MOST_TERMS: usize = 4_000;

/// At most this many ways lead on from one point.
const MOST_OPTIONS: usize = 128;

pub(super) const START: usize = 0;
pub(super) const END: usize = 1;

/// A point where a process may stand.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) edges: Vec<Edge>,
    pub(super) labels: Vec<String>,
    /// Of the statement that begins here.
    pub(super) span: Span,
    /// Whether it is inside an `atomic` or `d_step`, its beginning included.
    pub(super) atomic: bool,
    /// Whether it is inside a `d_step`, its beginning not included: waiting here is an error.
    pub(super) in_d_step: bool,
}

/// A statement on its way from one point to another.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// When the statement is executable; `None` is always.
    pub(super) guard: Option<Expr>,
    pub(super) effect: Effect,
    pub(super) span: Span,
    pub(super) to: usize,
    /// Whether the process continues from there without a switch to another.
    pub(super) exclusive: bool,
    /// Whether it is an `else`.
    pub(super) is_else: bool,
}

/// What a statement does once it is executable.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    Nothing,
    Assign(Place, Expr),
    Assert(Expr),
    Run(Located<String>, Vec<Expr>),
    Fence,
    Sync,
    Exchange {
        at: Place,
        new: Expr,
        into: Option<Place>,
    },
    /// Without a place for whether it succeeded it is executable only if it does, which the guard says.
    CompareExchange {
        at: Place,
        old: Expr,
        new: Expr,
        into: Option<Place>,
    },
    /// Starts the process with this number.
    Spawn(usize),
    /// The model has done something wrong.
    Fail(&'static str),
}

/// The graph of a proctype.
pub(super) fn build(proctype: &Proctype, diagnostics: &mut Diagnostics) -> Graph {
    let span = proctype.name.span;
    let mut maker = Maker { nodes: Vec::new(), labels: BTreeMap::new(), instead: BTreeMap::new(), diagnostics };
    let outside = Around { exit: None, d_step: false, break_to: None, alone: true };
    maker.node(proctype.body.first().map_or(span, |statement| statement.span), &outside);
    maker.node(span, &outside);
    maker.collect_labels(&proctype.body);
    maker.sequence(&proctype.body, START, END, &outside);
    maker.finish()
}

/// What is around a statement.
#[derive(Clone, Copy)]
struct Around {
    /// Where the outermost `atomic` or `d_step` around it ends.
    exit: Option<usize>,
    d_step: bool,
    /// Where the `do` around it ends.
    break_to: Option<usize>,
    /// Whether nothing else leaves from the point where it stands.
    alone: bool,
}

struct Maker<'d> {
    nodes: Vec<Node>,
    /// The point of each label.
    labels: BTreeMap<String, usize>,
    /// Points of labels that turned out to be others.
    instead: BTreeMap<usize, usize>,
    diagnostics: &'d mut Diagnostics,
}

impl Maker<'_> {
    fn node(&mut self, span: Span, around: &Around) -> usize {
        let (atomic, in_d_step) = (around.exit.is_some(), around.d_step);
        self.nodes.push(Node { edges: Vec::new(), labels: Vec::new(), span, atomic, in_d_step });
        self.nodes.len() - 1
    }

    /// Gives every label a point, so that a jump forward knows it.
    fn collect_labels(&mut self, statements: &[Statement]) {
        for statement in statements {
            for label in &statement.labels {
                let outside = Around { exit: None, d_step: false, break_to: None, alone: true };
                let node = self.node(statement.span, &outside);
                if self.labels.insert(label.it.clone(), node).is_some() {
                    let twice = format!("the label `{}` is defined twice in this process", short(&label.it));
                    self.diagnostics.add(Diagnostic::new(label.span, twice));
                }
            }
            match &statement.it {
                Action::If(options) | Action::Do(options) => options.iter().for_each(|o| self.collect_labels(o)),
                Action::Atomic(body) | Action::DStep(body) | Action::Block(body) => self.collect_labels(body),
                _ => {}
            }
        }
    }

    /// Leads from `from` to `to` by these statements.
    fn sequence(&mut self, statements: &[Statement], from: usize, to: usize, around: &Around) {
        let mut here = from;
        for (index, statement) in statements.iter().enumerate() {
            let around = &Around { alone: around.alone || index > 0, ..*around };
            if index > 0 && self.jump(statement, around).is_some() {
                // The statement before leads there already; what follows is reached by a label only.
                here = self.node(statement.span, around);
                continue;
            }
            for label in &statement.labels {
                self.stand(label, here);
            }
            let next = match statements.get(index + 1) {
                None => to,
                Some(next) => self.jump(next, around).unwrap_or_else(|| self.node(next.span, around)),
            };
            self.statement(statement, here, next, around);
            here = next;
        }
    }

    /// Where a statement without a label goes that only jumps.
    fn jump(&mut self, statement: &Statement, around: &Around) -> Option<usize> {
        if !statement.labels.is_empty() {
            return None;
        }
        match &statement.it {
            Action::Goto(label) => self.labels.get(&label.it).copied(),
            Action::Break => around.break_to,
            _ => None,
        }
    }

    /// Lets a label stand at a point.
    fn stand(&mut self, label: &Located<String>, here: usize) {
        self.nodes[here].labels.push(label.it.clone());
        if let Some(&node) = self.labels.get(&label.it)
            && node != here
        {
            self.instead.insert(node, here);
        }
    }

    fn step(&mut self, from: usize, edge: Edge, around: &Around) {
        self.nodes[from].edges.push(Edge { exclusive: around.exit.is_some_and(|exit| exit != edge.to), ..edge });
    }

    /// Adds to `from` the ways by a statement to `to`.
    fn statement(&mut self, statement: &Statement, from: usize, to: usize, around: &Around) {
        let span = statement.span;
        let always = |effect| Edge::always(effect, span, to);
        let edge = match &statement.it {
            Action::Guard(expr) => Edge { guard: Some(expr.clone()), ..always(Effect::Nothing) },
            Action::Assign(place, value) => always(Effect::Assign(place.clone(), value.clone())),
            Action::Assert(expr) => always(Effect::Assert(expr.clone())),
            Action::Skip => always(Effect::Nothing),
            Action::Else => Edge { is_else: true, ..always(Effect::Nothing) },
            Action::Run(name, arguments) => always(Effect::Run(name.clone(), arguments.clone())),
            Action::Fence => always(Effect::Fence),
            Action::Sync => always(Effect::Sync),
            Action::Exchange { at, new, into } => {
                always(Effect::Exchange { at: at.clone(), new: new.clone(), into: into.clone() })
            }
            Action::CompareExchange { at, old, new, into } => {
                let (at, old, new, into) = (at.clone(), old.clone(), new.clone(), into.clone());
                let guard = into.is_none().then(|| equal(&at, &old, span));
                Edge { guard, ..always(Effect::CompareExchange { at, old, new, into }) }
            }
            Action::Goto(label) => Edge { to: self.target(label).unwrap_or(to), ..always(Effect::Nothing) },
            Action::Break => Edge { to: self.break_target(span, around).unwrap_or(to), ..always(Effect::Nothing) },
            Action::If(options) => return self.options(options, from, to, around),
            Action::Do(options) => return self.repeat(options, span, from, to, around),
            Action::Block(body) => return self.sequence(body, from, to, around),
            Action::Atomic(body) | Action::DStep(body) => {
                let d_step = matches!(statement.it, Action::DStep(_));
                return self.atomic(body, d_step, from, to, around);
            }
        };
        self.refuse_in_d_step(&edge, around);
        self.step(from, edge, around);
    }

    fn target(&mut self, label: &Located<String>) -> Option<usize> {
        let target = self.labels.get(&label.it).copied();
        if target.is_none() {
            let unknown = Diagnostic::new(label.span, format!("this process has no label `{}`", short(&label.it)));
            self.diagnostics.add(unknown.meant(nearest(&label.it, self.labels.keys().map(String::as_str))));
        }
        target
    }

    fn break_target(&mut self, span: Span, around: &Around) -> Option<usize> {
        if around.break_to.is_none() {
            self.diagnostics.add(Diagnostic::new(span, "there is no `do` around this `break`"));
        }
        around.break_to
    }

    fn options(&mut self, options: &[Vec<Statement>], from: usize, to: usize, around: &Around) {
        let first = self.nodes[from].edges.len();
        for option in options {
            self.sequence(option, from, to, &Around { alone: false, ..*around });
        }
        if self.nodes[from].edges.len() > MOST_OPTIONS {
            let message = format!("more than {MOST_OPTIONS} options leave from here");
            self.diagnostics.add(Diagnostic::new(self.nodes[from].span, message));
            self.nodes[from].edges.truncate(MOST_OPTIONS);
        }
        self.close_options(from, first.min(MOST_OPTIONS), around);
    }

    /// Says what `else` means among the edges from `first` on, and which come first in a `d_step`.
    fn close_options(&mut self, from: usize, first: usize, around: &Around) {
        let span = self.nodes[from].span;
        let edges = &mut self.nodes[from].edges[first..];
        // The `else` of an option inside has its meaning already.
        let is_own_else = |edge: &Edge| edge.is_else && edge.guard.is_none();
        let others = || edges.iter().filter(|edge| !is_own_else(edge));
        let guards: Vec<Expr> = others().filter_map(|edge| edge.guard.clone()).collect();
        let otherwise = match any_of(&guards) {
            _ if others().any(|edge| edge.guard.is_none()) => Expr::number(0, span),
            None => Expr::number(1, span),
            Some(open) => negated(&open),
        };
        for edge in edges.iter_mut().filter(|edge| is_own_else(edge)) {
            edge.guard = Some(otherwise.clone());
        }
        let mut largest = otherwise.size();
        if around.d_step {
            // A `d_step` takes the first option that is executable.
            let mut earlier = Vec::new();
            for edge in edges {
                let own = edge.guard.clone().unwrap_or_else(|| Expr::number(1, edge.span));
                if let Some(open) = any_of(&earlier) {
                    let guard = binary(Binary::And, &negated(&open), &own);
                    largest = largest.max(guard.size());
                    edge.guard = Some(guard);
                }
                earlier.push(own);
                if largest > MOST_TERMS {
                    break;
                }
            }
        }
        if largest > MOST_TERMS {
            let message = "the condition that `else` or the order of options stands for is too large";
            self.diagnostics.add(Diagnostic::new(span, message).help("put fewer `if` and `do` inside each other"));
            self.nodes[from].edges.truncate(1);
        }
    }

    fn repeat(&mut self, options: &[Vec<Statement>], span: Span, from: usize, to: usize, around: &Around) {
        // Where something else leaves from the same point, the loop comes back to a point of its own.
        let head = if around.alone && !around.d_step { from } else { self.node(span, around) };
        self.options(options, head, head, &Around { break_to: Some(to), ..*around });
        if head != from {
            let edges = self.nodes[head].edges.clone();
            self.nodes[from].edges.extend(edges);
        }
    }

    fn atomic(&mut self, body: &[Statement], d_step: bool, from: usize, to: usize, around: &Around) {
        let inside = Around { exit: around.exit.or(Some(to)), d_step: around.d_step || d_step, ..*around };
        self.nodes[from].atomic |= around.alone;
        self.sequence(body, from, to, &inside);
    }

    fn refuse_in_d_step(&mut self, edge: &Edge, around: &Around) {
        let name = match &edge.effect {
            _ if !around.d_step => return,
            Effect::Fence => "fence",
            Effect::Sync => "sync",
            Effect::Exchange { .. } => "xchg",
            Effect::CompareExchange { .. } => "cas",
            Effect::Run(..) => "run",
            _ => return,
        };
        let message = format!("`{name}` waits for buffers, and nothing in a `d_step` may wait");
        self.diagnostics.add(Diagnostic::new(edge.span, message).help("use `atomic`"));
    }

    /// Replaces the points of labels by those where they stand.
    fn finish(mut self) -> Graph {
        let atomic: Vec<bool> = self.nodes.iter().map(|node| node.atomic).collect();
        for edge in self.nodes.iter_mut().flat_map(|node| &mut node.edges) {
            edge.to = self.instead.get(&edge.to).copied().unwrap_or(edge.to);
            edge.exclusive &= atomic[edge.to];
        }
        for node in self.nodes.iter_mut().filter(|node| node.in_d_step && !node.edges.is_empty()) {
            let guards: Option<Vec<Expr>> = node.edges.iter().map(|edge| edge.guard.clone()).collect();
            let stuck = guards.and_then(|guards| any_of(&guards)).map(|open| negated(&open));
            let fail = Edge::always(Effect::Fail("a statement inside `d_step` waits"), node.span, END);
            node.edges.extend(stuck.map(|guard| Edge { guard: Some(guard), ..fail }));
        }
        Graph { nodes: self.nodes }
    }
}

impl Edge {
    fn always(effect: Effect, span: Span, to: usize) -> Edge {
        Edge { guard: None, effect, span, to, exclusive: false, is_else: false }
    }
}

fn negated(expr: &Expr) -> Expr {
    Expr { it: Term::Unary(Unary::Not, Box::new(expr.clone())), span: expr.span, depth: expr.depth + 1 }
}

fn binary(op: Binary, left: &Expr, right: &Expr) -> Expr {
    let (span, depth) = (left.span, 1 + left.depth.max(right.depth));
    Expr { it: Term::Binary(op, Box::new(left.clone()), Box::new(right.clone())), span, depth }
}

/// Whether one of these holds, in a form that is not deep.
fn any_of(guards: &[Expr]) -> Option<Expr> {
    match guards {
        [] => None,
        [one] => Some(one.clone()),
        _ => {
            let (left, right) = guards.split_at(guards.len() / 2);
            Some(binary(Binary::Or, &any_of(left)?, &any_of(right)?))
        }
    }
}

fn equal(place: &Place, value: &Expr, span: Span) -> Expr {
    let depth = 1 + place.index.as_ref().map_or(0, |index| index.depth);
    let read = Expr { it: Term::Read(place.clone()), span, depth };
    binary(Binary::Equal, &read, value)
}
