//! RC11, the model of C and Rust, allows every execution, so that a program that is correct there never fails here.
//!
//! It orders events by what is written (`sb`, `sw`, `hb`) and by what was seen (`rf`, `co`, `fr`, `eco`), and has four
//! axioms: the two orders agree at each location (coherence), nothing comes between the halves of a read-modify-write
//! (atomicity), the sequentially consistent events have an order (SC), and no value comes out of thin air.
//!
//! Definition: [RC11, Def. 1]. We differ in six ways:
//! 1. A read-modify-write is one event and not two; given atomicity, the axioms say the same of it.
//! 2. Initial writes are implicit: they come before everything and nothing before them, so they are on no cycle.
//! 3. A release sequence is that of C++20 and Rust: a write and the read-modify-writes that read from it in a chain. The
//!    paper lets later writes of the same thread continue it.
//! 4. A plain access counts as relaxed, since races are not the question here.
//! 5. A spawn comes before all of its thread and a join after it; a lock acquires and an unlock releases at least. An
//!    await is one load for each of its locations and a global fence is a full one, which allows more than they do.
//! 6. Exclusive stretches are not looked at; they only take executions away.

use teetotal_memory::relations::{Relation, coherence, from_read, reads_from};
use teetotal_memory::{Event, EventId, EventKind, Model, Trace};
use teetotal_program::ir::{Instruction, Program};
use teetotal_program::{OnFailure, Order};

use crate::everything::under_every_model;
use crate::{Case, Verdict};

/// Every trace of every machine is consistent.
pub(super) fn allows(case: &Case) -> Verdict {
    under_every_model!(allows_under, case)
}

fn allows_under<M: Model>(case: &Case) -> Verdict {
    let mut traces = case.everything::<M>().traces.values();
    traces.try_for_each(|(trace, _)| {
        judge(&case.program, trace).map_err(|forbidden| {
            let events: Vec<&Event> = forbidden.events.iter().map(|&id| trace.event(id)).collect();
            format!("RC11 forbids an execution by {:?}: {events:#?}\nin {:?}", forbidden.axiom, trace.steps())
        })
    })
}

/// What an execution has to obey.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Axiom {
    Coherence,
    Atomicity,
    SequentialConsistency,
    NoThinAir,
}

/// The axiom that an execution breaks, and the events on a cycle that shows it.
#[derive(Debug)]
struct Forbidden {
    axiom: Axiom,
    events: Vec<EventId>,
}

/// Whether `trace`, an execution of `program`, is consistent. [RC11, Def. 1]
fn judge(program: &Program, trace: &Trace) -> Result<(), Forbidden> {
    let x = Execution::new(program, trace);
    let forbid = |axiom, events| Err(Forbidden { axiom, events });
    if let Some((a, b)) = x.hb.pairs().find(|&(a, b)| a == b || x.eco.has(b, a)) {
        return forbid(Axiom::Coherence, vec![a, b]);
    }
    if let Some((a, b)) = x.fr.pairs().find(|&(a, b)| x.co.has(b, a)) {
        return forbid(Axiom::Atomicity, vec![a, b]);
    }
    if let Some(events) = x.partial_sc().cycle() {
        return forbid(Axiom::SequentialConsistency, events);
    }
    if let Some(events) = union(&[&x.sb, &x.threads, &x.rf]).cycle() {
        return forbid(Axiom::NoThinAir, events);
    }
    Ok(())
}

/// A trace and its relations.
struct Execution<'t> {
    trace: &'t Trace,
    /// One for each event.
    orders: Vec<Order>,
    /// Sequenced-before: the order within each thread.
    sb: Relation,
    /// What spawns and joins add to it.
    threads: Relation,
    rf: Relation,
    co: Relation,
    fr: Relation,
    /// Happens-before, closed.
    hb: Relation,
    /// Extended coherence: `rf`, `co` and `fr`, closed.
    eco: Relation,
}

impl<'t> Execution<'t> {
    fn new(program: &Program, trace: &'t Trace) -> Self {
        let (rf, co, fr) = (reads_from(trace), coherence(trace), from_read(trace));
        let sb = pairs_where(trace, |(_, a), (_, b)| a.thread == b.thread && a.index < b.index);
        let orders = trace.events().iter().map(|event| order_as_written(program, event)).collect();
        let (threads, eco) = (across_threads(trace), union(&[&rf, &co, &fr]).closure());
        let mut execution = Execution { trace, orders, hb: sb.clone(), sb, threads, rf, co, fr, eco };
        execution.hb = union(&[&execution.sb, &execution.threads, &execution.synchronizes_with()]).closure();
        execution
    }

