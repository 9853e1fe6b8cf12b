//! Each thread does what its code says.
//!
//! Every engine runs programs through the one interpreter, so a fault there would be the same in all of them. Here the
//! code is read again, in the plainest way and on mathematical integers, along the events of each execution.

use std::collections::BTreeSet;

use teetotal_memory::{Event, EventKind, Model, ModelId, Trace};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Address, Expr, Guard, Instruction, Program, Update};
use teetotal_program::{Failure, Loc, OnFailure, Order, Reg, ThreadId, Value};

use crate::arithmetic::{Number, as_type, evaluate, fetch, number, unsigned, value};
use crate::everything::{End, difference, under_every_model};
use crate::{Case, Verdict};

/// Every event is the one that the code of its thread asks for, and every execution ends as the code does.
pub(super) fn is_obeyed(case: &Case) -> Verdict {
    under_every_model!(obeyed_under, case)
}

fn obeyed_under<M: Model>(case: &Case) -> Verdict {
    let all = case.everything::<M>();
    let mut failures = BTreeSet::new();
    for (trace, end) in all.traces.values() {
        let wrong = |what: String| format!("{what} in {:?}", trace.steps());
        let mut reader = Reader::new(&case.program, M::ID);
        let mut events = trace.events();
        while let Some(first) = events.first() {
            let together = events.iter().take_while(|e| e.step == first.step).count();
            reader.follow(&events[..together]).map_err(wrong)?;
            events = &events[together..];
        }
        reader.check_end(trace, end).map_err(wrong)?;
        failures.extend(reader.failures());
    }
    difference(&all.failures, &failures, ("failures of the machine", "failures of the code"))
}

/// What holds a thread where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    NotStarted,
    Operation,
    End,
    Discarded,
    Failed(Failure),
}

/// A thread as its code leaves it.
struct Thread {
    pc: u32,
    at: At,
    registers: Vec<Number>,
    epoch: u32,
    /// It was held back until its buffer is empty, by the operation before this one.
    after_seq_cst_store: bool,
}

/// A program on its way along a trace.
struct Reader<'p> {
    program: &'p Program,
    model: ModelId,
    addresses: Vec<Number>,
    threads: Vec<Thread>,
    /// Who goes on without a switch to another thread.
    exclusive: Option<usize>,
}

impl<'p> Reader<'p> {
    fn new(program: &'p Program, model: ModelId) -> Self {
        let thread = |code: &teetotal_program::ir::ThreadCode| Thread {
            pc: 0,
            at: At::NotStarted,
            registers: code.registers.iter().map(|r| number(r.initial)).collect(),
            epoch: 0,
            after_seq_cst_store: false,
        };
        let threads = program.threads.iter().map(thread).collect();
        let mut reader = Reader { program, model, addresses: addresses(program), threads, exclusive: None };
        for (index, code) in program.threads.iter().enumerate() {
            if code.starts {
                reader.run(index, 0);
            }
        }
        reader.exclusive = None;
        reader
    }

