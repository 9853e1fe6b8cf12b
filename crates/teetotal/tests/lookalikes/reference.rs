//! What the standard library documents of its types, as a state machine of which every state is looked at.
//!
//! A call that blocks is several steps: it begins to wait, and goes on once it can.

use std::collections::{BTreeSet, HashSet};

use super::code::{BROKEN, CLOSED, DISCONNECTED, EMPTY, OK, Outcome, TIMED_OUT};
use super::program::{Channel, Op, Program};

/// What a program may end with.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) outcomes: BTreeSet<Outcome>,
    pub(crate) has_deadlock: bool,
}

/// How far a call is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Phase {
    #[default]
    Begins,
    /// It waits, and others can tell.
    Waits,
    /// It has been woken and waits for a mutex, with this to be added to what it returns.
    Relocks(u8),
    /// It is blocked until the barrier has counted so many.
    Until(u8),
    /// It is blocked forever.
    Stuck,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Thread {
    at: usize,
    phase: Phase,
    log: Vec<u8>,
    /// Whether its guards of the `RwLock` are to write.
    guards: Vec<bool>,
    has_sender: bool,
    has_receiver: bool,
    arcs: u8,
    weaks: u8,
    has_token: bool,
    is_joined: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct State {
    threads: Vec<Thread>,
    holder: Option<usize>,
    count: u8,
    has_ended: bool,
    value: u8,
    /// The threads that wait to be notified, and those that were.
    waiters: BTreeSet<usize>,
    come: u8,
    is_once_done: bool,
    cell: Option<u8>,
    queue: Vec<u8>,
    /// The messages of the senders that are blocked in a rendezvous.
    offers: BTreeSet<(usize, u8)>,
    /// What was handed to the receiver that is blocked.
    handed: Option<u8>,
    is_receiver_blocked: bool,
    is_closed: bool,
    /// The mutex that may be poisoned: the thread that holds it, its count, and its flag.
    fragile: (Option<usize>, u8, bool),
    brittle: Brittle,
    spurious: usize,
}

/// How the `Once` stands whose closures may panic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Brittle {
    #[default]
    New,
    Poisoned,
    Done,
}

impl State {
    fn senders(&self) -> usize {
        self.threads.iter().filter(|thread| thread.has_sender).count()
    }

    fn strong(&self) -> u8 {
        self.threads.iter().map(|thread| thread.arcs).sum()
    }

    fn weak(&self) -> u8 {
        self.threads.iter().map(|thread| thread.weaks).sum()
    }

    fn is_written(&self) -> bool {
        self.threads.iter().any(|thread| thread.guards.contains(&true))
    }

    fn is_locked(&self) -> bool {
        self.threads.iter().any(|thread| !thread.guards.is_empty())
    }
}

/// What may follow a state by a step of one thread.
struct Step<'p> {
    program: &'p [Vec<Op>],
    channel: Channel,
    spurious: usize,
    thread: usize,
    next: Vec<State>,
}

