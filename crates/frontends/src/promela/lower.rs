//! Makes threads of processes: one step of the program for each statement, as SPIN executes it.
//!
//! A point with one statement becomes the instructions of that statement. A point with several becomes one guarded
//! step that reads what all the guards look at and takes an option that is open, and then the statement of that option:
//! an option that is always executable may be chosen first and executed later without harm.

use std::collections::{BTreeMap, BTreeSet};

use teetotal_program::condition::Term as Shown;
use teetotal_program::ir::{Array, Builder, Expr as Ir, Instruction, Label, ThreadBuilder, Update};
use teetotal_program::{Loc, OnFailure, Order, ThreadId, Type};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::frontend::Settings;
use crate::promela::access::{Frame, INDEX, Local, Reads, Shared};
use crate::promela::graph::{END, Edge, Effect, Graph, Node};
use crate::promela::instance::Instance;
use crate::promela::order::{Point, emission_order, idle_points, target};
use crate::promela::syntax::{Expr, Kind, Model, Name, Place, Variable};
use crate::promela::value::Value;

/// A local array has at most this many elements: each is a register.
const LONGEST_LOCAL: u32 = 64;

/// Declares the shared variables of `model`.
pub(super) fn declare(model: &Model, builder: &mut Builder) -> Vec<Shared> {
    let mut shared = Vec::new();
    for Variable { name, ty: kind, length, initial } in &model.globals {
        let ty = match (kind.bits, kind.signed) {
            (16, true) => Type::I16,
            (32, true) => Type::I32,
            (0..=8, _) => Type::U8,
            (9..=16, _) => Type::U16,
            _ => Type::U32,
        };
        let initial: Vec<u64> = initial.iter().map(|&value| value as u64).collect();
        let array = match length {
            Some(_) => builder.array_as(name, ty, &initial),
            None => Array { base: builder.shared_as(name, ty, initial[0]), length: 1 },
        };
        shared.push(Shared { array, kind: *kind });
    }
    let n_locations: u32 = shared.iter().map(|shared| shared.array.length).sum();
    builder.observe((0..n_locations).map(|loc| Shown::Memory(Loc(loc))));
    shared
}

/// Adds a thread for each process.
pub(super) fn threads(
    model: &Model,
    instances: &[Instance],
    shared: &[Shared],
    settings: &Settings,
    builder: &mut Builder,
    diagnostics: &mut Diagnostics,
) {
    for (number, instance) in instances.iter().enumerate() {
        let same = |other: &&Instance| other.proctype == instance.proctype;
        let mut name = model.proctypes[instance.proctype].name.it.clone();
        if instances.iter().filter(same).count() > 1 {
            name = format!("{name}[{}]", instances[..number].iter().filter(same).count());
        }
        let body = |t: &mut ThreadBuilder<'_>| {
            let locals = locals(model, instance, t, diagnostics);
            let frame = Frame::new(t, shared, locals, number as i64, diagnostics);
            let demanded = demanded(&model.proctypes[instance.proctype].name.it, settings);
            Lowering::new(frame, &instance.graph, settings.split, demanded).emit();
        };
        if instance.starts {
            builder.thread(&name, body)
        } else {
            builder.spawned(&name, body)
        };
    }
}

/// The labels of `proctype` that no process may reach.
fn demanded(proctype: &str, settings: &Settings) -> BTreeSet<String> {
    let own = |label: &String| match label.split_once('@') {
        None => Some(label.clone()),
        Some((name, label)) => (name == proctype).then(|| label.to_owned()),
    };
    settings.labels.iter().filter_map(own).collect()
}

/// What the variables of a process are.
fn locals(model: &Model, instance: &Instance, t: &mut ThreadBuilder<'_>, diagnostics: &mut Diagnostics) -> Vec<Local> {
    let proctype = &model.proctypes[instance.proctype];
    let mut locals = Vec::new();
    for (number, variable) in proctype.locals.iter().enumerate() {
        let initial = instance.arguments.get(number).copied().unwrap_or(0);
        if variable.length.is_some_and(|length| length > LONGEST_LOCAL) {
            let message = format!("`{}` has more than {LONGEST_LOCAL} elements", variable.name);
            let help = "declare it outside of the process";
            diagnostics.add(Diagnostic::new(proctype.name.span, message).help(help));
        }
        locals.push(match (variable.length, instance.constants.get(&number)) {
            (_, Some(value)) => Local::Constant(*value),
            (None, _) => {
                let register = t.reg(&variable.name);
                t.initial(register, initial as u64);
                Local::Registers(vec![register], variable.ty)
            }
            (Some(length), _) => {
                let name = |element: u32| format!("{}[{element}]", variable.name);
                let length = length.min(LONGEST_LOCAL);
                Local::Registers((0..length).map(|element| t.reg(&name(element))).collect(), variable.ty)
            }
        });
    }
    locals
}

