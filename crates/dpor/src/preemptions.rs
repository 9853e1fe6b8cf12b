//! How few preemptions an execution with a given graph may have.
//!
//! Each event waits for what comes before it in the order of the graph. A store leaves its buffer as soon as it may, which
//! is no affair of its thread. What comes before an event is not less when events are added, so the answer does not fall.
//!
//! A thread that goes on as far as it can never needs more preemptions later than one that stops before, since what has
//! happened only lets others go on. So only the thread to go on next is tried out, and only where one cannot go on.
//! To leave a thread that has ended or that waits for another is no preemption. One that waits for its own stores can go
//! on, since these can leave the buffer at any time.

use std::collections::BTreeMap;

use teetotal_program::ThreadId;

use super::bits::Bits;
use super::consistency::Consistency;
use super::graph::{Graph, NONE, Role, Slot};

/// The events of a graph, to be performed one after the other.
pub(super) struct Schedules<'g, C: Consistency, const N: usize> {
    graph: &'g Graph<C, N>,
    /// For each thread its events, oldest first.
    threads: Vec<Vec<Event>>,
    /// The nodes that are no events of an execution: blocked reads.
    none: Bits<N>,
}

/// An event, or both halves of a read-modify-write.
#[derive(Clone, Copy)]
struct Event {
    slot: Slot,
    /// The other half, if there is one.
    half: Slot,
    /// Whether its operation is one that waits until it can go on.
    waits: bool,
    /// Whether it is a store that enters a buffer.
    is_buffered: bool,
}

/// An event at the end of a thread that the graph does not have.
#[derive(Clone, Copy)]
pub(super) struct More<const N: usize> {
    pub(super) thread: ThreadId,
    pub(super) slot: Slot,
    /// What comes before it.
    pub(super) order: Bits<N>,
    /// What comes before it enters the buffer, if it does.
    pub(super) floor: Option<Bits<N>>,
    /// The write of the graph that it comes before, if there is one.
    pub(super) before: Slot,
}

impl<'g, C: Consistency, const N: usize> Schedules<'g, C, N> {
    /// Those of `graph`.
    pub(super) fn new(graph: &'g Graph<C, N>) -> Self {
        let events = |index| events(graph, ThreadId::at(index));
        let lasts = (0..graph.n_threads()).map(|index| graph.events(ThreadId::at(index)).last);
        let mut none = graph.retried();
        lasts.filter(|&last| last != NONE && graph.node(last).role == Role::Blocked).for_each(|last| none.insert(last));
        Schedules { graph, threads: (0..graph.n_threads()).map(events).collect(), none }
    }

    /// Whether those in `kept` can all happen with at most `bound` preemptions, and `more` after them in their threads.
    pub(super) fn need_at_most(&self, kept: &Bits<N>, bound: u64, more: &[More<N>]) -> bool {
        let is_kept = |event: &Event| kept.has(event.slot) || event.half != NONE && kept.has(event.half);
        let lengths: Vec<u32> = self.threads.iter().map(|events| events.partition_point(is_kept) as u32).collect();
        let mut ends = lengths.clone();
        more.iter().for_each(|more| ends[more.thread.index()] += 1);
        let (graph, threads) = (self.graph, &self.threads[..]);
        let mut search = Search { graph, threads, kept, lengths, ends, more, tried: BTreeMap::new() };
        let positions = vec![0; self.threads.len()];
        let start = At { positions, happened: self.none, pending: Vec::new() };
        search.can_end(&start, None, bound)
    }
}

/// The search for an order with few preemptions.
struct Search<'s, C: Consistency, const N: usize> {
    graph: &'s Graph<C, N>,
    threads: &'s [Vec<Event>],
    kept: &'s Bits<N>,
    /// How many events of each thread are kept, and how many there are with those that the graph does not have.
    lengths: Vec<u32>,
    ends: Vec<u32>,
    more: &'s [More<N>],
    /// How many preemptions were left where going on did not help, for each place and the thread that was left there.
    tried: BTreeMap<(Vec<u32>, usize), u64>,
}

