//! Running a subject again to where a graph is.

use teetotal_program::{Loc, Redo, RedoAnswer, ThreadId, Value};

use super::bits::Bits;
use super::graph::{Graph, NONE, Role, Slot};

impl<const N: usize> Graph<N> {
    /// The operations of the graph in an order in which each comes after what it depends on.
    pub(super) fn plan(&self, plan: &mut Vec<Redo>) {
        plan.clear();
        let mut rest: Vec<Vec<Slot>> = (0..self.n_threads()).map(|index| self.performed(ThreadId::at(index))).collect();
        let mut done = Bits::<N>::EMPTY;
        while rest.iter().any(|slots| !slots.is_empty()) {
            let before = plan.len();
            for slots in &mut rest {
                while let Some(&slot) = slots.last() {
                    let node = self.node(slot);
                    let mut missing = node.past & !done;
                    missing.remove(slot);
                    if node.role == Role::UpdateWrite {
                        missing.remove(node.before);
                    }
                    if missing != Bits::EMPTY {
                        break;
                    }
                    done.insert(slot);
                    if node.role == Role::UpdateWrite {
                        done.insert(node.before);
                    }
                    plan.push(self.redo(slot));
                    slots.pop();
                }
            }
            assert!(plan.len() > before, "no event depends on itself");
        }
        plan.extend((0..self.n_threads()).filter_map(|index| self.standing(ThreadId::at(index))));
    }

    /// Where a thread stands that has read but not gone on.
    fn standing(&self, thread: ThreadId) -> Option<Redo> {
        let last = self.strand(thread).last;
        let stands = last != NONE && matches!(self.node(last).role, Role::Blocked | Role::UpdateRead);
        stands.then(|| Redo { answer: RedoAnswer::NotYet, writes: false, ..self.redo(last) })
    }

    /// The operations that a thread has performed, newest first. A read-modify-write that wrote is its write.
    fn performed(&self, thread: ThreadId) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut slot = self.strand(thread).last;
        while slot != NONE {
            let node = self.node(slot);
            if !matches!(node.role, Role::Blocked | Role::UpdateRead) {
                slots.push(slot);
            }
            slot = node.before;
        }
        slots
    }

    fn redo(&self, slot: Slot) -> Redo {
        let node = self.node(slot);
        let read = match node.role {
            Role::UpdateWrite => Some(self.node(node.before).source),
            Role::Read => Some(node.source),
            _ => None,
        };
        let answer = match (node.role, read) {
            (Role::Choice(taken), _) => RedoAnswer::Alternative(taken),
            (_, None) => RedoAnswer::Nothing,
            (_, Some(NONE)) => RedoAnswer::Initial,
            (_, Some(source)) => RedoAnswer::WrittenBy(source),
        };
        Redo {
            thread: node.thread,
            id: slot,
            loc: node.access.loc,
            child: self.started_by(slot),
            answer,
            writes: node.role.is_write(),
            source: read.and_then(|source| self.writer(source)),
        }
    }

    /// Takes over what was read and written when the subject ran again; addresses may be others now.
    pub(super) fn take_values(&mut self, plan: &[Redo], written: &[Value]) {
        for redo in plan {
            if redo.writes {
                self.node_mut(redo.id).written = written[redo.id as usize];
            }
        }
        for index in 0..self.added.len() {
            let slot = self.added[index];
            let node = self.node(slot);
            if node.role.is_read() {
                let value = self.value_of(node.source, node.loc());
                self.node_mut(slot).read = value;
            }
        }
    }

    /// Makes room for threads and locations, and takes over the initial values of those that nothing has accessed.
    pub(super) fn grow(&mut self, n_threads: usize, n_locations: usize, initial: impl Fn(Loc) -> Value) {
        self.make_room(n_threads, n_locations);
        for index in 0..n_locations {
            self.set_initial(index, initial(Loc::at(index)));
        }
    }
}
