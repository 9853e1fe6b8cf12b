//! How many executions a program may have under PSO, without running it.
//!
//! Each thread alone is run through all orders of its operations and the commits of its stores; then the threads are
//! shuffled in every way. Waiting for another thread is ignored and an unknown condition goes both ways, so that the
//! number is a bound, and far above the truth where threads wait for each other.

use teetotal_program::Value;
use teetotal_program::ir::{Address, Expr, Guard, Instruction, Program, ThreadCode};
use teetotal_program::{OnFailure, Order};

/// A run of more instructions than this counts as endless.
const FUEL: u32 = 500;

/// At least as many executions as `program` has under PSO, or some number above `enough`.
///
/// A loop that waits for another thread counts as if it ran twice; one that never ends makes it `u64::MAX`.
#[must_use]
pub fn interleavings_bound(program: &Program, enough: u64) -> u64 {
    let mut total: u64 = 1;
    let mut steps: u64 = 0;
    for thread in &program.threads {
        let mut runs = Runs { thread, enough, complete: 0, longest: 0 };
        let registers = thread.registers.iter().map(|register| Some(register.initial)).collect();
        runs.go(
            Alone { at: 0, registers, pending: Vec::new(), epoch: 0, draining: false, visits: Vec::new(), fuel: FUEL },
            0,
        );
        steps += runs.longest;
        total = total.saturating_mul(runs.complete).saturating_mul(binomial(steps, runs.longest));
        if total > enough {
            return total;
        }
    }
    total
}

fn binomial(n: u64, k: u64) -> u64 {
    (0..k.min(n - k)).fold(1u64, |product, i| product.saturating_mul(n - i) / (i + 1))
}

/// The runs of a thread by itself.
struct Runs<'t> {
    thread: &'t ThreadCode,
    enough: u64,
    complete: u64,
    /// The number of steps of the longest.
    longest: u64,
}

/// A thread in the middle of such a run.
#[derive(Clone)]
struct Alone {
    at: usize,
    /// Unknown where it depends on memory.
    registers: Vec<Option<Value>>,
    pending: Vec<Pending>,
    epoch: u32,
    draining: bool,
    /// The branches that went back for a reason that is not known.
    visits: Vec<usize>,
    /// How many more instructions it may run.
    fuel: u32,
}

#[derive(Clone)]
struct Pending {
    place: Address,
    epoch: u32,
    release: bool,
}

