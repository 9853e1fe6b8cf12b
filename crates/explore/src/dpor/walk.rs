//! The walk over all graphs, depth first.
//!
//! Each level adds one event, in one way after the other. A level is a list of alternatives that depends only on the way
//! down to it, so a position in the walk is a list of numbers.

mod events;
mod tasks;

use std::marker::PhantomData;

use teetotal_memory::Model;
use teetotal_program::{Loc, Op, Redo, Status, ThreadId, Value};

use super::alternatives::Alternative;
use super::answer::{Answer, answer};
use super::bits::Bits;
use super::graph::{Graph, NONE, Node, Role, Slot};

pub(super) use self::events::Write;
pub(super) use self::tasks::Task;

pub(super) use teetotal_program::Rewind as Rewindable;

/// The walk.
pub(super) struct Walk<S, M, const N: usize> {
    pub(super) graph: Graph<N>,
    pub(super) subject: S,
    /// The graphs that revisits on the way here started from; those from `n_saved` on are there to be used again.
    saved: Vec<Graph<N>>,
    n_saved: usize,
    pub(super) levels: Vec<Level>,
    pub(super) alternatives: Vec<Alternative>,
    /// The state of each thread when it begins, and before it is spawned.
    started: Vec<Value>,
    not_started: Vec<Value>,
    width: usize,
    /// Whether the subject is not where the graph is, and must run again.
    is_stale: bool,
    /// Whether the subject did something else when it was run again.
    is_fickle: bool,
    /// Whether the alternative of the newest level could not be taken because of that.
    is_untaken: bool,
    /// Of how many locations the graph has what this run holds there at first.
    n_initial: usize,
    /// How the subject runs again, kept to save allocations.
    plan: (Vec<Redo>, Vec<Value>),
    /// How many preemptions an execution may have.
    pub(super) bound: Option<u64>,
    /// Whether ways were left out because of that.
    pub(super) left_out: bool,
    /// The most graphs that were kept at once.
    pub(super) peak: usize,
    model: PhantomData<M>,
}

/// One level of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    task: Task,
    /// Where its alternatives begin.
    first: u32,
    /// Which of them is taken.
    pub(super) taken: u32,
    /// How many there are.
    pub(super) of: u32,
}

