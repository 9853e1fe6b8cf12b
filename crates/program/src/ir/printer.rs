//! Shows programs as text, one statement a line.
//!
//! A plus before a statement says that no other thread comes between it and the one before, an asterisk that a thread
//! may wait there forever.

use std::fmt::{self, Write};

use crate::condition::{Comparison, Condition, Formula, Operand};
use crate::ir::address::Address;
use crate::ir::expr::{BinaryOp, Expr, UnaryOp};
use crate::ir::instruction::{FetchOp, Guard, Instruction, Update};
use crate::ir::program::{Program, ThreadCode};
use crate::names::{Reg, ThreadId, Value};
use crate::op::{OnFailure, Order};
use crate::span::Span;

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", self.name)?;
        for location in &self.locations {
            writeln!(f, "  shared {} = {}", location.name, location.ty.show(location.initial))?;
        }
        for (index, thread) in self.threads.iter().enumerate() {
            writeln!(f, "thread {}{}", thread.name, if thread.starts { "" } else { " (spawned)" })?;
            let targets = jump_targets(thread);
            for at in 0..=thread.code.len() {
                let label = if targets.contains(&(at as u32)) { format!("{at}:") } else { String::new() };
                if at < thread.code.len() {
                    let place = &thread.places[at];
                    let mark = if place.exclusive { "+ " } else { "" };
                    let rest = if place.may_rest { "* " } else { "" };
                    writeln!(f, "  {label:<4}{mark}{rest}{}", statement(self, ThreadId::at(index), at))?;
                } else if !label.is_empty() {
                    writeln!(f, "  {label:<4}end")?;
                }
            }
        }
        if let Some(filter) = &self.filter {
            writeln!(f, "{}", self::filter(self, filter))?;
        }
        match &self.condition {
            Some(condition) => writeln!(f, "{}", self::condition(self, condition)),
            None => Ok(()),
        }
    }
}

fn jump_targets(thread: &ThreadCode) -> Vec<u32> {
    thread.code.iter().flat_map(Instruction::targets).collect()
}

/// Instruction `at` of `thread` as a statement, such as `r0 = x` or `x = 1 (release)`.
#[must_use]
pub fn statement(program: &Program, thread: ThreadId, at: usize) -> String {
    let show = Show { program, thread };
    let text = match &program.threads[thread.index()].code[at] {
        Instruction::Assign { to, value } => format!("{} := {}", show.reg(*to), show.expr(value)),
        Instruction::Load { to, from, .. } => format!("{} = {}", show.reg(*to), show.address(from)),
        Instruction::Store { to, value, .. } => format!("{} = {}", show.address(to), show.expr(value)),
        Instruction::Rmw { old, at, update, .. } => {
            format!("{} = {}", show.reg(*old), show.update(&show.address(at), update))
        }
        Instruction::Fence { order } => fence_name(*order).to_owned(),
        Instruction::GlobalFence => "sync".to_owned(),
        Instruction::Lock { at, .. } => format!("lock {}", show.address(at)),
        Instruction::Unlock { at, .. } => format!("unlock {}", show.address(at)),
        Instruction::Spawn { thread, .. } => format!("spawn {}", program.threads[thread.index()].name),
        Instruction::Join { thread, .. } => format!("join {}", program.threads[thread.index()].name),
        Instruction::Choose { to, alternatives } => format!("{} = choose below {alternatives}", show.reg(*to)),
        Instruction::Await { loads, until } => {
            let loads = loads.iter().map(|(to, from)| format!("{} = {}", show.reg(*to), show.address(from)));
            format!("await {} until {}", loads.collect::<Vec<_>>().join(", "), show.expr(until))
        }
        Instruction::Guarded { loads, options } => show.guarded(loads, options),
        Instruction::Branch { condition, target } => format!("if {} goto {target}", show.expr(condition)),
        Instruction::Jump { target } => format!("goto {target}"),
        Instruction::Assert { condition, message } => format!("assert {} \"{message}\"", show.expr(condition)),
        Instruction::Assume { condition } => format!("assume {}", show.expr(condition)),
    };
    text + &order_note(&program.threads[thread.index()].code[at])
}

/// Instruction `at` of `thread` as its author knows it: as in the source where the program is known by that.
///
/// A guarded step that took `alternative` is shown as the statement that led on from there.
#[must_use]
pub fn shown(program: &Program, thread: ThreadId, at: usize, alternative: Option<Value>) -> String {
    let code = &program.threads[thread.index()];
    let options = match &code.code[at] {
        Instruction::Guarded { options, .. } => &options[..],
        _ => &[],
    };
    let option = alternative.and_then(|taken| options.get(taken as usize)).map(|option| option.target as usize);
    let place = option.and_then(|target| code.places.get(target)).unwrap_or(&code.places[at]);
    let quoted = place.span.filter(|_| program.quotes_source).and_then(|span| quote(program, span));
    quoted.unwrap_or_else(|| statement(program, thread, at))
}

