//! What the monitors are shown of the symbolic search, and executions that lead there.

use std::cell::RefCell;

use teetotal_engine::{Collector, Schedule, StopReason, ending};
use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Trace};
use teetotal_program::{ExplicitState, Failure, ThreadId};

use super::automaton::Language;
use super::cycle::Item;
use super::keys::Key;
use super::search::{Search, stop_of};
use super::stored::StateId;
use super::witness;

impl<S: ExplicitState, M: Model> Search<'_, S, M> {
    /// Lets the monitors look at the state with empty buffers, if it is here and nothing is possible in it.
    pub(super) fn look_at_end(
        &mut self,
        id: StateId,
        key: Key,
        languages: &[Language],
        collector: &mut Collector,
    ) -> Option<StopReason> {
        if !languages.iter().all(|&language| self.world.buffers.automata.has_empty_word(language)) {
            return None;
        }
        if !self.world.is_final() {
            return None;
        }
        // A thread that drains has nothing left to drain here.
        self.world.at.draining.fill(false);
        let number = self.world.intern().0 as usize;
        if self.ended.len() <= number {
            self.ended.resize(number + 1, false);
        }
        if std::mem::replace(&mut self.ended[number], true) {
            return None;
        }
        let end: Ending = ending(&self.world.at.subject);
        let point = self.world.at.clone();
        let trace = Trace::default();
        let view = View { trace: &trace, events: &[], state: &point, failure: None };
        let schedule = RefCell::new(self);
        let flow = collector.watch_end(&view, &end, || {
            let mut search = schedule.borrow_mut();
            let words = vec![Vec::new(); search.world.at.draining.len()];
            let items = search.states.path(None, id);
            search.schedule(&items, words)
        });
        schedule.borrow_mut().world.visit(key);
        stop_of(flow)
    }

    /// Lets the monitors look at a step in which a thread goes wrong.
    pub(super) fn report(
        &mut self,
        id: StateId,
        last: &[Item],
        (key, languages): (Key, &[Language]),
        failure: (ThreadId, Failure),
        collector: &mut Collector,
    ) -> Option<StopReason> {
        self.world.visit(key);
        let point = self.world.at.clone();
        let trace = Trace::default();
        let view = View { trace: &trace, events: &[], state: &point, failure: Some(failure) };
        let search = RefCell::new(self);
        let flow = collector.watch_step(&view, || {
            let mut search = search.borrow_mut();
            let mut items = search.states.path(None, id);
            items.extend_from_slice(last);
            let shortest = |&language: &Language| search.world.buffers.automata.shortest(language);
            let words = languages.iter().map(|l| shortest(l).expect("no language of a state is empty")).collect();
            search.schedule(&items, words)
        });
        stop_of(flow)
    }

    /// An execution along a path from the beginning.
    pub(super) fn schedule(&mut self, items: &[Item], words: witness::Words) -> Schedule {
        if self.settings.coarse.is_some() {
            return Schedule::Steps(Vec::new());
        }
        let start = vec![Language::EPSILON; words.len()];
        Schedule::Steps(witness::steps(&mut self.world, &mut self.cycles, items, &start, words))
    }
}