impl Runs<'_> {
    fn go(&mut self, state: Alone, steps: u64) {
        if self.complete > self.enough {
            return;
        }
        for index in (0..state.pending.len()).filter(|&index| state.may_leave(index)) {
            let mut next = state.clone();
            next.pending.remove(index);
            next.draining &= !next.pending.is_empty();
            self.go(next, steps + 1);
        }
        match self.thread.code.get(state.at) {
            None if state.pending.is_empty() => {
                self.complete = self.complete.saturating_add(1);
                self.longest = self.longest.max(steps);
            }
            None => {}
            Some(instruction) if instruction.is_visible() => self.issue(state, instruction, steps),
            Some(instruction) => self.local(state, instruction, steps),
        }
    }

    fn local(&mut self, mut state: Alone, instruction: &Instruction, steps: u64) {
        if !self.burns(&mut state) {
            return;
        }
        match instruction {
            Instruction::Assign { to, value } => {
                state.registers[to.index()] = state.eval(value);
                state.at += 1;
            }
            Instruction::Jump { target } => state.at = *target as usize,
            Instruction::Branch { condition, target } => {
                let (here, target) = (state.at, *target as usize);
                match state.eval(condition) {
                    Some(0) => state.at += 1,
                    Some(_) => state.at = target,
                    None => {
                        if target > here || !state.visits.contains(&here) {
                            let mut taken = state.clone();
                            taken.visits.push(here);
                            taken.at = target;
                            self.on(taken, steps);
                        }
                        state.at += 1;
                    }
                }
            }
            _ => state.at += 1,
        }
        self.on(state, steps);
    }

    /// Goes on without a step.
    fn on(&mut self, state: Alone, steps: u64) {
        match self.thread.code.get(state.at) {
            Some(instruction) if !instruction.is_visible() => self.local(state, instruction, steps),
            _ => self.resume(state, steps),
        }
    }

    /// Goes on at an operation or the end, with the commits before it already counted.
    fn resume(&mut self, state: Alone, steps: u64) {
        match self.thread.code.get(state.at) {
            None if state.pending.is_empty() => {
                self.complete = self.complete.saturating_add(1);
                self.longest = self.longest.max(steps);
            }
            None => {}
            Some(instruction) => self.issue(state, instruction, steps),
        }
    }

    /// Whether another instruction may run.
    fn burns(&mut self, state: &mut Alone) -> bool {
        if state.fuel == 0 {
            self.complete = u64::MAX;
        }
        state.fuel = state.fuel.saturating_sub(1);
        self.complete < u64::MAX
    }

    fn issue(&mut self, state: Alone, instruction: &Instruction, steps: u64) {
        if state.draining || !state.may_issue(instruction) {
            return;
        }
        let mut next = state;
        if !self.burns(&mut next) {
            return;
        }
        if let Instruction::Guarded { loads, options } = instruction {
            loads.iter().for_each(|(to, _)| next.registers[to.index()] = None);
            return options.iter().for_each(|option| self.take(next.clone(), option, steps));
        }
        next.at += 1;
        let mut alternatives = 1;
        match instruction {
            Instruction::Load { to, .. } | Instruction::Rmw { old: to, .. } => next.registers[to.index()] = None,
            Instruction::Choose { to, alternatives: n } => {
                next.registers[to.index()] = None;
                alternatives = *n;
            }
            Instruction::Await { loads, .. } => loads.iter().for_each(|(to, _)| next.registers[to.index()] = None),
            Instruction::Store { to, order, .. } => {
                next.pending.push(Pending { place: to.clone(), epoch: next.epoch, release: order.releases() });
                next.draining = *order == Order::SeqCst;
            }
            Instruction::Fence { order: Order::Release | Order::AcqRel } => next.epoch += 1,
            _ => {}
        }
        for _ in 0..alternatives {
            self.go(next.clone(), steps + 1);
        }
    }
}

impl Runs<'_> {
    /// Goes on by an option of a guarded step, unless it goes back there for a second time.
    fn take(&mut self, mut state: Alone, option: &Guard, steps: u64) {
        let (here, target) = (state.at, option.target as usize);
        if target <= here && state.visits.contains(&here) {
            return;
        }
        state.visits.extend((target <= here).then_some(here));
        if let Some((to, _)) = &option.store {
            state.pending.push(Pending { place: to.clone(), epoch: state.epoch, release: false });
        }
        state.at = target;
        self.go(state, steps + 1);
    }
}

impl Alone {
    fn eval(&self, expr: &Expr) -> Option<Value> {
        let mut known = true;
        expr.walk(&mut |e| {
            if let Expr::Reg(reg) = e {
                known &= self.registers[reg.index()].is_some();
            }
        });
        let registers: Vec<Value> = self.registers.iter().map(|value| value.unwrap_or(0)).collect();
        known.then(|| expr.eval(&registers, 0).ok()).flatten()
    }

    /// The rules of PSO.
    fn may_leave(&self, index: usize) -> bool {
        let store = &self.pending[index];
        let mut older = self.pending[..index].iter();
        !older.any(|p| store.release || p.epoch < store.epoch || same(&p.place, &store.place))
    }

    fn may_issue(&self, instruction: &Instruction) -> bool {
        let drained = |order: &Order, at: Option<&Address>| {
            let waits =
                |p: &Pending| order.releases() || p.epoch < self.epoch || at.is_some_and(|at| same(&p.place, at));
            !self.pending.iter().any(waits)
        };
        match instruction {
            Instruction::Rmw { update, .. } if matches!(update.on_failure(), OnFailure::Load(_)) => true,
            Instruction::Rmw { at, order, .. }
            | Instruction::Lock { at, order }
            | Instruction::Unlock { at, order } => drained(order, Some(at)),
            Instruction::Join { order, .. } => !order.releases() || drained(order, None),
            Instruction::Spawn { order, .. } => drained(order, None),
            Instruction::Fence { order: Order::SeqCst } | Instruction::GlobalFence => self.pending.is_empty(),
            _ => true,
        }
    }
}

/// Whether both are certainly the same location.
fn same(one: &Address, other: &Address) -> bool {
    matches!((one, other), (Address::Static(one), Address::Static(other)) if one == other)
}
