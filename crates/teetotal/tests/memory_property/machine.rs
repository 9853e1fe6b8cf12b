//! Every interleaving of a program, with the happens-before of the language.

use std::collections::{BTreeMap, BTreeSet};

use teetotal::ModelId;

use super::{CELLS, Op, Program, Strength};

/// What can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Fault {
    UseAfterFree,
    DoubleFree,
    Race,
}

/// For each thread how much of it is known; the last entry is that of the thread that starts the others.
type Clock = [u8; 4];

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

/// The address of a block, from 1 on; 0 is none.
type Address = u8;

/// A block: who made it and when, who has read and written its data or read its atomic, and whether it is freed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Block {
    owner: usize,
    born: u8,
    reads: Clock,
    writes: Clock,
    loads: Clock,
    /// The thread that has freed it, and what that knew.
    freed: Option<(usize, Clock)>,
    /// Whether its address is or was in a cell.
    is_shared: bool,
    /// Whether it may be reused, and whether other threads may do so.
    is_offered: bool,
    is_put_up: bool,
    /// Whether another block had the address before.
    is_again: bool,
}

/// A store that has not reached memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending {
    to: To,
    value: Address,
    released: Clock,
    releases: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum To {
    Cell(usize),
    /// The block at this address may be reused.
    Free(Address),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Thread {
    next: usize,
    held: Address,
    clock: Clock,
    buffer: Vec<Pending>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    threads: Vec<Thread>,
    cells: [(Address, Clock); CELLS],
    blocks: BTreeMap<Address, Block>,
    reuses: usize,
}

pub(super) struct Machine<'p> {
    program: &'p Program,
    model: ModelId,
    faults: BTreeSet<Fault>,
    seen: BTreeSet<State>,
}

