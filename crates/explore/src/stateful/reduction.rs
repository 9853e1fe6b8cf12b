//! Which of the possible steps are worth taking first, because the others can wait without loss.
//!
//! The set chosen is persistent [PERSISTENT]: nothing that the processes outside of it can do, however long they run,
//! depends on a step in it. Persistent sets keep every maximal trace, hence every final state and deadlock; where a step
//! goes back in a loop the caller takes all steps instead, so that no thread is put off forever and every state of every
//! thread is kept too.
//!
//! Processes are the threads and their buffers. What a process may still do is over-approximated by
//! [`Future`] and the pending stores. The argument is in `docs/theory/reduction.md`.

use teetotal_memory::{Machine, Model, Step};
use teetotal_program::{Foresight, Future, Loc, LocSet, OnFailure, Op, Status, ThreadId};

/// Chooses persistent sets; kept between states to save allocations.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    futures: Vec<Future>,
    /// The locations to which each thread has pending stores.
    pending: Vec<LocSet>,
    /// What each thread does next.
    statuses: Vec<Status>,
    /// Which threads can go on.
    ready: u64,
    /// The locations of an await.
    awaited: Vec<Loc>,
}

/// A set of threads and a set of buffers, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Processes {
    threads: u64,
    buffers: u64,
}

/// With more threads than this there is no reduction.
const MAX_THREADS: usize = 64;

impl Reduction {
    /// Puts the positions of the chosen steps into `chosen`; gives whether any was left out.
    pub fn choose<S: Foresight, M: Model>(
        &mut self,
        subject: &S,
        machine: &Machine<M>,
        enabled: &[Step],
        chosen: &mut Vec<u32>,
    ) -> bool {
        chosen.clear();
        let n_threads = subject.n_threads();
        if enabled.len() > 1 && n_threads <= MAX_THREADS {
            self.look_ahead(subject, machine, enabled);
            if self.futures.iter().all(|future| !future.is_global) {
                let state = State { subject, machine, enabled };
                self.choose_alone(&state, chosen);
                if chosen.is_empty() {
                    self.choose_smallest(&state, chosen);
                }
                if !chosen.is_empty() && chosen.len() < enabled.len() {
                    return true;
                }
            }
        }
        chosen.clear();
        chosen.extend(0..enabled.len() as u32);
        false
    }

    fn look_ahead<S: Foresight, M: Model>(&mut self, subject: &S, machine: &Machine<M>, enabled: &[Step]) {
        let threads = (0..subject.n_threads()).map(ThreadId::at);
        self.futures.clear();
        self.futures.extend(threads.clone().map(|thread| subject.future(thread)));
        self.pending.clear();
        self.pending.extend(threads.clone().map(|thread| {
            let stores = machine.buffer(thread).pending();
            stores.iter().fold(LocSet::default(), |set, store| set.union(LocSet::of(store.loc)))
        }));
        self.statuses.clear();
        self.statuses.extend(threads.map(|thread| subject.status(thread)));
        let issues = enabled.iter().filter(|step| !step.is_commit());
        self.ready = issues.fold(0, |set, step| set | 1 << step.thread().index());
    }

