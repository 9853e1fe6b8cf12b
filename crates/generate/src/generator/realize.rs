//! Fills a skeleton with operations.

use crate::generator::expressions as random;
use crate::generator::plan::{N_LOCATIONS, Plan, Slot};
use crate::rng::Rng;
use crate::shape::Shape;
use teetotal_program::Order;
use teetotal_program::Span;
use teetotal_program::ir::{Address, Array, Builder, Expr, FetchOp, Instruction, Program, ThreadBuilder, Update};
use teetotal_program::{Loc, Reg, ThreadId, Value};

/// How often the body of a loop runs.
const TURNS: i32 = 2;

/// Makes a program of `plan`.
pub(super) fn realize(name: &str, plan: &Plan, shape: &Shape, rng: &mut Rng) -> Program {
    let mut p = Builder::new(name);
    let source = p.source(name, None);
    let mut filler = Filler::new(&mut p, plan, shape, rng);
    for (index, slots) in plan.threads.iter().enumerate() {
        let body = |t: &mut ThreadBuilder<'_>| {
            // Where in this file an instruction was made would tell nothing about the program.
            t.at(Some(Span { source, line: index as u32 + 1, column: 1, length: 0 }));
            filler.last = None;
            filler.fill(t, slots);
        };
        let name = format!("P{index}");
        if plan.spawns && index > 0 {
            p.spawned(&name, body)
        } else {
            p.thread(&name, body)
        };
    }
    p.build().expect("skeletons are filled with what is there")
}

struct Filler<'a> {
    shape: &'a Shape,
    rng: &'a mut Rng,
    locations: Vec<Loc>,
    addresses: Vec<Value>,
    /// The array that the first two locations make up, in some programs.
    array: Option<Array>,
    /// The lock, where the skeleton has one.
    lock: Loc,
    /// What this thread read last.
    last: Option<Reg>,
    n_registers: usize,
    /// Whether this program is one with mistakes in it.
    mistaken: bool,
}

impl<'a> Filler<'a> {
    fn new(p: &mut Builder, plan: &Plan, shape: &'a Shape, rng: &'a mut Rng) -> Self {
        let array = rng.percent(shape.arrays).then(|| {
            let ty = random::ty(shape, rng);
            p.array_as("a", ty, &[0, initial(shape, rng)])
        });
        let mut locations: Vec<Loc> = array.map_or(Vec::new(), |a| vec![a.element(0), a.element(1)]);
        let uses = |location: usize| plan.threads.iter().flatten().any(|slot| slot.uses(location));
        for at in locations.len()..N_LOCATIONS {
            // The numbers of skeletons count up, so that locations left out are at the end.
            if at < 1 || (at..N_LOCATIONS).any(uses) {
                let (ty, initial) = (random::ty(shape, rng), initial(shape, rng));
                locations.push(p.shared_as(["x", "y", "z"][at], ty, initial));
            }
        }
        let locks = plan.threads.iter().flatten().any(Slot::locks);
        let lock = if locks { p.shared("l", 0) } else { locations[0] };
        let addresses = locations.iter().map(|&loc| p.address_of(loc)).collect();
        let mistaken = rng.percent(shape.mistakes);
        Filler { shape, rng, locations, addresses, array, lock, last: None, n_registers: 0, mistaken }
    }

    fn fill(&mut self, t: &mut ThreadBuilder<'_>, slots: &[Slot]) {
        slots.iter().for_each(|slot| self.slot(t, slot));
    }

    fn slot(&mut self, t: &mut ThreadBuilder<'_>, slot: &Slot) {
        match slot {
            Slot::Write(_) | Slot::Read(_) => self.guarded(t, slot),
            Slot::WriteAtOnce(_)
            | Slot::PlainRead(_)
            | Slot::FailedExchange(_)
            | Slot::Increment(_)
            | Slot::Snapshot(..)
            | Slot::Transfer(..)
            | Slot::Guarded(..)
            | Slot::Update
            | Slot::Spin(_) => self.access(t, slot),
            Slot::Fence(order) => t.push(Instruction::Fence { order: *order }),
            Slot::GlobalFence => t.push(Instruction::GlobalFence),
            Slot::Lock => {
                let order = self.rng.pick(&[Order::SeqCst, Order::Acquire]);
                t.push(Instruction::Lock { at: self.lock.into(), order });
            }
            Slot::Unlock => {
                if !(self.mistaken && self.rng.percent(20)) {
                    let order = self.rng.pick(&[Order::SeqCst, Order::Release]);
                    t.push(Instruction::Unlock { at: self.lock.into(), order });
                }
            }
            Slot::Choose => self.last = Some(t.choose(&self.fresh(), 2)),
            Slot::Spawn(child) => {
                let order = self.rng.pick(&[Order::SeqCst, Order::Release]);
                t.push(Instruction::Spawn { thread: ThreadId::at(*child), order });
            }
            Slot::Join(child) => {
                let order = self.rng.pick(&[Order::SeqCst, Order::Acquire]);
                t.push(Instruction::Join { thread: ThreadId::at(*child), order });
            }
            Slot::Exclusive(slots) => t.exclusive(|t| self.fill(t, slots)),
            Slot::Loop(slots) => self.turns(t, slots),
        }
    }