/// How far the threads are.
#[derive(Clone)]
struct At<const N: usize> {
    positions: Vec<u32>,
    happened: Bits<N>,
    /// Stores that are in buffers.
    pending: Vec<Slot>,
}

impl<C: Consistency, const N: usize> Search<'_, C, N> {
    /// Whether everything can happen from here on with at most `left` preemptions, when `last` went on last.
    fn can_end(&mut self, at: &At<N>, last: Option<usize>, left: u64) -> bool {
        if at.positions == self.ends {
            return true;
        }
        let is_free = last.is_none_or(|last| at.positions[last] == self.ends[last] || self.waits(at, last));
        let Some(left) = left.checked_sub(u64::from(!is_free)) else { return false };
        let key = (at.positions.clone(), last.filter(|_| !is_free).unwrap_or(usize::MAX));
        if self.tried.get(&key).is_some_and(|&tried| tried >= left) {
            return false;
        }
        self.tried.insert(key, left);
        for index in 0..self.threads.len() {
            if Some(index) != last
                && let Some(next) = self.go_on(at, index)
                && self.can_end(&next, Some(index), left)
            {
                return true;
            }
        }
        false
    }

    /// The event of a thread at a position before its end.
    fn event(&self, index: usize, position: u32) -> Event {
        if position < self.lengths[index] {
            let event = self.threads[index][position as usize];
            // Of a pair that is kept in part, the read is an event.
            return if self.kept.has(event.slot) { event } else { Event { slot: event.half, half: NONE, ..event } };
        }
        let mut more = self.more.iter().filter(|more| more.thread.index() == index);
        let more = more.nth((position - self.lengths[index]) as usize).expect("it comes before the end of its thread");
        Event { slot: more.slot, half: NONE, waits: false, is_buffered: more.floor.is_some() }
    }

    /// Lets a thread go on as far as it can, if it can at all.
    fn go_on(&self, at: &At<N>, index: usize) -> Option<At<N>> {
        let first = at.positions[index];
        if first == self.ends[index] || !self.is_possible(self.event(index, first), &at.happened) {
            return None;
        }
        let mut next = at.clone();
        let mut position = first;
        while position < self.ends[index] {
            let event = self.event(index, position);
            if !self.is_possible(event, &next.happened) {
                break;
            }
            if event.is_buffered {
                next.pending.push(event.slot);
            } else {
                next.happened.insert(event.slot);
            }
            if event.half != NONE {
                next.happened.insert(event.half);
            }
            position += 1;
            self.commit_all(&mut next);
        }
        next.positions[index] = position;
        Some(next)
    }

    /// Lets every store leave its buffer that may.
    fn commit_all(&self, at: &mut At<N>) {
        let mut index = 0;
        while index < at.pending.len() {
            let slot = at.pending[index];
            if self.comes_next(slot, NONE, &at.happened) {
                at.happened.insert(slot);
                at.pending.swap_remove(index);
                index = 0;
            } else {
                index += 1;
            }
        }
    }

    /// Whether an event can be performed, or enter the buffer, when this has `happened`.
    fn is_possible(&self, event: Event, happened: &Bits<N>) -> bool {
        if !event.is_buffered {
            return self.comes_next(event.slot, event.half, happened)
                && (event.half == NONE || self.comes_next(event.half, event.slot, happened));
        }
        match self.new_one(event.slot) {
            Some(more) => more.floor.is_none_or(|floor| floor.is_within_of(self.kept, happened)),
            None => {
                let node = self.graph.node(event.slot);
                let view = self.graph.view_after(node.before, self.graph.events(node.thread));
                C::performed_after(&view).is_within_of(self.kept, happened)
            }
        }
    }

    /// Whether all but `except` has happened that comes before `slot`.
    fn comes_next(&self, slot: Slot, except: Slot, happened: &Bits<N>) -> bool {
        if let Some(more) = self.new_one(slot) {
            return more.order.is_within(happened);
        }
        if self.more.iter().any(|more| more.before == slot && !happened.has(more.slot)) {
            return false;
        }
        let order = C::happens_after(&self.graph.node(slot).label);
        order.is_within_of(self.kept, happened)
            || except != NONE && order.has(except) && {
                let mut with = *happened;
                with.insert(except);
                order.is_within_of(self.kept, &with)
            }
    }

    fn new_one(&self, slot: Slot) -> Option<&More<N>> {
        self.more.iter().find(|more| more.slot == slot)
    }

    /// Whether the next event of a thread, which cannot happen yet, is one that waits for others.
    fn waits(&self, at: &At<N>, index: usize) -> bool {
        let event = self.event(index, at.positions[index]);
        event.waits && (event.half == NONE || self.is_held(at, self.graph.node(event.slot).loc()))
    }

    /// Whether a thread holds the lock at `loc`.
    fn is_held(&self, at: &At<N>, loc: usize) -> bool {
        let mut write = self.graph.location(loc).newest;
        while write != NONE && !at.happened.has(write) {
            write = self.graph.node(write).co_before;
        }
        match write {
            NONE => self.graph.location(loc).initial != 0,
            write => {
                let node = self.graph.node(write);
                node.role == Role::UpdateWrite && self.graph.node(node.before).waits
            }
        }
    }
}