/// The text at a place, if it is known and not empty.
fn quote(program: &Program, span: Span) -> Option<String> {
    let text = program.sources.get(usize::from(span.source))?.text.as_deref()?;
    let line = text.split('\n').nth(span.line.checked_sub(1)? as usize)?;
    let quoted: String = line.chars().skip(span.column.checked_sub(1)? as usize).take(span.length as usize).collect();
    Some(quoted.trim().to_owned()).filter(|quoted| !quoted.is_empty())
}

/// A condition, such as `exists (0:r0=0 /\ 1:r1=0)`, with as few parentheses as `/\` before `\/` allows.
#[must_use]
pub fn condition(program: &Program, condition: &Condition) -> String {
    let quantifier = match condition {
        Condition::Exists(_) => "exists",
        Condition::NotExists(_) => "~exists",
        Condition::ForAll(_) => "forall",
    };
    format!("{quantifier} ({})", formula(program, condition.formula(), Around::Nothing))
}

/// A filter, such as `filter (0:r0=1)`.
#[must_use]
pub fn filter(program: &Program, filter: &Formula) -> String {
    format!("filter ({})", formula(program, filter, Around::Nothing))
}

/// A formula with as few parentheses as `/\` before `\/` allows.
#[must_use]
pub fn proposition(program: &Program, part: &Formula) -> String {
    formula(program, part, Around::Nothing)
}

/// What a formula stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    And,
    Or,
}

fn formula(program: &Program, part: &Formula, around: Around) -> String {
    let joined = |parts: &[Formula], word: &str, here: Around| {
        parts.iter().map(|part| formula(program, part, here)).collect::<Vec<_>>().join(word)
    };
    match part {
        Formula::True => "true".to_owned(),
        Formula::Compare(left, comparison, right) => compare(program, *left, *comparison, *right),
        Formula::Not(inner) => format!("not ({})", formula(program, inner, Around::Nothing)),
        Formula::And(parts) | Formula::Or(parts) if parts.len() == 1 => formula(program, &parts[0], around),
        Formula::And(parts) if parts.is_empty() => "true".to_owned(),
        Formula::Or(parts) if parts.is_empty() => "false".to_owned(),
        Formula::And(parts) => joined(parts, " /\\ ", Around::And),
        Formula::Or(parts) if around == Around::And => format!("({})", joined(parts, " \\/ ", Around::Or)),
        Formula::Or(parts) => joined(parts, " \\/ ", Around::Or),
    }
}

fn compare(program: &Program, left: Operand, comparison: Comparison, right: Operand) -> String {
    let symbol = match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    };
    // A constant is shown as what it is compared with: an unsigned location has no negative values.
    let side = |operand: Operand, other: Operand| match (operand, other) {
        (Operand::Term(term), _) => program.term_name(term),
        (Operand::Constant(value), Operand::Term(term)) => program.show_value(term, value),
        (Operand::Constant(value), Operand::Constant(_)) => (value as i64).to_string(),
    };
    format!("{}{symbol}{}", side(left, right), side(right, left))
}

fn fence_name(order: Order) -> &'static str {
    match order {
        Order::SeqCst => "fence",
        Order::Release => "store-store fence",
        Order::AcqRel => "acquire-release fence",
        Order::Acquire => "load-load fence",
        Order::Plain | Order::Relaxed => "no fence",
    }
}

/// What the statement itself does not show of the ordering.
fn order_note(instruction: &Instruction) -> String {
    let (order, usual) = match instruction {
        Instruction::Load { order, .. } | Instruction::Store { order, .. } => (*order, Order::Plain),
        Instruction::Rmw { order, .. }
        | Instruction::Lock { order, .. }
        | Instruction::Unlock { order, .. }
        | Instruction::Spawn { order, .. }
        | Instruction::Join { order, .. } => (*order, Order::SeqCst),
        _ => return String::new(),
    };
    if order == usual { String::new() } else { format!(" ({})", order_name(order)) }
}

/// An ordering in words.
#[must_use]
pub fn order_name(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acquire-release",
        Order::SeqCst => "seq-cst",
    }
}

struct Show<'p> {
    program: &'p Program,
    thread: ThreadId,
}

