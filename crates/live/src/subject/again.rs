//! Replays of a prefix of an execution.

use teetotal_program::{FailedAwait, Loc, Redo, RedoAnswer, RedoKind, Rewind, Subject, ThreadId, Value};

use super::{Live, State};
use crate::hidden::{Kind, Name};
use crate::loops::Iteration;
use crate::request::{Matter, Request, What};
use crate::standing::Standing;

impl Rewind for Live {
    const RUNS_AGAIN: bool = true;

    fn may_write(&self, thread: ThreadId) -> bool {
        self.request(thread).is_some() || self.threads.len() <= thread.index()
    }

    fn takes_the_first(&self, thread: ThreadId) -> bool {
        let what = self.request(thread).map(|request| &request.what);
        match what {
            Some(What::Choose { matter: Matter::Reuse, .. }) => !self.execution.reuse.may_take(),
            Some(What::Choose { matter, .. }) => matter.is_spurious() && !self.execution.may_be_spurious(),
            _ => false,
        }
    }

    fn rerun(&mut self, plan: &[Redo], written: &mut [Value]) -> Result<(), usize> {
        self.is_rerunning = true;
        let result = self.redo(plan, written);
        self.is_lost = result.is_err();
        self.is_rerunning = false;
        (0..self.threads.len()).for_each(|index| self.give_numbers(ThreadId::at(index)));
        result
    }

    fn settle(&mut self, memory: &dyn Fn(Loc) -> Value) {
        // The contents of memory are meaningful only if code is at the position that the search assumes.
        self.is_settled = !self.is_lost;
        for (index, loc) in self.memory.get_mut().locations.iter().enumerate() {
            if let Some(loc) = loc {
                self.execution.hold(index, memory(*loc));
            }
        }
    }

    fn give_up(&self) {
        self.execution.ledger.note_standing(self.standing().collect());
    }

    /// Locks, channels, conditions and tokens are.
    fn waits_for_updates(&self, thread: ThreadId) -> bool {
        let what = self.request(thread).map(|request| &request.what);
        matches!(what, Some(What::Lock { .. } | What::Await { .. }))
    }

    fn set_failed_await(&mut self, thread: ThreadId, failed: Option<FailedAwait>) {
        let Some(own) = self.threads.get_mut(thread.index()) else { return };
        let place = own.place;
        own.loops.failed = failed.zip(place).map(|(failed, head)| Iteration {
            since: failed.since,
            is_spurious: failed.is_spurious,
            ends_spuriously: failed.ends_spuriously,
            restores: failed.restores,
            only_locks: failed.only_locks,
            recurs: failed.recurs,
            head,
        });
    }

    fn note_observed(&self, thread: ThreadId) {
        if let Some(failed) = self.threads[thread.index()].loops.failed {
            self.execution.expose(Name::new(Kind::Observation, failed.head));
        }
    }

    fn rests(&self, thread: ThreadId) -> Option<u32> {
        match self.request(thread)?.what {
            What::Rest { before } => Some(before),
            _ => None,
        }
    }
}

impl Live {
    /// Returns the positions of the threads that have not ended.
    fn standing(&self) -> impl Iterator<Item = Standing> + '_ {
        self.threads.iter().enumerate().filter_map(|(index, own)| match &own.state {
            State::Waiting(request) => {
                Some(Standing { thread: ThreadId::at(index), performed: own.performed, place: request.place })
            }
            _ => None,
        })
    }

    /// Holds back the thread of `redo` just where it was held back before.
    ///
    /// Whether it is may depend on slots of its stack that it does not use.
    fn hold_back_as_before(&mut self, redo: &Redo) {
        let Some(own) = self.threads.get_mut(redo.thread.index()) else { return };
        let State::Waiting(request) = &mut own.state else { return };
        let was_choice = redo.kind == RedoKind::Choice;
        match request.what {
            What::Rest { .. } if !was_choice => {
                if let Some(held) = own.held.take() {
                    *request = held;
                }
            }
            What::Rest { .. } | What::Choose { .. } => {}
            _ if was_choice && own.held.is_none() => {
                let rest = Request { what: What::Rest { before: 0 }, place: request.place };
                own.held = Some(std::mem::replace(request, rest));
            }
            _ => {}
        }
    }

    /// Replays `plan`.
    fn redo(&mut self, plan: &[Redo], written: &mut [Value]) -> Result<(), usize> {
        self.restart();
        // New cells after the plan get numbers that the plan does not use.
        let n_locations = plan.iter().filter_map(|redo| redo.loc).map(|loc| loc.index() + 1).max().unwrap_or(0);
        let children = plan.iter().filter_map(|redo| redo.child).map(|child| child.index() + 1);
        let memory = self.memory.get_mut();
        memory.initial.resize(n_locations, None);
        memory.n_threads = memory.n_threads.max(children.max().unwrap_or(0));
        for (position, redo) in plan.iter().enumerate() {
            self.hold_back_as_before(redo);
            let Some(request) = self.request(redo.thread) else { return Err(position) };
            let fits = is_of_kind(&request.what, redo.kind);
            let is_there = match (request.what.cell(), redo.loc) {
                (Some(cell), Some(loc)) => self.bind(cell, loc),
                (None, None) => true,
                _ => false,
            };
            if !fits || !is_there {
                return Err(position);
            }
            self.threads[redo.thread.index()].child.set(redo.child);
            let answer = match redo.answer {
                RedoAnswer::NotYet => continue,
                RedoAnswer::Nothing => 0,
                RedoAnswer::Alternative(taken) => taken.into(),
                RedoAnswer::Initial => redo.loc.map_or(0, |loc| self.initial(loc)),
                RedoAnswer::WrittenBy(id) => written[id as usize],
            };
            if redo.writes {
                let value = match self.request(redo.thread).map(|request| &request.what) {
                    Some(What::Store { value, .. }) => Some(*value),
                    Some(What::Rmw { update, .. } | What::Lock { update, .. }) => update.apply(answer),
                    Some(What::Unlock { .. }) => Some(0),
                    _ => None,
                };
                let Some(value) = value else { return Err(position) };
                written[redo.id as usize] = value;
            }
            self.source = redo.source;
            self.resume(redo.thread, &[answer]);
        }
        Ok(())
    }
}

/// Returns whether this operation is of the same kind as before.
fn is_of_kind(what: &What, kind: RedoKind) -> bool {
    match kind {
        RedoKind::Read => {
            matches!(what, What::Load { .. } | What::Rmw { .. } | What::Await { .. } | What::Lock { .. })
        }
        RedoKind::Store => matches!(what, What::Store { .. }),
        RedoKind::Update => matches!(what, What::Rmw { .. } | What::Lock { .. } | What::Unlock { .. }),
        RedoKind::Choice => matches!(what, What::Choose { .. } | What::Rest { .. }),
        RedoKind::Fence => matches!(what, What::Fence { .. }),
        RedoKind::Spawn => matches!(what, What::Spawn { .. }),
        RedoKind::Join => matches!(what, What::Join { .. }),
        RedoKind::Other => false,
    }
}
