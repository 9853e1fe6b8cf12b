//! What a statement reads: expressions with the loads that they need.

use teetotal_program::ir::{Address, Array, BinaryOp, Expr as Ir, Instruction, ThreadBuilder};
use teetotal_program::{Order, Reg};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::promela::syntax::{Binary, Expr, Kind, Name, Place, Term, Unary};
use crate::promela::value::Value;

/// A shared variable in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    pub(super) array: Array,
    pub(super) kind: Kind,
}

/// A variable of a process.
#[derive(Clone, Debug)]
pub(super) enum Local {
    /// It is never assigned.
    Constant(i64),
    /// One for each element.
    Registers(Vec<Reg>, Kind),
}

/// The reads of one statement, in the making.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Whether each read is a step of its own, so that it is made at once.
    pub(super) split: bool,
    pub(super) loads: Vec<(Reg, Address)>,
    /// Where this is not zero, an index is out of range.
    pub(super) bad_index: Option<Ir>,
}

/// A thread in the making, with what its names stand for.
#[derive(Debug)]
pub(super) struct Frame<'a, 'b> {
    pub(super) t: &'a mut ThreadBuilder<'b>,
    pub(super) shared: &'a [Shared],
    pub(super) locals: Vec<Local>,
    pub(super) pid: i64,
    /// Registers for what is read; they hold 0 between statements.
    temporaries: Vec<Reg>,
    n_used: usize,
    /// Whether the thread is inside an `atomic` after the first access of the statement.
    pub(super) holds: bool,
    pub(super) diagnostics: &'a mut Diagnostics,
}

/// An array whose index is itself read from memory is read whole, if it is not longer than this.
const LONGEST_READ: u32 = 64;

impl<'a, 'b> Frame<'a, 'b> {
    pub(super) fn new(
        t: &'a mut ThreadBuilder<'b>,
        shared: &'a [Shared],
        locals: Vec<Local>,
        pid: i64,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        Frame { t, shared, locals, pid, temporaries: Vec::new(), n_used: 0, holds: false, diagnostics }
    }

    /// A register that holds 0, until [`Frame::clear`].
    pub(super) fn temporary(&mut self) -> Reg {
        if self.n_used == self.temporaries.len() {
            self.temporaries.push(self.t.temporary());
        }
        self.n_used += 1;
        self.temporaries[self.n_used - 1]
    }

    /// How many temporaries are in use.
    pub(super) fn n_used(&self) -> usize {
        self.n_used
    }

    /// Lets the first `n` temporaries hold 0 again, so that states do not differ by what is no longer needed.
    pub(super) fn clear(&mut self, n: usize) {
        for index in 0..n {
            self.t.set(self.temporaries[index], 0);
        }
    }

    /// Forgets which temporaries are in use; all of them hold 0.
    pub(super) fn release(&mut self) {
        self.n_used = 0;
    }

    /// The value of `expr`.
    pub(super) fn value(&mut self, expr: &Expr, reads: &mut Reads) -> Value {
        self.value_when(expr, reads, None)
    }

    /// The value of `expr`, which counts only where `when` is not zero.
    fn value_when(&mut self, expr: &Expr, reads: &mut Reads, when: Option<&Ir>) -> Value {
        match &expr.it {
            Term::Number(number) => Value::constant(*number),
            Term::Pid => Value::constant(self.pid),
            Term::Read(place) => self.read(place, reads, when),
            Term::Unary(op, inner) => Value::unary(*op, self.value_when(inner, reads, when)),
            Term::Binary(op @ (Binary::And | Binary::Or), left, right) => {
                let left = self.value_when(left, reads, when);
                let decides = if *op == Binary::And { left.clone() } else { Value::unary(Unary::Not, left.clone()) };
                let right = self.value_when(right, reads, Some(&both(when, decides.expr)));
                Value::binary(*op, left, right)
            }
            Term::Binary(op, left, right) => {
                let left = self.value_when(left, reads, when);
                let right = self.value_when(right, reads, when);
                Value::binary(*op, left, right)
            }
            Term::Conditional(condition, then, otherwise) => {
                let condition = self.value_when(condition, reads, when);
                let holds = both(when, condition.expr.clone());
                let not = both(when, condition.expr.clone().negated());
                let then = self.value_when(then, reads, Some(&holds));
                let otherwise = self.value_when(otherwise, reads, Some(&not));
                Value::conditional(condition, then, otherwise)
            }
        }
    }

    fn read(&mut self, place: &Place, reads: &mut Reads, when: Option<&Ir>) -> Value {
        let index = place.index.as_ref().map(|index| self.value_when(index, reads, when));
        let index_is_read = index.as_ref().is_some_and(|index| reads.decide(&index.expr));
        match place.name {
            Name::Local(local) => self.read_local(local, index, reads, when),
            Name::Global(global) => {
                let Shared { array, kind } = self.shared[global];
                let index = index.unwrap_or(Value::constant(0));
                if index_is_read {
                    return self.read_whole(place, index, reads, when);
                }
                let index = match index.is_below(array.length) {
                    None => index.expr,
                    // An index out of range is an error of the program if the element is looked at.
                    Some(_) if when.is_none() => index.expr,
                    Some(in_range) => {
                        reads.add_bad_index(when, in_range.clone());
                        Ir::Select(Box::new(in_range), Box::new(index.expr), Box::new(0.into()))
                    }
                };
                Value::held(self.load(array.at(index), reads), kind)
            }
        }
    }

