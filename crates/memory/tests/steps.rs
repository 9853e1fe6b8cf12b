//! What is possible under each model, and what a step does.

mod common;

use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{EventKind, Machine, Model, Source, Unrecorded};
use teetotal_program::Snapshot;

use crate::common::Run;

/// The locations of which stores may leave after a thread has performed so many operations.
fn leaving<M: Model>(text: &str, operations: usize) -> Vec<u32> {
    let mut run = Run::<M>::of(text);
    run.issue(&vec![0; operations]);
    run.leaving(0)
}

/// Whether thread 0 can go on after so many operations.
fn can_go_on<M: Model>(text: &str, operations: usize) -> bool {
    let mut run = Run::<M>::of(text);
    run.issue(&vec![0; operations]);
    run.can_go_on(0)
}

#[test]
fn under_sc_a_store_is_in_memory_at_once() {
    let mut run = Run::<Sc>::of("x=1");
    run.issue(&[0]);
    assert_eq!((run.memory(0), run.enabled().len()), (1, 0));
}

#[test]
fn a_load_forwards_from_the_newest_own_store_and_others_read_memory() {
    let mut run = Run::<Tso>::of("x=1; x=2; r0=x || r0=x");
    run.issue(&[0, 0, 0, 1]);
    assert_eq!((run.last_read(0), run.last_read(1)), (Some(2), Some(0)));
    let load = run.trace.events()[2];
    assert!(load.forwarded);
    let other = run.trace.events()[3];
    assert_eq!((other.forwarded, other.source), (false, Some(Source::Initial)));
}

#[test]
fn under_tso_only_the_oldest_store_leaves() {
    assert_eq!(leaving::<Tso>("x=1; y=1", 2), [0]);
    assert_eq!(leaving::<Tso>("x=1; sfence; y=1", 3), [0]);
}

#[test]
fn under_pso_stores_to_different_locations_pass_each_other() {
    assert_eq!(leaving::<Pso>("x=1; y=1", 2), [0, 1]);
    assert_eq!(leaving::<Pso>("x=1; x=2; y=1", 3), [0, 1], "stores to one location keep their order");
}

#[test]
fn under_pso_a_barrier_and_a_release_hold_stores_back() {
    assert_eq!(leaving::<Pso>("x=1; sfence; y=1; z=1", 4), [0], "all that comes after a barrier waits");
    assert_eq!(leaving::<Pso>("x=1; y =rel 1", 2), [0]);
    assert_eq!(leaving::<Pso>("x=1; y =rel 1; z=1", 3), [0, 2], "later stores pass a release store");
}

#[test]
fn a_full_fence_waits_for_the_own_buffer() {
    for can in [can_go_on::<Tso>("x=1; fence", 1), can_go_on::<Pso>("x=1; fence", 1)] {
        assert!(!can);
    }
    assert!(can_go_on::<Sc>("x=1; fence", 1));
    assert!(can_go_on::<Tso>("x=1; lfence", 1));
    let mut run = Run::<Tso>::of("x=1; fence");
    assert!(run.issue(&[0]).commit(0, 0).can_go_on(0));
}

#[test]
fn a_seq_cst_store_lets_its_thread_go_on_once_it_is_in_memory() {
    let mut run = Run::<Pso>::of("x=1; y =sc 1; r0=z");
    run.issue(&[0, 0]);
    assert!(!run.can_go_on(0));
    assert_eq!(run.leaving(0), [0]);
    assert!(!run.commit(0, 0).can_go_on(0));
    assert!(run.commit(0, 1).can_go_on(0));
}

#[test]
fn a_read_modify_write_waits_for_what_its_model_says() {
    assert!(!can_go_on::<Tso>("x=1; r0 = xchg.rlx(y, 1)", 1));
    assert!(can_go_on::<Pso>("x=1; r0 = xchg.rlx(y, 1)", 1));
    assert!(!can_go_on::<Pso>("x=1; r0 = xchg.rlx(x, 1)", 1), "it waits for the stores to its own location");
    assert!(!can_go_on::<Pso>("x=1; sfence; r0 = xchg.rlx(y, 1)", 2), "and for those before a barrier");
    assert!(!can_go_on::<Pso>("x=1; r0 = xchg.rel(y, 1)", 1));
}

#[test]
fn a_compare_exchange_that_fails_is_a_load_under_pso_alone() {
    let text = "x=1; r0 = cas.ar/rlx(x, 0, 2)";
    let mut run = Run::<Pso>::of(text);
    run.issue(&[0, 0]);
    let event = run.trace.events()[1];
    assert_eq!((event.kind, event.read, event.forwarded), (EventKind::Load, Some(1), true));
    assert!(!can_go_on::<Tso>(text, 1));
    let mut run = Run::<Tso>::of(text);
    run.issue(&[0]).commit(0, 0).issue(&[0]);
    assert_eq!(run.trace.events()[1].kind, EventKind::FailedRmw);
}