/// One thread in the making.
struct Lowering<'a, 'b> {
    f: Frame<'a, 'b>,
    graph: &'a Graph,
    split: bool,
    /// The labels that must not be reached.
    demanded: BTreeSet<String>,
    /// Where each point begins.
    labels: BTreeMap<Point, Label>,
    /// The point whose code comes next.
    next: Option<Point>,
    /// The points that would be passed again and again without an operation.
    idle: BTreeSet<usize>,
}

impl<'a, 'b> Lowering<'a, 'b> {
    fn new(f: Frame<'a, 'b>, graph: &'a Graph, split: bool, demanded: BTreeSet<String>) -> Self {
        let idle = idle_points(graph);
        Lowering { f, graph, split, demanded, labels: BTreeMap::new(), next: None, idle }
    }

    fn emit(mut self) {
        let mut order = emission_order(self.graph);
        // The end of the process is the end of the code.
        order.sort_by_key(|point| point.node == END);
        for &point in &order {
            let label = self.f.t.label();
            self.labels.insert(point, label);
        }
        for (index, &point) in order.iter().enumerate().filter(|(_, point)| point.node != END) {
            self.next = order.get(index + 1).copied();
            self.point(point);
        }
        // Whether others are held back makes no difference to a process that has ended.
        for point in order.iter().filter(|point| point.node == END) {
            self.f.t.place(self.labels[point]);
        }
    }

    /// The code from a point to the next ones.
    fn point(&mut self, point: Point) {
        let node = &self.graph.nodes[point.node];
        self.f.t.place(self.labels[&point]);
        self.f.t.at(Some(node.span));
        self.f.t.hold(point.exclusive);
        self.f.release();
        if let Some(label) = node.labels.iter().find(|label| self.demanded.contains(*label)) {
            self.f.t.assert(0, &format!("the label `{label}` is reached"));
        }
        if self.idle.contains(&point.node) {
            let to = self.f.temporary();
            self.f.t.push(Instruction::Choose { to, alternatives: 1 });
        }
        let open: Vec<&Edge> = node.edges.iter().collect();
        match &open[..] {
            [] => self.wait_forever(node),
            [edge] => self.alone(point, node, edge),
            several => self.choice(point, node, several),
        }
    }

    fn may_rest(&mut self, node: &Node) {
        if node.labels.iter().any(|label| label.starts_with("end")) {
            self.f.t.may_rest();
        }
    }

    fn wait_forever(&mut self, node: &Node) {
        self.may_rest(node);
        self.f.t.push(Instruction::Await { loads: Vec::new(), until: 0.into() });
    }

    fn go(&mut self, to: Point) {
        self.f.t.hold(to.exclusive);
        self.f.t.jump(self.labels[&to]);
    }

    /// The only statement at a point.
    fn alone(&mut self, point: Point, node: &Node, edge: &Edge) {
        self.f.t.at(Some(edge.span));
        self.f.holds = point.exclusive || edge.exclusive;
        if let Some(guard) = &edge.guard {
            let split = self.split && guard.n_shared() > 1;
            let mut reads = Reads { split, ..Reads::default() };
            let open = self.f.value(guard, &mut reads);
            self.wait_until(point, node, &open, &reads);
            self.f.release();
            self.hold_after_guard(edge);
        }
        self.effect(point, edge);
        let to = target(self.graph, point, edge);
        if self.next != Some(to) {
            self.go(to);
        }
    }

    /// Nothing may come between a guard that looks at memory and an effect that goes with it.
    fn hold_after_guard(&mut self, edge: &Edge) {
        let goes_with = !matches!(edge.effect, Effect::Nothing | Effect::CompareExchange { into: None, .. });
        if edge.guard.as_ref().is_some_and(|guard| guard.n_shared() > 0) && goes_with {
            self.f.t.hold(true);
        }
    }

    /// Goes on once a condition holds; all temporaries are clear then.
    fn wait_until(&mut self, point: Point, node: &Node, open: &Value, reads: &Reads) {
        let n_used = self.f.n_used();
        if reads.split {
            let (go_on, changed) = (self.f.t.label(), self.f.t.label());
            self.f.check_index(reads);
            self.f.t.branch(open.expr.clone(), go_on);
            self.f.t.place(changed);
            self.wait_for_change(point, node, reads);
            self.f.t.place(go_on);
            self.f.clear(n_used);
            return;
        }
        let until = with_bad_index(open.expr.clone(), reads);
        if reads.loads.is_empty() {
            if open.known().is_none_or(|value| value == 0) {
                let go_on = self.f.t.label();
                self.f.t.branch(until, go_on);
                self.wait_forever(node);
                self.f.t.place(go_on);
            }
        } else {
            self.may_rest(node);
            self.f.t.push(Instruction::Await { loads: reads.loads.clone(), until });
        }
        self.f.check_index(reads);
        self.f.clear(n_used);
    }

