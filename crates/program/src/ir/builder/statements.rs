//! The statements of a thread.

use crate::ir::address::Address;
use crate::ir::builder::{Label, LoopLabels, ThreadBuilder};
use crate::ir::expr::Expr;
use crate::ir::instruction::{FetchOp, Guard, Instruction, Update};
use crate::names::{Reg, ThreadId};
use crate::op::{OnFailure, Order};

/// Accesses to memory. Without an ordering they are plain; read-modify-writes are sequentially consistent.
impl ThreadBuilder<'_> {
    /// `to = value`, plain.
    #[track_caller]
    pub fn store(&mut self, to: impl Into<Address>, value: impl Into<Expr>) {
        self.store_with(to, value, Order::Plain);
    }

    /// `to = value`.
    #[track_caller]
    pub fn store_with(&mut self, to: impl Into<Address>, value: impl Into<Expr>, order: Order) {
        self.push(Instruction::Store { to: to.into(), value: value.into(), order });
    }

    /// Loads into the register called `name`, plain.
    #[track_caller]
    pub fn load(&mut self, name: &str, from: impl Into<Address>) -> Reg {
        self.load_with(name, from, Order::Plain)
    }

    /// Loads into the register called `name`.
    #[track_caller]
    pub fn load_with(&mut self, name: &str, from: impl Into<Address>, order: Order) -> Reg {
        let to = self.reg(name);
        self.push(Instruction::Load { to, from: from.into(), order });
        to
    }

    /// Loads into a temporary, plain.
    #[track_caller]
    pub fn read(&mut self, from: impl Into<Address>) -> Reg {
        let to = self.temporary();
        self.push(Instruction::Load { to, from: from.into(), order: Order::Plain });
        to
    }

    /// Reads and writes in one step; the register called `name` gets what was there.
    #[track_caller]
    pub fn rmw(&mut self, name: &str, at: impl Into<Address>, update: Update, order: Order) -> Reg {
        let old = self.reg(name);
        self.push(Instruction::Rmw { old, at: at.into(), update, order });
        old
    }

    /// Swaps in a value.
    #[track_caller]
    pub fn exchange(&mut self, name: &str, at: impl Into<Address>, value: impl Into<Expr>) -> Reg {
        self.rmw(name, at, Update::Exchange(value.into()), Order::SeqCst)
    }

    /// Adds to a location.
    #[track_caller]
    pub fn fetch_add(&mut self, name: &str, at: impl Into<Address>, value: impl Into<Expr>) -> Reg {
        self.rmw(name, at, Update::Fetch(FetchOp::Add, value.into()), Order::SeqCst)
    }

    /// Writes `new` over `expected`; a failure is a locked instruction too, as on x86.
    #[track_caller]
    pub fn compare_exchange(
        &mut self,
        name: &str,
        at: impl Into<Address>,
        expected: impl Into<Expr>,
        new: impl Into<Expr>,
    ) -> Reg {
        let (expected, new) = (expected.into(), new.into());
        self.rmw(name, at, Update::CompareExchange { expected, new, on_failure: OnFailure::Locked }, Order::SeqCst)
    }

    /// A full fence: the buffer drains first.
    #[track_caller]
    pub fn fence(&mut self) {
        self.push(Instruction::Fence { order: Order::SeqCst });
    }

    /// A store-store barrier.
    #[track_caller]
    pub fn store_store_fence(&mut self) {
        self.push(Instruction::Fence { order: Order::Release });
    }

    /// A load-load barrier.
    #[track_caller]
    pub fn load_load_fence(&mut self) {
        self.push(Instruction::Fence { order: Order::Acquire });
    }

    /// Takes a lock; everything is ordered around it.
    #[track_caller]
    pub fn lock(&mut self, at: impl Into<Address>) {
        self.push(Instruction::Lock { at: at.into(), order: Order::SeqCst });
    }

    /// Frees a lock; everything is ordered around it.
    #[track_caller]
    pub fn unlock(&mut self, at: impl Into<Address>) {
        self.push(Instruction::Unlock { at: at.into(), order: Order::SeqCst });
    }

    /// Starts a thread.
    #[track_caller]
    pub fn spawn(&mut self, thread: ThreadId) {
        self.push(Instruction::Spawn { thread, order: Order::SeqCst });
    }

    /// Waits for a thread to end.
    #[track_caller]
    pub fn join(&mut self, thread: ThreadId) {
        self.push(Instruction::Join { thread, order: Order::SeqCst });
    }

    /// Waits until `from` holds something of which `until` is true; the register called `name` gets it.
    #[track_caller]
    pub fn await_until(&mut self, name: &str, from: impl Into<Address>, until: impl FnOnce(Reg) -> Expr) -> Reg {
        let to = self.reg(name);
        self.push(Instruction::Await { loads: vec![(to, from.into())], until: until(to) });
        to
    }
}