/// Where the walk stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stand {
    /// Nothing can be added.
    Maximal,
    /// Something is missing that never comes, or that comes on another way.
    DeadEnd,
    /// The write cannot be given to the read that was to be revisited.
    Refused,
    /// The graph is too large for sets of this size.
    NoRoom,
    /// The subject did something else when it was run again.
    Fickle,
    /// A level was entered.
    Deeper,
}

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// At the empty graph.
    pub(super) fn new(mut subject: S) -> Self {
        subject.restart();
        let width = subject.thread_words();
        let n_threads = subject.n_threads();
        let mut started = vec![0; width * n_threads];
        let mut not_started = started.clone();
        for thread in (0..n_threads).map(ThreadId::at) {
            let range = thread.index() * width..(thread.index() + 1) * width;
            subject.save_thread(thread, &mut not_started[range.clone()]);
            if !S::RUNS_AGAIN && subject.status(thread) == Status::NotStarted {
                subject.start_thread(thread);
                subject.save_thread(thread, &mut started[range.clone()]);
                subject.load_thread(thread, &not_started[range]);
            } else {
                started[range.clone()].copy_from_slice(&not_started[range]);
            }
        }
        let initial = (0..subject.n_locations()).map(|loc| subject.initial(Loc::at(loc)));
        Walk {
            graph: Graph::new(n_threads, initial, width),
            subject,
            saved: Vec::new(),
            n_saved: 0,
            levels: Vec::new(),
            alternatives: Vec::new(),
            started,
            not_started,
            width,
            bound: None,
            left_out: false,
            peak: 0,
            is_stale: false,
            is_fickle: false,
            is_untaken: false,
            n_initial: 0,
            plan: Default::default(),
            model: PhantomData,
        }
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> + use<S, M, N> {
        (0..self.subject.n_threads()).map(ThreadId::at)
    }

    /// Adds the next event in the first way possible.
    pub(super) fn descend(&mut self) -> Stand {
        self.catch_up();
        if self.is_fickle {
            return Stand::Fickle;
        }
        let Some(task) = self.next_task() else { return Stand::Maximal };
        // A read-modify-write is two nodes, and a revisit adds one beside the read.
        if !self.graph.has_room(2) {
            return Stand::NoRoom;
        }
        self.enter(task)
    }

    fn enter(&mut self, task: Task) -> Stand {
        self.catch_up();
        if self.is_fickle || !self.still_fits(task) {
            self.is_fickle = true;
            return Stand::Fickle;
        }
        let first = self.alternatives.len();
        self.list(task);
        let of = (self.alternatives.len() - first) as u32;
        if of == 0 {
            return Stand::DeadEnd;
        }
        self.levels.push(Level { task, first: first as u32, taken: 0, of });
        self.apply()
    }

    /// Goes back to the newest level above `base` with another alternative, and takes that; gives whether there was one.
    pub(super) fn next(&mut self, base: usize) -> Option<Stand> {
        if std::mem::take(&mut self.is_fickle) {
            // It is somewhere else, and runs from the beginning again.
            self.is_stale = true;
        }
        while self.levels.len() > base {
            self.undo();
            let level = self.levels.last_mut().expect("there is a level above the base");
            level.taken += 1;
            if level.taken < level.of {
                return Some(self.apply());
            }
            self.alternatives.truncate(level.first as usize);
            self.levels.pop();
        }
        None
    }

    /// Takes the alternative `taken` of the level at `index` and leaves all levels below it.
    pub(super) fn turn(&mut self, index: usize, taken: u32) -> Stand {
        self.leave(index + 1);
        self.undo();
        self.levels[index].taken = taken;
        self.apply()
    }

    /// Goes back until there are at most `n_levels` levels.
    pub(super) fn leave(&mut self, n_levels: usize) {
        while self.levels.len() > n_levels {
            self.undo();
            let level = self.levels.pop().expect("there is a level to leave");
            self.alternatives.truncate(level.first as usize);
        }
    }

    /// Takes the alternative that the newest level has.
    fn apply(&mut self) -> Stand {
        let Level { task, first, taken, .. } = *self.levels.last().expect("there is a level");
        if let (Task::Perform(thread, _) | Task::Complete(thread), Alternative::Revisit(read)) =
            (task, self.alternatives[(first + taken) as usize])
        {
            return self.revisit(thread, read);
        }
        self.catch_up();
        if self.is_fickle || !self.still_fits(task) {
            (self.is_fickle, self.is_untaken) = (true, true);
            return Stand::Fickle;
        }
        let level = self.levels.last_mut().expect("there is a level");
        if let Task::Perform(thread, op) = &mut level.task
            && S::RUNS_AGAIN
            && let Status::Ready(now) = self.subject.status(*thread)
        {
            // What the graph does not have yet may be called something else now.
            *op = now;
        }
        let level = *level;
        let alternative = self.alternatives[(level.first + level.taken) as usize];
        if !self.still_has(level.task, alternative) {
            (self.is_fickle, self.is_untaken) = (true, true);
            return Stand::Fickle;
        }
        match (level.task, alternative) {
            (Task::Perform(thread, op), Alternative::Source(source)) => {
                let reading = self.reading(thread, op);
                let access = reading.access(self.graph.progress(thread));
                let place = self.subject.place(thread);
                let slot = self.graph.add(Node::blank(thread, place, Role::Read, access));
                self.read(slot, op, source);
                return self.stand_of_reader(slot);
            }
            (Task::Perform(thread, op), Alternative::Choose(taken)) => self.order(thread, op, taken),
            (Task::Perform(thread, op), Alternative::Only) => self.order(thread, op, 0),
            (Task::Perform(thread, _) | Task::Complete(thread), Alternative::After(previous)) => {
                self.write(thread, previous);
            }
            (Task::Replant { thread, read }, Alternative::After(previous)) => {
                let write = self.write(thread, previous);
                let reader = self.graph.node(read).thread;
                let Status::Ready(op) = self.subject.status(reader) else { unreachable!("a read was performed here") };
                if S::RUNS_AGAIN {
                    // A location that nothing in the graph accessed when the subject ran again may have a new number.
                    let loc = self.graph.node(write).access.loc;
                    self.graph.node_mut(read).access.loc = loc;
                }
                self.graph.replant(read);
                self.read(read, op, write);
                return self.stand_of_reader(read);
            }
            (task, alternative) => unreachable!("{task:?} has no alternative {alternative:?}"),
        }
        Stand::Deeper
    }

    /// Where the walk stands after `read` was added.
    fn stand_of_reader(&self, read: Slot) -> Stand {
        if !S::RUNS_AGAIN {
            return Stand::Deeper;
        }
        self.note_observation(read);
        if self.fails_for_nothing(self.graph.node(read).thread) { Stand::DeadEnd } else { Stand::Deeper }
    }

    /// Tells a subject that runs again what memory holds where it stands, before the graph goes on without it.
    pub(super) fn settle(&mut self) {
        if S::RUNS_AGAIN && !self.is_stale {
            // The subject may already stand at a location that the graph has not heard of.
            self.make_room();
            let graph = &self.graph;
            self.subject.settle(&|loc| graph.value_of(graph.cell(loc.index()).newest, loc.index()));
        }
    }

    /// Takes back what the newest level has done.
    fn undo(&mut self) {
        if std::mem::take(&mut self.is_untaken) {
            return;
        }
        self.settle();
        let level = *self.levels.last().expect("there is a level");
        let alternative = self.alternatives[(level.first + level.taken) as usize];
        match (level.task, alternative) {
            (_, Alternative::Revisit(_)) => {
                self.n_saved -= 1;
                std::mem::swap(&mut self.graph, &mut self.saved[self.n_saved]);
                self.threads().for_each(|thread| self.reload(thread));
            }
            (Task::Replant { thread, read }, _) => {
                let reader = self.graph.node(read).thread;
                self.graph.unlink_read(read);
                self.graph.uproot(read);
                self.reload(reader);
                let write = self.graph.take_back();
                self.graph.unlink_write(write);
                self.reload(thread);
            }
            _ => {
                let slot = self.graph.take_back();
                let Node { role, thread, .. } = *self.graph.node(slot);
                if role.is_read() || role == Role::Vain {
                    self.graph.unlink_read(slot);
                } else if role.is_write() {
                    self.graph.unlink_write(slot);
                }
                if let Task::Perform(_, Op::Spawn { thread: child, .. }) = level.task {
                    self.graph.set_spawn(child, NONE);
                    self.reload(child);
                }
                self.reload(thread);
            }
        }
    }

    /// Brings `thread` to where the graph has it.
    fn reload(&mut self, thread: ThreadId) {
        if S::RUNS_AGAIN {
            self.is_stale = true;
            return;
        }
        let strand = self.graph.strand(thread);
        let range = thread.index() * self.width..(thread.index() + 1) * self.width;
        let words = match strand.last {
            NONE if strand.spawn == NONE => &self.not_started[range],
            NONE => &self.started[range],
            last => self.graph.state(last),
        };
        self.subject.load_thread(thread, words);
    }

    /// Brings a subject that runs again to where the graph is, and makes room for what is new in it.
    fn catch_up(&mut self) {
        if !S::RUNS_AGAIN {
            return;
        }
        let was_stale = std::mem::take(&mut self.is_stale);
        if was_stale {
            self.graph.plan(&mut self.plan.0);
            let (plan, written) = (&self.plan.0, &mut self.plan.1);
            written.resize(Bits::<N>::CAPACITY as usize, 0);
            self.is_fickle |= self.subject.rerun(plan, written).is_err();
        }
        if was_stale {
            // What a location holds at first may be an address, and another one in this run.
            self.n_initial = 0;
        }
        self.make_room();
        // What stands elsewhere has nothing to say of this graph.
        if was_stale && !self.is_fickle {
            self.tell_failed_awaits();
            self.graph.take_values(&self.plan.0, &self.plan.1);
            self.recompute_halves();
        }
    }

    /// Makes room for the threads and locations of the subject, and takes over what the new ones hold at first.
    fn make_room(&mut self) {
        let (n_threads, n_locations) = (self.subject.n_threads(), self.subject.n_locations());
        self.graph.grow(n_threads, n_locations, self.n_initial, |loc| self.subject.initial(loc));
        self.n_initial = n_locations;
    }

    /// Finds anew what read-modify-writes without their writes are about to write.
    fn recompute_halves(&mut self) {
        for thread in self.threads() {
            let last = self.graph.strand(thread).last;
            if last != NONE && self.graph.node(last).role == Role::UpdateRead {
                let value = self.graph.node(last).read;
                if let Status::Ready(op) = self.subject.status(thread)
                    && let Answer::Updated(written) = answer::<S, M>(&self.subject, thread, op, value)
                {
                    self.graph.node_mut(last).written = written;
                }
            }
        }
    }

    /// Goes on with the part of the graph that stays when the write of `thread` is given to `read`.
    ///
    /// A subject that runs again need not be where the whole graph is.
    fn revisit(&mut self, thread: ThreadId, read: Slot) -> Stand {
        self.settle();
        let strand = self.graph.strand(thread);
        let past = self.graph.past_after(strand.last, strand);
        let kept = self.graph.kept(read, past);
        if self.n_saved == self.saved.len() {
            self.saved.push(Graph::default());
        }
        std::mem::swap(&mut self.graph, &mut self.saved[self.n_saved]);
        self.graph.copy_part(&self.saved[self.n_saved], kept, read);
        self.n_saved += 1;
        self.peak = self.peak.max(self.n_saved);
        self.threads().for_each(|thread| self.reload(thread));
        match self.enter(Task::Replant { thread, read }) {
            Stand::DeadEnd => Stand::Refused,
            stand => stand,
        }
    }
}
