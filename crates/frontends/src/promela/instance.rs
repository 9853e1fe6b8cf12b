//! Every process of a model: those that run from the beginning and those that others start.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::promela::graph::{Edge, Effect, Graph, START};
use crate::promela::parser::MOST_PROCESSES;
use crate::promela::preprocessor::short;
use crate::promela::syntax::{Expr, Located, Model, Name, Place, Variable};
use crate::promela::unfold::unfold;
use crate::suggest::nearest;

/// A process.
#[derive(Debug)]
pub(super) struct Instance {
    pub(super) proctype: usize,
    /// What its parameters hold at first.
    pub(super) arguments: Vec<i64>,
    pub(super) starts: bool,
    pub(super) graph: Graph,
    /// The variables that hold the same from the beginning to the end, with what they hold.
    pub(super) constants: BTreeMap<usize, i64>,
}

impl Instance {
    fn new(proctype: usize, arguments: Vec<i64>, starts: bool, graphs: &[Graph]) -> Self {
        Instance { proctype, arguments, starts, graph: graphs[proctype].clone(), constants: BTreeMap::new() }
    }

    /// Finds the variables that are never assigned, or only to a constant before anything else happens.
    fn find_constants(&mut self, locals: &[Variable], pid: i64) {
        let mut n_assigned = vec![0_usize; locals.len()];
        assigned(&self.graph).for_each(|local| n_assigned[local] += 1);
        for (local, variable) in locals.iter().enumerate().filter(|(_, variable)| variable.length.is_none()) {
            if n_assigned[local] == 0 {
                let value = self.arguments.get(local).copied().unwrap_or(0);
                self.constants.insert(local, variable.ty.wrap(value));
            }
        }
        let mut n_entering = vec![0_usize; self.graph.nodes.len()];
        self.graph.nodes.iter().flat_map(|node| &node.edges).for_each(|edge| n_entering[edge.to] += 1);
        let mut at = START;
        while n_entering[at] == usize::from(at != START) {
            let [Edge { guard: None, effect, to, .. }] = &mut self.graph.nodes[at].edges[..] else { return };
            let Effect::Assign(Place { name: Name::Local(local), index: None, .. }, value) = effect else { return };
            let value = value.constant(&|local| self.constants.get(&local).copied(), Some(pid));
            let (Some(value), 1) = (value, n_assigned[*local]) else { return };
            self.constants.insert(*local, locals[*local].ty.wrap(value));
            at = *to;
            *effect = Effect::Nothing;
        }
    }
}

impl Instance {
    /// Leaves out what is never executable, and guards that always hold.
    fn prune(&mut self, pid: i64) {
        let constants = &self.constants;
        let known = |expr: &Expr| expr.constant(&|local| constants.get(&local).copied(), Some(pid));
        for node in &mut self.graph.nodes {
            node.edges.retain(|edge| edge.guard.as_ref().and_then(known) != Some(0));
            for edge in &mut node.edges {
                edge.guard = edge.guard.take().filter(|guard| known(guard).is_none());
            }
        }
    }
}

/// The variables that statements assign, once for each statement.
fn assigned(graph: &Graph) -> impl Iterator<Item = usize> + '_ {
    let edges = graph.nodes.iter().flat_map(|node| &node.edges);
    let places = edges.filter_map(|edge| match &edge.effect {
        Effect::Assign(place, _) => Some(place),
        Effect::Exchange { into, .. } | Effect::CompareExchange { into, .. } => into.as_ref(),
        _ => None,
    });
    places.filter_map(|place| match place.name {
        Name::Local(local) => Some(local),
        Name::Global(_) => None,
    })
}

