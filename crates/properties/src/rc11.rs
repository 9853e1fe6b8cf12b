//! RC11 allows every execution of the other models.
//!
//! So a program that is correct under it never fails under them.

use teetotal_judge::axiomatic::{Rejection, accepts_in_rc11};
use teetotal_memory::{Event, EventKind, Model, Trace};
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
        judge(&case.program, trace)
            .map_err(|rejection| format!("RC11 forbids an execution: {rejection}\nin {:?}", trace.steps()))
    })
}

/// Whether `trace`, an execution of `program`, is consistent.
fn judge(program: &Program, trace: &Trace) -> Result<(), Rejection> {
    accepts_in_rc11(trace, &|event| order_as_written(program, event))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use teetotal_generate::program;
    use teetotal_judge::axiomatic::Axiom;
    use teetotal_memory::models::{Pso, Sc, Tso};
    use teetotal_memory::{EventId, Recorder, Source};
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
        let judged = judge(&program, &rewrite(trace, change)).map_err(|rejection| match rejection {
            Rejection::Cyclic { axiom, .. } => axiom,
            other => panic!("{other}"),
        });
        assert_eq!(judged, expected);
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
        check::<Tso>(STORE_BUFFERING, &[0, 0], all_to(Order::SeqCst), Err(Axiom::PartialSc));
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
        check::<Tso>(text, &[0, 0], strengthen, Err(Axiom::PartialSc));
    }

    #[test]
    fn a_full_fence_orders_a_sequentially_consistent_pair_on_the_other_side() {
        let text = "x = 1; fence.ar; r0 = y || y = 1; r1 = x";
        let strengthen = |event: &mut Event| {
            if event.kind == EventKind::Fence || event.thread == ThreadId(1) {
                event.order = Order::SeqCst;
            }
        };
        check::<Tso>(text, &[0, 0], strengthen, Err(Axiom::PartialSc));
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
                let reads = trace.events().iter().filter(|event| event.is_read());
                reads.for_each(|event| {
                    let written = [Order::SeqCst, Order::Relaxed][event.thread.index()];
                    assert_eq!(order_as_written(&program, event), written);
                });
            }
        }
    }
}
