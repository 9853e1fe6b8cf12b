//! The monitors of Burnim, Sen and Stergiou: run the buffers of the model beside the execution, as lazily as it allows.
//!
//! Definition: [BURNIM, Fig. 4] for TSO and [BURNIM, Fig. 5] for PSO; which one is said by the model. Before an access,
//! a pending store to its location of another thread that happened before the thread's last event is a violation; then
//! all pending stores of other threads to the location leave their buffers. We differ in four ways:
//! 1. Only the newest pending store to the location is looked at, as [BURNIM, App. B] allows.
//! 2. A fence is an event of its own, which drains its thread and is not looked at.
//! 3. Under PSO a read-modify-write drains what its ordering says: its own location, as in the paper, or everything. A
//!    store that has to be behind a barrier, and a release store, take the stores before them along.
//! 4. Spawn and join drain as read-modify-writes do, and a join drains the thread that has ended.
//!
//! What is found depends on the order of independent events, so every interleaving has to be watched: of E1, 160
//! programs under TSO have a trace whose violation an unlucky order hides.

use teetotal_memory::{Event, EventId, EventKind, ModelId};
use teetotal_program::Loc;
use teetotal_program::ir::Program;

use super::sc_order::ScHappensBefore;
use super::waits::{drains_afterward, is_marker};
use super::{Algorithm, Attempt, Waits};

/// Finds violations by running the buffers of the model; needs every interleaving.
#[derive(Clone, Debug)]
pub struct Buffers {
    model: ModelId,
    happens_before: ScHappensBefore,
    /// For each thread, in program order.
    pending: Vec<Vec<Pending>>,
    /// How many barriers each thread has passed.
    epochs: Vec<u32>,
    draining: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    id: EventId,
    index: u32,
    loc: Loc,
    epoch: u32,
    release: bool,
}

impl Buffers {
    #[must_use]
    pub fn new(program: &Program, model: ModelId) -> Self {
        let (n_threads, n_locations) = (program.n_threads(), program.locations.len());
        Buffers {
            model,
            happens_before: ScHappensBefore::new(n_threads, n_locations),
            pending: vec![Vec::new(); n_threads],
            epochs: vec![0; n_threads],
            draining: vec![false; n_threads],
        }
    }

    fn finish_drain(&mut self, thread: usize) {
        if std::mem::take(&mut self.draining[thread]) {
            self.pending[thread].clear();
        }
    }

    /// Lets every store of `thread` to `loc` leave, and those that have to leave before.
    fn commit(&mut self, thread: usize, loc: Loc) {
        let pending = &mut self.pending[thread];
        let Some(last) = pending.iter().rposition(|store| store.loc == loc) else { return };
        if !self.model.rules().has_barriers {
            pending.drain(..=last);
            return;
        }
        let mut leaves: Vec<bool> = pending.iter().map(|store| store.loc == loc).collect();
        close(pending, &mut leaves);
        let mut index = 0;
        pending.retain(|_| {
            index += 1;
            !leaves[index - 1]
        });
    }

    fn drain(&mut self, thread: usize, waits: Waits, loc: Option<Loc>) {
        match waits {
            Waits::Nothing => {}
            Waits::Everything => self.pending[thread].clear(),
            Waits::Barrier => {
                let epoch = self.epochs[thread];
                self.pending[thread].retain(|store| store.epoch == epoch);
                if let Some(loc) = loc {
                    self.commit(thread, loc);
                }
            }
        }
    }
}

/// Adds everything that has to leave before something that leaves.
fn close(pending: &[Pending], leaves: &mut [bool]) {
    for later in (0..pending.len()).rev() {
        if leaves[later] {
            for earlier in 0..later {
                let (store, before) = (&pending[later], &pending[earlier]);
                leaves[earlier] |= store.release || before.epoch < store.epoch || before.loc == store.loc;
            }
        }
    }
}

impl Algorithm for Buffers {
    fn begin(&mut self) {
        self.happens_before.begin();
        self.pending.iter_mut().for_each(Vec::clear);
        self.epochs.fill(0);
        self.draining.fill(false);
    }

    fn overtaken(&mut self, attempt: &Attempt) -> Option<EventId> {
        let thread = attempt.thread.index();
        self.finish_drain(thread);
        for (other, pending) in self.pending.iter().enumerate().filter(|(other, _)| *other != thread) {
            let newest = pending.iter().rev().find(|store| store.loc == attempt.loc);
            if let Some(store) = newest.filter(|store| self.happens_before.knows(thread, other, store.index)) {
                return Some(store.id);
            }
        }
        None
    }

    fn perform(&mut self, id: EventId, event: &Event) {
        let thread = event.thread.index();
        self.finish_drain(thread);
        if let Some(loc) = event.loc {
            (0..self.pending.len()).filter(|&other| other != thread).for_each(|other| self.commit(other, loc));
        }
        if !event.is_store() {
            self.drain(thread, Waits::of(self.model, event), event.loc);
        }
        if let EventKind::Join(child) = event.kind {
            self.pending[child.index()].clear();
        }
        self.epochs[thread] += u32::from(is_marker(event));
        if let (true, Some(loc)) = (event.is_store(), event.loc) {
            let (epoch, release) = (self.epochs[thread], event.order.releases());
            self.pending[thread].push(Pending { id, index: event.index, loc, epoch, release });
            self.draining[thread] = drains_afterward(event);
        }
        self.happens_before.perform(event);
    }
}
