//! Random models mean what SPIN makes of them, and with store buffers what that says of each statement.
//!
//! Each model is drawn as a tree, written out as Promela, read and checked; and the tree is executed directly,
//! statement by statement, the way the manual of SPIN says; stores go through buffers where the model has them.
//! Neither side knows the other.

use std::collections::BTreeSet;
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
    Fence,
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
            6 if depth > 0 => Statement::Fence,
            6 | 7 => Statement::Skip,
            8 if in_loop => Statement::Break,
            8 => Statement::Guard(self.expr(1)),
            9 | 10 => Statement::If(self.options(depth, in_loop), self.otherwise(depth, in_loop)),
            11 => Statement::Do(self.options(depth, true), self.otherwise(depth, true)),
            12 => Statement::Atomic(self.sequence(depth, in_loop)),
            // Nothing in a `d_step` may wait for a buffer, and a fence stands at larger depths only.
            _ => Statement::DStep(self.sequence(1, in_loop)),
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
        Statement::Assign(variable, value) => {
            write!(out, "{} = {}", variable.name(), value.text()).expect("a string takes any text")
        }
        Statement::Guard(expr) => write!(out, "({})", expr.text()).expect("a string takes any text"),
        Statement::Assert(expr) => write!(out, "assert({})", expr.text()).expect("a string takes any text"),
        Statement::Skip => out.push_str("skip"),
        Statement::Fence => out.push_str("fence"),
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
            write!(out, " {close}").expect("a string takes any text");
        }
        Statement::Atomic(body) | Statement::DStep(body) => {
            let word = if matches!(statement, Statement::Atomic(_)) { "atomic" } else { "d_step" };
            write!(out, "{word} {{ ").expect("a string takes any text");
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

/// A process: what it has to do, its variable, and its pending stores, the oldest first.
#[derive(Clone, Debug)]
struct Process {
    stack: Vec<Frame>,
    own: i64,
    buffer: Vec<(usize, i64)>,
}

/// `x`, `b`, `a[0]` and `a[1]`.
type Memory = [i64; 4];

/// What one statement leads to.
enum Next {
    To(Process),
    AssertionFails,
}

/// Which of the shared variables it is.
fn cell(variable: Variable, memory: &Memory) -> Option<usize> {
    match variable {
        Variable::X => Some(0),
        Variable::B => Some(1),
        Variable::Array(at) => Some(2 + at),
        Variable::ArrayAtB => Some(2 + memory[1] as usize),
        Variable::Local => None,
    }
}

fn value(expr: &Expr, memory: &Memory, own: i64) -> i64 {
    match expr {
        Expr::Number(number) => *number,
        Expr::Read(variable) => cell(*variable, memory).map_or(own, |cell| memory[cell]),
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

    /// Memory as this process sees it.
    fn view(&self, memory: &Memory) -> Memory {
        let mut view = *memory;
        self.buffer.iter().for_each(|&(cell, value)| view[cell] = value);
        view
    }

    /// Everything that the next statement may lead to, given what the process sees.
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
                    if !first_only || all.is_empty() {
                        all.extend(with(&process, option));
                    }
                }
                if let (true, Some(otherwise)) = (all.is_empty(), otherwise) {
                    let mut process = process.clone();
                    process.stack.push(Frame::Rest(Rc::clone(otherwise), 0));
                    all.push(Next::To(process.settle()));
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
        match statement {
            Statement::Assign(variable, expr) => {
                let value = value(expr, memory, self.own);
                match cell(*variable, memory) {
                    Some(cell) => self.buffer.push((cell, value & if cell == 1 { 1 } else { 255 })),
                    None => self.own = value & 255,
                }
            }
            Statement::Guard(expr) if value(expr, memory, self.own) == 0 => return None,
            Statement::Assert(expr) if value(expr, memory, self.own) == 0 => return Some(Next::AssertionFails),
            Statement::Fence if !self.buffer.is_empty() => return None,
            Statement::Break => while !matches!(self.stack.pop(), Some(Frame::Loop(_)) | None) {},
            _ => {}
        }
        Some(Next::To(self.settle()))
    }

    /// The stores that may leave the buffer, by their positions.
    fn may_leave(&self, model: ModelId) -> Vec<usize> {
        let first_to = |at: usize| self.buffer[..at].iter().all(|(cell, _)| *cell != self.buffer[at].0);
        match model {
            ModelId::Sc => Vec::new(),
            ModelId::Rc11 => unreachable!("it does not say what Promela does"),
            ModelId::Tso => (0..self.buffer.len().min(1)).collect(),
            ModelId::Pso => (0..self.buffer.len()).filter(|&at| first_to(at)).collect(),
        }
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

/// All that the future of a model depends on.
#[derive(Clone, Debug)]
struct State {
    processes: Vec<Process>,
    memory: Memory,
    /// The process that no other may interrupt.
    alone: Option<usize>,
}

impl Frame {
    /// What tells it from others of the same model.
    fn key(&self) -> [usize; 2] {
        match self {
            Frame::Rest(statements, at) => [Rc::as_ptr(statements) as usize, *at],
            Frame::Loop(Statement::Do(options, _)) => [Rc::as_ptr(options) as usize, usize::MAX],
            Frame::Loop(other) => unreachable!("{other:?} is no loop"),
            Frame::EndOfAtomic => [1, 0],
            Frame::EndOfDStep => [2, 0],
        }
    }
}

impl State {
    /// What tells it from other states of the same model.
    fn key(&self) -> Vec<usize> {
        let mut key = vec![self.alone.map_or(0, |alone| alone + 1)];
        key.extend(self.memory.map(|value| value as usize));
        for process in &self.processes {
            key.extend([process.own as usize, process.buffer.len(), process.stack.len()]);
            key.extend(process.buffer.iter().flat_map(|&(cell, value)| [cell, value as usize]));
            key.extend(process.stack.iter().flat_map(Frame::key));
        }
        key
    }

    fn can_go_on(&self, index: usize) -> bool {
        let process = &self.processes[index];
        !process.steps(&process.view(&self.memory)).is_empty()
    }

    /// The states after a store has left a buffer.
    fn commits(&self, model: ModelId) -> Vec<State> {
        let mut next = Vec::new();
        for index in 0..self.processes.len() {
            for at in self.processes[index].may_leave(model) {
                let mut state = self.clone();
                let (cell, value) = state.processes[index].buffer.remove(at);
                state.memory[cell] = value;
                next.push(state);
            }
        }
        next
    }

    /// The state after a process has come to be `process`.
    fn after(&self, index: usize, process: Process, model: ModelId) -> State {
        let held = process.is_in(|frame| matches!(frame, Frame::EndOfAtomic | Frame::EndOfDStep));
        let mut state = State { alone: held.then_some(index), ..self.clone() };
        state.processes[index] = process;
        if model == ModelId::Sc {
            for (cell, value) in std::mem::take(&mut state.processes[index].buffer) {
                state.memory[cell] = value;
            }
        }
        state
    }
}

/// Executes a model in every way, unless it is too large.
fn execute(bodies: &[Rc<Vec<Statement>>], model: ModelId) -> Option<Verdict> {
    let start = |body: &Rc<Vec<Statement>>| Process {
        stack: vec![Frame::Rest(Rc::clone(body), 0)],
        own: 0,
        buffer: Vec::new(),
    };
    let processes = bodies.iter().map(|body| start(body).settle()).collect();
    let mut verdict = Verdict { assertion: false, deadlock: false, finals: BTreeSet::new() };
    let mut seen = BTreeSet::new();
    let mut open = vec![State { processes, memory: [0; 4], alone: None }];
    while let Some(mut state) = open.pop() {
        let mut fails = false;
        if let Some(alone) = state.alone.filter(|&alone| !state.can_go_on(alone)) {
            if state.processes[alone].is_in(|frame| matches!(frame, Frame::EndOfDStep)) {
                // It is an error to wait there, though a store that arrives may still end the wait.
                fails = true;
            } else {
                // Whoever has to wait is no longer alone, even once it could go on.
                state.alone = None;
            }
        }
        if !seen.insert(state.key()) {
            continue;
        }
        if seen.len() > MOST_STATES {
            return None;
        }
        let mut next = state.commits(model);
        let who = state.alone.map_or(0..state.processes.len(), |alone| alone..alone + 1);
        for index in who {
            let process = &state.processes[index];
            for step in process.steps(&process.view(&state.memory)) {
                match step {
                    Next::AssertionFails => fails = true,
                    Next::To(process) => next.push(state.after(index, process, model)),
                }
            }
        }
        verdict.assertion |= fails;
        if next.is_empty() && !fails {
            match state.processes.iter().all(|process| process.stack.is_empty()) {
                true => {
                    verdict.finals.insert(state.memory.map(|value| value as u64).to_vec());
                }
                false => verdict.deadlock = true,
            }
        }
        open.extend(next);
    }
    Some(verdict)
}

/// What we make of the same model.
fn check(text: &str, model: ModelId) -> Verdict {
    let reading = promela::read("drawn.pml", text, &Settings::default());
    let program = reading.unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])).program;
    let options = Options { stop_at_first: false, ..Options::new(model) };
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

/// How many models were compared, how many of them fail, and how many may be stuck.
fn compare(model: ModelId, seeds: std::ops::Range<u64>) -> (u32, u32, u32) {
    let (mut compared, mut failing, mut stuck) = (0, 0, 0);
    for seed in seeds {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| {
            dice.below(2);
        });
        let n_processes = 2 + dice.below(2);
        // Each ends with something that looks at memory, so that there is something to check.
        let last = Statement::Assign(Variable::X, Expr::Read(Variable::X));
        let body = |dice: &mut Dice| Rc::new(dice.sequence(3, false).iter().cloned().chain([last.clone()]).collect());
        let bodies: Vec<Rc<Vec<Statement>>> = (0..n_processes).map(|_| body(&mut dice)).collect();
        let Some(expected) = execute(&bodies, model) else { continue };
        let mut text = "byte x; bit b; byte a[2];\n".to_owned();
        for (index, body) in bodies.iter().enumerate() {
            write!(text, "active proctype P{index}() {{ byte own; ").expect("a string takes any text");
            write_sequence(body, &mut text);
            text.push_str(" }\n");
        }
        assert_eq!(check(&text, model), expected, "seed {seed} under {model:?}\n{text}");
        compared += 1;
        failing += u32::from(expected.assertion);
        stuck += u32::from(expected.deadlock);
    }
    (compared, failing, stuck)
}

#[test]
fn random_models_mean_what_spin_makes_of_them() {
    let (compared, failing, stuck) = compare(ModelId::Sc, 1..1_000);
    assert!(compared > 700 && failing > 70 && stuck > 70, "{compared} compared, {failing} fail, {stuck} stuck");
}

#[test]
fn random_models_mean_the_same_with_store_buffers() {
    for model in [ModelId::Tso, ModelId::Pso] {
        let (compared, failing, stuck) = compare(model, 1..150);
        assert!(compared > 50 && failing > 4 && stuck > 4, "{compared} compared, {failing} fail, {stuck} stuck");
    }
}
