//! Random models mean under SC what SPIN makes of them.
//!
//! Each model is drawn as a tree, written out as Promela, read and checked; and the tree is executed directly, statement
//! by statement, the way the manual of SPIN says. Neither side knows the other.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use teetotal::parts::frontends::{Settings, promela};
use teetotal::{Finding, ModelId, Options};

/// A statement of a drawn model.
#[derive(Clone, Debug)]
enum Statement {
    Assign(Variable, Expr),
    Guard(Expr),
    Assert(Expr),
    Skip,
    Break,
    /// The last option is that of `else`, if there is one.
    If(Rc<Vec<Rc<Vec<Statement>>>>, Option<Rc<Vec<Statement>>>),
    Do(Rc<Vec<Rc<Vec<Statement>>>>, Option<Rc<Vec<Statement>>>),
    Atomic(Rc<Vec<Statement>>),
    DStep(Rc<Vec<Statement>>),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Variable {
    /// `x` is a byte, `b` a bit.
    X,
    B,
    /// An element of an array of two.
    Array(usize),
    /// The element that `b` says.
    ArrayAtB,
    Local,
}

#[derive(Clone, Debug)]
enum Expr {
    Number(i64),
    Read(Variable),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn variable(&mut self) -> Variable {
        match self.below(8) {
            0..=2 => Variable::X,
            3 => Variable::B,
            4 => Variable::Array(self.below(2) as usize),
            5 => Variable::ArrayAtB,
            _ => Variable::Local,
        }
    }

    fn expr(&mut self, depth: u32) -> Expr {
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => Expr::Number(self.below(3) as i64),
            1 | 2 => Expr::Read(self.variable()),
            3 => Expr::Not(Box::new(self.expr(depth - 1))),
            _ => {
                let operators = ["+", "-", "*", "==", "!=", "<", ">=", "&&", "||", "^", "%"];
                let op = operators[self.below(operators.len() as u64) as usize];
                let (left, mut right) = (self.expr(depth - 1), self.expr(depth - 1));
                if op == "%" {
                    right = Expr::Number(1 + self.below(3) as i64);
                }
                Expr::Binary(op, Box::new(left), Box::new(right))
            }
        }
    }

    fn statement(&mut self, depth: u32, in_loop: bool) -> Statement {
        match self.below(if depth == 0 { 9 } else { 14 }) {
            0..=4 => Statement::Assign(self.variable(), self.expr(1)),
            5 => Statement::Guard(self.expr(2)),
            6 if self.below(3) == 0 => Statement::Assert(self.expr(2)),
            6 | 7 => Statement::Skip,
            8 if in_loop => Statement::Break,
            8 => Statement::Guard(self.expr(1)),
            9 | 10 => Statement::If(self.options(depth, in_loop), self.otherwise(depth, in_loop)),
            11 => Statement::Do(self.options(depth, true), self.otherwise(depth, true)),
            12 => Statement::Atomic(self.sequence(depth, in_loop)),
            _ => Statement::DStep(self.sequence(depth, in_loop)),
        }
    }

    fn sequence(&mut self, depth: u32, in_loop: bool) -> Rc<Vec<Statement>> {
        let length = 1 + self.below(3);
        Rc::new((0..length).map(|_| self.statement(depth - 1, in_loop)).collect())
    }

    fn options(&mut self, depth: u32, in_loop: bool) -> Rc<Vec<Rc<Vec<Statement>>>> {
        let length = 1 + self.below(3);
        Rc::new((0..length).map(|_| self.sequence(depth, in_loop)).collect())
    }

    fn otherwise(&mut self, depth: u32, in_loop: bool) -> Option<Rc<Vec<Statement>>> {
        (self.below(2) == 0).then(|| self.sequence(depth, in_loop))
    }
}