    fn failures(&self) -> impl Iterator<Item = (ThreadId, Failure)> + '_ {
        self.threads.iter().enumerate().filter_map(|(index, thread)| match thread.at {
            At::Failed(failure) => Some((ThreadId::at(index), failure)),
            _ => None,
        })
    }

    /// Runs a thread from `pc` to its next operation or its end.
    fn run(&mut self, index: usize, mut pc: u32) {
        let code = &self.program.threads[index];
        let registers = &mut self.threads[index].registers;
        let at = loop {
            let Some(instruction) = code.code.get(pc as usize) else { break At::End };
            let holds = |condition, registers: &[Number]| evaluate(condition, registers, 0).map(|v| v != 0);
            let divided = At::Failed(Failure::DivisionByZero { instruction: pc });
            match instruction {
                Instruction::Assign { to, value } => match evaluate(value, registers, 0) {
                    Some(value) => registers[to.index()] = value,
                    None => break divided,
                },
                Instruction::Jump { target } => {
                    pc = *target;
                    continue;
                }
                Instruction::Branch { condition, target } => match holds(condition, registers) {
                    Some(true) => {
                        pc = *target;
                        continue;
                    }
                    Some(false) => {}
                    None => break divided,
                },
                Instruction::Assert { condition, .. } => match holds(condition, registers) {
                    Some(true) => {}
                    Some(false) => break At::Failed(Failure::Assertion { instruction: pc }),
                    None => break divided,
                },
                Instruction::Assume { condition } => match holds(condition, registers) {
                    Some(true) => {}
                    Some(false) => break At::Discarded,
                    None => break divided,
                },
                _ => break At::Operation,
            }
            pc += 1;
        };
        self.threads[index].pc = pc;
        self.threads[index].at = at;
        if at == At::Operation
            && let Err(failure) = self.operands(index)
        {
            self.threads[index].at = At::Failed(failure);
        }
        let stands = self.threads[index].at == At::Operation;
        self.exclusive = (stands && code.places[pc as usize].exclusive).then_some(index);
    }

    /// The locations that the operation of a thread accesses and the value that a store writes, in this order.
    fn operands(&self, index: usize) -> Result<(Vec<Loc>, Option<Value>), Failure> {
        let pc = self.threads[index].pc;
        let one = |address: &Address| self.locate(index, address).map(|loc| (vec![loc], None));
        match &self.program.threads[index].code[pc as usize] {
            Instruction::Load { from: at, .. }
            | Instruction::Rmw { at, .. }
            | Instruction::Lock { at, .. }
            | Instruction::Unlock { at, .. } => one(at),
            Instruction::Store { to, value: expr, .. } => {
                let loc = self.locate(index, to)?;
                let stored = evaluate(expr, &self.threads[index].registers, 0);
                let stored = stored.ok_or(Failure::DivisionByZero { instruction: pc })?;
                Ok((vec![loc], Some(self.as_held(loc, stored))))
            }
            Instruction::Await { loads, .. } | Instruction::Guarded { loads, .. } => {
                let locations: Result<Vec<Loc>, Failure> =
                    loads.iter().map(|(_, from)| self.locate(index, from)).collect();
                Ok((locations?, None))
            }
            _ => Ok((Vec::new(), None)),
        }
    }

    fn as_held(&self, loc: Loc, written: Number) -> Value {
        value(as_type(self.program.locations[loc.index()].ty, written))
    }

    fn locate(&self, index: usize, address: &Address) -> Result<Loc, Failure> {
        let Thread { pc: instruction, ref registers, .. } = self.threads[index];
        let number = |expr| evaluate(expr, registers, 0).ok_or(Failure::DivisionByZero { instruction });
        match address {
            Address::Static(loc) => Ok(*loc),
            Address::Indexed { base, length, index } => {
                let element = unsigned(number(index)?);
                let known = element < Number::from(*length);
                known.then(|| Loc(base.0 + element as u32)).ok_or(Failure::BadIndex { instruction })
            }
            Address::Computed(expr) => {
                let address = number(expr)?;
                let found = self.addresses.iter().position(|&a| a == address);
                found.map(Loc::at).ok_or(Failure::BadAddress { instruction })
            }
        }
    }

    /// Takes the events of one step, which are one operation of one thread.
    fn follow(&mut self, events: &[Event]) -> Result<(), String> {
        let (first, index) = (&events[0], events[0].thread.index());
        self.respects_exclusive(index)?;
        let thread = &self.threads[index];
        if thread.at != At::Operation || thread.pc != first.place {
            return Err(format!("thread {index} is not at the operation that it performs"));
        }
        let (locations, stored) = self.operands(index).map_err(|failure| format!("{failure:?} performed"))?;
        let found: Vec<Loc> =
            events.iter().filter(|e| e.loc.is_some()).take(locations.len()).flat_map(|e| e.loc).collect();
        if found != locations || events.iter().any(|e| e.epoch != thread.epoch) {
            return Err(format!("the operation is at {found:?}, not at {locations:?}, or in a wrong epoch"));
        }
        let instruction = &self.program.threads[index].code[first.place as usize];
        if let Instruction::Guarded { loads, options } = instruction {
            return self.follow_guarded(index, (loads, options), events);
        }
        let asked = self.asked(instruction, first, stored);
        if events.iter().any(|e| (e.kind, e.order, e.written) != asked) {
            return Err(format!("{instruction:?} asks for {asked:?}, not for {first:?}"));
        }
        self.threads[index].after_seq_cst_store = first.kind == EventKind::Store && first.order == Order::SeqCst;
        match self.receive(index, instruction, events)? {
            Some(failure) => {
                self.threads[index].at = At::Failed(failure);
                self.exclusive = None;
            }
            None => self.run(index, first.place + 1),
        }
        Ok(())
    }

    /// Takes the events of a guarded step: its reads, which option it takes if there are several, and what that stores.
    fn follow_guarded(
        &mut self,
        index: usize,
        (loads, options): (&[(Reg, Address)], &[Guard]),
        events: &[Event],
    ) -> Result<(), String> {
        let (reads, mut rest) = events.split_at(loads.len());
        if reads.iter().any(|e| (e.kind, e.order, e.written) != (EventKind::Load, Order::Plain, None)) {
            return Err("a guarded step does not begin with its reads".to_owned());
        }
        for ((reg, _), event) in loads.iter().zip(reads) {
            self.threads[index].registers[reg.index()] = number(event.read.unwrap_or(0));
        }
        let mut taken = Some(0);
        if let ([choice, others @ ..], true) = (rest, options.len() > 1) {
            taken = choice.read.filter(|_| choice.kind == EventKind::Choose);
            rest = others;
        }
        let option = taken.and_then(|taken| options.get(taken as usize));
        let Guard { when, store, target } = option.ok_or("a guarded step has no such option")?;
        if evaluate(when, &self.threads[index].registers, 0) == Some(0) {
            return Err("a guarded step takes an option that is not open".to_owned());
        }
        let stored: Vec<(Option<Loc>, Option<Value>)> = rest.iter().map(|e| (e.loc, e.written)).collect();
        let is_store = |e: &Event| (e.kind, e.order) == (EventKind::Store, Order::Plain);
        let asked = self.stored_with(index, when, store.as_ref());
        let asked_stores: Vec<_> = asked.iter().flatten().map(|&(loc, value)| (Some(loc), Some(value))).collect();
        if stored != asked_stores || !rest.iter().all(is_store) {
            return Err(format!("a guarded step stores {stored:?}, not {asked_stores:?}"));
        }
        self.threads[index].after_seq_cst_store = false;
        match asked {
            Ok(_) => self.run(index, *target),
            Err(failure) => {
                self.threads[index].at = At::Failed(failure);
                self.exclusive = None;
            }
        }
        Ok(())
    }

    /// What an option stores, with what was read in the registers.
    fn stored_with(
        &self,
        index: usize,
        when: &Expr,
        store: Option<&(Address, Expr)>,
    ) -> Result<Option<(Loc, Value)>, Failure> {
        let divided = Failure::DivisionByZero { instruction: self.threads[index].pc };
        let eval = |expr| evaluate(expr, &self.threads[index].registers, 0).ok_or(divided);
        eval(when)?;
        let Some((to, value)) = store else { return Ok(None) };
        let loc = self.locate(index, to)?;
        Ok(Some((loc, self.as_held(loc, eval(value)?))))
    }

    /// Whether no thread goes on while another that can go on, whatever the model, must not be interrupted.
    fn respects_exclusive(&self, index: usize) -> Result<(), String> {
        let Some(holder) = self.exclusive.filter(|&holder| holder != index) else { return Ok(()) };
        let thread = &self.threads[holder];
        let can_go_on = match &self.program.threads[holder].code[thread.pc as usize] {
            Instruction::Load { .. } | Instruction::Store { .. } | Instruction::Choose { .. } => true,
            Instruction::Fence { order } => *order != Order::SeqCst,
            Instruction::Guarded { options, .. } => options.iter().any(|option| option.when == Expr::from(1)),
            _ => false,
        };
        let is_held_back = thread.after_seq_cst_store && self.model != ModelId::Sc;
        if can_go_on && !is_held_back { Err(format!("thread {index} interrupts thread {holder}")) } else { Ok(()) }
    }

    /// The kind, the order and the written value of the event of `instruction`, given what the event read.
    fn asked(
        &self,
        instruction: &Instruction,
        event: &Event,
        stored: Option<Value>,
    ) -> (EventKind, Order, Option<Value>) {
        let holder = Value::from(event.thread.0) + 1;
        match instruction {
            Instruction::Load { order, .. } => (EventKind::Load, *order, None),
            Instruction::Store { order, .. } => (EventKind::Store, *order, stored),
            Instruction::Rmw { update, order, .. } => match (self.updated(event, update).flatten(), update) {
                (Some(new), _) => (EventKind::Rmw, *order, Some(new)),
                (
                    None,
                    Update::CompareExchange { on_failure: OnFailure::Load(order), .. }
                    | Update::When { on_failure: OnFailure::Load(order), .. },
                ) if self.model == ModelId::Pso => (EventKind::Load, *order, None),
                (None, _) => (EventKind::FailedRmw, *order, None),
            },
            Instruction::Fence { order } => (EventKind::Fence, *order, None),
            Instruction::GlobalFence => (EventKind::GlobalFence, Order::SeqCst, None),
            Instruction::Lock { order, .. } => (EventKind::Lock, *order, Some(holder)),
            Instruction::Unlock { order, .. } if event.read == Some(holder) => (EventKind::Unlock, *order, Some(0)),
            Instruction::Unlock { order, .. } => (EventKind::FailedRmw, *order, None),
            Instruction::Spawn { thread, order } => (EventKind::Spawn(*thread), *order, None),
            Instruction::Join { thread, order } => (EventKind::Join(*thread), *order, None),
            Instruction::Choose { .. } => (EventKind::Choose, Order::Plain, None),
            // An await is loads; what is no operation is not performed.
            _ => (EventKind::Load, Order::Plain, None),
        }
    }

    /// What an update writes over what its event read, if anything; nothing at all where it divides by zero.
    fn updated(&self, event: &Event, update: &Update) -> Option<Option<Value>> {
        let (old, loc) = (number(event.read?), event.loc?);
        let registers = &self.threads[event.thread.index()].registers;
        let eval = |expr| evaluate(expr, registers, old);
        let new = match update {
            Update::Exchange(new) | Update::Function(new) => eval(new)?,
            Update::Fetch(op, operand) => fetch(*op, old, eval(operand)?),
            Update::CompareExchange { expected, new, .. } => {
                let (expected, new) = (eval(expected)?, eval(new)?);
                if Some(self.as_held(loc, expected)) != event.read {
                    return Some(None);
                }
                new
            }
            Update::When { condition, new, .. } => {
                let (holds, new) = (eval(condition)?, eval(new)?);
                if holds == 0 {
                    return Some(None);
                }
                new
            }
        };
        Some(Some(self.as_held(loc, new)))
    }

    /// Puts what the operation read into registers, and does what else it does to threads.
    fn receive(
        &mut self,
        index: usize,
        instruction: &Instruction,
        events: &[Event],
    ) -> Result<Option<Failure>, String> {
        let (event, pc) = (&events[0], events[0].place);
        let read = |event: &Event| number(event.read.unwrap_or(0));
        let mut set = |reg: &Reg, to: Number| self.threads[index].registers[reg.index()] = to;
        let divided = Some(Failure::DivisionByZero { instruction: pc });
        match instruction {
            Instruction::Load { to, .. } => set(to, read(event)),
            Instruction::Choose { to, alternatives } if read(event) < Number::from(*alternatives) => {
                set(to, read(event));
            }
            Instruction::Choose { .. } => return Err("a choice has no such alternative".to_owned()),
            Instruction::Rmw { old, update, .. } => {
                if self.updated(event, update).is_none() {
                    return Ok(divided);
                }
                self.threads[index].registers[old.index()] = read(event);
            }
            Instruction::Await { loads, until } => {
                loads.iter().zip(events).for_each(|((reg, _), event)| set(reg, read(event)));
                match evaluate(until, &self.threads[index].registers, 0) {
                    None => return Ok(divided),
                    Some(0) => return Err("an await goes on against its condition".to_owned()),
                    Some(_) => {}
                }
            }
            Instruction::Lock { .. } if event.read != Some(0) => return Err("a lock is not free".to_owned()),
            Instruction::Unlock { .. } if event.written.is_none() => {
                return Ok(Some(Failure::NotHolder { instruction: pc }));
            }
            Instruction::Spawn { thread, .. } => {
                if self.threads[thread.index()].at != At::NotStarted {
                    return Ok(Some(Failure::AlreadyStarted { instruction: pc }));
                }
                self.run(thread.index(), 0);
            }
            Instruction::Join { thread, .. } if self.threads[thread.index()].at != At::End => {
                return Err("a join does not wait for the end".to_owned());
            }
            Instruction::Fence { order: Order::Release | Order::AcqRel } => self.threads[index].epoch += 1,
            _ => {}
        }
        Ok(None)
    }

    /// Whether the execution ends as the threads now stand, with what their registers hold.
    fn check_end(&self, trace: &Trace, end: &End) -> Result<(), String> {
        let all = || self.threads.iter().enumerate();
        let blocked: Vec<ThreadId> =
            all().filter(|(_, t)| t.at == At::Operation).map(|(index, _)| ThreadId::at(index)).collect();
        let kind = if all().any(|(_, t)| matches!(t.at, At::Failed(_))) {
            "failed"
        } else if all().any(|(_, t)| t.at == At::Discarded) {
            "discarded"
        } else if blocked.is_empty() {
            "completed"
        } else {
            "blocked"
        };
        let blocked = if kind == "blocked" { blocked } else { Vec::new() };
        let last = |loc: Loc| {
            let writes = trace.events().iter().filter(|e| e.loc == Some(loc) && e.written.is_some());
            let last = writes.max_by_key(|e| e.committed);
            last.and_then(|e| e.written).unwrap_or(self.program.locations[loc.index()].initial)
        };
        let observed = |&term: &Term| match term {
            Term::Register(thread, reg) => value(self.threads[thread.index()].registers[reg.index()]),
            Term::Memory(loc) => last(loc),
        };
        let values: Vec<Value> = self.program.observed.iter().map(observed).collect();
        if let Some((index, _)) = all().find(|(index, t)| t.at == At::Operation && !self.is_stuck(*index, last)) {
            return Err(format!("thread {index} could go on at the end"));
        }
        if (kind, &blocked, &values) == (end.kind, &end.blocked, &end.values) {
            return Ok(());
        }
        Err(format!("the code ends {kind} {blocked:?} with {values:?}, the machine with {end:?}"))
    }
}