impl Step<'_> {
    /// The call returns `result`.
    fn returns(&mut self, mut state: State, result: u8) {
        let own = &mut state.threads[self.thread];
        own.log.push(result);
        (own.at, own.phase) = (own.at + 1, Phase::Begins);
        self.next.push(state);
    }

    /// The call does nothing.
    fn skips(&mut self, mut state: State) {
        state.threads[self.thread].at += 1;
        self.next.push(state);
    }

    /// The call goes on to `phase`.
    fn goes_on(&mut self, mut state: State, phase: Phase) {
        state.threads[self.thread].phase = phase;
        self.next.push(state);
    }

    fn take(mut self, state: State) -> Vec<State> {
        let own = &state.threads[self.thread];
        let Some(&op) = self.program[self.thread].get(own.at) else { return Vec::new() };
        match op {
            Op::Lock | Op::TryLock | Op::Unlock => self.mutex(op, state),
            Op::Wait | Op::WaitTimeout | Op::NotifyOne | Op::NotifyAll | Op::Close => self.condvar(op, state),
            Op::Read | Op::Write | Op::TryRead | Op::TryWrite => self.lock(op, state),
            Op::Downgrade | Op::Release | Op::ReleaseAll => self.guards(op, state),
            Op::Barrier => self.barrier(state),
            Op::CallOnce | Op::IsCompleted | Op::Set(_) | Op::Get | Op::GetOrInit(_) => self.once(op, state),
            Op::Send(value) if self.channel == Channel::Bounded(0) => self.offer(value, state),
            Op::Send(value) | Op::TrySend(value) => self.send(op, value, state),
            Op::Recv | Op::TryRecv | Op::RecvTimeout if !own.has_receiver => self.skips(state),
            Op::Recv | Op::TryRecv | Op::RecvTimeout => self.receive(op, state),
            Op::DropSender | Op::DropReceiver => self.disconnect(op, state),
            Op::Park | Op::ParkTimeout | Op::Unpark(_) => self.tokens(op, state),
            Op::IsFinished(_) | Op::Join(_) => self.ends(op, state),
            Op::Fragile | Op::TryFragile | Op::Break | Op::IsBroken | Op::Mend => self.fragile(op, state),
            Op::CallBrittle | Op::PanicBrittle | Op::ForceBrittle => self.brittle(op, state),
            _ => self.arcs(op, state),
        }
        self.next
    }

    fn mutex(&mut self, op: Op, mut state: State) {
        let is_holder = state.holder == Some(self.thread);
        match (op, state.holder) {
            (Op::Unlock, _) if is_holder => {
                state.holder = None;
                self.returns(state, OK);
            }
            (Op::Unlock, _) => self.skips(state),
            (Op::Lock, _) if is_holder => self.skips(state),
            (_, None) => {
                state.holder = Some(self.thread);
                state.count += 1;
                let count = state.count;
                self.returns(state, count);
            }
            (Op::TryLock, Some(_)) => self.returns(state, 0),
            _ => {}
        }
    }

    fn condvar(&mut self, op: Op, mut state: State) {
        let thread = self.thread;
        match (op, state.threads[thread].phase) {
            (Op::NotifyAll, _) => {
                state.waiters.clear();
                self.returns(state, OK);
            }
            (Op::NotifyOne, _) if state.waiters.is_empty() => self.returns(state, OK),
            (Op::NotifyOne, _) => {
                for waiter in state.waiters.clone() {
                    let mut state = state.clone();
                    state.waiters.remove(&waiter);
                    self.returns(state, OK);
                }
            }
            (Op::Close, Phase::Begins) if state.holder.is_none() => {
                (state.holder, state.has_ended) = (Some(thread), true);
                self.goes_on(state, Phase::Until(0));
            }
            (Op::Close, Phase::Waits) => {
                state.waiters.clear();
                self.returns(state, OK);
            }
            (Op::Close, Phase::Begins) => {}
            (_, Phase::Begins) if state.holder != Some(thread) => self.skips(state),
            (Op::Wait, Phase::Begins) if state.has_ended => self.returns(state, EMPTY),
            // It is one that waits before the mutex is free, so that no notification is lost.
            (_, Phase::Begins) => {
                state.waiters.insert(thread);
                self.goes_on(state, Phase::Until(0));
            }
            (_, Phase::Until(_)) => {
                state.holder = None;
                self.goes_on(state, Phase::Waits);
            }
            (_, Phase::Waits) if !state.waiters.contains(&thread) => self.goes_on(state, Phase::Relocks(0)),
            (_, Phase::Waits) => {
                state.waiters.remove(&thread);
                if op == Op::WaitTimeout {
                    self.goes_on(state.clone(), Phase::Relocks(TIMED_OUT));
                }
                if state.spurious < self.spurious {
                    state.spurious += 1;
                    self.goes_on(state, Phase::Relocks(0));
                }
            }
            (_, Phase::Relocks(result)) if state.holder.is_none() => {
                state.holder = Some(thread);
                let result = result + state.count + if state.has_ended { CLOSED } else { 0 };
                self.returns(state, result);
            }
            _ => {}
        }
    }

    fn lock(&mut self, op: Op, mut state: State) {
        let (is_written, is_locked) = (state.is_written(), state.is_locked());
        let own = &state.threads[self.thread];
        let phase = own.phase;
        let (reads, writes) = (own.guards.contains(&false), own.guards.contains(&true));
        let is_write = matches!(op, Op::Write | Op::TryWrite);
        match op {
            Op::Read if writes => return self.skips(state),
            Op::Write if phase == Phase::Begins && (reads || writes) => return self.skips(state),
            Op::Write if is_locked && phase == Phase::Begins => return self.goes_on(state, Phase::Waits),
            Op::Write if is_locked => return,
            Op::Read if phase == Phase::Stuck => return,
            Op::Read if is_written => return,
            Op::TryRead if is_written => return self.returns(state, EMPTY),
            Op::TryWrite if is_locked => return self.returns(state, EMPTY),
            Op::Read if reads => {
                let writer_waits = |(thread, own): (usize, &Thread)| {
                    own.phase == Phase::Waits && self.program[thread].get(own.at) == Some(&Op::Write)
                };
                // It may be let in or not, and the writer waits for it.
                if state.threads.iter().enumerate().any(writer_waits) {
                    self.goes_on(state.clone(), Phase::Stuck);
                }
            }
            _ => {}
        }
        state.value += u8::from(is_write);
        state.threads[self.thread].guards.push(is_write);
        let value = state.value;
        self.returns(state, value);
    }

    fn guards(&mut self, op: Op, mut state: State) {
        let guards = &mut state.threads[self.thread].guards;
        match (op, guards.last_mut()) {
            (Op::Downgrade, Some(writes)) if *writes => *writes = false,
            (Op::Downgrade, _) | (Op::Release, None) => return self.skips(state),
            (Op::Release, _) => drop(guards.pop()),
            _ => {
                guards.pop();
                if !guards.is_empty() {
                    return self.next.push(state);
                }
            }
        }
        self.returns(state, OK);
    }

    fn barrier(&mut self, mut state: State) {
        match state.threads[self.thread].phase {
            Phase::Until(come) if state.come >= come => self.returns(state, 0),
            Phase::Until(_) => {}
            _ => {
                state.come += 1;
                if state.come.is_multiple_of(2) {
                    return self.returns(state, 1);
                }
                let until = Phase::Until(state.come + 1);
                self.goes_on(state, until);
            }
        }
    }

    fn once(&mut self, op: Op, mut state: State) {
        let result = match op {
            Op::CallOnce => u8::from(!std::mem::replace(&mut state.is_once_done, true)),
            Op::IsCompleted => state.is_once_done.into(),
            Op::Set(value) if state.cell.is_none() => {
                state.cell = Some(value);
                OK
            }
            Op::Set(value) => value,
            Op::GetOrInit(value) => *state.cell.get_or_insert(value),
            _ => state.cell.unwrap_or(EMPTY),
        };
        self.returns(state, result);
    }

    /// The flag is read after the mutex is taken, and set before it is released.
    fn fragile(&mut self, op: Op, mut state: State) {
        let (holder, count, is_broken) = &mut state.fragile;
        match (op, state.threads[self.thread].phase) {
            (Op::IsBroken, _) => {
                let result = u8::from(*is_broken);
                self.returns(state, result);
            }
            (Op::Mend, _) => {
                *is_broken = false;
                self.returns(state, OK);
            }
            (_, Phase::Begins) if holder.is_none() => {
                (*holder, *count) = (Some(self.thread), *count + 1);
                self.goes_on(state, Phase::Until(0));
            }
            (Op::TryFragile, Phase::Begins) => self.returns(state, EMPTY),
            (_, Phase::Until(_)) => {
                let result = *count + if *is_broken { BROKEN } else { 0 };
                self.goes_on(state, Phase::Relocks(result));
            }
            (Op::Break, Phase::Relocks(result)) => {
                *is_broken = true;
                state.threads[self.thread].log.push(result);
                self.goes_on(state, Phase::Waits);
            }
            (_, Phase::Relocks(result)) => {
                *holder = None;
                self.returns(state, result);
            }
            (_, Phase::Waits) => {
                *holder = None;
                let result = state.threads[self.thread].log.pop().expect("it was just added");
                self.returns(state, result);
            }
            _ => {}
        }
    }

    fn brittle(&mut self, op: Op, mut state: State) {
        let (result, next) = match (op, state.brittle) {
            (_, Brittle::Done) => (0, Brittle::Done),
            (Op::ForceBrittle, Brittle::New) | (Op::CallBrittle, Brittle::New) => (1, Brittle::Done),
            (Op::ForceBrittle, Brittle::Poisoned) => (BROKEN, Brittle::Done),
            // It panics without calling its closure.
            (_, Brittle::Poisoned) => (2, Brittle::Poisoned),
            (_, Brittle::New) => (3, Brittle::Poisoned),
        };
        state.brittle = next;
        self.returns(state, result);
    }

    /// Sends to a rendezvous.
    fn offer(&mut self, value: u8, mut state: State) {
        let own = &state.threads[self.thread];
        if !own.has_sender {
            return self.skips(state);
        }
        let offer = (self.thread, value);
        if own.phase == Phase::Waits {
            if !state.offers.contains(&offer) {
                return self.returns(state, OK);
            }
            if state.is_closed {
                state.offers.remove(&offer);
                self.returns(state, DISCONNECTED);
            }
        } else if state.is_closed {
            self.returns(state, DISCONNECTED);
        } else if state.is_receiver_blocked {
            (state.is_receiver_blocked, state.handed) = (false, Some(value));
            self.returns(state, OK);
        } else {
            state.offers.insert(offer);
            self.goes_on(state, Phase::Waits);
        }
    }

    fn send(&mut self, op: Op, value: u8, mut state: State) {
        if !state.threads[self.thread].has_sender {
            return self.skips(state);
        }
        let has_room = match self.channel {
            Channel::Unbounded => true,
            Channel::Bounded(0) => state.is_receiver_blocked,
            Channel::Bounded(bound) => state.queue.len() < bound,
        };
        let is_trying = matches!(op, Op::TrySend(_));
        match (state.is_closed, has_room) {
            (true, _) => self.returns(state, DISCONNECTED),
            (false, false) if is_trying => self.returns(state, EMPTY),
            (false, false) => {}
            (false, true) => {
                if self.channel == Channel::Bounded(0) {
                    (state.is_receiver_blocked, state.handed) = (false, Some(value));
                } else {
                    state.queue.push(value);
                }
                self.returns(state, OK);
            }
        }
    }

    fn receive(&mut self, op: Op, mut state: State) {
        if let Some(value) = state.handed.take() {
            return self.returns(state, value);
        }
        if !state.queue.is_empty() {
            let value = state.queue.remove(0);
            return self.returns(state, value);
        }
        if !state.offers.is_empty() {
            for offer in state.offers.clone() {
                let mut state = state.clone();
                state.offers.remove(&offer);
                self.returns(state, offer.1);
            }
            return;
        }
        let waits = state.threads[self.thread].phase == Phase::Waits;
        if state.senders() == 0 {
            state.is_receiver_blocked = false;
            return self.returns(state, DISCONNECTED);
        }
        match op {
            Op::TryRecv => return self.returns(state, EMPTY),
            Op::RecvTimeout => {
                let mut state = state.clone();
                state.is_receiver_blocked = false;
                self.returns(state, TIMED_OUT);
            }
            _ => {}
        }
        if !waits {
            state.is_receiver_blocked = true;
            self.goes_on(state, Phase::Waits);
        }
    }

    fn disconnect(&mut self, op: Op, mut state: State) {
        let own = &mut state.threads[self.thread];
        if op == Op::DropSender {
            if !std::mem::take(&mut own.has_sender) {
                return self.skips(state);
            }
        } else {
            if !std::mem::take(&mut own.has_receiver) {
                return self.skips(state);
            }
            state.is_closed = true;
            state.queue.clear();
        }
        self.returns(state, OK);
    }

    fn tokens(&mut self, op: Op, mut state: State) {
        let thread = self.thread;
        match op {
            // A thread knows those that were started before it, and the main thread knows all.
            Op::Unpark(other) if other >= thread.max(1) && thread != 0 => return self.skips(state),
            Op::Unpark(other) => state.threads[other].has_token = true,
            Op::ParkTimeout => state.threads[thread].has_token = false,
            _ => {
                if state.spurious < self.spurious {
                    let mut state = state.clone();
                    state.spurious += 1;
                    self.returns(state, OK);
                }
                if !std::mem::take(&mut state.threads[thread].has_token) {
                    return;
                }
            }
        }
        self.returns(state, OK);
    }

    fn ends(&mut self, op: Op, mut state: State) {
        let (Op::IsFinished(other) | Op::Join(other)) = op else { return };
        let child = &mut state.threads[other];
        let has_ended = child.at > self.program[other].len();
        match op {
            _ if child.is_joined => self.skips(state),
            Op::IsFinished(_) => self.returns(state, has_ended.into()),
            _ if has_ended => {
                child.is_joined = true;
                self.returns(state, OK);
            }
            _ => {}
        }
    }

    fn arcs(&mut self, op: Op, mut state: State) {
        let (strong, weak) = (state.strong(), state.weak());
        let own = &mut state.threads[self.thread];
        let (arcs, weaks) = (own.arcs, own.weaks);
        let result = match op {
            Op::Upgrade | Op::DropWeak if weaks == 0 => return self.skips(state),
            Op::DropWeaks if weaks > 0 => {
                own.weaks -= 1;
                return if weaks == 1 { self.returns(state, OK) } else { self.next.push(state) };
            }
            Op::DropArcs if arcs > 0 => {
                own.arcs -= 1;
                return if arcs == 1 { self.returns(state, OK) } else { self.next.push(state) };
            }
            Op::DropWeaks | Op::DropArcs => OK,
            Op::Upgrade => {
                own.arcs += u8::from(strong > 0);
                u8::from(strong > 0)
            }
            Op::DropWeak => {
                own.weaks -= 1;
                OK
            }
            _ if arcs == 0 => return self.skips(state),
            Op::CloneArc => {
                own.arcs += 1;
                OK
            }
            Op::DropArc => {
                own.arcs -= 1;
                OK
            }
            Op::IntoInner => {
                own.arcs -= 1;
                u8::from(strong == 1)
            }
            Op::TryUnwrap => {
                own.arcs -= u8::from(strong == 1);
                u8::from(strong == 1)
            }
            Op::GetMut => u8::from((strong, weak) == (1, 0)),
            Op::StrongCount => strong,
            Op::WeakCount => weak,
            Op::MakeWeak => {
                own.weaks += 1;
                OK
            }
            _ => unreachable!("{op:?} is no matter of references"),
        };
        self.returns(state, result);
    }
}