impl Variable {
    fn name(self) -> String {
        match self {
            Variable::X => "x".to_owned(),
            Variable::B => "b".to_owned(),
            Variable::Array(at) => format!("a[{at}]"),
            Variable::ArrayAtB => "a[b]".to_owned(),
            Variable::Local => "own".to_owned(),
        }
    }
}

impl Expr {
    fn text(&self) -> String {
        match self {
            Expr::Number(number) => number.to_string(),
            Expr::Read(variable) => variable.name(),
            Expr::Binary(op, left, right) => format!("({} {op} {})", left.text(), right.text()),
            Expr::Not(inner) => format!("!({})", inner.text()),
        }
    }
}

fn write_sequence(statements: &[Statement], out: &mut String) {
    for (index, statement) in statements.iter().enumerate() {
        if index > 0 {
            out.push_str("; ");
        }
        write_statement(statement, out);
    }
}

fn write_statement(statement: &Statement, out: &mut String) {
    match statement {
        Statement::Assign(variable, value) => write!(out, "{} = {}", variable.name(), value.text()).unwrap(),
        Statement::Guard(expr) => write!(out, "({})", expr.text()).unwrap(),
        Statement::Assert(expr) => write!(out, "assert({})", expr.text()).unwrap(),
        Statement::Skip => out.push_str("skip"),
        Statement::Break => out.push_str("break"),
        Statement::If(options, otherwise) | Statement::Do(options, otherwise) => {
            let (open, close) = if matches!(statement, Statement::If(..)) { ("if", "fi") } else { ("do", "od") };
            out.push_str(open);
            for option in options.iter() {
                out.push_str(" :: ");
                write_sequence(option, out);
            }
            if let Some(otherwise) = otherwise {
                out.push_str(" :: else -> ");
                write_sequence(otherwise, out);
            }
            write!(out, " {close}").unwrap();
        }
        Statement::Atomic(body) | Statement::DStep(body) => {
            let word = if matches!(statement, Statement::Atomic(_)) { "atomic" } else { "d_step" };
            write!(out, "{word} {{ ").unwrap();
            write_sequence(body, out);
            out.push_str(" }");
        }
    }
}

/// What is left to do, the innermost last.
#[derive(Clone, Debug)]
enum Frame {
    Rest(Rc<Vec<Statement>>, usize),
    Loop(Statement),
    EndOfAtomic,
    EndOfDStep,
}

/// A process or all that its future depends on, and the shared variables.
#[derive(Clone, Debug)]
struct Process {
    stack: Vec<Frame>,
    own: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Memory {
    x: i64,
    b: i64,
    a: [i64; 2],
}

/// What one statement leads to.
enum Next {
    To(Process, Memory),
    AssertionFails,
}

fn value(expr: &Expr, memory: &Memory, own: i64) -> i64 {
    match expr {
        Expr::Number(number) => *number,
        Expr::Read(variable) => match variable {
            Variable::X => memory.x,
            Variable::B => memory.b,
            Variable::Array(at) => memory.a[*at],
            Variable::ArrayAtB => memory.a[memory.b as usize],
            Variable::Local => own,
        },
        Expr::Not(inner) => i64::from(value(inner, memory, own) == 0),
        Expr::Binary(op, left, right) => {
            let (l, r) = (value(left, memory, own), value(right, memory, own));
            match *op {
                "+" => i64::from((l + r) as i32),
                "-" => i64::from((l - r) as i32),
                "*" => i64::from((l * r) as i32),
                "==" => i64::from(l == r),
                "!=" => i64::from(l != r),
                "<" => i64::from(l < r),
                ">=" => i64::from(l >= r),
                "&&" => i64::from(l != 0 && r != 0),
                "||" => i64::from(l != 0 || r != 0),
                "^" => l ^ r,
                _ => l % r,
            }
        }
    }
}

impl Process {
    /// Leaves everything that is finished; a loop begins again.
    fn settle(mut self) -> Process {
        loop {
            match self.stack.last() {
                Some(Frame::Rest(statements, at)) if *at == statements.len() => {
                    self.stack.pop();
                }
                Some(Frame::EndOfAtomic | Frame::EndOfDStep) => {
                    self.stack.pop();
                }
                _ => return self,
            }
        }
    }