    /// Waits until one of `reads` would read something else, then begins again at the point.
    fn wait_for_change(&mut self, point: Point, node: &Node, reads: &Reads) {
        let n_before = self.f.n_used();
        let again: Vec<_> = reads.loads.iter().map(|(_, from)| (self.f.temporary(), from.clone())).collect();
        let differ = again.iter().zip(&reads.loads).map(|((new, _), (old, _))| Ir::from(*new).ne(*old));
        let until = differ.reduce(Ir::or).unwrap_or(0.into());
        self.may_rest(node);
        self.f.t.push(Instruction::Await { loads: again, until });
        self.f.clear(self.f.n_used());
        self.f.t.jump(self.labels[&point]);
        // On the way on, only those from before are in use.
        self.f.release();
        (0..n_before).for_each(|_| {
            self.f.temporary();
        });
    }

    /// Several statements at a point.
    fn choice(&mut self, point: Point, node: &Node, edges: &[&Edge]) {
        let n_shared: usize = edges.iter().filter_map(|edge| edge.guard.as_ref()).map(Expr::n_shared).sum();
        let mut reads = Reads { split: self.split && n_shared > 1, ..Reads::default() };
        self.f.holds = point.exclusive || edges.iter().any(|edge| edge.exclusive);
        let mut guards = Vec::new();
        for edge in edges {
            guards.push(edge.guard.as_ref().map_or(Value::constant(1), |guard| self.f.value(guard, &mut reads)));
        }
        let n_used = self.f.n_used();
        let labels: Vec<Label> = edges.iter().map(|_| self.f.t.label()).collect();
        if reads.loads.is_empty() || reads.split {
            self.f.check_index(&reads);
            self.choose_now(point, node, (edges, &guards), &labels, &reads);
        } else {
            self.choose_when_open(node, &guards, &labels, &reads);
        }
        for (edge, label) in edges.iter().zip(labels) {
            self.f.t.place(label);
            self.f.t.at(Some(edge.span));
            self.f.t.hold(point.exclusive);
            self.f.clear(n_used);
            self.f.release();
            self.hold_after_guard(edge);
            self.effect(point, edge);
            self.go(target(self.graph, point, edge));
        }
    }

    /// Reads what the guards look at and takes an option that is open, in one step.
    fn choose_when_open(&mut self, node: &Node, guards: &[Value], labels: &[Label], reads: &Reads) {
        let bad = self.f.t.label();
        let mut options: Vec<(Ir, Label)> =
            guards.iter().zip(labels).map(|(guard, &label)| (guard.expr.clone(), label)).collect();
        if let Some(condition) = &reads.bad_index {
            options.iter_mut().for_each(|(when, _)| *when = condition.clone().negated().and(when.clone()));
            options.push((condition.clone(), bad));
        }
        self.may_rest(node);
        self.f.t.select(reads.loads.clone(), options);
        self.f.t.place(bad);
        if reads.bad_index.is_some() {
            self.f.t.assert(0, INDEX);
        }
    }

    /// Takes an option that is open by what is in registers.
    fn choose_now(
        &mut self,
        point: Point,
        node: &Node,
        (edges, guards): (&[&Edge], &[Value]),
        labels: &[Label],
        reads: &Reads,
    ) {
        if reads.split {
            let some = self.f.t.label();
            let open = guards.iter().map(|guard| guard.expr.clone()).reduce(Ir::or).unwrap_or(0.into());
            self.f.t.branch(open, some);
            self.wait_for_change(point, node, reads);
            self.f.t.place(some);
        }
        let is_else = |edge: &Edge| edge.is_else && edge.guard.as_ref().is_some_and(Expr::is_negation);
        if let [first, second] = edges
            && (is_else(first) || is_else(second))
        {
            self.f.t.branch(guards[0].expr.clone(), labels[0]);
            return self.f.t.jump(labels[1]);
        }
        // Where one option is open and no other, there is nothing to choose.
        const MOST: usize = 8;
        if guards.len() <= MOST && guards.iter().any(|guard| guard.known().is_none()) {
            for (at, &label) in labels.iter().enumerate() {
                let others = guards.iter().enumerate().filter(|(other, _)| *other != at);
                let closed = others.map(|(_, guard)| guard.expr.clone()).reduce(Ir::or).unwrap_or(0.into()).negated();
                self.f.t.branch(guards[at].expr.clone().and(closed), label);
            }
        }
        self.may_rest(node);
        let options = guards.iter().zip(labels).map(|(guard, &label)| (guard.expr.clone(), label));
        self.f.t.select(Vec::new(), options);
    }
}