    /// An access that may depend on what was read before it.
    fn guarded(&mut self, t: &mut ThreadBuilder<'_>, slot: &Slot) {
        let Some(last) = self.last.filter(|_| self.rng.percent(self.shape.branches)) else {
            return self.access(t, slot);
        };
        let condition = random::test(self.rng, last);
        if self.rng.percent(50) {
            t.when(condition, |t| self.access(t, slot));
        } else {
            let location = self.rng.below(self.locations.len());
            let other = if self.rng.percent(60) { Slot::Write(location) } else { Slot::Read(location) };
            // Both sides are told the same of what was read, whichever of them ran.
            let this = std::cell::RefCell::new(self);
            t.when_else(condition, |t| this.borrow_mut().access(t, slot), |t| this.borrow_mut().access(t, &other));
        }
    }

    fn access(&mut self, t: &mut ThreadBuilder<'_>, slot: &Slot) {
        match slot {
            Slot::Write(location) => self.write(t, *location),
            Slot::Read(location) => self.read(t, *location),
            Slot::PlainRead(location) => {
                let order = random::load_order(self.shape, self.rng);
                self.last = Some(t.load_with(&self.fresh(), self.locations[*location], order));
            }
            Slot::FailedExchange(location) => {
                let (update, order) = (random::failing_update(self.rng), random::update_order(self.rng));
                self.last = Some(t.rmw(&self.fresh(), self.locations[*location], update, order));
            }
            Slot::Increment(location) => {
                let at = self.locations[*location];
                let read = t.load(&self.fresh(), at);
                t.store_with(at, read.plus(1), random::store_order(self.shape, self.rng));
                self.last = Some(read);
            }
            Slot::Snapshot(first, second) => self.snapshot(t, [*first, *second]),
            Slot::Transfer(from, to) => self.transfer(t, *from, *to),
            Slot::Guarded(first, second) => self.choice(t, [*first, *second]),
            Slot::WriteAtOnce(location) => self.write_at_once(t, self.locations[*location].into()),
            Slot::Update => {
                let location = self.rng.below(self.locations.len());
                let (update, order) = (random::update(self.shape, self.rng, None), random::update_order(self.rng));
                t.rmw(&self.fresh(), self.locations[location], update, order);
            }
            Slot::Spin(location) => {
                let again = t.label();
                t.place(again);
                let read = t.load(&self.fresh(), self.locations[*location]);
                t.branch(read.eq(0), again);
                self.last = Some(read);
            }
            other => unreachable!("{other:?} is no access"),
        }
    }

    fn write(&mut self, t: &mut ThreadBuilder<'_>, location: usize) {
        let to = self.address(location);
        if self.rng.percent(self.shape.updates) {
            self.write_at_once(t, to);
        } else {
            let value = random::value(self.shape, self.rng, self.last);
            t.store_with(to, value, random::store_order(self.shape, self.rng));
        }
    }

    fn write_at_once(&mut self, t: &mut ThreadBuilder<'_>, to: Address) {
        let (update, order) = (random::update(self.shape, self.rng, self.last), random::update_order(self.rng));
        self.last = Some(t.rmw(&self.fresh(), to, update, order));
    }

    fn read(&mut self, t: &mut ThreadBuilder<'_>, location: usize) {
        let (from, name) = (self.address(location), self.fresh());
        let read = if self.rng.percent(self.shape.update_reads) {
            let update = match self.rng.below(4) {
                0 => Update::Fetch(FetchOp::Add, Expr::from(0)),
                1 => random::update(self.shape, self.rng, self.last),
                _ => random::failing_update(self.rng),
            };
            t.rmw(&name, from, update, random::update_order(self.rng))
        } else if self.rng.percent(self.shape.awaits) {
            t.await_until(
                &name,
                from,
                |read| if self.rng.percent(30) { 1.into() } else { random::test(self.rng, read) },
            )
        } else {
            t.load_with(&name, from, random::load_order(self.shape, self.rng))
        };
        self.last = Some(read);
        if self.rng.percent(self.shape.asserts) {
            t.assert(random::test(self.rng, read), "as drawn");
        }
        if self.rng.percent(self.shape.assumes) {
            t.assume(random::test(self.rng, read));
        }
    }