    fn is_in(&self, what: fn(&Frame) -> bool) -> bool {
        self.stack.iter().any(what)
    }

    /// Everything that the next statement may lead to.
    fn steps(&self, memory: &Memory) -> Vec<Next> {
        let mut process = self.clone();
        let statement = match process.stack.last_mut() {
            None => return Vec::new(),
            Some(Frame::Loop(statement)) => {
                let statement = statement.clone();
                process.stack.pop();
                statement
            }
            Some(Frame::Rest(statements, at)) => {
                *at += 1;
                statements[*at - 1].clone()
            }
            Some(frame) => unreachable!("{frame:?} is passed over"),
        };
        let with = |process: &Process, body: &Rc<Vec<Statement>>| {
            let mut process = process.clone();
            process.stack.push(Frame::Rest(Rc::clone(body), 0));
            process.steps(memory)
        };
        match &statement {
            Statement::If(options, otherwise) | Statement::Do(options, otherwise) => {
                if matches!(statement, Statement::Do(..)) {
                    process.stack.push(Frame::Loop(statement.clone()));
                }
                let first_only = process.is_in(|frame| matches!(frame, Frame::EndOfDStep));
                let mut all = Vec::new();
                for option in options.iter() {
                    if !(first_only && !all.is_empty()) {
                        all.extend(with(&process, option));
                    }
                }
                if let (true, Some(otherwise)) = (all.is_empty(), otherwise) {
                    let mut process = process.clone();
                    process.stack.push(Frame::Rest(Rc::clone(otherwise), 0));
                    all.push(Next::To(process.settle(), memory.clone()));
                }
                all
            }
            Statement::Atomic(body) => {
                process.stack.push(Frame::EndOfAtomic);
                with(&process, body)
            }
            Statement::DStep(body) => {
                process.stack.push(Frame::EndOfDStep);
                with(&process, body)
            }
            basic => process.execute(basic, memory).into_iter().collect(),
        }
    }

