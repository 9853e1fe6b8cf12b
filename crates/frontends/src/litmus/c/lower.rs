//! Lowers the statements of each thread, one memory access after the other.

use std::collections::BTreeMap;

use teetotal_program::ir::{Builder, Instruction, Label, Language, ThreadBuilder};
use teetotal_program::{Order, Reg, Span, ThreadId};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::litmus::c::scope::{self, Variables};
use crate::litmus::c::syntax::{Declarator, Expression, Form, Statement, Thread};
use crate::litmus::locations::Locations;
use crate::litmus::question::{Locals, no_thread};
use crate::litmus::syntax::{Entry, Located, Named, Place, Test};
use crate::litmus::types::CType;
use crate::suggest::nearest;

/// One thread in the making.
#[derive(Debug)]
pub(super) struct Lowering<'a, 'b> {
    pub(super) t: &'a mut ThreadBuilder<'b>,
    pub(super) thread: ThreadId,
    /// What each parameter points to.
    pub(super) parameters: BTreeMap<&'a str, CType>,
    pub(super) variables: &'a Variables,
    pub(super) locations: &'a mut Locations,
    /// Registers for what an expression keeps while it is computed.
    temporaries: Vec<Reg>,
    /// How many of them the current expression uses.
    n_used: usize,
    labels: BTreeMap<&'a str, Label>,
    /// Where `break` and `continue` go, for each loop around.
    loops: Vec<Exits>,
    end: Label,
    /// Whether some function is one of the Linux kernel.
    pub(super) uses_kernel: &'a mut bool,
    pub(super) diagnostics: &'a mut Diagnostics,
}

#[derive(Clone, Copy, Debug)]
struct Exits {
    after: Label,
    again: Label,
}

/// Lowers every thread of `test`; gives the types of their local variables.
pub(in crate::litmus) fn threads(
    test: &Test,
    threads: &[Thread],
    locations: &mut Locations,
    builder: &mut Builder,
    diagnostics: &mut Diagnostics,
) -> Locals {
    let mut locals = Locals::new();
    let mut uses_kernel = false;
    for (index, thread) in threads.iter().enumerate() {
        let is_own = |entry: &&Entry| matches!(&entry.place.it, Place::Register(thread, _) if *thread == index);
        let entries: Vec<&Entry> = test.init.iter().filter(is_own).collect();
        let variables = scope::variables(thread, &entries, locations, diagnostics);
        builder.thread(&format!("P{index}"), |t| {
            t.at(Some(thread.span));
            let end = t.label();
            let parameters = thread.parameters.iter().map(|p| (p.name.it.as_str(), p.pointee)).collect();
            let mut lowering = Lowering {
                t,
                thread: ThreadId::at(index),
                parameters,
                variables: &variables,
                locations,
                temporaries: Vec::new(),
                n_used: 0,
                labels: BTreeMap::new(),
                loops: Vec::new(),
                end,
                uses_kernel: &mut uses_kernel,
                diagnostics,
            };
            lowering.prepare(&entries);
            lowering.declare_labels(&thread.body);
            thread.body.iter().for_each(|statement| lowering.statement(statement));
            lowering.t.place(end);
        });
        locals.push(variables.into_iter().map(|(name, ty)| (name, ty.value())).collect());
    }
    builder.language(if uses_kernel { Language::KernelC } else { Language::C });
    for entry in &test.init {
        if let Place::Register(thread, _) = entry.place.it
            && thread >= threads.len()
        {
            diagnostics.add(no_thread(test, thread, entry.place.span));
        }
    }
    if locations.symbols.values().any(|symbol| symbol.address_taken) {
        builder.name_addresses();
    }
    locals
}

