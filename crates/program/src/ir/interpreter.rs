//! Runs a program as a subject.
//!
//! Instructions that touch no memory run on eagerly, so a thread always stands at an operation, or has ended.

use std::sync::Arc;

use crate::ir::control::Control;
use crate::ir::expr::Expr;
use crate::ir::footprint::stores_at_once;
use crate::ir::frame::{Frame, run};
use crate::ir::instruction::Instruction;
use crate::ir::program::Program;
use crate::names::{Loc, Reg, ThreadId, Value};
use crate::op::Op;
use crate::packed;
use crate::subject::{Failure, Foresight, Future, Hindsight, LocSet, Rewind, Snapshot, Status, Subject};

/// A program in the middle of an execution.
#[derive(Clone, Debug)]
pub struct Interpreter {
    program: Arc<Program>,
    /// For each thread its control word and then its registers, one thread after the other.
    words: Vec<Value>,
    /// Where the words of each thread begin, and the end.
    offsets: Box<[u32]>,
    exclusive: Option<ThreadId>,
}

impl Interpreter {
    /// At the beginning of `program`.
    #[must_use]
    pub fn new(program: Arc<Program>) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        for thread in &program.threads {
            end += 1 + thread.registers.len() as u32;
            offsets.push(end);
        }
        let words = vec![0; end as usize];
        let mut interpreter = Interpreter { program, words, offsets: offsets.into(), exclusive: None };
        interpreter.restart();
        interpreter
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    #[inline]
    fn frame(&self, thread: ThreadId) -> Frame<'_> {
        let (start, end) = (self.offsets[thread.index()], self.offsets[thread.index() + 1]);
        Frame { program: &self.program, thread, words: &self.words[start as usize..end as usize] }
    }

    /// The control word and registers of `thread`.
    fn words_mut(&mut self, thread: ThreadId) -> &mut [Value] {
        let (start, end) = (self.offsets[thread.index()], self.offsets[thread.index() + 1]);
        &mut self.words[start as usize..end as usize]
    }

    /// Runs `thread` from instruction `next` to its next operation.
    fn run_from(&mut self, thread: ThreadId, next: u32) {
        let (start, end) = (self.offsets[thread.index()], self.offsets[thread.index() + 1]);
        let exclusive = run(&self.program, thread, &mut self.words[start as usize..end as usize], next);
        self.exclusive = exclusive.then_some(thread);
    }

    fn fail(&mut self, thread: ThreadId, failure: Failure) {
        self.words_mut(thread)[0] = Control::failed(failure).0;
        self.exclusive = None;
    }

    /// Takes over the answer to the operation at which `thread` stands; gives the instruction to go on with.
    fn receive(&mut self, thread: ThreadId, answer: &[Value]) -> Result<u32, Failure> {
        let frame = self.frame(thread);
        let instruction = frame.control().instruction();
        let (start, program) = (self.offsets[thread.index()] as usize + 1, &self.program);
        match &program.threads[thread.index()].code[instruction as usize] {
            Instruction::Load { to, .. } | Instruction::Choose { to, .. } => self.words[start + to.index()] = answer[0],
            Instruction::Rmw { old, .. } => {
                frame.modify(answer[0])?;
                self.words[start + old.index()] = answer[0];
            }
            Instruction::Await { loads, until } => {
                for ((reg, _), &value) in loads.iter().zip(answer) {
                    self.words[start + reg.index()] = value;
                }
                let registers = self.frame(thread).registers();
                until.eval(registers, 0).map_err(|_| Failure::DivisionByZero { instruction })?;
            }
            Instruction::Guarded { loads, options } => {
                let (values, alternative) = answer.split_at(loads.len());
                let alternative = alternative.first().map_or(0, |&alternative| alternative as u32);
                let stored = frame.stores(values, alternative);
                for ((reg, _), &value) in loads.iter().zip(values) {
                    self.words[start + reg.index()] = value;
                }
                return stored.map(|_| options[alternative as usize].target);
            }
            Instruction::Unlock { .. } if answer[0] != thread.as_holder() => {
                return Err(Failure::NotHolder { instruction });
            }
            Instruction::Spawn { thread: child, .. } => {
                let child = *child;
                if self.frame(child).control().state() != Control::NOT_STARTED {
                    return Err(Failure::AlreadyStarted { instruction });
                }
                self.run_from(child, 0);
            }
            _ => {}
        }
        Ok(instruction + 1)
    }
}

impl Subject for Interpreter {
    fn n_threads(&self) -> usize {
        self.program.threads.len()
    }

    fn n_locations(&self) -> usize {
        self.program.locations.len()
    }

    fn initial(&self, loc: Loc) -> Value {
        self.program.locations[loc.index()].initial
    }

    #[inline]
    fn status(&self, thread: ThreadId) -> Status {
        let frame = self.frame(thread);
        let control = frame.control();
        match control.state() {
            Control::READY => Status::Ready(frame.operation().expect("checked when the thread came here")),
            Control::NOT_STARTED => Status::NotStarted,
            Control::FINISHED => Status::Finished,
            Control::DISCARDED => Status::Discarded,
            _ => Status::Failed(control.failure().expect("every other state is a failure")),
        }
    }

    fn failure(&self, thread: ThreadId) -> Option<Failure> {
        self.frame(thread).control().failure()
    }

    fn modify(&self, thread: ThreadId, old: Value) -> Option<Value> {
        self.frame(thread).modify(old).unwrap_or(None)
    }

