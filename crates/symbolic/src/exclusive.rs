//! Stretches without a switch to another thread, as in `atomic` of Promela.
//!
//! Whether the thread can go on is asked after each step, and may depend on what is in the buffers; where it cannot, the
//! stretch ends. So a step may lead to several symbolic states: with some contents it goes on, with others not.

use teetotal_memory::Model;
use teetotal_program::{ExplicitState, OnFailure, Op, Order, Status, ThreadId, Value};

use super::automaton::Language;
use super::buffer_language::Effect;
use super::expand::{Part, World};
use super::keys::Key;

impl<S: ExplicitState, M: Model> World<S, M> {
    /// The states that the step to the next one leads to, in parts of the contents that may overlap.
    pub(super) fn settle(&mut self, languages: Box<[Language]>) -> Vec<(Part, Key, Box<[Language]>)> {
        let subject = &self.next.subject;
        let ready = subject.exclusive().map(|thread| (thread, subject.status(thread)));
        let Some((thread, Status::Ready(op))) = ready.filter(|_| self.next_may_wait()) else {
            return vec![(Part::new(), self.intern_next(), languages)];
        };
        std::mem::swap(&mut self.at, &mut self.next);
        let going_on = self.going_on(thread, op, &languages);
        let held_back = self.held_back(thread, op, &languages);
        std::mem::swap(&mut self.at, &mut self.next);
        let mut settled = Vec::new();
        self.add_parts(going_on, &languages, &mut settled);
        self.next.subject.give_way();
        self.add_parts(held_back, &languages, &mut settled);
        settled
    }

    /// Whether the thread that asks to go on alone in the next state may have to wait, with some content or other.
    fn next_may_wait(&self) -> bool {
        let next = &self.next;
        next.subject.exclusive().is_some_and(|thread| {
            next.draining[thread.index()]
                || match next.subject.status(thread) {
                    Status::Ready(Op::Load { .. } | Op::Choose { .. } | Op::Store { .. }) => false,
                    Status::Ready(Op::Fence { order }) => order == Order::SeqCst,
                    Status::Ready(Op::Await { .. }) => next.subject.may_wait(thread),
                    _ => true,
                }
        })
    }

    /// Adds the next state with each of these parts that has some content.
    fn add_parts(&mut self, parts: Vec<Part>, from: &[Language], settled: &mut Vec<(Part, Key, Box<[Language]>)>) {
        let key = self.intern_next();
        for part in parts {
            if let Some(languages) = self.apply(&part, from) {
                settled.push((part, key, languages));
            }
        }
    }

    /// The contents with which `thread` can perform its operation, or would if its buffer were not full.
    fn going_on(&mut self, thread: ThreadId, op: Op, languages: &[Language]) -> Vec<Part> {
        let begin = if self.at.draining[thread.index()] { vec![(thread, Effect::Drained)] } else { Part::new() };
        let mut parts: Vec<Part> = Vec::new();
        if let Some(after) = self.apply(&begin, languages) {
            for way in self.ways(thread, op, after[thread.index()]) {
                let restricts = |(_, effect): &(ThreadId, Effect)| {
                    !matches!(effect, Effect::Append(_) | Effect::Barrier | Effect::Shorter(_))
                };
                let part: Part = begin.iter().chain(&way.effects).copied().filter(restricts).collect();
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        parts
    }

    /// The contents with which `thread` cannot perform its operation, in parts that may overlap.
    fn held_back(&mut self, thread: ThreadId, op: Op, languages: &[Language]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut own = languages[thread.index()];
        let mut begin = Part::new();
        if self.at.draining[thread.index()] {
            parts.push(vec![(thread, Effect::Pending)]);
            begin.push((thread, Effect::Drained));
            own = self.buffers.apply(Effect::Drained, own);
        }
        let more = self.reasons_to_wait(thread, op, own);
        parts.extend(more.into_iter().map(|part| begin.iter().copied().chain(part).collect()));
        parts
    }

    fn reasons_to_wait(&mut self, thread: ThreadId, op: Op, own: Language) -> Vec<Part> {
        let may_not_update = |loc, order| vec![vec![(thread, Effect::MayNotUpdate { loc, order })]];
        match op {
            // A store that finds its buffer full does not end the stretch.
            Op::Load { .. } | Op::Choose { .. } | Op::Store { .. } => Vec::new(),
            Op::Fence { order: Order::SeqCst } => vec![vec![(thread, Effect::Pending)]],
            Op::Fence { .. } => Vec::new(),
            Op::GlobalFence => {
                (0..self.at.draining.len()).map(|index| vec![(ThreadId::at(index), Effect::Pending)]).collect()
            }
            Op::Lock { loc, .. } if self.at.memory[loc.index()] != 0 => vec![Part::new()],
            Op::Lock { loc, order } | Op::Unlock { loc, order } => may_not_update(Some(loc), order),
            Op::Spawn { order, .. } => may_not_update(None, order),
            Op::Join { thread: child, .. } if self.at.subject.status(child) != Status::Finished => vec![Part::new()],
            Op::Join { thread: child, order } => {
                let mut parts = if order.releases() { may_not_update(None, order) } else { Vec::new() };
                parts.push(vec![(child, Effect::Pending)]);
                parts
            }
            Op::Rmw { loc, order, on_failure } => {
                let parts = may_not_update(Some(loc), order);
                if !(M::FAILURE_IS_LOAD && matches!(on_failure, OnFailure::Load(_))) {
                    return parts;
                }
                let sights = self.sights(own, loc).into_iter();
                let goes_on = sights.filter(|&(value, _)| self.at.subject.modify(thread, value).is_some());
                let waits = |(_, effect)| std::iter::once((thread, effect)).chain(parts[0].iter().copied()).collect();
                goes_on.map(waits).collect()
            }
            Op::Await { alternatives, .. } => {
                let looks = self.looks(thread, own).into_iter();
                let is_open = |values: &[Value]| (0..alternatives).any(|a| self.at.subject.accepts(thread, values, a));
                looks.filter(|(values, _)| !is_open(values)).map(|(_, part)| part).collect()
            }
        }
    }
}
