//! What a trace keeps of an execution, and the relations of its events.

mod common;

use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::relations::{
    Relation, coherence, from_read, is_sequentially_consistent, program_order, reads_from,
};
use teetotal_memory::{EventId, Model};
use teetotal_program::Loc;

use crate::common::Run;

fn pairs(relation: &Relation) -> Vec<(u32, u32)> {
    relation.pairs().map(|(from, to)| (from.0, to.0)).collect()
}

/// What tells an execution apart in which these threads perform operations in turn.
fn key<M: Model>(text: &str, threads: &[u16]) -> Vec<u64> {
    Run::<M>::of(text).issue(threads).trace.key()
}

#[test]
fn coherence_is_the_order_in_which_stores_reach_memory() {
    let mut run = Run::<Tso>::of("x=1 || x=2; x=3");
    run.issue(&[0, 1, 1]).commit(1, 0).commit(0, 0).commit(1, 0);
    assert_eq!(run.trace.coherence(Loc(0)), [EventId(1), EventId(0), EventId(2)]);
    assert_eq!(pairs(&coherence(&run.trace)), [(0, 2), (1, 0), (1, 2)]);
}

#[test]
fn pending_stores_come_last_thread_by_thread() {
    let mut run = Run::<Tso>::of("x=1; x=2 || x=3 || x=4");
    run.issue(&[2, 1, 0, 0]).commit(2, 0);
    let values: Vec<_> = run.trace.coherence(Loc(0)).into_iter().map(|id| run.trace.event(id).written).collect();
    assert_eq!(values, [Some(4), Some(1), Some(2), Some(3)]);
}

#[test]
fn a_step_is_noted_with_the_event_that_it_issued_or_committed() {
    let mut run = Run::<Tso>::of("x=1; r0=y || y=1");
    run.issue(&[0, 1, 0]).commit(1, 1).commit(0, 0);
    let events: Vec<u32> = run.trace.steps().iter().map(|record| record.event.0).collect();
    assert_eq!(events, [0, 1, 2, 1, 0]);
    assert_eq!((run.trace.events()[0].step, run.trace.events()[0].committed), (0, Some(4)));
    assert_eq!((run.trace.events()[2].index, run.trace.events()[2].step), (1, 2));
}

#[test]
fn reads_come_from_writes_and_before_those_that_follow() {
    let mut run = Run::<Sc>::of("x=1; x=2 || r0=x; r1=x");
    run.issue(&[1, 0, 1, 0]);
    // Events: 0 reads the initial value, 1 writes 1, 2 reads it, 3 writes 2.
    assert_eq!(pairs(&reads_from(&run.trace)), [(1, 2)]);
    assert_eq!(pairs(&from_read(&run.trace)), [(0, 1), (0, 3), (2, 3)]);
}

#[test]
fn a_read_modify_write_is_not_before_itself() {
    let mut run = Run::<Sc>::of("r0 = add(x, 1) || r0 = add(x, 1)");
    run.issue(&[0, 1]);
    assert_eq!(pairs(&from_read(&run.trace)), [(0, 1)]);
    assert_eq!(pairs(&reads_from(&run.trace)), [(0, 1)]);
}

#[test]
fn a_spawn_comes_before_its_thread_and_a_join_after_it() {
    let mut run = Run::<Sc>::of("spawn P1; y=1; join P1 || x=1");
    run.issue(&[0, 1, 0, 0]);
    // Events: 0 spawn, 1 store of the child, 2 store of the parent, 3 join.
    assert_eq!(pairs(&program_order(&run.trace)), [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]);
}

#[test]
fn store_buffering_is_not_sequentially_consistent() {
    let text = "x=1; r0=y || y=1; r1=x";
    assert!(!is_sequentially_consistent(&Run::<Tso>::of(text).issue(&[0, 1, 0, 1]).trace));
    let mut early = Run::<Tso>::of(text);
    assert!(is_sequentially_consistent(&early.issue(&[0]).commit(0, 0).issue(&[0, 1, 1]).trace));
}

#[test]
fn stores_that_pass_each_other_are_not_sequentially_consistent_once_they_are_seen() {
    let mut run = Run::<Pso>::of("x=1; y=1 || r0=y; r1=x");
    run.issue(&[0, 0]).commit(0, 1).issue(&[1, 1]);
    assert!(!is_sequentially_consistent(&run.trace));
}

#[test]
fn a_key_tells_apart_what_was_read_from_whom_and_the_order_of_writes() {
    let reads = "x=1 || x=1 || r0=x";
    assert_ne!(key::<Sc>(reads, &[0, 2, 1]), key::<Sc>(reads, &[1, 2, 0]), "the same value of another store");
    let writes = "x=1 || x=2";
    assert_ne!(key::<Sc>(writes, &[0, 1]), key::<Sc>(writes, &[1, 0]));
    let apart = "x=1 || y=1";
    assert_eq!(key::<Sc>(apart, &[0, 1]), key::<Sc>(apart, &[1, 0]));
}

#[test]
fn the_key_of_values_does_not_know_who_wrote_them() {
    let values = |threads: &[u16]| Run::<Sc>::of("x=1 || x=1 || r0=x").issue(threads).trace.values_key();
    assert_eq!(values(&[0, 2, 1]), values(&[1, 2, 0]));
    assert_ne!(values(&[0, 2, 1]), values(&[2, 0, 1]));
}

#[test]
fn a_cleared_trace_is_a_new_one() {
    let mut run = Run::<Sc>::of("x=1 || r0=x");
    run.issue(&[0, 1]).trace.clear();
    assert_eq!(run.trace, teetotal_memory::Trace::default());
}
