//! Limits, and everything else that makes a search say less than "complete".

use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_engine::{Coverage, Limits, StopReason};
use teetotal_gallery as gallery;
use teetotal_generate::program;
use teetotal_judge::Finding;
use teetotal_memory::ModelId;
use teetotal_program::ir::{Builder, Program};

fn search(program: Program, search: SearchId, limits: Limits) -> Result<Outcome, CheckError> {
    let options = Options { search, limits, ..Options::new(ModelId::Tso) };
    check(&Arc::new(program), &options, &|| None)
}

fn none() -> Limits {
    Limits {
        executions: None,
        states: None,
        steps: None,
        buffer: None,
        memory: None,
        preemptions: None,
        leaves_out_unrepeatable: false,
    }
}

fn stop_of(outcome: Result<Outcome, CheckError>) -> StopReason {
    match outcome.expect("it can be searched").coverage {
        Coverage::Stopped(reason) => reason,
        Coverage::Complete => panic!("the search was complete"),
    }
}

/// A thread that stores again and again.
fn endless_stores() -> Program {
    let mut p = Builder::new("endless stores");
    let x = p.shared("x", 0);
    p.thread("P0", |t| t.repeat(|t, _| t.store(x, 1)));
    p.build().expect("well formed")
}

#[test]
fn every_limit_that_is_met_is_named() {
    let sb = gallery::store_buffering;
    let limits = |change: fn(&mut Limits)| {
        let mut limits = none();
        change(&mut limits);
        limits
    };
    let brute = SearchId::Brute;
    let states = SearchId::Stateful;
    assert_eq!(stop_of(search(sb(), brute, limits(|l| l.executions = Some(3)))), StopReason::Executions(3));
    assert_eq!(stop_of(search(sb(), brute, limits(|l| l.steps = Some(2)))), StopReason::Steps(2));
    assert!(matches!(stop_of(search(sb(), states, limits(|l| l.states = Some(3)))), StopReason::States(_)));
    assert!(matches!(stop_of(search(sb(), states, limits(|l| l.memory = Some(1)))), StopReason::Memory(_)));
    assert_eq!(stop_of(search(sb(), states, limits(|l| l.steps = Some(2)))), StopReason::Steps(2));
    let full = stop_of(search(endless_stores(), states, limits(|l| l.buffer = Some(4))));
    assert_eq!(full, StopReason::Buffer(4));
}

#[test]
fn a_buffer_without_end_is_stopped_by_the_number_of_states() {
    let outcome = search(endless_stores(), SearchId::Stateful, Limits { states: Some(1_000), ..none() });
    assert!(matches!(stop_of(outcome), StopReason::States(_)));
}

#[test]
fn a_limit_that_is_not_met_leaves_the_search_complete() {
    let limits = Limits { executions: Some(1_000), states: Some(1_000), steps: Some(100), buffer: Some(2), ..none() };
    for id in [SearchId::Brute, SearchId::Stateful] {
        assert!(search(gallery::store_buffering(), id, limits).expect("it can be searched").coverage.is_complete());
    }
}

#[test]
fn a_limit_of_zero_is_refused() {
    for limits in [Limits { states: Some(0), ..none() }, Limits { buffer: Some(0), ..none() }] {
        let refused = search(gallery::store_buffering(), SearchId::Stateful, limits);
        assert!(matches!(refused, Err(CheckError::Limit(_))));
    }
}

#[test]
fn a_stop_signal_ends_the_search() {
    let options = Options::new(ModelId::Tso);
    let outcome = check(&Arc::new(gallery::n6()), &options, &|| Some(StopReason::Time)).expect("it can be searched");
    assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Time));
}

#[test]
fn a_program_without_an_operation_is_nothing_to_check() {
    let mut p = Builder::new("idle");
    p.thread("P0", |t| {
        let r = t.reg("r");
        t.set(r, 1);
    });
    let refused = search(p.build().expect("well formed"), SearchId::Stateful, none());
    assert!(matches!(refused, Err(CheckError::NothingToCheck { .. })));
}