impl Machine<'_> {
    /// What can go wrong first in some execution.
    pub(super) fn faults(program: &Program, model: ModelId, reuse: usize) -> BTreeSet<Fault> {
        let main = 3;
        let mut clock = Clock::default();
        clock[main] = 1;
        let thread = |index: usize| {
            let mut clock = clock;
            clock[index] = 1;
            Thread { clock, ..Thread::default() }
        };
        let mut cells = [(0, Clock::default()); CELLS];
        cells[0].0 = 1;
        let first = Block { owner: main, born: 1, ..Block::default() };
        let threads = (0..program.len()).map(thread).collect();
        let start = State { threads, cells, blocks: BTreeMap::from([(1, first)]), reuses: reuse };
        let mut machine = Machine { program, model, faults: BTreeSet::new(), seen: BTreeSet::new() };
        let mut open = vec![start];
        while let Some(state) = open.pop() {
            if machine.seen.insert(state.clone()) {
                machine.expand(&state, &mut open);
            }
        }
        machine.faults
    }

    fn expand(&mut self, state: &State, open: &mut Vec<State>) {
        for thread in 0..state.threads.len() {
            self.commits(state, thread, open);
            if let Some(&op) = self.program[thread].get(state.threads[thread].next) {
                self.issue(state, thread, op, open);
            }
        }
    }

    /// Lets pending stores reach memory.
    fn commits(&self, state: &State, thread: usize, open: &mut Vec<State>) {
        let buffer = &state.threads[thread].buffer;
        for (at, store) in buffer.iter().enumerate() {
            let is_first = buffer[..at].iter().all(|other| other.to != store.to);
            let may = at == 0 || self.model == ModelId::Pso && is_first && !store.releases;
            if may {
                let mut next = state.clone();
                let Pending { to, value, released, .. } = next.threads[thread].buffer.remove(at);
                next.write(to, value, released);
                open.push(next);
            }
        }
    }

    fn issue(&mut self, state: &State, thread: usize, op: Op, open: &mut Vec<State>) {
        let mut next = state.clone();
        let own = &mut next.threads[thread];
        own.next += 1;
        let (held, is_buffered) = (own.held, self.model != ModelId::Sc);
        match op {
            Op::Allocate => return self.allocate(&next, thread, open),
            Op::Put(cell, strength) => {
                let releases = strength == Strength::Strong;
                let released = if releases { own.publish(thread) } else { Clock::default() };
                let store = Pending { to: To::Cell(cell), value: held, released, releases };
                next.share(held);
                next.store(thread, store, is_buffered);
            }
            Op::Get(cell, strength) => {
                let pending = own.buffer.iter().rev().find(|store| store.to == To::Cell(cell));
                let (value, released) = pending.map_or(state.cells[cell], |store| (store.value, store.released));
                own.held = value;
                if strength == Strength::Strong {
                    join(&mut own.clock, &released);
                }
            }
            Op::Take(cell, strength) => {
                if !self.may_exchange(state, thread, cell, strength) {
                    return;
                }
                let (value, earlier) = state.cells[cell];
                own.held = value;
                let mut released = Clock::default();
                if strength == Strength::Strong {
                    join(&mut own.clock, &earlier);
                    released = own.publish(thread);
                }
                join(&mut released, &earlier);
                next.cells[cell] = (0, released);
            }
            Op::Compare(cell) => {
                let forwarded = own.buffer.iter().rev().find(|store| store.to == To::Cell(cell));
                // Under PSO an exchange that fails is a load, which may read what is pending.
                let fails_early = forwarded.is_some_and(|store| self.model == ModelId::Pso && store.value != held);
                let value = state.cells[cell].0;
                if fails_early || self.model == ModelId::Pso && forwarded.is_none() && value != held {
                    own.next += 1;
                } else if !self.may_exchange(state, thread, cell, Strength::Strong) {
                    return;
                } else if value == held {
                    join(&mut own.clock, &state.cells[cell].1);
                    let mut released = own.publish(thread);
                    join(&mut released, &state.cells[cell].1);
                    next.cells[cell] = (0, released);
                } else {
                    own.next += 1;
                }
            }
            Op::Free | Op::Read | Op::Write | Op::Load | Op::Peek if held == 0 => {}
            Op::Free => return self.free(next, thread, held, open),
            Op::Read | Op::Write | Op::Load | Op::Peek => {
                let clock = own.clock;
                let block = next.blocks.get_mut(&held).expect("there is a block at every address");
                if let Some(fault) = block.access(op, thread, &clock) {
                    self.faults.insert(fault);
                    // Whether a pointer is an old one can be told by who looks at more than its address.
                    if op == Op::Peek && block.is_again {
                        self.faults.insert(Fault::UseAfterFree);
                    }
                    return;
                }
            }
        }
        open.push(next);
    }

    /// Whether the buffer of a thread is as empty as an exchange needs it.
    fn may_exchange(&self, state: &State, thread: usize, cell: usize, strength: Strength) -> bool {
        let buffer = &state.threads[thread].buffer;
        let drains_all = self.model == ModelId::Tso || strength == Strength::Strong;
        buffer.iter().all(|store| !drains_all && store.to != To::Cell(cell))
    }

    fn allocate(&self, next: &State, thread: usize, open: &mut Vec<State>) {
        let mut make = |address: Address, known: Option<&Clock>| {
            let mut next = next.clone();
            let own = &mut next.threads[thread];
            own.held = address;
            if let Some(known) = known {
                join(&mut own.clock, known);
                next.reuses -= 1;
            }
            let born = next.threads[thread].clock[thread];
            let is_again = known.is_some();
            next.blocks.insert(address, Block { owner: thread, born, is_again, ..Block::default() });
            open.push(next);
        };
        let new = next.blocks.len() as Address + 1;
        make(new, None);
        for (&address, block) in next.blocks.iter().filter(|_| next.reuses > 0) {
            if let Some((by, clock)) =
                block.freed.filter(|(by, _)| block.is_offered && (*by == thread || block.is_put_up))
            {
                make(address, Some(if by == thread { &next.threads[thread].clock } else { &clock }));
            }
        }
    }

    fn free(&mut self, mut next: State, thread: usize, held: Address, open: &mut Vec<State>) {
        let clock = next.threads[thread].clock;
        let block = next.blocks.get_mut(&held).expect("there is a block at every address");
        let accesses = [&block.reads, &block.writes, &block.loads];
        let is_known = |times: &&Clock| {
            times.iter().zip(&clock).enumerate().all(|(at, (time, known))| at == thread || time <= known)
        };
        let fault = if block.freed.is_some() {
            Some(Fault::DoubleFree)
        } else if clock[block.owner] < block.born {
            Some(Fault::Race)
        } else {
            (!accesses.iter().all(is_known)).then_some(Fault::UseAfterFree)
        };
        if let Some(fault) = fault {
            self.faults.insert(fault);
            return;
        }
        let released = next.threads[thread].publish(thread);
        let block = next.blocks.get_mut(&held).expect("it was just there");
        block.freed = Some((thread, released));
        block.is_offered = block.is_shared || block.owner != thread;
        if block.is_offered {
            let store = Pending { to: To::Free(held), value: 1, released, releases: true };
            next.store(thread, store, self.model != ModelId::Sc);
        }
        open.push(next);
    }
}

impl Thread {
    /// What is known to whoever acquires from it now.
    fn publish(&mut self, own: usize) -> Clock {
        let published = self.clock;
        self.clock[own] += 1;
        published
    }
}

impl State {
    fn write(&mut self, to: To, value: Address, released: Clock) {
        match to {
            To::Cell(cell) => self.cells[cell] = (value, released),
            To::Free(address) => {
                if let Some(block) = self.blocks.get_mut(&address) {
                    block.is_put_up = true;
                }
            }
        }
    }

    fn store(&mut self, thread: usize, store: Pending, is_buffered: bool) {
        if is_buffered {
            self.threads[thread].buffer.push(store);
        } else {
            self.write(store.to, store.value, store.released);
        }
    }

    fn share(&mut self, address: Address) {
        if let Some(block) = self.blocks.get_mut(&address) {
            block.is_shared = true;
        }
    }
}

impl Block {
    /// An access by `thread`, which knows `clock`; what is wrong with it, if anything is.
    fn access(&mut self, op: Op, thread: usize, clock: &Clock) -> Option<Fault> {
        let is_known = |times: &Clock| times.iter().zip(clock).all(|(time, known)| time <= known);
        if self.freed.is_some() {
            return Some(Fault::UseAfterFree);
        }
        let conflicts = !matches!(op, Op::Load | Op::Peek)
            && !(is_known(&self.writes) && (op == Op::Read || is_known(&self.reads)));
        if clock[self.owner] < self.born || conflicts {
            return Some(Fault::Race);
        }
        let times = match op {
            Op::Read => &mut self.reads,
            Op::Write => &mut self.writes,
            _ => &mut self.loads,
        };
        times[thread] = clock[thread];
        None
    }
}
