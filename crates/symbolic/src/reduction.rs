//! When a thread may go first alone, because nothing that others do can matter to its step.
//!
//! This is the simplest case of the argument in `docs/theory/reduction.md`, for all contents of a symbolic state at once:
//! the step must be possible with each of them. A store that joins its buffer is always of this kind.

use teetotal_engine::persistent::Access;
use teetotal_memory::Model;
use teetotal_program::{ExplicitState, Future, LocSet, Op, Order, Status, ThreadId, Value};

use super::automaton::Language;
use super::expand::World;

/// What a step does.
#[derive(Clone, Copy, Default)]
struct Effect {
    access: Access,
    /// Whether a store joins the buffer.
    appends: bool,
}

impl<S: ExplicitState, M: Model> World<S, M> {
    /// A thread whose operation is enough to look at.
    ///
    /// Where the thread goes back in a loop by it, all steps must be taken all the same.
    pub(super) fn goes_alone(&mut self, languages: &[Language]) -> Option<ThreadId> {
        let threads = || (0..languages.len()).map(ThreadId::at);
        if threads().any(|thread| self.at.subject.future(thread).holds_back) {
            return None;
        }
        threads().find(|&thread| {
            let own = languages[thread.index()];
            let Some((op, effect)) = self.effect_of(thread, languages) else { return false };
            let commutes = threads().filter(|&other| other != thread).all(|other| {
                let pending = self.buffers.locations(languages[other.index()]);
                !conflicts(effect, self.at.subject.future(other), pending)
            });
            commutes && self.never_waits(thread, op, own)
        })
    }

    /// What the operation of `thread` does, if it is possible with every content of its buffer or is an await.
    fn effect_of(&mut self, thread: ThreadId, languages: &[Language]) -> Option<(Op, Effect)> {
        let Status::Ready(op) = self.at.subject.status(thread) else { return None };
        let is_empty = languages[thread.index()] == Language::EPSILON;
        if self.at.draining[thread.index()] && !is_empty {
            return None;
        }
        let at_once = |access| Effect { access, appends: false };
        let effect = match op {
            Op::Load { loc, .. } => at_once(Access::read(LocSet::of(loc))),
            Op::Store { loc, .. } if !M::BUFFERS => at_once(Access::write(LocSet::of(loc))),
            Op::Store { .. } if self.buffer_limit.is_some() => return None,
            Op::Store { .. } => Effect { appends: true, ..Effect::default() },
            Op::Choose { .. } => Effect::default(),
            // It changes nothing but where its thread stands, so it may as well come first.
            Op::GlobalFence if languages.iter().all(|&language| language == Language::EPSILON) => Effect::default(),
            Op::Fence { order } if order != Order::SeqCst || is_empty => Effect::default(),
            Op::Rmw { loc, .. } | Op::Unlock { loc, .. } if is_empty => {
                at_once(Access { read: LocSet::of(loc), written: LocSet::of(loc) })
            }
            Op::Await { .. } if self.buffer_limit.is_some() => return None,
            Op::Await { .. } => {
                let mut locations = Vec::new();
                self.at.subject.awaited(thread, &mut locations);
                let read = locations.into_iter().map(LocSet::of).fold(LocSet::default(), LocSet::union);
                let stored = self.at.subject.stores_at_once(thread);
                let written = if M::BUFFERS { LocSet::default() } else { stored };
                Effect { access: Access { read, written }, appends: M::BUFFERS && stored != LocSet::default() }
            }
            _ => return None,
        };
        Some((op, effect))
    }

    /// Whether it is no await, or some alternative is open to each content.
    fn never_waits(&mut self, thread: ThreadId, op: Op, own: Language) -> bool {
        let Op::Await { alternatives, .. } = op else { return true };
        let looks = self.looks(thread, own);
        let is_open = |values: &[Value]| (0..alternatives).any(|a| self.at.subject.accepts(thread, values, a));
        looks.iter().all(|(values, _)| is_open(values))
    }
}

/// Whether a thread that may still do so much, with such stores pending, may come to depend on what a step does.
fn conflicts(effect: Effect, future: Future, pending: LocSet) -> bool {
    let Effect { access, appends } = effect;
    // Whoever waits for all buffers may go on before a store joins one, and not after it.
    let holds_up = appends && future.is_global;
    holds_up || access.conflicts(future.reads(), future.writes()) || access.touched().meets(pending)
}