impl Show<'_> {
    fn reg(&self, reg: Reg) -> &str {
        self.program.register_name(self.thread, reg)
    }

    fn address(&self, address: &Address) -> String {
        match address {
            Address::Static(loc) => self.program.location_name(*loc).to_owned(),
            Address::Indexed { base, index, .. } => {
                let name = self.program.location_name(*base);
                format!("{}[{}]", name.strip_suffix("[0]").unwrap_or(name), self.expr(index))
            }
            Address::Computed(address) => format!("*{}", self.inner(address)),
        }
    }

    fn update(&self, at: &str, update: &Update) -> String {
        match update {
            Update::Exchange(value) => format!("exchange({at}, {})", self.expr(value)),
            Update::Fetch(op, value) => format!("{}({at}, {})", fetch_name(*op), self.expr(value)),
            Update::CompareExchange { expected, new, on_failure } => {
                let note = failure_note(*on_failure);
                format!("compare_exchange({at}, {}, {}{note})", self.expr(expected), self.expr(new))
            }
            Update::Function(new) => format!("update({at}, {})", self.expr(new)),
            Update::When { condition, new, on_failure } => {
                let note = failure_note(*on_failure);
                format!("update({at}, {} when {}{note})", self.inner(new), self.expr(condition))
            }
        }
    }

    /// `[a = x, b = y] when a == 1 goto 4, when b do z = a goto 7`.
    fn guarded(&self, loads: &[(Reg, Address)], options: &[Guard]) -> String {
        let option = |Guard { when, store, target }: &Guard| {
            let store = store.as_ref().map(|(to, value)| format!(" do {} = {}", self.address(to), self.expr(value)));
            format!("when {}{} goto {target}", self.expr(when), store.unwrap_or_default())
        };
        let loads = loads.iter().map(|(to, from)| format!("{} = {}", self.reg(*to), self.address(from)));
        let options = options.iter().map(option).collect::<Vec<_>>();
        format!("[{}] {}", loads.collect::<Vec<_>>().join(", "), options.join(", "))
    }

    fn constant(&self, value: Value) -> String {
        match self.program.addresses.location(value) {
            Some(loc) => format!("&{}", self.program.location_name(loc)),
            None => (value as i64).to_string(),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Const(value) => self.constant(*value),
            Expr::Reg(reg) => self.reg(*reg).to_owned(),
            Expr::Old => "old".to_owned(),
            Expr::Unary(op, inner) => self.unary(*op, inner),
            Expr::Binary(op, left, right) => {
                format!("{} {} {}", self.inner(left), binary_symbol(*op), self.inner(right))
            }
            Expr::Select(condition, then, otherwise) => {
                format!("{} ? {} : {}", self.inner(condition), self.inner(then), self.inner(otherwise))
            }
        }
    }

    fn unary(&self, op: UnaryOp, inner: &Expr) -> String {
        let inner = self.inner(inner);
        match op {
            UnaryOp::Not => format!("!{inner}"),
            UnaryOp::Negate => format!("-{inner}"),
            UnaryOp::Complement => format!("~{inner}"),
            UnaryOp::Cast(ty) => {
                let mut text = String::new();
                let letter = if ty.signed { 'i' } else { 'u' };
                write!(text, "{letter}{}({inner})", ty.width.bits()).expect("a string takes any text");
                text
            }
        }
    }

    /// An expression inside another.
    fn inner(&self, expr: &Expr) -> String {
        match expr {
            Expr::Binary(..) | Expr::Select(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }
}

fn failure_note(on_failure: OnFailure) -> String {
    match on_failure {
        OnFailure::Locked => String::new(),
        OnFailure::Load(order) => format!(", else {}", order_name(order)),
    }
}

fn fetch_name(op: FetchOp) -> &'static str {
    match op {
        FetchOp::Add => "fetch_add",
        FetchOp::Subtract => "fetch_sub",
        FetchOp::And => "fetch_and",
        FetchOp::Or => "fetch_or",
        FetchOp::Xor => "fetch_xor",
        FetchOp::Max => "fetch_max",
        FetchOp::Min => "fetch_min",
        FetchOp::MaxUnsigned => "fetch_umax",
        FetchOp::MinUnsigned => "fetch_umin",
    }
}

fn binary_symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::DivideUnsigned => "/u",
        BinaryOp::RemainderUnsigned => "%u",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>u",
        BinaryOp::ShiftRightSigned => ">>",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Below => "<u",
        BinaryOp::BelowOrEqual => "<=u",
        BinaryOp::Both => "&&",
        BinaryOp::Either => "||",
    }
}