/// The events of a thread, oldest first.
fn events<C: Consistency, const N: usize>(graph: &Graph<C, N>, thread: ThreadId) -> Vec<Event> {
    let mut events = Vec::new();
    let mut slot = graph.events(thread).last;
    while slot != NONE {
        let node = graph.node(slot);
        let half = if node.role == Role::UpdateWrite { node.before } else { NONE };
        let first = if half == NONE { node } else { graph.node(half) };
        if !matches!(node.role, Role::Blocked | Role::Retried) {
            let is_buffered = C::is_buffered(graph, node.role);
            events.push(Event { slot, half, waits: first.waits, is_buffered });
        }
        slot = first.before;
    }
    events.reverse();
    events
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::Arc;

    use teetotal_engine::{Schedule, System, trace_of};
    use teetotal_generate::{Shape, generate};
    use teetotal_memory::models::{Pso, Sc, Tso};
    use teetotal_memory::{Model, Step, Trace};
    use teetotal_program::Value;
    use teetotal_program::ir::{Interpreter, Program};

    use super::*;
    use crate::consistency::StoreBuffers;
    use crate::execution::CompleteGraph;
    use crate::unsupported;
    use crate::walk::{Reached, Walk};

    /// For each trace the fewest preemptions of an execution that has it; nothing if there are too many executions.
    struct Fewest<M> {
        by_trace: HashMap<Vec<Value>, u64>,
        n_executions: u32,
        model: std::marker::PhantomData<M>,
    }

    impl<M: Model> Fewest<M> {
        fn go_on(
            &mut self,
            system: &System<Interpreter, M>,
            trace: &Trace,
            last: Option<ThreadId>,
            count: u64,
        ) -> bool {
            let (mut system, mut steps) = (system.clone(), Vec::new());
            system.enabled(&mut steps);
            if steps.is_empty() {
                self.n_executions += 1;
                let fewest = self.by_trace.entry(trace.key()).or_insert(count);
                *fewest = count.min(*fewest);
            }
            let could_go_on = |thread| {
                let (mut drained, mut steps) = (system.clone(), Vec::new());
                drained.enabled(&mut steps);
                while let Some(&commit) = steps.iter().find(|step| step.is_commit() && step.thread() == thread) {
                    drained.perform(commit, &mut trace.clone());
                    drained.enabled(&mut steps);
                }
                steps.iter().any(|step| !step.is_commit() && step.thread() == thread)
            };
            steps.iter().all(|&step| {
                let (mut next, mut longer) = (system.clone(), trace.clone());
                next.perform(step, &mut longer);
                let (last, count) = match (step, last) {
                    (Step::Commit { .. }, _) => (last, count),
                    (_, Some(last)) if last != step.thread() && could_go_on(last) => (Some(step.thread()), count + 1),
                    _ => (Some(step.thread()), count),
                };
                self.n_executions < 4_000 && self.go_on(&next, &longer, last, count)
            })
        }
    }

    /// How many traces there are, and of how many the answer is the fewest preemptions and not less.
    fn compare<M: Model>(program: &Arc<Program>) -> (u32, u32) {
        let subject = Interpreter::new(Arc::clone(program));
        let mut fewest = Fewest::<M> { by_trace: HashMap::new(), n_executions: 0, model: std::marker::PhantomData };
        if !fewest.go_on(&System::new(subject.clone()), &Trace::default(), None, 0) {
            return (0, 0);
        }
        let mut walk = Walk::<_, _, 1>::new(subject, StoreBuffers::of(M::ID));
        let (mut reached, mut traces, mut exact) = (Reached::Extended, 0, 0);
        loop {
            reached = match reached {
                Reached::Extended => walk.descend(),
                _ => match walk.next(0) {
                    Some(reached) => reached,
                    None => return (traces, exact),
                },
            };
            if reached == Reached::Complete && walk.is_execution() {
                let schedules = Schedules::new(&walk.graph);
                let alive = walk.graph.alive();
                let needed =
                    (0..).find(|&bound| schedules.need_at_most(&alive, bound, &[])).expect("there is an order");
                let key = trace_of(program, M::ID, &Schedule::Steps(walk.steps())).trace.key();
                assert!(
                    needed <= fewest.by_trace[&key],
                    "{needed} of {} under {:?}:\n{program}",
                    fewest.by_trace[&key],
                    M::ID
                );
                traces += 1;
                exact += u32::from(needed == fewest.by_trace[&key]);
            }
        }
    }

    #[test]
    fn the_answer_is_never_too_high_and_hardly_ever_too_low() {
        let (mut traces, mut exact) = (0, 0);
        for seed in 0..400 {
            let program = Arc::new(generate(seed, &Shape::full()));
            if unsupported(&program).is_none() {
                for (n, of) in [compare::<Sc>(&program), compare::<Tso>(&program), compare::<Pso>(&program)] {
                    (traces, exact) = (traces + n, exact + of);
                }
            }
        }
        assert!(traces > 1_000 && exact * 100 > traces * 95, "{exact} of {traces}");
    }

    /// The traces of the executions that need at most `fewest` preemptions, found with a bound or without.
    fn found<M: Model>(program: &Arc<Program>, bound: Option<u64>, fewest: u64) -> HashSet<Vec<Value>> {
        let mut walk = Walk::<_, _, 1>::new(Interpreter::new(Arc::clone(program)), StoreBuffers::of(M::ID));
        walk.bound = bound;
        let (mut reached, mut found) = (Reached::Extended, HashSet::new());
        loop {
            reached = match reached {
                Reached::Extended => walk.descend(),
                _ => match walk.next(0) {
                    Some(reached) => reached,
                    None => return found,
                },
            };
            if reached == Reached::Complete && walk.is_execution() {
                let schedules = Schedules::new(&walk.graph);
                if schedules.need_at_most(&walk.graph.alive(), fewest, &[]) {
                    found.insert(trace_of(program, M::ID, &Schedule::Steps(walk.steps())).trace.key());
                }
            }
        }
    }

    /// An execution within the bound may be found only on a path that leads out of it.
    #[test]
    fn hardly_an_execution_within_the_bound_is_left_out() {
        let (mut wanted, mut got) = (0, 0);
        for seed in 0..600 {
            let program = Arc::new(generate(seed, &Shape::full()));
            if unsupported(&program).is_none() && program.threads.len() > 2 {
                let all = found::<Pso>(&program, None, 1);
                assert_eq!(found::<Pso>(&program, Some(100), 1), all, "{program}");
                let bounded = found::<Pso>(&program, Some(1), 1);
                assert!(bounded.is_subset(&all));
                (wanted, got) = (wanted + all.len(), got + bounded.len());
            }
        }
        assert!(wanted > 500 && got * 100 > wanted * 99, "{got} of {wanted}");
    }
}
