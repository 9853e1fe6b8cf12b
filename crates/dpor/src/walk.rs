//! The walk over all graphs, depth first.
//!
//! Each level adds one event, in one alternative after the other. Which alternatives there are depends only on the path
//! down to it, so a position in the walk is a list of numbers.

mod events;
mod tasks;

use teetotal_program::{Loc, Op, Redo, Status, ThreadId, Value};

use super::alternatives::Alternative;
use super::answer::{Answer, answer};
use super::bits::Bits;
use super::consistency::Consistency;
use super::graph::{Graph, NONE, Node, Role, Slot};
use super::revisit::MaximalWrites;

pub(super) use self::events::Write;
pub(super) use self::tasks::Task;

pub(super) use teetotal_program::Rewind as Rewindable;

/// The walk.
pub(super) struct Walk<S, C: Consistency, const N: usize> {
    pub(super) graph: Graph<C, N>,
    pub(super) subject: S,
    /// The graphs that revisits on the path here started from; those from `n_saved` on are there to be used again.
    saved: Vec<Graph<C, N>>,
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
    has_diverged: bool,
    /// Whether the alternative of the newest level could not be taken because of that.
    is_unapplied: bool,
    /// Whether the newest level has led to a graph that is not consistent.
    is_inconsistent: bool,
    /// Of how many locations the graph has what this run holds there at first.
    n_initial: usize,
    /// How the subject runs again, kept to save allocations.
    plan: (Vec<Redo>, Vec<Value>),
    /// How many preemptions an execution may have.
    pub(super) bound: Option<u64>,
    /// Whether alternatives were left out because of that.
    pub(super) left_out: bool,
    /// The most graphs that were kept at once.
    pub(super) peak: usize,
    pub(super) maximal: MaximalWrites,
}

/// One level of the walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    task: Task,
    /// Where its alternatives begin.
    first: u32,
    /// Which of them is chosen.
    pub(super) chosen: u32,
    /// How many there are.
    pub(super) of: u32,
}