#[test]
fn a_read_modify_write_reads_and_writes_memory_in_one_step() {
    let mut run = Run::<Tso>::of("r0 = add(x, 2) || r0 = add(x, 3)");
    run.issue(&[0, 1]);
    assert_eq!((run.memory(0), run.last_read(0), run.last_read(1)), (5, Some(0), Some(2)));
}

#[test]
fn a_lock_is_taken_by_one_thread_after_its_stores() {
    let mut run = Run::<Tso>::of("x=1; lock l; unlock l || lock l; unlock l");
    run.issue(&[0]);
    assert!(!run.can_go_on(0));
    assert!(run.issue(&[1]).commit(0, 0).enabled().iter().all(|step| step.thread().0 == 1), "the other has it");
    assert!(run.issue(&[1]).can_go_on(0));
}

#[test]
fn a_join_waits_for_the_thread_and_its_stores() {
    let mut run = Run::<Tso>::of("spawn P1; join P1; r0=x || x=1");
    assert!(!run.can_go_on(1), "it does not run before it is spawned");
    run.issue(&[0]);
    assert!(!run.can_go_on(0));
    run.issue(&[1]);
    assert!(!run.can_go_on(0), "its store is pending");
    run.commit(1, 0).issue(&[0, 0]);
    assert_eq!(run.last_read(0), Some(1));
}

#[test]
fn a_global_fence_waits_for_the_buffers_of_all_threads() {
    let mut run = Run::<Tso>::of("sync || x=1");
    assert!(run.issue(&[1]).clone().commit(1, 0).can_go_on(0));
    assert!(!run.can_go_on(0));
}

#[test]
fn an_await_reads_its_locations_in_one_step_once_its_condition_holds() {
    let mut run = Run::<Tso>::of("await x == 1 && y == 1 || x=1; y=1");
    assert!(!run.can_go_on(0));
    run.issue(&[1, 1]).commit(1, 0);
    assert!(!run.can_go_on(0));
    run.commit(1, 1).issue(&[0]);
    let reads: Vec<_> = run.trace.events().iter().filter(|event| event.thread.0 == 0).collect();
    assert_eq!(reads.len(), 2);
    assert_eq!(reads[0].step, reads[1].step);
}

#[test]
fn a_choice_has_a_step_for_each_alternative() {
    assert_eq!(Run::<Sc>::of("r0 = choose 3").enabled().len(), 3);
}

#[test]
fn a_buffer_holds_no_more_stores_than_its_limit() {
    let mut run = Run::<Tso>::of("x=1; y=1; z=1");
    run.machine.limit_buffers(2);
    assert!(run.issue(&[0, 0]).machine.limit_reached().eq(&false));
    assert!(!run.can_go_on(0));
    assert!(run.machine.limit_reached());
    assert!(run.commit(0, 0).can_go_on(0));
}

#[test]
fn a_machine_that_is_restarted_is_a_new_one() {
    let mut run = Run::<Pso>::of("x=1; sfence; y=1 || y=2");
    let bytes = |machine: &Machine<Pso>| {
        let mut bytes = Vec::new();
        machine.save(&mut bytes);
        bytes
    };
    let new = bytes(&run.machine);
    run.issue(&[0, 0, 0, 1]).commit(0, 0);
    assert_ne!(bytes(&run.machine), new);
    run.machine.restart(&run.subject);
    assert_eq!(bytes(&run.machine), new);
}

#[test]
fn a_packed_machine_is_unpacked_with_its_sources() {
    let mut run = Run::<Pso>::of("x=1; sfence; y=1; z=1 || y=2; z=3; x=300");
    run.issue(&[0, 1, 0, 0, 1, 1]).commit(0, 0).commit(1, 1);
    let (mut bytes, mut sources) = (Vec::new(), Vec::new());
    run.machine.save(&mut bytes);
    run.machine.save_sources(&mut sources);
    let mut again = Machine::<Pso>::new(&run.subject);
    again.load(&mut &bytes[..]);
    again.load_sources(&mut &sources[..]);
    for thread in [0, 1].map(teetotal_program::ThreadId) {
        assert_eq!(again.buffer(thread), run.machine.buffer(thread));
        for loc in [0, 1, 2].map(teetotal_program::Loc) {
            let seen = |machine: &Machine<Pso>| machine.sources(thread, loc).collect::<Vec<_>>();
            assert_eq!(seen(&again), seen(&run.machine));
        }
    }
}

#[test]
fn every_thread_of_many_has_its_own_buffer_in_the_packed_state() {
    let text = vec!["x=1"; 20].join(" || ");
    for occupied in [vec![0], vec![6, 7], vec![1, 13, 14, 19]] {
        let mut run = Run::<Tso>::of(&text);
        run.issue(&occupied);
        let mut bytes = Vec::new();
        run.machine.save(&mut bytes);
        let mut again = Machine::<Tso>::new(&run.subject);
        again.perform(&mut run.subject.clone(), common::issue(2), &mut Unrecorded);
        again.load(&mut &bytes[..]);
        let empty = |machine: &Machine<Tso>| {
            (0..20).map(|thread| machine.buffer(teetotal_program::ThreadId(thread)).is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(empty(&again), empty(&run.machine), "{occupied:?}");
    }
}