impl Reader<'_> {
    /// Whether the operation of a thread is impossible for good, with this in memory and nothing in buffers.
    fn is_stuck(&self, index: usize, memory: impl Fn(Loc) -> Value) -> bool {
        let thread = &self.threads[index];
        let locations = self.operands(index).map_or(Vec::new(), |(locations, _)| locations);
        match &self.program.threads[index].code[thread.pc as usize] {
            Instruction::Lock { .. } => memory(locations[0]) != 0,
            Instruction::Join { thread: child, .. } => self.threads[child.index()].at != At::End,
            Instruction::Await { loads, until } => {
                let mut registers = thread.registers.clone();
                let seen = loads.iter().zip(locations);
                seen.for_each(|((reg, _), loc)| registers[reg.index()] = number(memory(loc)));
                evaluate(until, &registers, 0) == Some(0)
            }
            Instruction::Guarded { loads, options } => {
                let mut registers = thread.registers.clone();
                let seen = loads.iter().zip(locations);
                seen.for_each(|((reg, _), loc)| registers[reg.index()] = number(memory(loc)));
                options.iter().all(|option| evaluate(&option.when, &registers, 0) == Some(0))
            }
            _ => false,
        }
    }
}

/// The address of each location: whole bytes from 0x1000 on, arrays and single locations at multiples of eight.
fn addresses(program: &Program) -> Vec<Number> {
    let mut next = 0x1000;
    let mut place = |location: &teetotal_program::ir::LocationInfo| {
        while location.element.unwrap_or(0) == 0 && next % 8 != 0 {
            next += 1;
        }
        let address = next;
        next += Number::from(location.ty.width.bits()) / 8;
        address
    };
    program.locations.iter().map(&mut place).collect()
}