    /// A step that commutes with everything that others may still do, if there is one.
    fn choose_alone<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, chosen: &mut Vec<u32>) {
        let alone = state.enabled.iter().position(|&step| {
            let access = self.access(state, step);
            self.conflicts::<M>(access, step.thread()) == Processes::default()
        });
        let Some(first) = alone else { return };
        let step = state.enabled[first];
        // All alternatives of a choice go together, and stand together.
        let same =
            |other: &&Step| **other == step || (!step.is_commit() && Processes::of(**other) == Processes::of(step));
        let count = state.enabled[first..].iter().take_while(same).count();
        chosen.extend((first..first + count).map(|index| index as u32));
    }

    /// The persistent set with the fewest steps among those that grow from one process.
    fn choose_smallest<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, chosen: &mut Vec<u32>) {
        let mut best = (state.enabled.len(), None);
        let mut tried = Processes::default();
        for &step in state.enabled {
            let seed = Processes::of(step);
            if tried.has(seed) {
                continue;
            }
            tried.add(seed);
            if let Some(set) = self.close(state, seed) {
                let size = state.enabled.iter().filter(|&&s| set.has(Processes::of(s))).count();
                if size < best.0 {
                    best = (size, Some(set));
                }
            }
        }
        if let (_, Some(set)) = best {
            let inside = (0..).zip(state.enabled).filter(|&(_, &s)| set.has(Processes::of(s)));
            chosen.extend(inside.map(|(index, _)| index));
        }
    }

    /// The least set around `seed` such that nothing outside depends on what is possible inside; `None` means all.
    fn close<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, seed: Processes) -> Option<Processes> {
        let mut set = seed;
        let mut done = Processes::default();
        while set != done {
            let threads = set.threads & !done.threads;
            let buffers = set.buffers & !done.buffers;
            done = set;
            for thread in bits(threads) {
                set.add(self.around_thread(state, thread)?);
            }
            for thread in bits(buffers) {
                set.add(self.around_buffer(state, thread));
            }
        }
        Some(set)
    }

    /// Who must come along with a thread: what its operation depends on, or what may make it possible.
    fn around_thread<S: Foresight, M: Model>(
        &mut self,
        state: &State<'_, S, M>,
        thread: ThreadId,
    ) -> Option<Processes> {
        let op = match self.statuses[thread.index()] {
            Status::Ready(op) => op,
            // Who spawns it is not known here.
            Status::NotStarted => return None,
            Status::Finished | Status::Discarded | Status::Failed(_) | Status::FailedAwait(_) => {
                return Some(Processes::default());
            }
        };
        if self.ready & 1 << thread.index() == 0 {
            return Some(self.enablers(state, thread, op));
        }
        let access = self.access(state, Step::Issue { thread, alternative: 0 });
        Some(self.conflicts::<M>(access, thread))
    }

    /// Who may make the operation of a waiting thread possible.
    fn enablers<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, thread: ThreadId, op: Op) -> Processes {
        let own = Processes::buffer(thread);
        let buffer = state.machine.buffer(thread);
        if buffer.is_draining() {
            return own;
        }
        match op {
            Op::Lock { loc, order } if M::may_update(buffer, Some(loc), order) => self.releasers(state, thread, loc),
            Op::Join { thread: child, order } if M::may_join(buffer, order) => {
                let mut set = Processes::thread(child);
                set.add(Processes::buffer(child));
                set
            }
            Op::Rmw { loc, on_failure: OnFailure::Load(_), .. } => {
                // It may also become possible as a load, once it would fail.
                let mut set = self.conflicts::<M>(Access::read(LocSet::of(loc)), thread);
                set.add(own);
                set
            }
            Op::Await { .. } => {
                let locations = self.awaited(state, thread);
                let mut set = self.conflicts::<M>(Access::read(locations), thread);
                set.add(own);
                set
            }
            _ => own,
        }
    }

    /// Who may free a lock: its holder alone, unless others write the location by something else than locking.
    fn releasers<S: Foresight, M: Model>(&self, state: &State<'_, S, M>, thread: ThreadId, loc: Loc) -> Processes {
        let holder = (state.machine.memory(loc) as usize).wrapping_sub(1);
        let by_others = |t: ThreadId| {
            let future = &self.futures[t.index()];
            future.stores.union(future.updates).union(self.pending[t.index()]).has(loc)
        };
        if holder < self.futures.len() && !self.others(thread).any(by_others) {
            return Processes::thread(ThreadId::at(holder));
        }
        let mut set = self.conflicts::<M>(Access::read(LocSet::of(loc)), thread);
        set.add(Processes::buffer(thread));
        set
    }

    /// Who must come along with a buffer.
    fn around_buffer<S: Foresight, M: Model>(&self, state: &State<'_, S, M>, thread: ThreadId) -> Processes {
        if state.machine.buffer(thread).is_empty() {
            return Processes::thread(thread);
        }
        let own = state.enabled.iter().filter(|step| step.is_commit() && step.thread() == thread);
        own.fold(Processes::default(), |mut set, &step| {
            let Step::Commit { loc, .. } = step else { unreachable!("only commits are left") };
            set.add(self.conflicts::<M>(Access::write(LocSet::of(loc)), thread));
            set
        })
    }

    /// Every process of another thread that may depend on `access`.
    fn conflicts<M: Model>(&self, access: Access, thread: ThreadId) -> Processes {
        self.others(thread).fold(Processes::default(), |mut set, other| {
            set.add(self.conflict::<M>(access, other));
            set
        })
    }

    /// The processes of `other` that may depend on `access`.
    fn conflict<M: Model>(&self, access: Access, other: ThreadId) -> Processes {
        let future = &self.futures[other.index()];
        let mut set = Processes::default();
        let at_once = future.updates.union(future.locks);
        if access.written.meets(future.loads.union(at_once)) || access.read.meets(at_once) {
            set.add(Processes::thread(other));
        }
        let touched = access.read.union(access.written);
        if touched.meets(future.stores) {
            set.add(Processes::thread(other));
            if M::BUFFERS {
                set.add(Processes::buffer(other));
            }
        }
        if touched.meets(self.pending[other.index()]) {
            set.add(Processes::buffer(other));
        }
        set
    }

    /// What a possible step reads and writes in memory.
    fn access<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, step: Step) -> Access {
        let thread = match step {
            Step::Commit { loc, .. } => return Access::write(LocSet::of(loc)),
            Step::Issue { thread, .. } => thread,
        };
        let Status::Ready(op) = self.statuses[thread.index()] else { return Access::default() };
        match op {
            Op::Load { loc, .. } => Access::read(LocSet::of(loc)),
            Op::Store { .. } if M::BUFFERS => Access::default(),
            Op::Store { loc, .. } => Access::write(LocSet::of(loc)),
            Op::Rmw { loc, .. } | Op::Lock { loc, .. } | Op::Unlock { loc, .. } => {
                Access { read: LocSet::of(loc), written: LocSet::of(loc) }
            }
            Op::Await { .. } => {
                let written = if M::BUFFERS { LocSet::default() } else { state.subject.stores_at_once(thread) };
                Access { read: self.awaited(state, thread), written }
            }
            Op::Fence { .. } | Op::Spawn { .. } | Op::Join { .. } | Op::Choose { .. } => Access::default(),
            Op::GlobalFence => unreachable!("there is no reduction where a global fence may come"),
        }
    }

    fn awaited<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, thread: ThreadId) -> LocSet {
        self.awaited.clear();
        state.subject.awaited(thread, &mut self.awaited);
        self.awaited.iter().fold(LocSet::default(), |set, &loc| set.union(LocSet::of(loc)))
    }

    fn others(&self, thread: ThreadId) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.futures.len()).map(ThreadId::at).filter(move |&other| other != thread)
    }
}