#[test]
fn assumptions_that_never_hold_leave_nothing() {
    let outcome = search(program("r0=x; assume r0==1 || r0=y"), SearchId::Stateful, none()).expect("searched");
    assert!(outcome.is_vacuous());
    assert_eq!(outcome.stats.discarded, outcome.stats.executions);
}

#[test]
fn a_failed_assumption_hides_no_failed_assertion_of_another_thread() {
    for id in [SearchId::Brute, SearchId::Stateful] {
        let text = "r0=x; assume r0==1 || r0=y; assert r0==1";
        let outcome = search(program(text), id, none()).expect("searched");
        assert!(matches!(outcome.violations[0].finding, Finding::Failure { .. }));
    }
}

#[test]
fn a_thread_that_runs_on_without_an_operation_stops_the_search() {
    let mut p = Builder::new("hang");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        t.load("r", x);
        t.repeat(|t, _| {
            let r = t.reg("r");
            t.set(r, r.plus(1));
        });
    });
    let program = p.build().expect("well formed");
    for id in [SearchId::Brute, SearchId::Stateful] {
        assert!(matches!(stop_of(search(program.clone(), id, none())), StopReason::EndlessLoop { .. }));
    }
}

#[test]
fn deadlock_is_found_with_who_waits() {
    let text = "lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b";
    for id in [SearchId::Brute, SearchId::Stateful] {
        let outcome = search(program(text), id, none()).expect("searched");
        let Finding::Deadlock { blocked } = &outcome.violations[0].finding else { panic!("a deadlock is found") };
        assert_eq!(blocked.len(), 2);
        let last = &outcome.violations[0];
        assert!(!last.trace.steps().is_empty() && last.token.steps.len() == last.trace.steps().len());
    }
}

#[test]
fn a_violation_ends_the_search_only_where_it_is_to() {
    let racy = "r0=x; assert r0==0 || x=1";
    let program = Arc::new(program(racy));
    let all = check(&program, &Options::new(ModelId::Sc), &|| None).expect("searched");
    assert!(all.coverage.is_complete() && all.violations.len() == 1);
    let first = Options { stop_at_first: true, ..Options::new(ModelId::Sc) };
    let first = check(&program, &first, &|| None).expect("searched");
    assert_eq!(first.coverage, Coverage::Stopped(StopReason::Violation));
    assert_eq!(first.violations.len(), 1);
}

#[test]
fn an_execution_ends_as_it_is_said() {
    let ended = |text: &str| {
        let outcome = search(program(text), SearchId::Brute, none()).expect("searched").stats;
        [outcome.completed, outcome.blocked, outcome.discarded, outcome.failed].map(|n| n > 0)
    };
    assert_eq!(ended("x=1"), [true, false, false, false]);
    assert_eq!(ended("await x==1"), [false, true, false, false]);
    assert_eq!(ended("r0=x; assume r0==1"), [false, false, true, false]);
    assert_eq!(ended("r0=x; assert r0==1"), [false, false, false, true]);
}

#[test]
fn what_is_found_with_short_buffers_can_be_run_again() {
    let wrong: [fn(gallery::Variant) -> Program; 4] =
        [gallery::spin_lock, |variant| gallery::ticket_lock(4, variant), gallery::mcs_lock, gallery::clh_lock];
    for buffer in 2..=3 {
        for lock in wrong {
            let limits = Limits { buffer: Some(buffer), ..none() };
            let options = Options { search: SearchId::Stateful, limits, ..Options::new(ModelId::Pso) };
            let outcome =
                check(&Arc::new(lock(gallery::Variant::PLAIN)), &options, &|| None).expect("it can be searched");
            assert!(!outcome.violations.is_empty(), "{buffer} stores");
        }
    }
}
