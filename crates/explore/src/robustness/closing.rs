//! Which store and which access close a cycle in an execution of a model.

use teetotal_judge::monitors::robustness::{Attempt, Delay, Site};
use teetotal_memory::relations;
use teetotal_memory::{Event, EventId, ModelId, Trace};
use teetotal_program::ir::{Instruction, Program};

/// The first store that was in its buffer when an access to its location happened that comes after it.
///
/// Where a stretch was left because its thread had to wait for its buffer, it is a store of the stretch and an access
/// that came between. What is one moment under sequential consistency counts as one step: see [`group`].
pub(super) fn delay_of(program: &Program, model: ModelId, trace: &Trace) -> Option<Delay> {
    let among = |waiting_parts| closing(trace, &group(program, trace, waiting_parts));
    let (access, store) = among(true).or_else(|| among(false))?;
    delay(program, model, (store, trace.event(store)), trace.event(access))
}

/// The access and the store that close a cycle of groups.
fn closing(trace: &Trace, groups: &[usize]) -> Option<(EventId, EventId)> {
    let after = between(groups, trace);
    let mut accesses: Vec<_> = relations::from_read(trace).pairs().chain(relations::coherence(trace).pairs()).collect();
    accesses.sort_unstable_by_key(|&(access, store)| (store, access));
    let is_after = |first: EventId, second: EventId| after[groups[first.index()]][groups[second.index()]];
    let was_pending = |store: EventId, access: EventId| {
        let (late, early) = (trace.event(store), trace.event(access));
        let happened = if early.is_store() { early.committed } else { Some(early.step) };
        happened.is_some_and(|happened| late.step < happened && late.committed.is_none_or(|at| at > happened))
    };
    let differ = |a: EventId, b: EventId| groups[a.index()] != groups[b.index()] && trace.event(b).is_store();
    let overtaken = accesses
        .iter()
        .find(|&&(access, store)| differ(access, store) && was_pending(store, access) && is_after(store, access));
    overtaken.copied().or_else(|| {
        let mut communication: Vec<_> = relations::reads_from(trace).pairs().map(|(from, to)| (to, from)).collect();
        communication.extend(accesses);
        communication
            .into_iter()
            .find(|&(access, store)| differ(access, store) && is_after(store, access) && is_after(access, store))
    })
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
        fence_helps: false,
    })
}

/// For each event, the step of sequential consistency that it belongs to.
///
/// The events of one step are together, and those of a stretch without a switch. Where `waiting_parts` is set, it is
/// parted where its thread may have had to wait for another that went on.
fn group(program: &Program, trace: &Trace, waiting_parts: bool) -> Vec<usize> {
    let mut groups: Vec<usize> = Vec::new();
    let mut newest: Vec<Option<EventId>> = vec![None; trace.n_threads()];
    for (id, event) in trace.ids() {
        let thread = &program.threads[event.thread.index()];
        let place = event.place as usize;
        let waits = matches!(
            thread.code.get(place),
            Some(
                Instruction::Await { .. }
                    | Instruction::Guarded { .. }
                    | Instruction::Lock { .. }
                    | Instruction::Join { .. }
            )
        );
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