    fn execute(mut self, statement: &Statement, memory: &Memory) -> Option<Next> {
        let mut memory = memory.clone();
        match statement {
            Statement::Assign(variable, expr) => {
                let value = value(expr, &memory, self.own);
                match variable {
                    Variable::X => memory.x = value & 255,
                    Variable::B => memory.b = value & 1,
                    Variable::Array(at) => memory.a[*at] = value & 255,
                    Variable::ArrayAtB => memory.a[memory.b as usize] = value & 255,
                    Variable::Local => self.own = value & 255,
                }
            }
            Statement::Guard(expr) if value(expr, &memory, self.own) == 0 => return None,
            Statement::Assert(expr) if value(expr, &memory, self.own) == 0 => return Some(Next::AssertionFails),
            Statement::Break => while !matches!(self.stack.pop(), Some(Frame::Loop(_)) | None) {},
            _ => {}
        }
        Some(Next::To(self.settle(), memory))
    }
}

/// What a model does.
#[derive(Debug, PartialEq, Eq)]
struct Verdict {
    assertion: bool,
    deadlock: bool,
    finals: BTreeSet<Vec<u64>>,
}

/// At most this many states of a model are looked at.
const MOST_STATES: usize = 4_000;

/// Executes a model in every way, unless it is too large.
fn execute(bodies: &[Rc<Vec<Statement>>]) -> Option<Verdict> {
    let start: Vec<Process> =
        bodies.iter().map(|body| Process { stack: vec![Frame::Rest(Rc::clone(body), 0)], own: 0 }.settle()).collect();
    let mut verdict = Verdict { assertion: false, deadlock: false, finals: BTreeSet::new() };
    let mut seen = BTreeMap::new();
    let mut open = vec![(start, Memory { x: 0, b: 0, a: [0, 0] }, None)];
    while let Some((processes, memory, exclusive)) = open.pop() {
        if seen.insert(format!("{processes:?}{memory:?}{exclusive:?}"), ()).is_some() {
            continue;
        }
        if seen.len() > MOST_STATES {
            return None;
        }
        let mut who: Vec<usize> = (0..processes.len()).collect();
        if let Some(alone) = exclusive {
            let process: &Process = &processes[alone];
            let stuck = process.steps(&memory).is_empty();
            if stuck && process.is_in(|frame| matches!(frame, Frame::EndOfDStep)) {
                verdict.assertion = true;
                continue;
            }
            if !stuck {
                who = vec![alone];
            }
        }
        let mut any = false;
        for index in who {
            for next in processes[index].steps(&memory) {
                any = true;
                match next {
                    Next::AssertionFails => verdict.assertion = true,
                    Next::To(process, memory) => {
                        let held = process.is_in(|frame| matches!(frame, Frame::EndOfAtomic | Frame::EndOfDStep));
                        let mut processes = processes.clone();
                        processes[index] = process;
                        open.push((processes, memory, held.then_some(index)));
                    }
                }
            }
        }
        if !any && processes.iter().all(|process| process.stack.is_empty()) {
            verdict.finals.insert([memory.x, memory.b, memory.a[0], memory.a[1]].map(|value| value as u64).to_vec());
        } else if !any {
            verdict.deadlock = true;
        }
    }
    Some(verdict)
}

/// What we make of the same model.
fn check(text: &str) -> Verdict {
    let reading = promela::read("drawn.pml", text, &Settings::default());
    let program = reading.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])).program;
    let options = Options { stop_at_first: false, ..Options::new(ModelId::Sc) };
    let outcome = match teetotal::check(&Arc::new(program), &options) {
        Ok(outcome) => outcome,
        Err(error) => panic!("{error}\n{text}"),
    };
    assert!(outcome.coverage.is_complete(), "{:?}\n{text}", outcome.coverage);
    let found = |wanted: fn(&Finding) -> bool| outcome.violations.iter().any(|violation| wanted(&violation.finding));
    Verdict {
        assertion: found(|finding| matches!(finding, Finding::Failure { .. })),
        deadlock: found(|finding| matches!(finding, Finding::Deadlock { .. })),
        finals: outcome.states.keys().cloned().collect(),
    }
}

#[test]
fn random_models_mean_what_spin_makes_of_them() {
    let (mut compared, mut failing, mut stuck) = (0, 0, 0);
    for seed in 1..=1_500_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..4).for_each(|_| {
            dice.below(2);
        });
        let n_processes = 2 + dice.below(2);
        // Each ends with something that looks at memory, so that there is something to check.
        let last = Statement::Assign(Variable::X, Expr::Read(Variable::X));
        let body = |dice: &mut Dice| Rc::new(dice.sequence(3, false).iter().cloned().chain([last.clone()]).collect());
        let bodies: Vec<Rc<Vec<Statement>>> = (0..n_processes).map(|_| body(&mut dice)).collect();
        let Some(expected) = execute(&bodies) else { continue };
        let mut text = "byte x; bit b; byte a[2];\n".to_owned();
        for (index, body) in bodies.iter().enumerate() {
            write!(text, "active proctype P{index}() {{ byte own; ").unwrap();
            write_sequence(body, &mut text);
            text.push_str(" }\n");
        }
        assert_eq!(check(&text), expected, "seed {seed}\n{text}");
        compared += 1;
        failing += u32::from(expected.assertion);
        stuck += u32::from(expected.deadlock);
    }
    assert!(compared > 1_000 && failing > 100 && stuck > 100, "{compared} compared, {failing} fail, {stuck} stuck");
}