    fn order(&self, id: EventId) -> Order {
        self.orders[id.index()]
    }

    /// Synchronizes-with (`sw`): from a release to an acquire that reads from its release sequence.
    fn synchronizes_with(&self) -> Relation {
        // What is released by which write, and what acquires by which read.
        let releases = pairs_where(self.trace, |(a, event), (write, written)| {
            let by_fence = is_fence(event) && self.sb.has(a, write);
            written.is_write() && self.order(a).releases() && (a == write || by_fence)
        });
        let acquires = pairs_where(self.trace, |(read, seen), (b, event)| {
            let by_fence = is_fence(event) && self.sb.has(read, b);
            seen.is_read() && self.order(b).acquires() && (read == b || by_fence)
        });
        let mut sequences = filter(&self.rf, |_, b| self.trace.event(b).is_write()).closure();
        self.trace.ids().for_each(|(id, _)| sequences.add(id, id));
        compose(&compose(&compose(&releases, &sequences), &self.rf), &acquires)
    }

    /// Partial SC order (`psc`): what the order of sequentially consistent events has to respect.
    fn partial_sc(&self) -> Relation {
        let is_sc = |id| self.order(id) == Order::SeqCst;
        let is_sc_fence = |(id, event): (EventId, &Event)| is_sc(id) && is_fence(event);
        let same_loc = |a, b| self.trace.event(a).loc.is_some_and(|loc| self.trace.event(b).loc == Some(loc));

        let elsewhere = filter(&self.sb, |a, b| !same_loc(a, b));
        let around = compose(&compose(&elsewhere, &self.hb), &elsewhere);
        let here = filter(&self.hb, same_loc);
        // SC-before (`scb`).
        let before = union(&[&self.sb, &around, &here, &self.co, &self.fr]);

        let first = pairs_where(self.trace, |a, (b, _)| a.0 == b && is_sc(b) || is_sc_fence(a) && self.hb.has(a.0, b));
        let last = pairs_where(self.trace, |(a, _), b| a == b.0 && is_sc(a) || is_sc_fence(b) && self.hb.has(a, b.0));
        let base = compose(&compose(&first, &before), &last);

        let seen = compose(&compose(&self.hb, &self.eco), &self.hb);
        let fence = filter(&union(&[&self.hb, &seen]), |a, b| {
            [a, b].into_iter().all(|id| is_sc_fence((id, self.trace.event(id))))
        });
        union(&[&base, &fence])
    }
}

/// The order that the source gives an event, whatever a machine makes of it.
fn order_as_written(program: &Program, event: &Event) -> Order {
    match event.kind {
        EventKind::Load | EventKind::Store | EventKind::Rmw | EventKind::Fence | EventKind::GlobalFence => event.order,
        EventKind::FailedRmw => match &program.threads[event.thread.index()].code[event.place as usize] {
            Instruction::Rmw { update, .. } => match update.on_failure() {
                OnFailure::Load(order) => order,
                OnFailure::Locked => event.order,
            },
            _ => event.order,
        },
        EventKind::Lock => match event.order {
            Order::Plain | Order::Relaxed => Order::Acquire,
            Order::Release => Order::AcqRel,
            order => order,
        },
        EventKind::Unlock => match event.order {
            Order::Plain | Order::Relaxed => Order::Release,
            Order::Acquire => Order::AcqRel,
            order => order,
        },
        EventKind::Spawn(_) | EventKind::Join(_) | EventKind::Choose => Order::Relaxed,
    }
}

fn is_fence(event: &Event) -> bool {
    matches!(event.kind, EventKind::Fence | EventKind::GlobalFence)
}

/// From each spawn to its thread, from that to each join, and from the spawn to the join.
fn across_threads(trace: &Trace) -> Relation {
    // A thread is started once; whoever spawns it again fails.
    let is_start =
        |id, child| trace.ids().find(|(_, e)| e.kind == EventKind::Spawn(child)).is_some_and(|(s, _)| s == id);
    pairs_where(trace, |(a, first), (_, second)| match (first.kind, second.kind) {
        (EventKind::Spawn(child), EventKind::Join(joined)) if child == joined => is_start(a, child),
        (EventKind::Spawn(child), _) if child == second.thread => is_start(a, child),
        (_, EventKind::Join(joined)) => joined == first.thread,
        _ => false,
    })
}