/// A state and its possible steps.
struct State<'s, S, M> {
    subject: &'s S,
    machine: &'s Machine<M>,
    enabled: &'s [Step],
}

/// Which locations a step reads and writes in memory.
#[derive(Clone, Copy, Default, Debug)]
struct Access {
    read: LocSet,
    written: LocSet,
}

impl Access {
    fn read(read: LocSet) -> Self {
        Access { read, written: LocSet::default() }
    }

    fn write(written: LocSet) -> Self {
        Access { read: LocSet::default(), written }
    }
}

impl Processes {
    fn thread(thread: ThreadId) -> Self {
        Processes { threads: 1 << thread.index(), buffers: 0 }
    }

    fn buffer(thread: ThreadId) -> Self {
        Processes { threads: 0, buffers: 1 << thread.index() }
    }

    /// The process whose step it is.
    fn of(step: Step) -> Self {
        if step.is_commit() { Processes::buffer(step.thread()) } else { Processes::thread(step.thread()) }
    }

    fn add(&mut self, other: Processes) {
        self.threads |= other.threads;
        self.buffers |= other.buffers;
    }

    fn has(self, other: Processes) -> bool {
        other.threads & !self.threads == 0 && other.buffers & !self.buffers == 0
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = ThreadId> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < MAX_THREADS).then(|| ThreadId::at(lowest))
    })
}