    fn read_local(&self, local: usize, index: Option<Value>, reads: &mut Reads, when: Option<&Ir>) -> Value {
        let (registers, kind) = match &self.locals[local] {
            Local::Constant(value) => return Value::constant(*value),
            Local::Registers(registers, kind) => (registers, *kind),
        };
        let index = index.unwrap_or(Value::constant(0));
        if let Some(register) = index.known().and_then(|index| registers.get(usize::try_from(index).ok()?)) {
            return Value::held(*register, kind);
        }
        if let Some(in_range) = index.is_below(registers.len() as u32) {
            reads.add_bad_index(when, in_range);
        }
        Value::held(element(registers, &index.expr), kind)
    }

    /// Reads a whole array, because which element it is depends on what is read in the same step.
    fn read_whole(&mut self, place: &Place, index: Value, reads: &mut Reads, when: Option<&Ir>) -> Value {
        let Name::Global(global) = place.name else { unreachable!("only shared arrays are read whole") };
        let Shared { array, kind } = self.shared[global];
        if array.length > LONGEST_READ {
            let message = "the index of this long array is shared itself";
            let help = "read the index into a variable of the process first";
            self.diagnostics.add(Diagnostic::new(place.span, message).help(help));
        }
        let length = array.length.min(LONGEST_READ);
        let registers: Vec<Reg> = (0..length).map(|at| self.load(array.element(at).into(), reads)).collect();
        if let Some(in_range) = index.is_below(array.length) {
            reads.add_bad_index(when, in_range);
        }
        Value::held(element(&registers, &index.expr), kind)
    }

    /// A register that gets what is at `from`: now, or with all other reads of the statement.
    fn load(&mut self, from: Address, reads: &mut Reads) -> Reg {
        let again = reads.loads.iter().find(|(_, other)| *other == from && !reads.split);
        if let Some((register, _)) = again {
            return *register;
        }
        let to = self.temporary();
        if reads.split {
            self.t.push(Instruction::Load { to, from: from.clone(), order: Order::Plain });
            self.t.hold(self.holds);
        }
        reads.loads.push((to, from));
        to
    }

    /// The shared location of `place`.
    pub(super) fn address(&mut self, place: &Place, reads: &mut Reads) -> (Address, Kind) {
        let Name::Global(global) = place.name else { unreachable!("asked of shared variables only") };
        let Shared { array, kind } = self.shared[global];
        let index = place.index.as_ref().map(|index| self.value(index, reads));
        (array.at(index.map_or(0.into(), |index| index.expr)), kind)
    }

    /// Which element of its array `place` is.
    pub(super) fn index(&mut self, place: &Place, reads: &mut Reads) -> Value {
        place.index.as_ref().map_or(Value::constant(0), |index| self.value(index, reads))
    }

    /// `place = value`, where the place is one of the process and this element of its array.
    pub(super) fn assign(&mut self, place: &Place, index: &Value, value: Value) {
        let Name::Local(local) = place.name else { unreachable!("asked of variables of the process only") };
        let Local::Registers(registers, kind) = self.locals[local].clone() else { return };
        let value = value.wrapped(kind);
        if let Some(register) = index.known().and_then(|index| registers.get(usize::try_from(index).ok()?)) {
            return self.t.set(*register, value);
        }
        if let Some(in_range) = index.is_below(registers.len() as u32) {
            self.t.assert(in_range, INDEX);
        }
        // The index and the value may name the registers that change.
        let (at, new) = (self.temporary(), self.temporary());
        self.t.set(at, index.expr.clone());
        self.t.set(new, value);
        for (register, number) in registers.into_iter().zip(0_i32..) {
            self.t.set(register, Ir::Select(Box::new(at.eq(number)), Box::new(new.into()), Box::new(register.into())));
        }
    }

    /// Fails where an index that was looked at is out of range.
    pub(super) fn check_index(&mut self, reads: &Reads) {
        if let Some(bad) = &reads.bad_index {
            self.t.assert(bad.clone().negated(), INDEX);
        }
    }

    /// Reads what is not read yet, in one step.
    pub(super) fn read_now(&mut self, reads: &Reads) {
        match &reads.loads[..] {
            _ if reads.split => {}
            [] => {}
            [(to, from)] => self.t.push(Instruction::Load { to: *to, from: from.clone(), order: Order::Plain }),
            several => self.t.push(Instruction::Await { loads: several.to_vec(), until: 1.into() }),
        }
        self.check_index(reads);
    }
}

/// What is said where an index is out of range.
pub(super) const INDEX: &str = "an index is past the end of its array";

impl Reads {
    /// Whether `expr` is known only once the step has read.
    fn decide(&self, expr: &Ir) -> bool {
        let mut used = false;
        expr.walk(&mut |part| {
            used |= matches!(part, Ir::Reg(reg) if self.loads.iter().any(|(loaded, _)| loaded == reg));
        });
        used && !self.split
    }

    fn add_bad_index(&mut self, when: Option<&Ir>, in_range: Ir) {
        let bad = both(when, in_range.negated());
        self.bad_index = Some(match self.bad_index.take() {
            None => bad,
            Some(other) => other.or(bad),
        });
    }
}

/// Both of them, or the one that there is.
fn both(when: Option<&Ir>, condition: Ir) -> Ir {
    when.map_or(condition.clone(), |when| when.clone().and(condition))
}

/// The register with this number.
fn element(registers: &[Reg], index: &Ir) -> Ir {
    let (last, others) = registers.split_last().map_or((None, &[][..]), |(last, others)| (Some(*last), others));
    let last = last.map_or(0.into(), Ir::from);
    others.iter().enumerate().rev().fold(last, |rest, (number, register)| {
        let here = Ir::Binary(BinaryOp::Equal, Box::new(index.clone()), Box::new((number as u64).into()));
        Ir::Select(Box::new(here), Box::new((*register).into()), Box::new(rest))
    })
}
