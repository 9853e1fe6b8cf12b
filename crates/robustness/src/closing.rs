//! Which store and which access close a cycle in an execution of a model.

use teetotal_judge::monitors::robustness::{Attempt, Delay, Site};
use teetotal_memory::relations;
use teetotal_memory::{Event, EventId, ModelId, Trace};
use teetotal_program::ir::{Instruction, Program};

/// The stores that were in their buffers when something later of their threads happened, and the accesses to their
/// locations that happened meanwhile and come after that.
///
/// Where the cycle has no such pair, it is because what is one moment under sequential consistency, see [`group`], was
/// several: then it is a store and an access of its location that each come before the other. Where there is no cycle,
/// it is because a thread is blocked forever that would not be: then it is a store that was in its buffer at an access.
pub(super) fn delays_of(program: &Program, model: ModelId, trace: &Trace) -> Vec<Delay> {
    let closing = |waiting_parts| Closing::new(trace, group(program, trace, waiting_parts));
    let parted = closing(true);
    let mut pairs = parted.overtaken();
    if pairs.is_empty() {
        let pair = parted.entangled().or_else(|| closing(false).entangled()).or_else(|| parted.pending());
        pairs = pair.into_iter().collect();
    }
    let delay =
        |(access, store): (EventId, EventId)| delay(program, model, (store, trace.event(store)), trace.event(access));
    pairs.into_iter().filter_map(delay).collect()
}

struct Closing<'t> {
    trace: &'t Trace,
    groups: Vec<usize>,
    after: Vec<Vec<bool>>,
    /// Accesses, each with a store that reaches memory after it.
    accesses: Vec<(EventId, EventId)>,
}

impl<'t> Closing<'t> {
    fn new(trace: &'t Trace, groups: Vec<usize>) -> Self {
        let after = between(&groups, trace);
        let (read, written) = (relations::from_read(trace), relations::coherence(trace));
        let mut accesses: Vec<_> = read.pairs().chain(written.pairs()).collect();
        accesses.sort_unstable_by_key(|&(access, store)| (store, access));
        Closing { trace, groups, after, accesses }
    }

    fn is_after(&self, first: EventId, second: EventId) -> bool {
        self.after[self.groups[first.index()]][self.groups[second.index()]]
    }

    fn differ(&self, first: EventId, second: EventId) -> bool {
        self.groups[first.index()] != self.groups[second.index()]
    }

    /// Whether `event` happened while `store` was in its buffer.
    fn meanwhile(&self, store: EventId, event: EventId) -> bool {
        let (store, event) = (self.trace.event(store), self.trace.event(event));
        let happened = if event.is_store() { event.committed } else { Some(event.step) };
        let left = |happened| store.committed.is_none_or(|at| at > happened);
        store.is_store() && happened.is_some_and(|happened| store.step < happened && left(happened))
    }

    fn overtaken(&self) -> Vec<(EventId, EventId)> {
        let leads_to = |store: EventId, access: EventId| {
            let thread = self.trace.event(store).thread;
            let mut later = self.trace.ids().filter(|(id, event)| *id > store && event.thread == thread);
            later.any(|(id, _)| self.differ(store, id) && self.meanwhile(store, id) && self.is_after(id, access))
        };
        let pairs = self.accesses.iter().copied();
        pairs.filter(|&(access, store)| self.meanwhile(store, access) && leads_to(store, access)).collect()
    }

    fn pending(&self) -> Option<(EventId, EventId)> {
        self.accesses.iter().copied().find(|&(access, store)| self.meanwhile(store, access))
    }

    fn entangled(&self) -> Option<(EventId, EventId)> {
        let mut pairs = self.accesses.clone();
        pairs.extend(relations::reads_from(self.trace).pairs().map(|(store, read)| (read, store)));
        let is_tied = |access, store| self.is_after(store, access) && self.is_after(access, store);
        pairs.into_iter().find(|&(access, store)| {
            self.trace.event(store).is_store() && self.differ(access, store) && is_tied(access, store)
        })
    }
}

fn delay(program: &Program, model: ModelId, (store, late): (EventId, &Event), early: &Event) -> Option<Delay> {
    let site = |event: &Event| Site { thread: event.thread, place: event.place };
    let instruction = program.threads[early.thread.index()].code.get(early.place as usize)?;
    Some(Delay {
        store,
        store_at: site(late),
        access_at: site(early),
        loc: late.loc?,
        index: early.index,
        waits: Attempt::waits_of(model, instruction),
        fence_helps: None,
    })
}

/// For each event, the step of sequential consistency that it belongs to.
///
/// The events of one step are together, and those of an atomic section. Where `waiting_parts` is set, it is
/// parted where its thread may have had to wait for another that went on.
fn group(program: &Program, trace: &Trace, waiting_parts: bool) -> Vec<usize> {
    let mut groups: Vec<usize> = Vec::new();
    let mut newest: Vec<Option<EventId>> = vec![None; trace.n_threads()];
    for (id, event) in trace.ids() {
        let thread = &program.threads[event.thread.index()];
        let place = event.place as usize;
        let waits = thread.code.get(place).is_some_and(Instruction::may_block);
        let goes_on = thread.places.get(place).is_some_and(|place| place.exclusive);
        let group = newest[event.thread.index()].filter(|&last| {
            let switched = trace.events()[last.index() + 1..id.index()].iter().any(|e| e.thread != event.thread);
            trace.event(last).step == event.step || (goes_on && !(waiting_parts && waits && switched))
        });
        groups.push(group.map_or(id.index(), |last| groups[last.index()]));
        newest[event.thread.index()] = Some(id);
    }
    groups
}

/// Which groups come before which, directly or by way of others.
fn between(groups: &[usize], trace: &Trace) -> Vec<Vec<bool>> {
    let n = groups.len();
    let mut before = vec![vec![false; n]; n];
    for (from, to) in relations::happens_before(trace).pairs() {
        let (from, to) = (groups[from.index()], groups[to.index()]);
        before[from][to] |= from != to;
    }
    for by in 0..n {
        let row = before[by].clone();
        for from in before.iter_mut().filter(|from| from[by]) {
            from.iter_mut().zip(&row).for_each(|(to, also)| *to |= also);
        }
    }
    before
}