impl<'a> Lowering<'a, '_> {
    /// Makes all local variables, with what they hold at first.
    fn prepare(&mut self, entries: &[&Entry]) {
        for name in self.variables.keys() {
            self.t.reg(name);
        }
        for entry in entries {
            let Place::Register(_, Named::Local(name)) = &entry.place.it else { continue };
            let Some(value) = entry.values.first() else { continue };
            if let (Some(number), Some(ty)) =
                (self.locations.initial(value, self.diagnostics), self.variables.get(name).copied())
            {
                let register = self.t.reg(name);
                self.t.initial(register, ty.value().wrap(number));
            }
        }
    }

    fn declare_labels(&mut self, statements: &'a [Located<Statement>]) {
        statements.iter().for_each(|statement| self.declare_label(statement));
    }

    fn declare_label(&mut self, statement: &'a Located<Statement>) {
        match &statement.it {
            Statement::Label(name) => {
                let label = self.t.label();
                if self.labels.insert(name, label).is_some() {
                    let twice = format!("the label `{name}` is defined twice in this thread");
                    self.diagnostics.add(Diagnostic::new(statement.span, twice));
                }
            }
            Statement::Block(statements) => self.declare_labels(statements),
            Statement::If { then, otherwise, .. } => {
                self.declare_label(then);
                otherwise.iter().for_each(|otherwise| self.declare_label(otherwise));
            }
            Statement::While { body, .. } | Statement::DoWhile { body, .. } | Statement::For { body, .. } => {
                self.declare_label(body);
            }
            _ => {}
        }
    }

    fn statement(&mut self, statement: &'a Located<Statement>) {
        if self.diagnostics.is_full() {
            return;
        }
        self.begin(statement.span);
        if self.lower(statement).is_none() && self.diagnostics.is_empty() {
            // Whatever is not lowered is refused: a program that lacks a statement would be another one.
            self.diagnostics.add(Diagnostic::new(statement.span, "this statement is not supported"));
        }
    }

    /// Another expression begins, so that temporaries are free again.
    fn begin(&mut self, span: Span) {
        self.t.at(Some(span));
        self.n_used = 0;
    }

    fn lower(&mut self, statement: &'a Located<Statement>) -> Option<()> {
        match &statement.it {
            Statement::Empty => {}
            Statement::Block(statements) => statements.iter().for_each(|statement| self.statement(statement)),
            Statement::Declaration(declarators) => {
                for declarator in declarators {
                    self.begin(declarator.name.span);
                    self.declaration(declarator);
                }
            }
            Statement::Expression(expression) => self.effect(expression)?,
            Statement::If { condition, then, otherwise } => self.choice(condition, then, otherwise.as_deref())?,
            Statement::While { condition, body } => self.while_loop(Some(condition), None, body)?,
            Statement::DoWhile { body, condition } => self.do_loop(body, condition)?,
            Statement::For { before, condition, step, body } => {
                self.statement(before);
                self.while_loop(condition.as_ref(), step.as_ref(), body)?;
            }
            Statement::Label(name) => {
                let label = *self.labels.get(name.as_str())?;
                self.t.place(label);
            }
            Statement::Goto(name) => self.goto(name, statement.span)?,
            Statement::Break | Statement::Continue => {
                let Some(exits) = self.loops.last().copied() else {
                    return self.refuse(statement.span, "there is no loop around this");
                };
                let is_break = matches!(statement.it, Statement::Break);
                self.t.jump(if is_break { exits.after } else { exits.again });
            }
            Statement::Return => self.t.jump(self.end),
            Statement::Assert(condition, text) => {
                let condition = self.value(condition)?.expr;
                self.t.at(Some(statement.span));
                self.t.push(Instruction::Assert { condition, message: text.clone() });
            }
        }
        Some(())
    }

    fn declaration(&mut self, declarator: &Declarator) -> Option<()> {
        let value = declarator.value.as_ref()?;
        let register = self.t.reg(&declarator.name.it);
        self.assign(register, declarator.ty, value)
    }

    fn goto(&mut self, name: &str, span: Span) -> Option<()> {
        let Some(&label) = self.labels.get(name) else {
            let unknown = Diagnostic::new(span, format!("this thread has no label `{name}`"));
            self.diagnostics.add(unknown.meant(nearest(name, self.labels.keys().copied())));
            return None;
        };
        self.t.jump(label);
        Some(())
    }

    fn choice(
        &mut self,
        condition: &Expression,
        then: &'a Located<Statement>,
        otherwise: Option<&'a Located<Statement>>,
    ) -> Option<()> {
        let alternative = self.t.label();
        let tested = self.branch(condition, alternative, false);
        self.statement(then);
        if let Some(otherwise) = otherwise {
            let end = self.t.label();
            self.t.jump(end);
            self.t.place(alternative);
            self.statement(otherwise);
            self.t.place(end);
        } else {
            self.t.place(alternative);
        }
        tested
    }

    /// A loop that tests first: `while`, or `for` with what it does after each turn.
    fn while_loop(
        &mut self,
        condition: Option<&Expression>,
        step: Option<&Expression>,
        body: &'a Located<Statement>,
    ) -> Option<()> {
        let (start, after, again) = (self.t.label(), self.t.label(), self.t.label());
        self.t.place(start);
        let mut tested = Some(());
        if let Some(condition) = condition {
            self.begin(condition.span);
            tested = self.branch(condition, after, false);
        }
        self.loops.push(Exits { after, again });
        self.statement(body);
        self.loops.pop();
        self.t.place(again);
        let mut stepped = Some(());
        if let Some(step) = step {
            self.begin(step.span);
            stepped = self.effect(step);
        }
        self.t.jump(start);
        self.t.place(after);
        tested.and(stepped)
    }

    fn do_loop(&mut self, body: &'a Located<Statement>, condition: &Expression) -> Option<()> {
        let (start, after, again) = (self.t.label(), self.t.label(), self.t.label());
        self.t.place(start);
        self.loops.push(Exits { after, again });
        self.statement(body);
        self.loops.pop();
        self.t.place(again);
        self.begin(condition.span);
        let tested = self.branch(condition, start, true);
        self.t.place(after);
        tested
    }

    /// Does what an expression does, whatever its value is.
    pub(super) fn effect(&mut self, expression: &Expression) -> Option<()> {
        match &expression.it {
            Form::Assign(..) => self.assignment(expression).map(|_| ()),
            Form::Step { place, up, .. } => self.step(place, *up, false, expression.span).map(|_| ()),
            Form::Call(name, arguments) => self.call(name, arguments, expression.span, None).map(|_| ()),
            Form::Nothing(inner) => self.effect(inner),
            Form::Sequence(first, second) => {
                self.effect(first)?;
                self.effect(second)
            }
            _ => self.value(expression).map(|_| ()),
        }
    }

    /// `to = value`, where a load goes to the register at once.
    pub(super) fn assign(&mut self, to: Reg, ty: CType, value: &Expression) -> Option<()> {
        let given = self.value_into(value, Some((to, ty)))?;
        let expr = self.converted(given, ty, value.span)?;
        if expr != to.into() {
            self.t.at(Some(value.span));
            self.t.set(to, expr);
        }
        Some(())
    }

    /// A register for what an expression keeps.
    pub(super) fn temporary(&mut self) -> Reg {
        let free = self.temporaries.get(self.n_used).copied();
        let register = free.unwrap_or_else(|| self.t.temporary());
        if free.is_none() {
            self.temporaries.push(register);
        }
        self.n_used += 1;
        register
    }

    /// Appends an instruction that came from `span`.
    pub(super) fn push(&mut self, span: Span, instruction: Instruction) {
        self.t.at(Some(span));
        self.t.push(instruction);
    }

    /// A fence; a relaxed one is none.
    pub(super) fn fence(&mut self, order: Order, span: Span) {
        if order > Order::Relaxed {
            self.push(span, Instruction::Fence { order });
        }
    }

    pub(super) fn refuse<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        self.diagnostics.add(Diagnostic::new(span, message));
        None
    }

    pub(super) fn refuse_with<T>(&mut self, span: Span, message: impl Into<String>, help: &str) -> Option<T> {
        self.diagnostics.add(Diagnostic::new(span, message).help(help));
        None
    }
}