/// The pairs of events that are `related`.
fn pairs_where(trace: &Trace, related: impl Fn((EventId, &Event), (EventId, &Event)) -> bool) -> Relation {
    let mut relation = Relation::empty(trace.events().len());
    for a in trace.ids() {
        trace.ids().filter(|&b| related(a, b)).for_each(|b| relation.add(a.0, b.0));
    }
    relation
}

/// The pairs of `relation` to `keep`.
fn filter(relation: &Relation, keep: impl Fn(EventId, EventId) -> bool) -> Relation {
    let mut kept = Relation::empty(relation.n_events());
    relation.pairs().filter(|&(a, b)| keep(a, b)).for_each(|(a, b)| kept.add(a, b));
    kept
}

fn union(relations: &[&Relation]) -> Relation {
    let mut all = Relation::empty(relations[0].n_events());
    relations.iter().for_each(|relation| all.add_all(relation));
    all
}

/// `first; second`: the pairs with an event between them.
fn compose(first: &Relation, second: &Relation) -> Relation {
    let mut composed = Relation::empty(first.n_events());
    for (a, b) in first.pairs() {
        let ends = (0..first.n_events()).map(EventId::at).filter(|&c| second.has(b, c));
        ends.for_each(|c| composed.add(a, c));
    }
    composed
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use teetotal_generate::program;
    use teetotal_memory::models::{Pso, Sc, Tso};
    use teetotal_memory::{Recorder, Source};
    use teetotal_program::{Loc, ThreadId, Value};

    use super::*;
    use crate::everything::Everything;

    /// What `judge` says of the execution of `text` under `M` with these reads, thread by thread, once `change` has
    /// made it one that the machine does not have.
    #[track_caller]
    fn check<M: Model>(text: &str, reads: &[Value], change: impl Fn(&mut Event), expected: Result<(), Axiom>) {
        let program = Arc::new(program(text));
        let everything = Everything::of::<M>(&program);
        let reads_of = |trace: &Trace| -> Vec<Value> {
            let mut events = trace.events().to_vec();
            events.sort_by_key(|event| (event.thread, event.index));
            events.iter().filter_map(|event| event.read).collect()
        };
        let mut traces = everything.traces.values().map(|(trace, _)| trace);
        let trace = traces.find(|trace| reads_of(trace) == reads).expect("there is such an execution");
        assert_eq!(judge(&program, &rewrite(trace, change)).map_err(|forbidden| forbidden.axiom), expected);
    }

    fn rewrite(trace: &Trace, change: impl Fn(&mut Event)) -> Trace {
        let mut rewritten = Trace::default();
        for (number, record) in (0..).zip(trace.steps()) {
            Recorder::step(&mut rewritten, record.step);
            for mut event in trace.events().iter().copied().filter(|event| event.step == number) {
                change(&mut event);
                Recorder::event(&mut rewritten, event);
            }
        }
        rewritten
    }

    fn nothing(_: &mut Event) {}

    fn all_to(order: Order) -> impl Fn(&mut Event) {
        move |event| event.order = order
    }

    /// Makes stores release and loads acquire.
    fn publish(event: &mut Event) {
        match event.kind {
            EventKind::Store => event.order = Order::Release,
            EventKind::Load => event.order = Order::Acquire,
            _ => {}
        }
    }

    const STORE_BUFFERING: &str = "x =rlx 1; r0 =rlx y || y =rlx 1; r1 =rlx x";
    const MESSAGE_PASSING: &str = "x =rlx 1; y =rlx 1 || r0 =rlx y; r1 =rlx x";

    #[test]
    fn store_buffering_is_allowed_unless_it_is_sequentially_consistent() {
        check::<Tso>(STORE_BUFFERING, &[0, 0], nothing, Ok(()));
        check::<Tso>(STORE_BUFFERING, &[0, 0], publish, Ok(()));
        check::<Tso>(STORE_BUFFERING, &[0, 0], all_to(Order::SeqCst), Err(Axiom::SequentialConsistency));
    }

    #[test]
    fn store_buffering_across_full_fences_is_forbidden() {
        let text = "x = 1; fence.ar; r0 = y || y = 1; fence.ar; r1 = x";
        let strengthen = |event: &mut Event| {
            if event.kind == EventKind::Fence {
                event.order = Order::SeqCst;
            }
        };
        check::<Tso>(text, &[0, 0], nothing, Ok(()));
        check::<Tso>(text, &[0, 0], strengthen, Err(Axiom::SequentialConsistency));
    }

    #[test]
    fn a_full_fence_orders_a_sequentially_consistent_pair_on_the_other_side() {
        let text = "x = 1; fence.ar; r0 = y || y = 1; r1 = x";
        let strengthen = |event: &mut Event| {
            if event.kind == EventKind::Fence || event.thread == ThreadId(1) {
                event.order = Order::SeqCst;
            }
        };
        check::<Tso>(text, &[0, 0], strengthen, Err(Axiom::SequentialConsistency));
    }

    #[test]
    fn message_passing_is_allowed_unless_the_flag_releases_and_acquires() {
        check::<Pso>(MESSAGE_PASSING, &[1, 0], nothing, Ok(()));
        check::<Pso>(MESSAGE_PASSING, &[1, 0], all_to(Order::Release), Ok(()));
        check::<Pso>(MESSAGE_PASSING, &[1, 0], all_to(Order::Acquire), Ok(()));
        check::<Pso>(MESSAGE_PASSING, &[1, 0], publish, Err(Axiom::Coherence));
    }

    #[test]
    fn message_passing_across_a_release_and_an_acquire_fence_is_forbidden() {
        let text = "x = 1; lfence; y = 1 || r0 = y; lfence; r1 = x";
        let strengthen = |event: &mut Event| {
            if event.kind == EventKind::Fence && event.thread == ThreadId(0) {
                event.order = Order::Release;
            }
        };
        check::<Pso>(text, &[1, 0], nothing, Ok(()));
        check::<Pso>(text, &[1, 0], strengthen, Err(Axiom::Coherence));
        // What PSO would do if a relaxed update did not mind barriers.
        let update = "x = 1; lfence; r0 = add.rlx(y, 1) || r1 =acq y; r2 = x";
        check::<Pso>(update, &[0, 1, 0], nothing, Ok(()));
        check::<Pso>(update, &[0, 1, 0], strengthen, Err(Axiom::Coherence));
    }

    #[test]
    fn a_release_sequence_goes_on_over_an_update_and_not_over_a_later_store() {
        let update = "x = 1; y = 1 || r0 = add.rlx(y, 1) || r1 = y; r2 = x";
        check::<Pso>(update, &[1, 2, 0], publish, Err(Axiom::Coherence));
        let store = "x = 1; y = 1; y = 2 || r0 = y; r1 = x";
        let publish_all_but_the_last = |event: &mut Event| {
            if event.written != Some(2) {
                publish(event);
            }
        };
        check::<Pso>(store, &[2, 0], publish, Err(Axiom::Coherence));
        check::<Pso>(store, &[2, 0], publish_all_but_the_last, Ok(()));
    }

    #[test]
    fn a_lost_update_is_forbidden() {
        let lose = |event: &mut Event| event.source = Some(Source::Initial);
        check::<Sc>("r0 = add.rlx(x, 1) || r0 = add.rlx(x, 1)", &[0, 1], lose, Err(Axiom::Atomicity));
    }

    #[test]
    fn a_value_out_of_thin_air_is_forbidden() {
        let foretell = |event: &mut Event| {
            if event.is_read() {
                event.source = Some(Source::Write(EventId(if event.loc == Some(Loc(0)) { 3 } else { 1 })));
            }
        };
        // The events are numbered as they were issued: one thread after the other.
        check::<Sc>("r0 = x; y = 1 || r1 = y; x = 1", &[0, 1], foretell, Err(Axiom::NoThinAir));
    }

    #[test]
    fn what_rust_cannot_say_may_be_forbidden() {
        // A spawn and an unlock always release there.
        check::<Pso>("x = 1; spawn.rlx P1 || r0 = x", &[0], nothing, Err(Axiom::Coherence));
        let unlock = "lock l; x = 1; unlock.rlx l || lock l; r0 = x";
        check::<Pso>(unlock, &[0, 1, 0, 0], nothing, Err(Axiom::Coherence));
    }

    #[test]
    fn a_failed_exchange_has_its_failure_ordering_under_every_model() {
        let text = "x =sc 1; r0 = cas.rlx/sc(y, 7, 8) || y =sc 1; r1 = cas.sc/rlx(x, 7, 8)";
        let program = Arc::new(program(text));
        for everything in [Everything::of::<Sc>(&program), Everything::of::<Pso>(&program)] {
            for (trace, _) in everything.traces.values() {
                let orders = Execution::new(&program, trace).orders;
                let reads = trace.ids().filter(|(_, event)| event.is_read());
                reads.for_each(|(id, event)| {
                    let written = [Order::SeqCst, Order::Relaxed][event.thread.index()];
                    assert_eq!(orders[id.index()], written);
                });
            }
        }
    }
}
