//! A store-buffer machine of its own: every state that a program can be in, each looked at once.

use std::collections::{BTreeMap, BTreeSet};

use teetotal::ModelId;
use teetotal::sync::atomic::Ordering;

use crate::knowledge::{Accesses, Knowledge};
use crate::program::{Counter, FAILED, N_LOCATIONS, N_REGISTERS, Program, Statement};

/// What a program leaves: the registers and counters of each thread, then memory and the data.
pub(crate) type Outcome = Vec<u64>;

/// What there is to know of a program.
pub(crate) struct Known {
    pub(crate) outcomes: BTreeSet<Outcome>,
    /// Whether some state leads to no end.
    pub(crate) has_dead_state: bool,
    /// Whether some execution has a data race. It ends there.
    pub(crate) has_race: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Pending {
    loc: usize,
    value: u64,
    is_release: bool,
    /// What reading it makes known.
    released: Accesses,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Thread {
    /// The statement in each nested list, and how many iterations of its loop are left if they are counted.
    at: Vec<(usize, u32)>,
    registers: [u64; N_REGISTERS],
    counters: [u64; 2],
    buffer: Vec<Pending>,
    is_draining: bool,
    /// Whether it holds the lock.
    is_owner: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    threads: Vec<Thread>,
    memory: [u64; N_LOCATIONS],
    /// What is behind the lock.
    data: u64,
    /// How many exchanges may still fail spuriously.
    spurious: u32,
    /// What is not atomic.
    plain: u64,
    knowledge: Knowledge,
    has_raced: bool,
}

/// Looks at every state; nothing if there are too many.
pub(crate) fn explore(program: &Program, model: ModelId, spurious: u32) -> Option<Known> {
    const MOST_STATES: usize = 20_000;
    const LONGEST_BUFFER: usize = 6;
    let thread = Thread { at: vec![(0, 0)], ..Thread::default() };
    let threads = vec![thread; program.len()];
    let (memory, knowledge) = ([0; N_LOCATIONS], Knowledge::default());
    let mut first = State { threads, memory, data: 0, spurious, plain: 0, knowledge, has_raced: false };
    (0..program.len()).for_each(|index| settle(program, &mut first, index));
    let mut numbers = BTreeMap::from([(first.clone(), 0_usize)]);
    let mut states = vec![first];
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    let mut outcomes = BTreeSet::new();
    let mut ends = Vec::new();
    let (mut next, mut has_race) = (0, false);
    while next < states.len() {
        let state = states[next].clone();
        if state.has_raced {
            has_race = true;
            ends.push(next);
            next += 1;
            continue;
        }
        let successors = successors(program, model, &state);
        if successors.is_empty() && state.threads.iter().all(|thread| thread.at.is_empty()) {
            let own = state.threads.iter().flat_map(|thread| thread.registers.into_iter().chain(thread.counters));
            outcomes.insert(own.chain(state.memory).chain([state.data, state.plain]).collect());
            ends.push(next);
        }
        for successor in successors {
            let number = *numbers.entry(successor.clone()).or_insert_with(|| {
                states.push(successor);
                before.push(Vec::new());
                states.len() - 1
            });
            before[number].push(next);
        }
        // A loop that stores may fill its buffer without end.
        if states.len() > MOST_STATES || state.threads.iter().any(|thread| thread.buffer.len() > LONGEST_BUFFER) {
            return None;
        }
        next += 1;
    }
    let mut leads_to_end = vec![false; states.len()];
    while let Some(state) = ends.pop() {
        if !std::mem::replace(&mut leads_to_end[state], true) {
            ends.extend(&before[state]);
        }
    }
    Some(Known { outcomes, has_dead_state: leads_to_end.contains(&false), has_race })
}

/// The list that a thread is in at this depth.
fn list<'p>(program: &'p Program, index: usize, thread: &Thread, depth: usize) -> &'p [Statement] {
    let mut list: &[Statement] = &program[index];
    for &(at, _) in &thread.at[..depth] {
        let Statement::Loop(_, body) = &list[at] else { unreachable!("only loops have a body") };
        list = body;
    }
    list
}