/// What statements do.
impl Lowering<'_, '_> {
    /// Does what a statement does; all temporaries are clear before and after.
    fn effect(&mut self, point: Point, edge: &Edge) {
        let split = self.split && accesses(&edge.effect) > 1;
        let mut reads = Reads { split, ..Reads::default() };
        match &edge.effect {
            Effect::Nothing => {}
            Effect::Assign(place, value) => self.assign(place, value, &mut reads),
            Effect::Assert(expr) => {
                let holds = self.f.value(expr, &mut reads);
                self.f.read_now(&reads);
                self.f.t.assert(holds.expr, "");
            }
            Effect::Fence => self.f.t.fence(),
            Effect::Sync => self.f.t.push(Instruction::GlobalFence),
            Effect::Spawn(number) => self.f.t.spawn(ThreadId::at(*number)),
            Effect::Exchange { at, new, into } => {
                let (at, kind) = self.f.address(at, &mut reads);
                let new = self.f.value(new, &mut reads).wrapped(kind);
                self.f.check_index(&reads);
                let old = self.f.temporary();
                self.f.t.push(Instruction::Rmw { old, at, update: Update::Exchange(new), order: Order::SeqCst });
                if let Some(place) = into {
                    let index = self.f.index(place, &mut reads);
                    self.f.assign(place, &index, Value::held(old, kind));
                }
            }
            Effect::CompareExchange { at, old, new, into } => {
                self.compare_exchange(point, (at, old, new), into.as_ref())
            }
            Effect::Fail(message) => self.f.t.assert(0, message),
            Effect::Run(..) => unreachable!("every process that is started has a number"),
        }
        self.f.clear(self.f.n_used());
        self.f.release();
    }

    fn assign(&mut self, place: &Place, value: &Expr, reads: &mut Reads) {
        let value = self.f.value(value, reads);
        if matches!(place.name, Name::Local(_)) {
            let index = self.f.index(place, reads);
            self.f.read_now(reads);
            return self.f.assign(place, &index, value);
        }
        let (to, kind) = self.f.address(place, reads);
        let value = value.stored(kind);
        if reads.loads.is_empty() || reads.split {
            self.f.check_index(reads);
            return self.f.t.store(to, value);
        }
        let loads = reads.loads.clone();
        let Some(bad) = &reads.bad_index else { return self.f.t.transfer(loads, to, value) };
        let (fails, next) = (self.f.t.label(), self.f.t.label());
        let options = [(bad.clone().negated(), Some((to, value)), next), (bad.clone(), None, fails)];
        self.f.t.guarded(loads, options);
        self.f.t.place(fails);
        self.f.t.assert(0, INDEX);
        self.f.t.place(next);
    }

    fn compare_exchange(&mut self, point: Point, (at, old, new): (&Place, &Expr, &Expr), into: Option<&Place>) {
        let mut reads = Reads::default();
        let (at, kind) = self.f.address(at, &mut reads);
        let expected = self.f.value(old, &mut reads).wrapped(kind);
        let new = self.f.value(new, &mut reads).wrapped(kind);
        self.f.check_index(&reads);
        let found = self.f.temporary();
        let update = Update::CompareExchange { expected: expected.clone(), new, on_failure: OnFailure::Locked };
        self.f.t.push(Instruction::Rmw { old: found, at, update, order: Order::SeqCst });
        let succeeded = found.eq(expected);
        match into {
            Some(place) => {
                let index = self.f.index(place, &mut reads);
                self.f.assign(place, &index, Value::held(succeeded, Kind::BIT));
            }
            None => {
                // Another process was faster: the statement is not executable after all.
                let (retry, done) = (self.labels[&point], self.f.t.label());
                self.f.t.branch(succeeded, done);
                self.f.clear(self.f.n_used());
                self.f.t.jump(retry);
                self.f.t.place(done);
            }
        }
    }
}

fn with_bad_index(open: Ir, reads: &Reads) -> Ir {
    reads.bad_index.as_ref().map_or(open.clone(), |bad| bad.clone().or(open))
}

/// How many accesses to shared variables an effect makes.
fn accesses(effect: &Effect) -> usize {
    match effect {
        Effect::Assign(place, value) => {
            let mut count = value.n_shared() + usize::from(matches!(place.name, Name::Global(_)));
            place.shared_index(&mut |_| count += 1);
            count
        }
        Effect::Assert(expr) => expr.n_shared(),
        _ => 1,
    }
}