/// All processes of `model`, in the order in which they get their numbers.
pub(super) fn instances(model: &Model, graphs: &[Graph], diagnostics: &mut Diagnostics) -> Option<Vec<Instance>> {
    let mut all = Vec::new();
    for (proctype, declared) in model.proctypes.iter().enumerate() {
        for _ in 0..declared.active {
            let arguments = vec![0; declared.n_parameters];
            all.push(Instance::new(proctype, arguments, true, graphs));
        }
    }
    let mut at = 0;
    while at < all.len() {
        if all.len() > MOST_PROCESSES {
            let span = model.proctypes[all[at].proctype].name.span;
            let message = format!("this model starts more than {MOST_PROCESSES} processes");
            diagnostics.add(Diagnostic::new(span, message).help("SPIN runs no more either"));
            return None;
        }
        let started = start_others(model, graphs, &mut all, at, diagnostics)?;
        let locals = &model.proctypes[all[at].proctype].locals;
        all[at].find_constants(locals, at as i64);
        all[at].prune(at as i64);
        all.extend(started);
        at += 1;
    }
    Some(all)
}

/// Whether every `run` names a process and gives it what it takes.
pub(super) fn check_runs(model: &Model, graphs: &[Graph], diagnostics: &mut Diagnostics) {
    let edges = graphs.iter().flat_map(|graph| &graph.nodes).flat_map(|node| &node.edges);
    let mut seen = BTreeSet::new();
    for edge in edges {
        if let Effect::Run(name, given) = &edge.effect
            && seen.insert(name.span)
        {
            callee(model, name, given.len(), diagnostics);
        }
    }
}

/// The proctype that a `run` starts.
fn callee(model: &Model, name: &Located<String>, n_given: usize, diagnostics: &mut Diagnostics) -> Option<usize> {
    let Some(proctype) = model.proctypes.iter().position(|p| p.name.it == name.it && p.name.it != "init") else {
        let unknown = Diagnostic::new(name.span, format!("there is no process `{}`", short(&name.it)));
        let names = model.proctypes.iter().map(|proctype| proctype.name.it.as_str());
        diagnostics.add(unknown.meant(nearest(&name.it, names)));
        return None;
    };
    let wanted = model.proctypes[proctype].n_parameters;
    if n_given != wanted {
        let message = format!("`{}` has {wanted} parameters, not {n_given}", short(&name.it));
        diagnostics.add(Diagnostic::new(name.span, message));
        return None;
    }
    Some(proctype)
}

/// Gives the processes that one starts, and puts their numbers into its graph.
fn start_others(
    model: &Model,
    graphs: &[Graph],
    all: &mut [Instance],
    at: usize,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Instance>> {
    let first = all.len();
    let Instance { proctype, arguments, graph, .. } = &mut all[at];
    let runs = |graph: &Graph| graph.nodes.iter().flat_map(|n| &n.edges).any(|e| matches!(e.effect, Effect::Run(..)));
    if !runs(graph) {
        return Some(Vec::new());
    }
    let locals = &model.proctypes[*proctype].locals;
    let given = |(index, _)| Some(arguments.get(index).copied().unwrap_or(0));
    let known = locals.iter().enumerate().map(given).collect();
    *graph = unfold(graph, locals, (known, at as i64), diagnostics)?;
    let mut started = Vec::new();
    for edge in graph.nodes.iter_mut().flat_map(|node| &mut node.edges) {
        let Effect::Run(name, given) = &edge.effect else { continue };
        let instance = start(model, graphs, name, given, diagnostics)?;
        edge.effect = Effect::Spawn(first + started.len());
        started.push(instance);
    }
    Some(started)
}

fn start(
    model: &Model,
    graphs: &[Graph],
    name: &Located<String>,
    given: &[Expr],
    diagnostics: &mut Diagnostics,
) -> Option<Instance> {
    let proctype = callee(model, name, given.len(), diagnostics)?;
    let declared = &model.proctypes[proctype];
    let values = given.iter().zip(&declared.locals);
    let value = |(expr, local): (&Expr, &Variable)| local.ty.wrap(expr.constant(&|_| None, None).unwrap_or(0));
    Some(Instance::new(proctype, values.map(value).collect(), false, graphs))
}