/// Lets a thread do what is no access to memory, up to its next one.
fn settle(program: &Program, state: &mut State, index: usize) {
    let thread = &mut state.threads[index];
    // A loop without an access would not end; no program has one that is not left.
    for _ in 0..1_000 {
        let Some(&(at, left)) = thread.at.last() else { return };
        let depth = thread.at.len() - 1;
        let Some(statement) = list(program, index, thread, depth).get(at) else {
            // The end of a list: the thread ends, or its loop begins again, or is over.
            if depth == 0 {
                thread.at.clear();
                return;
            }
            let limit = list(program, index, thread, depth - 1)[thread.at[depth - 1].0].limit();
            match (limit, left) {
                (Some(_), 1) => leave(thread),
                (Some(_), left) => thread.at[depth] = (0, left - 1),
                (None, _) => thread.at[depth] = (0, 0),
            }
            continue;
        };
        match statement {
            Statement::Loop(limit, _) => thread.at.push((0, limit.unwrap_or(0))),
            Statement::Hint(_) => thread.at[depth].0 += 1,
            Statement::BreakIf(register, value) => {
                if thread.registers[*register] == *value && depth > 0 {
                    leave(thread);
                } else {
                    thread.at[depth].0 += 1;
                }
            }
            Statement::Count(counter, most) => {
                let counter = &mut thread.counters[usize::from(*counter == Counter::Parent)];
                *counter = (*counter + 1).min(*most);
                thread.at[depth].0 += 1;
            }
            _ => return,
        }
    }
    panic!("a loop has no access to memory: {program:?}");
}

/// Leaves the innermost loop.
fn leave(thread: &mut Thread) {
    thread.at.pop();
    thread.at.last_mut().expect("the loop is in a list").0 += 1;
}

impl Statement {
    fn limit(&self) -> Option<u32> {
        if let Statement::Loop(limit, _) = self { *limit } else { None }
    }
}

fn successors(program: &Program, model: ModelId, state: &State) -> Vec<State> {
    let mut successors = Vec::new();
    for index in 0..state.threads.len() {
        let thread = &state.threads[index];
        for entry in 0..thread.buffer.len() {
            if may_leave(model, &thread.buffer, entry) {
                let mut next = state.clone();
                let Pending { loc, value, released, .. } = next.threads[index].buffer.remove(entry);
                next.memory[loc] = value;
                next.knowledge.commit(loc, released);
                successors.push(next);
            }
        }
        if let Some(&(at, _)) = thread.at.last() {
            let statement = &list(program, index, thread, thread.at.len() - 1)[at];
            let performed = performed(model, state, index, statement);
            successors.extend(performed.into_iter().chain(failed(model, state, index, statement)).map(|mut next| {
                if !next.threads[index].is_owner {
                    next.threads[index].at.last_mut().expect("it is somewhere").0 += 1;
                    settle(program, &mut next, index);
                }
                next
            }));
        }
    }
    successors
}

/// Whether a store may reach memory before those that are older.
fn may_leave(model: ModelId, buffer: &[Pending], entry: usize) -> bool {
    match model {
        ModelId::Pso => {
            let own = &buffer[entry];
            !own.is_release && !buffer[..entry].iter().any(|older| older.loc == own.loc) || entry == 0
        }
        _ => entry == 0,
    }
}

/// The state after an exchange failed spuriously, if it can: under PSO it is a load then, under TSO it drains.
fn failed(model: ModelId, state: &State, index: usize, statement: &Statement) -> Option<State> {
    let &Statement::Weak(register, loc, ..) = statement else { return None };
    let mut next = state.clone();
    next.spurious = next.spurious.checked_sub(1)?;
    let thread = &mut next.threads[index];
    let drains = std::mem::take(&mut thread.is_draining) || model == ModelId::Tso;
    if drains && !thread.buffer.is_empty() {
        return None;
    }
    let (value, accesses) = seen(thread, &next.memory, &next.knowledge, loc);
    thread.registers[register] = FAILED + value;
    next.knowledge.read(index, Ordering::SeqCst, accesses);
    Some(next)
}

/// What a thread reads from a location, and what that makes known.
fn seen(thread: &Thread, memory: &[u64; N_LOCATIONS], knowledge: &Knowledge, loc: usize) -> (u64, Accesses) {
    let own = thread.buffer.iter().rev().find(|pending| pending.loc == loc);
    own.map_or((memory[loc], knowledge.in_memory(loc)), |pending| (pending.value, pending.released))
}

