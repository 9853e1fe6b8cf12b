//! One execution of the machine for a graph.
//!
//! Each thread runs on as long as it can, and a store leaves its buffer as soon as the graph allows it, so that the
//! execution looks as sequential as the graph lets it.

use teetotal_memory::{Model, Step};
use teetotal_program::{Loc, ThreadId};

use super::bits::Bits;
use super::graph::{Graph, NONE, Role, Slot};

/// A step of an execution, by the names that the graph has for threads and operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// The next operation of a thread, which may start another.
    Issue { thread: ThreadId, alternative: u32, child: Option<ThreadId> },
    /// A store, given as the operation of its thread that it is, reaches memory.
    Commit { thread: ThreadId, index: u32, loc: Loc },
}

/// The steps of an execution whose trace is `graph`, for a subject that names threads and locations always the same.
pub(super) fn steps_of<M: Model, const N: usize>(graph: &Graph<N>) -> Vec<Step> {
    let moves = moves_of::<M, N>(graph).into_iter();
    moves
        .map(|step| match step {
            Move::Issue { thread, alternative, .. } => Step::Issue { thread, alternative },
            Move::Commit { thread, loc, .. } => Step::Commit { thread, loc },
        })
        .collect()
}

/// An execution whose trace is `graph`.
pub(super) fn moves_of<M: Model, const N: usize>(graph: &Graph<N>) -> Vec<Move> {
    let n_threads = graph.n_threads();
    let mut line = Line { graph, steps: Vec::new(), happened: Bits::EMPTY, pending: Vec::new() };
    let mut threads: Vec<Vec<Slot>> = (0..n_threads).map(|index| backwards(graph, ThreadId::at(index))).collect();
    while threads.iter().any(|rest| !rest.is_empty()) {
        let before = line.steps.len();
        for rest in &mut threads {
            while let Some(&slot) = rest.last()
                && line.issue::<M>(slot)
            {
                rest.pop();
                line.commit_all();
            }
        }
        assert!(line.steps.len() > before, "a graph without a cycle can be performed");
    }
    line.commit_all();
    line.steps
}

/// The events of a thread that are performed, newest first. Of a read-modify-write only the write is.
fn backwards<const N: usize>(graph: &Graph<N>, thread: ThreadId) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut slot = graph.strand(thread).last;
    while slot != NONE {
        let node = graph.node(slot);
        if !matches!(node.role, Role::Blocked | Role::Vain | Role::UpdateRead) {
            slots.push(slot);
        }
        slot = node.before;
    }
    slots
}

/// The execution so far.
struct Line<'g, const N: usize> {
    graph: &'g Graph<N>,
    steps: Vec<Move>,
    /// What has happened: stores that are in memory, everything else that was performed.
    happened: Bits<N>,
    /// Stores that are in buffers, oldest first.
    pending: Vec<Slot>,
}

impl<const N: usize> Line<'_, N> {
    /// Performs the operation of `slot`, the next of its thread, if it is possible now.
    fn issue<M: Model>(&mut self, slot: Slot) -> bool {
        let node = self.graph.node(slot);
        let is_buffered = M::BUFFERS && node.role == Role::Store;
        let mut awaited = if is_buffered {
            self.graph.progress_after(node.before, self.graph.strand(node.thread)).floor
        } else {
            node.order
        };
        if node.role == Role::UpdateWrite {
            awaited |= self.graph.node(node.before).order;
            awaited.remove(node.before);
        }
        if !awaited.is_within(&self.happened) {
            return false;
        }
        let alternative = if let Role::Choice(taken) = node.role { taken } else { 0 };
        let child = self.graph.started_by(slot);
        self.steps.push(Move::Issue { thread: node.thread, alternative, child });
        if is_buffered {
            self.pending.push(slot);
        } else {
            self.happened.insert(slot);
        }
        if node.role == Role::UpdateWrite {
            self.happened.insert(node.before);
        }
        true
    }

    /// Lets every store leave its buffer that may.
    fn commit_all(&mut self) {
        while let Some(index) = self.pending.iter().position(|&s| self.graph.node(s).order.is_within(&self.happened)) {
            let slot = self.pending.remove(index);
            let node = self.graph.node(slot);
            let loc = node.access.loc.expect("a store has a location");
            self.steps.push(Move::Commit { thread: node.thread, index: node.index, loc });
            self.happened.insert(slot);
        }
    }
}
