//! Running a subject again to where a graph is.

use teetotal_program::{Loc, Redo, RedoAnswer, RedoKind, ThreadId, Value};

use super::bits::Bits;
use super::consistency::Consistency;
use super::graph::{Graph, NONE, Role, Slot};

impl<C: Consistency, const N: usize> Graph<C, N> {
    /// The operations of the graph, each after what it depends on.
    ///
    /// They come in the order in which they were performed before, as far as they can: real code may get the same piece of
    /// memory again that it gave back, and which one it gets depends on the order.
    pub(super) fn plan(&self, plan: &mut Vec<Redo>) {
        plan.clear();
        let mut done = self.retried();
        // Reads that were revisited are older than what they read.
        let mut waiting: Vec<Slot> = Vec::new();
        let performed = self.performed();
        for &slot in self.added.iter().filter(|&&slot| performed.has(slot)) {
            waiting.push(slot);
            while let Some(position) = waiting.iter().position(|&slot| self.is_possible(slot, done)) {
                let slot = waiting.remove(position);
                done.insert(slot);
                if self.node(slot).role == Role::UpdateWrite {
                    done.insert(self.node(slot).before);
                }
                plan.push(self.redo(slot));
            }
        }
        assert!(waiting.is_empty(), "no event depends on itself");
        plan.extend((0..self.n_threads()).filter_map(|index| self.standing(ThreadId::at(index))));
    }

    /// Whether everything has been `done` that `slot` depends on.
    fn is_possible(&self, slot: Slot, done: Bits<N>) -> bool {
        let node = self.node(slot);
        let mut missing = node.porf & !done;
        missing.remove(slot);
        if node.role == Role::UpdateWrite {
            missing.remove(node.before);
        }
        missing == Bits::EMPTY
    }

    /// Where a thread stands that has read but not gone on.
    fn standing(&self, thread: ThreadId) -> Option<Redo> {
        let last = self.events(thread).last;
        let stands = last != NONE && matches!(self.node(last).role, Role::Blocked | Role::Retried | Role::UpdateRead);
        stands.then(|| Redo { answer: RedoAnswer::NotYet, writes: false, ..self.redo(last) })
    }

    /// The operations that threads have performed. A read-modify-write that wrote is its write.
    fn performed(&self) -> Bits<N> {
        let mut performed = Bits::EMPTY;
        for index in 0..self.n_threads() {
            let mut slot = self.events(ThreadId::at(index)).last;
            while slot != NONE {
                let node = self.node(slot);
                if !matches!(node.role, Role::Blocked | Role::Retried | Role::UpdateRead) {
                    performed.insert(slot);
                }
                slot = node.before;
            }
        }
        performed
    }

    fn redo(&self, slot: Slot) -> Redo {
        let node = self.node(slot);
        let read = match node.role {
            Role::UpdateWrite => Some(self.node(node.before).source),
            Role::Read => Some(node.source),
            _ => None,
        };
        let answer = match (node.role, read) {
            (Role::Choice(chosen), _) => RedoAnswer::Alternative(chosen),
            (_, None) => RedoAnswer::Nothing,
            (_, Some(NONE)) => RedoAnswer::Initial,
            (_, Some(source)) => RedoAnswer::WrittenBy(source),
        };
        Redo {
            thread: node.thread,
            id: slot,
            kind: match node.role {
                Role::Read | Role::Blocked | Role::Retried => RedoKind::Read,
                Role::Store => RedoKind::Store,
                Role::UpdateRead | Role::UpdateWrite => RedoKind::Update,
                Role::Choice(_) => RedoKind::Choice,
                Role::Fence => RedoKind::Fence,
                Role::Spawn => RedoKind::Spawn,
                Role::Join(_) => RedoKind::Join,
                Role::Other => RedoKind::Other,
            },
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

    /// Makes room for threads and locations, and takes over the initial values of the locations from `first` on.
    pub(super) fn grow(&mut self, n_threads: usize, n_locations: usize, first: usize, initial: impl Fn(Loc) -> Value) {
        self.make_room(n_threads, n_locations);
        for index in first..n_locations {
            self.set_initial(index, initial(Loc::at(index)));
        }
    }
}