/// The state after a thread performed a statement, if it can.
fn performed(model: ModelId, state: &State, index: usize, statement: &Statement) -> Option<State> {
    let mut next = state.clone();
    if let Statement::Read(_) | Statement::Write(_) = statement {
        return accessed(next, index, statement);
    }
    let State { threads, memory, data, knowledge, .. } = &mut next;
    let is_locked = threads.iter().any(|thread| thread.is_owner);
    let thread = &mut threads[index];
    if std::mem::take(&mut thread.is_draining) && !thread.buffer.is_empty() {
        return None;
    }
    let is_drained = |thread: &Thread, loc: usize, order: Ordering| match (model, order) {
        (ModelId::Pso, Ordering::Relaxed | Ordering::Acquire) => {
            !thread.buffer.iter().any(|pending| pending.loc == loc)
        }
        _ => thread.buffer.is_empty(),
    };
    match *statement {
        Statement::Load(register, loc, order) => {
            let (value, accesses) = seen(thread, memory, knowledge, loc);
            thread.registers[register] = value;
            knowledge.read(index, order, accesses);
        }
        Statement::Store(loc, value, order) => {
            let released = knowledge.released(index, order);
            if model == ModelId::Sc {
                memory[loc] = value;
                knowledge.commit(loc, released);
            } else {
                thread.buffer.push(Pending { loc, value, is_release: order != Ordering::Relaxed, released });
                thread.is_draining = order == Ordering::SeqCst;
            }
        }
        Statement::Swap(register, loc, value, order) => {
            if !is_drained(thread, loc, order) {
                return None;
            }
            thread.registers[register] = std::mem::replace(&mut memory[loc], value);
            knowledge.update(index, loc, order);
        }
        Statement::Or(register, loc, order) => {
            if !is_drained(thread, loc, order) {
                return None;
            }
            thread.registers[register] = memory[loc];
            memory[loc] |= 2;
            knowledge.update(index, loc, order);
        }
        Statement::Exchange(register, loc, expected, new) => {
            // A compare-exchange that fails is a load under PSO.
            let (value, accesses) = seen(thread, memory, knowledge, loc);
            if model == ModelId::Pso && value != expected {
                thread.registers[register] = value;
                knowledge.read(index, Ordering::SeqCst, accesses);
            } else if !thread.buffer.is_empty() {
                return None;
            } else {
                thread.registers[register] = memory[loc];
                if memory[loc] == expected {
                    memory[loc] = new;
                    knowledge.update(index, loc, Ordering::SeqCst);
                } else {
                    knowledge.read(index, Ordering::SeqCst, accesses);
                }
            }
        }
        Statement::Weak(register, loc, expected, new) => {
            let (value, accesses) = seen(thread, memory, knowledge, loc);
            if model == ModelId::Pso && value != expected {
                thread.registers[register] = FAILED + value;
                knowledge.read(index, Ordering::SeqCst, accesses);
            } else if !thread.buffer.is_empty() {
                return None;
            } else if memory[loc] == expected {
                thread.registers[register] = std::mem::replace(&mut memory[loc], new);
                knowledge.update(index, loc, Ordering::SeqCst);
            } else {
                thread.registers[register] = FAILED + memory[loc];
                knowledge.read(index, Ordering::SeqCst, accesses);
            }
        }
        Statement::Locked { register, change, .. } if thread.is_owner => {
            // To free the lock releases.
            if !thread.buffer.is_empty() {
                return None;
            }
            thread.is_owner = false;
            knowledge.unlock(index);
            thread.registers[register] = *data;
            *data = change.apply(*data);
        }
        Statement::Locked { tries: true, register, .. } if is_locked => {
            if model != ModelId::Pso && !thread.buffer.is_empty() {
                return None;
            }
            thread.registers[register] = FAILED;
            knowledge.find_locked(index);
        }
        Statement::Locked { .. } => {
            // To take the lock acquires: under PSO no store to another location is waited for.
            if is_locked || model != ModelId::Pso && !thread.buffer.is_empty() {
                return None;
            }
            thread.is_owner = true;
            knowledge.lock(index);
        }
        Statement::Keep(register, loc) => {
            if !thread.buffer.is_empty() {
                return None;
            }
            thread.registers[register] = memory[loc];
            knowledge.update(index, loc, Ordering::SeqCst);
        }
        Statement::Fence => {
            if !thread.buffer.is_empty() {
                return None;
            }
            knowledge.fence(index);
        }
        _ => unreachable!("a thread that is settled is at an access: {statement:?}"),
    }
    Some(next)
}

/// The state after a thread accessed the data that is not atomic.
fn accessed(mut next: State, index: usize, statement: &Statement) -> Option<State> {
    let State { threads, plain, knowledge, has_raced, .. } = &mut next;
    let is_write = matches!(statement, Statement::Write(_));
    let pending = threads.iter_mut().flat_map(|thread| &mut thread.buffer).map(|pending| &mut pending.released);
    *has_raced = knowledge.access(index, is_write, pending);
    match *statement {
        Statement::Read(register) => threads[index].registers[register] = *plain,
        Statement::Write(value) => *plain = value,
        _ => unreachable!("it is no access to the data: {statement:?}"),
    }
    Some(next)
}