    fn awaited(&self, thread: ThreadId, locations: &mut Vec<Loc>) {
        let frame = self.frame(thread);
        let resolve = |address| frame.resolve(address).expect("checked when the thread came here");
        locations.extend(frame.awaited().iter().map(|(_, from)| resolve(from)));
    }

    fn accepts(&self, thread: ThreadId, values: &[Value], alternative: u32) -> bool {
        self.frame(thread).accepts(values, alternative)
    }

    fn stores(&self, thread: ThreadId, values: &[Value], alternative: u32) -> Option<(Loc, Value)> {
        self.frame(thread).stores(values, alternative).unwrap_or(None)
    }

    fn resume(&mut self, thread: ThreadId, answer: &[Value]) {
        match self.receive(thread, answer) {
            Ok(next) => self.run_from(thread, next),
            Err(failure) => self.fail(thread, failure),
        }
    }

    fn restart(&mut self) {
        let program = Arc::clone(&self.program);
        for (index, code) in program.threads.iter().enumerate() {
            let thread = ThreadId::at(index);
            let words = self.words_mut(thread);
            words[0] = Control::new(Control::NOT_STARTED, 0).0;
            words[1..].iter_mut().zip(&code.registers).for_each(|(word, info)| *word = info.initial);
            if code.starts {
                self.run_from(thread, 0);
            }
        }
        self.exclusive = None;
    }

    fn exclusive(&self) -> Option<ThreadId> {
        self.exclusive
    }

    fn give_way(&mut self) {
        self.exclusive = None;
    }

    fn may_rest(&self, thread: ThreadId) -> bool {
        let control = self.frame(thread).control();
        let places = &self.program.threads[thread.index()].places;
        control.is_ready() && places[control.instruction() as usize].may_rest
    }

    fn register(&self, thread: ThreadId, reg: Reg) -> Value {
        self.frame(thread).registers()[reg.index()]
    }

    fn place(&self, thread: ThreadId) -> u32 {
        self.frame(thread).control().instruction()
    }
}

impl Snapshot for Interpreter {
    fn copy_from(&mut self, other: &Self) {
        self.words.copy_from_slice(&other.words);
        self.exclusive = other.exclusive;
    }

    fn save(&self, out: &mut Vec<u8>) {
        packed::put(out, self.exclusive.map_or(0, ThreadId::as_holder));
        packed::put_all(out, &self.words);
    }

    fn load(&mut self, bytes: &mut &[u8]) {
        self.exclusive = (packed::take(bytes) as usize).checked_sub(1).map(ThreadId::at);
        packed::take_all(bytes, &mut self.words);
    }
}

impl Rewind for Interpreter {
    fn thread_words(&self) -> usize {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) as usize
    }

    #[inline]
    fn save_thread(&self, thread: ThreadId, words: &mut [Value]) {
        let own = self.frame(thread).words;
        words[..own.len()].copy_from_slice(own);
    }

    #[inline]
    fn load_thread(&mut self, thread: ThreadId, words: &[Value]) {
        let own = self.words_mut(thread);
        own.copy_from_slice(&words[..own.len()]);
    }

    fn start_thread(&mut self, thread: ThreadId) {
        self.run_from(thread, 0);
    }

    fn may_write(&self, thread: ThreadId) -> bool {
        !self.future(thread).writes().is_empty()
    }

    fn waits_for_updates(&self, thread: ThreadId) -> bool {
        let mut looked_at = Vec::with_capacity(1);
        match self.status(thread) {
            Status::Ready(Op::Lock { loc, .. }) => looked_at.push(loc),
            Status::Ready(Op::Await { .. }) => self.awaited(thread, &mut looked_at),
            _ => return false,
        }
        let stores = self.program.footprints.stores();
        looked_at.iter().all(|&loc| !LocSet::of(loc).meets(stores))
    }
}

/// Of an operation the state of its thread is kept.
impl Hindsight for Interpreter {
    type Kept = (ThreadId, Box<[Value]>);

    fn keep(&self, thread: ThreadId) -> Self::Kept {
        (thread, self.frame(thread).words.into())
    }

    fn would_write(&self, (thread, words): &Self::Kept, old: Value) -> Option<Value> {
        Frame { program: &self.program, thread: *thread, words }.modify(old).unwrap_or(None)
    }

    fn would_accept(&self, (thread, words): &Self::Kept, value: Value) -> bool {
        Frame { program: &self.program, thread: *thread, words }.accepts(&[value], 0)
    }
}

impl Foresight for Interpreter {
    fn future(&self, thread: ThreadId) -> Future {
        let control = self.frame(thread).control();
        match control.state() {
            Control::READY | Control::NOT_STARTED => {
                self.program.footprints.at(thread.index(), control.instruction() as usize)
            }
            _ => Future::default(),
        }
    }

    fn may_wait(&self, thread: ThreadId) -> bool {
        match self.frame(thread).instruction() {
            Instruction::Await { until, .. } => *until != Expr::Const(1),
            Instruction::Guarded { options, .. } => options.iter().all(|option| option.when != Expr::Const(1)),
            _ => false,
        }
    }

    fn stores_at_once(&self, thread: ThreadId) -> LocSet {
        stores_at_once(self.frame(thread).instruction())
    }

    fn asks_for_no_switch(&self, thread: ThreadId) -> bool {
        let control = self.frame(thread).control();
        let places = &self.program.threads[thread.index()].places;
        control.is_ready() && places[control.instruction() as usize].exclusive
    }

    fn position(&self, thread: ThreadId) -> u32 {
        self.frame(thread).control().instruction()
    }
}
