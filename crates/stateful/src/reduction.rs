//! Which of the possible steps are worth taking first, because the others can wait without loss.
//!
//! The set chosen is persistent; see [`teetotal_engine::persistent`]. Persistent sets keep every maximal trace, hence every
//! final state and deadlock; where a step goes back in a loop the caller takes all steps instead, so that no thread is put
//! off forever and every state of every thread is kept too.
//!
//! Processes are the threads and their buffers. What a process may still do is over-approximated by
//! [`Future`] and the pending stores. The argument is in `docs/theory/reduction.md`.

use teetotal_engine::persistent::{self, Access, Processes, smallest};
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

/// With more threads than this there is no reduction. The processes of the buffers come after those of so many threads.
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
            self.conflicts::<M>(access, step.thread()) == 0
        });
        let Some(first) = alone else { return };
        let step = state.enabled[first];
        // All alternatives of a choice go together, and stand together.
        let same = |other: &&Step| **other == step || (!step.is_commit() && process_of(**other) == process_of(step));
        let count = state.enabled[first..].iter().take_while(same).count();
        chosen.extend((first..first + count).map(|index| index as u32));
    }

    /// The persistent set with the fewest steps among those that grow from one process.
    fn choose_smallest<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, chosen: &mut Vec<u32>) {
        let mut tried = 0;
        let seeds = state.enabled.iter().map(|&step| process_of(step)).filter(|&seed| {
            let is_new = tried & seed == 0;
            tried |= seed;
            is_new
        });
        let inside = |set| (0..).zip(state.enabled).filter(move |&(_, &step)| set & process_of(step) != 0);
        let grow = |seed| persistent::grow(seed, |process| self.needs(state, process));
        if let Some(set) = smallest(seeds, state.enabled.len(), grow, |set| inside(set).count()) {
            chosen.extend(inside(set).map(|(index, _)| index));
        }
    }

    /// Who must come along with a process; `None` means all.
    fn needs<S: Foresight, M: Model>(&mut self, state: &State<'_, S, M>, process: u32) -> Option<Processes> {
        let process = process as usize;
        match process.checked_sub(MAX_THREADS) {
            None => self.around_thread(state, ThreadId::at(process)),
            Some(buffer) => Some(self.around_buffer(state, ThreadId::at(buffer))),
        }
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
                return Some(0);
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
        let own = buffer_process(thread);
        let buffer = state.machine.buffer(thread);
        if buffer.is_draining() {
            return own;
        }
        match op {
            Op::Lock { loc, order } if M::may_update(buffer, Some(loc), order) => self.releasers(state, thread, loc),
            Op::Join { thread: child, order } if M::may_join(buffer, order) => {
                let mut set = thread_process(child);
                set |= buffer_process(child);
                set
            }
            Op::Rmw { loc, on_failure: OnFailure::Load(_), .. } => {
                // It may also become possible as a load, once it would fail.
                let mut set = self.conflicts::<M>(Access::read(LocSet::of(loc)), thread);
                set |= own;
                set
            }
            Op::Await { .. } => {
                let locations = self.awaited(state, thread);
                let mut set = self.conflicts::<M>(Access::read(locations), thread);
                set |= own;
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
            return thread_process(ThreadId::at(holder));
        }
        let mut set = self.conflicts::<M>(Access::read(LocSet::of(loc)), thread);
        set |= buffer_process(thread);
        set
    }

    /// Who must come along with a buffer.
    fn around_buffer<S: Foresight, M: Model>(&self, state: &State<'_, S, M>, thread: ThreadId) -> Processes {
        if state.machine.buffer(thread).is_empty() {
            return thread_process(thread);
        }
        let own = state.enabled.iter().filter(|step| step.is_commit() && step.thread() == thread);
        own.fold(0, |mut set, &step| {
            let Step::Commit { loc, .. } = step else { unreachable!("only commits are left") };
            set |= self.conflicts::<M>(Access::write(LocSet::of(loc)), thread);
            set
        })
    }

    /// Every process of another thread that may depend on `access`.
    fn conflicts<M: Model>(&self, access: Access, thread: ThreadId) -> Processes {
        self.others(thread).fold(0, |mut set, other| {
            set |= self.conflict::<M>(access, other);
            set
        })
    }

    /// The processes of `other` that may depend on `access`.
    fn conflict<M: Model>(&self, access: Access, other: ThreadId) -> Processes {
        let future = &self.futures[other.index()];
        let mut set: Processes = 0;
        if access.conflicts(future.reads(), future.writes()) {
            set |= thread_process(other);
        }
        let touched = access.touched();
        if M::BUFFERS && touched.meets(future.stores) {
            set |= buffer_process(other);
        }
        if touched.meets(self.pending[other.index()]) {
            set |= buffer_process(other);
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

/// The process of a thread.
fn thread_process(thread: ThreadId) -> Processes {
    1 << thread.index()
}

/// The process of the buffer of a thread.
fn buffer_process(thread: ThreadId) -> Processes {
    1 << (MAX_THREADS + thread.index())
}

/// The process whose step it is.
fn process_of(step: Step) -> Processes {
    if step.is_commit() { buffer_process(step.thread()) } else { thread_process(step.thread()) }
}