/// Reads with a guard.
impl ThreadBuilder<'_> {
    /// Reads `loads` in one step, as soon as an option is open, and goes where that one leads.
    #[track_caller]
    pub fn select(&mut self, loads: Vec<(Reg, Address)>, options: impl IntoIterator<Item = (Expr, Label)>) {
        self.guarded(loads, options.into_iter().map(|(when, label)| (when, None, label)));
    }

    /// The same, where an option may store as well: its guard, what it stores where, and where it leads.
    #[track_caller]
    pub fn guarded(
        &mut self,
        loads: Vec<(Reg, Address)>,
        options: impl IntoIterator<Item = (Expr, Option<(Address, Expr)>, Label)>,
    ) {
        let guard = |(when, store, label): (_, _, Label)| Guard { when, store, target: label.0 };
        self.push(Instruction::Guarded { loads, options: options.into_iter().map(guard).collect() });
    }

    /// Reads `loads` and stores `value` in one step; a store through the buffer where the model has one.
    #[track_caller]
    pub fn transfer(&mut self, loads: Vec<(Reg, Address)>, to: impl Into<Address>, value: impl Into<Expr>) {
        let next = self.label();
        self.guarded(loads, [(1.into(), Some((to.into(), value.into())), next)]);
        self.place(next);
    }

    /// Lets a thread that waits at the next instruction forever have done its work.
    pub fn may_rest(&mut self) {
        self.may_rest = true;
    }
}

/// Statements that touch no memory.
impl ThreadBuilder<'_> {
    /// Sets a register.
    #[track_caller]
    pub fn set(&mut self, to: Reg, value: impl Into<Expr>) {
        self.push(Instruction::Assign { to, value: value.into() });
    }

    /// Any number below `alternatives`, into the register called `name`.
    #[track_caller]
    pub fn choose(&mut self, name: &str, alternatives: u32) -> Reg {
        let to = self.reg(name);
        self.push(Instruction::Choose { to, alternatives });
        to
    }

    /// Demands that a condition holds here.
    #[track_caller]
    pub fn assert(&mut self, condition: impl Into<Expr>, message: &str) {
        self.push(Instruction::Assert { condition: condition.into(), message: message.to_owned() });
    }

    /// Considers only executions in which a condition holds here.
    #[track_caller]
    pub fn assume(&mut self, condition: impl Into<Expr>) {
        self.push(Instruction::Assume { condition: condition.into() });
    }

    /// Goes to a label.
    #[track_caller]
    pub fn jump(&mut self, label: Label) {
        self.push(Instruction::Jump { target: label.0 });
    }

    /// Goes to a label where the condition is not zero.
    #[track_caller]
    pub fn branch(&mut self, condition: impl Into<Expr>, label: Label) {
        self.push(Instruction::Branch { condition: condition.into(), target: label.0 });
    }

    /// Runs `then` where the condition is not zero.
    #[track_caller]
    pub fn when(&mut self, condition: impl Into<Expr>, then: impl FnOnce(&mut Self)) {
        let end = self.label();
        self.branch(condition.into().negated(), end);
        then(self);
        self.place(end);
    }

    /// Runs `then` where the condition is not zero, else `otherwise`.
    #[track_caller]
    pub fn when_else(
        &mut self,
        condition: impl Into<Expr>,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let (alternative, end) = (self.label(), self.label());
        self.branch(condition.into().negated(), alternative);
        then(self);
        self.jump(end);
        self.place(alternative);
        otherwise(self);
        self.place(end);
    }

    /// Runs `body` again and again; it leaves by a branch to `exit`.
    #[track_caller]
    pub fn repeat(&mut self, body: impl FnOnce(&mut Self, LoopLabels)) {
        let labels = LoopLabels { start: self.label(), exit: self.label() };
        self.place(labels.start);
        body(self, labels);
        self.jump(labels.start);
        self.place(labels.exit);
    }

    /// Lets the instructions that follow hold back other threads, or no longer; see [`ThreadBuilder::exclusive`].
    ///
    /// It counts from the moment at which the thread comes to an instruction, whichever way it came.
    pub fn hold(&mut self, exclusive: bool) {
        self.exclusive = exclusive;
    }

    /// Runs `body` without a switch to another thread, as `atomic` of Promela; stores stay in their buffers.
    pub fn exclusive(&mut self, body: impl FnOnce(&mut Self)) {
        let first = self.code.code.len();
        let outer = std::mem::replace(&mut self.exclusive, true);
        body(self);
        self.exclusive = outer;
        // Other threads may run before the first instruction, not between it and the last.
        if let Some(place) = self.code.places.get_mut(first) {
            place.exclusive = outer;
        }
    }
}