    /// Reads two locations at once, most often as soon as it comes there.
    fn snapshot(&mut self, t: &mut ThreadBuilder<'_>, mut locations: [usize; 2]) {
        self.rng.shuffle(&mut locations);
        let registers = [self.fresh(), self.fresh()].map(|name| t.reg(&name));
        let loads = registers.into_iter().zip(locations.map(|location| self.locations[location].into())).collect();
        let until = match self.rng.below(8) {
            0..=2 => Expr::from(1),
            3 => registers[0].ne(registers[1]),
            4 => registers[0].or(registers[1]),
            5 => registers[0].and(registers[1]),
            _ => registers[self.rng.below(2)].into(),
        };
        t.push(Instruction::Await { loads, until });
        self.last = Some(registers[0]);
    }

    /// Reads one location or both and stores to the second, in one step.
    fn transfer(&mut self, t: &mut ThreadBuilder<'_>, from: usize, to: usize) {
        let read = t.reg(&self.fresh());
        let mut loads = vec![(read, self.locations[from].into())];
        if from != to && self.rng.percent(30) {
            loads.push((t.reg(&self.fresh()), self.locations[to].into()));
        }
        let value = if self.rng.percent(60) { read.plus(1) } else { random::value(self.shape, self.rng, Some(read)) };
        t.transfer(loads, self.locations[to], value);
        self.last = Some(read);
    }

    /// Reads two locations at once and goes one of two ways, or waits until one is open.
    fn choice(&mut self, t: &mut ThreadBuilder<'_>, mut locations: [usize; 2]) {
        self.rng.shuffle(&mut locations);
        let [first, second, taken] = [self.fresh(), self.fresh(), self.fresh()].map(|name| t.reg(&name));
        let loads =
            [first, second].into_iter().zip(locations.map(|location| self.locations[location].into())).collect();
        let [here, end] = [t.label(), t.label()];
        let mut options = Vec::new();
        for (read, label) in [(first, here), (second, end)] {
            let when = if self.rng.percent(35) { 1.into() } else { random::test(self.rng, read) };
            let to = self.locations[self.rng.below(2).min(self.locations.len() - 1)];
            let value = random::value(self.shape, self.rng, Some(read));
            options.push((when, self.rng.percent(50).then(|| (to.into(), value)), label));
        }
        t.guarded(loads, options);
        t.place(here);
        t.set(taken, 1);
        t.place(end);
        self.last = Some(first);
    }

    /// The location itself, or a way to it through what was read before.
    fn address(&mut self, location: usize) -> Address {
        let Some(last) = self.last.filter(|_| self.rng.percent(self.shape.address_dependencies)) else {
            return self.locations[location].into();
        };
        let (here, first) = (self.addresses[location], self.addresses[0]);
        match self.array {
            Some(array) if self.mistaken && self.rng.percent(50) => array.at(last),
            Some(array) if self.rng.percent(60) => array.at(last.bit_and(1)),
            _ if self.mistaken && self.rng.percent(30) => Address::Computed(last.plus(here)),
            _ if self.rng.percent(50) => Address::Computed(last.minus(last).plus(here)),
            _ => Address::Computed(Expr::Select(Box::new(last.into()), Box::new(here.into()), Box::new(first.into()))),
        }
    }

    /// Runs `slots` a few times, and sometimes leaves early because of what it read.
    fn turns(&mut self, t: &mut ThreadBuilder<'_>, slots: &[Slot]) {
        let turn = t.temporary();
        if self.rng.percent(50) {
            let (start, exit) = (t.label(), t.label());
            t.place(start);
            self.fill(t, slots);
            if let Some(last) = self.last.filter(|_| self.rng.percent(30)) {
                t.branch(random::test(self.rng, last), exit);
            }
            t.set(turn, turn.plus(1));
            t.branch(turn.lt(TURNS), start);
            t.place(exit);
        } else {
            t.repeat(|t, labels| {
                t.branch(turn.ge(TURNS), labels.exit);
                self.fill(t, slots);
                t.set(turn, turn.plus(1));
            });
        }
    }

    fn fresh(&mut self) -> String {
        self.n_registers += 1;
        format!("r{}", self.n_registers - 1)
    }
}

fn initial(shape: &Shape, rng: &mut Rng) -> Value {
    if rng.percent(10) { random::constant(shape, rng) } else { 0 }
}