/// So many states are looked at.
const MOST_STATES: usize = 20_000;

/// What the program may end with, if it has not too many states.
pub(crate) fn explore(program: &Program, spurious: usize) -> Option<Known> {
    let n_threads = program.threads.len();
    let ops: Vec<Vec<Op>> = (0..n_threads).map(|thread| program.all(thread)).collect();
    let threads = (0..n_threads).map(|thread| Thread {
        has_sender: program.has_sender[thread],
        has_receiver: program.receiver == thread,
        arcs: program.has_arc[thread].into(),
        weaks: program.has_weak[thread].into(),
        ..Thread::default()
    });
    let first = State { threads: threads.collect(), ..State::default() };
    let mut known = Known::default();
    let mut seen = HashSet::from([first.clone()]);
    let mut left = vec![first];
    while let Some(state) = left.pop() {
        if seen.len() > MOST_STATES {
            return None;
        }
        let has_ended = |thread: usize| state.threads[thread].at > ops[thread].len();
        if (0..n_threads).all(has_ended) {
            known.outcomes.insert(state.threads.iter().map(|thread| thread.log.clone()).collect());
            continue;
        }
        let (mut is_blocked, spurious_before) = (true, state.spurious);
        for thread in (0..n_threads).filter(|&thread| !has_ended(thread)) {
            let next = if state.threads[thread].at == ops[thread].len() {
                let mut state = state.clone();
                state.threads[thread].at += 1;
                vec![state]
            } else {
                let step = Step { program: &ops, channel: program.channel, spurious, thread, next: Vec::new() };
                step.take(state.clone())
            };
            for state in next {
                // What may happen spuriously need not happen.
                is_blocked &= state.spurious > spurious_before;
                if seen.insert(state.clone()) {
                    left.push(state);
                }
            }
        }
        known.has_deadlock |= is_blocked;
    }
    Some(known)
}