/// Where a step of the walk has led.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reached {
    /// A complete graph: nothing can be added.
    Complete,
    /// A blocked graph: something is missing that never comes, or that comes in another graph.
    DeadEnd,
    /// An inconsistent graph, or none: the revisiting write has no place in which the read may read from it.
    Inconsistent,
    /// A graph that is too large for sets of this size.
    NoRoom,
    /// The subject did something else when it was run again.
    Diverged,
    /// A graph with another event: a level was entered.
    Extended,
}

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// At the empty graph.
    pub(super) fn new(mut subject: S, rules: C) -> Self {
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
            graph: Graph::new(rules, n_threads, initial, width),
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
            has_diverged: false,
            is_unapplied: false,
            is_inconsistent: false,
            n_initial: 0,
            plan: Default::default(),
            maximal: MaximalWrites::default(),
        }
    }

    pub(super) fn threads(&self) -> impl Iterator<Item = ThreadId> + use<S, C, N> {
        (0..self.subject.n_threads()).map(ThreadId::at)
    }

    /// Adds the next event in its first alternative.
    pub(super) fn descend(&mut self) -> Reached {
        self.catch_up();
        if self.has_diverged {
            return Reached::Diverged;
        }
        let Some(task) = self.next_task() else { return Reached::Complete };
        // A read-modify-write is two nodes, and a revisit adds one beside the read.
        if !self.graph.has_room(2) {
            return Reached::NoRoom;
        }
        self.enter(task)
    }

    fn enter(&mut self, task: Task) -> Reached {
        self.catch_up();
        if self.has_diverged || !self.still_fits(task) {
            self.has_diverged = true;
            return Reached::Diverged;
        }
        let first = self.alternatives.len();
        self.list(task);
        let of = (self.alternatives.len() - first) as u32;
        if of == 0 {
            return Reached::DeadEnd;
        }
        self.levels.push(Level { task, first: first as u32, chosen: 0, of });
        self.apply()
    }

    /// Goes back to the newest level above `base` with another alternative, and takes that; returns what it reached, if there was one.
    pub(super) fn next(&mut self, base: usize) -> Option<Reached> {
        if std::mem::take(&mut self.has_diverged) {
            // It is somewhere else, and runs from the beginning again.
            self.is_stale = true;
        }
        while self.levels.len() > base {
            self.undo();
            let level = self.levels.last_mut().expect("there is a level above the base");
            level.chosen += 1;
            if level.chosen < level.of {
                return Some(self.apply());
            }
            self.alternatives.truncate(level.first as usize);
            self.levels.pop();
        }
        None
    }

    /// Takes the alternative `chosen` of the level at `index` and leaves all levels below it.
    pub(super) fn turn(&mut self, index: usize, chosen: u32) -> Reached {
        self.leave(index + 1);
        self.undo();
        self.levels[index].chosen = chosen;
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
    fn apply(&mut self) -> Reached {
        let Level { task, first, chosen, .. } = *self.levels.last().expect("there is a level");
        if let (Task::Perform(thread, _) | Task::Complete(thread), Alternative::Revisit(read)) =
            (task, self.alternatives[(first + chosen) as usize])
        {
            return self.revisit(thread, read);
        }
        self.catch_up();
        if self.has_diverged || !self.still_fits(task) {
            (self.has_diverged, self.is_unapplied) = (true, true);
            return Reached::Diverged;
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
        self.is_inconsistent = false;
        let alternative = self.alternatives[(level.first + level.chosen) as usize];
        if !self.still_has(level.task, alternative) {
            (self.has_diverged, self.is_unapplied) = (true, true);
            return Reached::Diverged;
        }
        let added = match (level.task, alternative) {
            (Task::Perform(thread, op), Alternative::Source(source)) => {
                let reading = self.reading(thread, op);
                let access = C::access(&self.graph.view(thread), Some(reading.loc), reading.order);
                let place = self.subject.place(thread);
                let slot = self.graph.add(Node::blank(thread, place, Role::Read, access));
                self.read(slot, op, source);
                slot
            }
            (Task::Perform(thread, op), Alternative::Choose(chosen)) => self.add_other(thread, op, chosen),
            (Task::Perform(thread, op), Alternative::Only) => self.add_other(thread, op, 0),
            (Task::Perform(thread, _) | Task::Complete(thread), Alternative::After(previous)) => {
                self.write(thread, previous)
            }
            (Task::Revisit { thread, read }, Alternative::After(previous)) => {
                let write = self.write(thread, previous);
                let reader = self.graph.node(read).thread;
                let Status::Ready(op) = self.subject.status(reader) else { unreachable!("a read was performed here") };
                if S::RUNS_AGAIN {
                    // A location that nothing in the graph accessed when the subject ran again may have a new number.
                    let loc = self.graph.node(write).access.loc;
                    self.graph.node_mut(read).access.loc = loc;
                }
                self.graph.put_back(read);
                self.read(read, op, write);
                read
            }
            (task, alternative) => unreachable!("{task:?} has no alternative {alternative:?}"),
        };
        self.after(added)
    }

    /// Where the walk is after an event was added.
    fn after(&self, added: Slot) -> Reached {
        if self.is_inconsistent {
            return Reached::Inconsistent;
        }
        let role = self.graph.node(added).role;
        if role.is_read() || role == Role::Retried { self.after_read(added) } else { Reached::Extended }
    }

    /// Where the walk is after `read` was added.
    fn after_read(&self, read: Slot) -> Reached {
        if !S::RUNS_AGAIN {
            return Reached::Extended;
        }
        self.note_observation(read);
        if self.fails_hopelessly(self.graph.node(read).thread) { Reached::DeadEnd } else { Reached::Extended }
    }

    /// Tells a subject that runs again what memory holds where it stands, before the graph goes on without it.
    pub(super) fn settle(&mut self) {
        if S::RUNS_AGAIN && !self.is_stale {
            // The subject may already stand at a location that the graph has not heard of.
            self.make_room();
            let graph = &self.graph;
            self.subject.settle(&|loc| graph.value_of(graph.location(loc.index()).newest, loc.index()));
        }
    }

    /// Takes back what the newest level has done.
    fn undo(&mut self) {
        if std::mem::take(&mut self.is_unapplied) {
            return;
        }
        self.settle();
        let level = *self.levels.last().expect("there is a level");
        let alternative = self.alternatives[(level.first + level.chosen) as usize];
        match (level.task, alternative) {
            (_, Alternative::Revisit(_)) => {
                self.n_saved -= 1;
                std::mem::swap(&mut self.graph, &mut self.saved[self.n_saved]);
                self.threads().for_each(|thread| self.reload(thread));
            }
            (Task::Revisit { thread, read }, _) => {
                let reader = self.graph.node(read).thread;
                self.graph.unlink_read(read);
                self.graph.take_out(read);
                self.reload(reader);
                let write = self.graph.take_back();
                self.graph.unlink_write(write);
                self.reload(thread);
            }
            _ => {
                let slot = self.graph.take_back();
                let Node { role, thread, .. } = *self.graph.node(slot);
                if role.is_read() || role == Role::Retried {
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
        let events = self.graph.events(thread);
        let range = thread.index() * self.width..(thread.index() + 1) * self.width;
        let words = match events.last {
            NONE if events.spawn == NONE => &self.not_started[range],
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
            self.has_diverged |= self.subject.rerun(plan, written).is_err();
        }
        if was_stale {
            // What a location holds at first may be an address, and another one in this run.
            self.n_initial = 0;
        }
        self.make_room();
        // What stands elsewhere has nothing to say of this graph.
        if was_stale && !self.has_diverged {
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
            let last = self.graph.events(thread).last;
            if last != NONE && self.graph.node(last).role == Role::UpdateRead {
                let value = self.graph.node(last).read;
                if let Status::Ready(op) = self.subject.status(thread)
                    && let Answer::Updated(written) = answer(&self.subject, self.graph.rules, thread, op, value)
                {
                    self.graph.node_mut(last).written = written;
                }
            }
        }
    }

    /// Revisits `read` by the write of `thread`: goes on with the restricted graph, in which it reads from the write.
    ///
    /// A subject that runs again need not be where the whole graph is.
    fn revisit(&mut self, thread: ThreadId, read: Slot) -> Reached {
        self.settle();
        let events = self.graph.events(thread);
        let prefix = self.graph.porf_prefix_after(events.last, events);
        let kept = self.graph.restriction(read, prefix);
        if self.n_saved == self.saved.len() {
            self.saved.push(Graph::empty(self.graph.rules));
        }
        std::mem::swap(&mut self.graph, &mut self.saved[self.n_saved]);
        self.graph.restrict(&self.saved[self.n_saved], kept, read);
        self.n_saved += 1;
        self.peak = self.peak.max(self.n_saved);
        self.threads().for_each(|thread| self.reload(thread));
        match self.enter(Task::Revisit { thread, read }) {
            Reached::DeadEnd => Reached::Inconsistent,
            reached => reached,
        }
    }
}
