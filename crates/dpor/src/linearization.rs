//! The linearization of a graph: the steps of an execution of the machine that has it.
//!
//! Each thread runs on as long as it can, and a store leaves its buffer as soon as the graph allows it, so that the
//! execution looks as sequential as the graph lets it.

use teetotal_engine::Move;
use teetotal_memory::Step;
use teetotal_program::ThreadId;

use super::bits::Bits;
use super::consistency::Consistency;
use super::graph::{Graph, NONE, Role, Slot};

/// The steps of an execution whose trace is `graph`, for a subject that names threads and locations always the same.
pub(super) fn steps_of<C: Consistency, const N: usize>(graph: &Graph<C, N>) -> Vec<Step> {
    moves_of(graph).into_iter().map(Move::step).collect()
}

/// An execution whose trace is `graph`.
pub(super) fn moves_of<C: Consistency, const N: usize>(graph: &Graph<C, N>) -> Vec<Move> {
    let n_threads = graph.n_threads();
    let mut line = Line { graph, steps: Vec::new(), happened: Bits::EMPTY, pending: Vec::new() };
    let mut threads: Vec<Vec<Slot>> = (0..n_threads).map(|index| backwards(graph, ThreadId::at(index))).collect();
    while threads.iter().any(|rest| !rest.is_empty()) {
        let before = line.steps.len();
        for rest in &mut threads {
            while let Some(&slot) = rest.last()
                && line.issue(slot)
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
fn backwards<C: Consistency, const N: usize>(graph: &Graph<C, N>, thread: ThreadId) -> Vec<Slot> {
    let mut slots = Vec::new();
    let mut slot = graph.events(thread).last;
    while slot != NONE {
        let node = graph.node(slot);
        if !matches!(node.role, Role::Blocked | Role::Retried | Role::UpdateRead) {
            slots.push(slot);
        }
        slot = node.before;
    }
    slots
}

/// The execution so far.
struct Line<'g, C: Consistency, const N: usize> {
    graph: &'g Graph<C, N>,
    steps: Vec<Move>,
    /// What has happened: stores that are in memory, everything else that was performed.
    happened: Bits<N>,
    /// Stores that are in buffers, oldest first.
    pending: Vec<Slot>,
}

impl<C: Consistency, const N: usize> Line<'_, C, N> {
    /// Performs the operation of `slot`, the next of its thread, if it is possible now.
    fn issue(&mut self, slot: Slot) -> bool {
        let node = self.graph.node(slot);
        let is_buffered = C::is_buffered(self.graph, node.role);
        let mut awaited = if is_buffered {
            *C::performed_after(&self.graph.view_after(node.before, self.graph.events(node.thread)))
        } else {
            *C::happens_after(&node.label)
        };
        if node.role == Role::UpdateWrite {
            awaited |= *C::happens_after(&self.graph.node(node.before).label);
            awaited.remove(node.before);
        }
        if !awaited.is_within(&self.happened) {
            return false;
        }
        let alternative = C::alternative(self.graph, slot, &self.happened);
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

    /// Whether everything has happened that comes directly before `slot`.
    fn may_happen(&self, slot: Slot) -> bool {
        C::happens_after(&self.graph.node(slot).label).is_within(&self.happened)
    }

    /// Lets every store leave its buffer that may.
    fn commit_all(&mut self) {
        while let Some(index) = self.pending.iter().position(|&slot| self.may_happen(slot)) {
            let slot = self.pending.remove(index);
            let node = self.graph.node(slot);
            let loc = node.access.loc.expect("a store has a location");
            self.steps.push(Move::Commit { thread: node.thread, index: node.index, loc });
            self.happened.insert(slot);
        }
    }
}
