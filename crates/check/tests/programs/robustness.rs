//! Which programs are robust under which model, how that is shown, and what fences do about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_engine::{Coverage, StopReason, replay};
use teetotal_gallery::*;
use teetotal_generate::program;
use teetotal_judge::{Finding, MonitorId, axiomatic};
use teetotal_memory::ModelId::{self, Pso, Tso};
use teetotal_memory::relations;
use teetotal_program::ir::{Builder, Program, Update};
use teetotal_program::{Order, ThreadId};

fn options(model: ModelId, search: SearchId) -> Options {
    Options { search, monitors: vec![MonitorId::Robustness], ..Options::new(model) }
}

fn outcome(program: &Program, model: ModelId, search: SearchId) -> Outcome {
    let program = Arc::new(program.clone());
    let outcome = check(&program, &options(model, search), &|| None).expect("it can be checked");
    assert!(
        outcome.coverage.is_complete() || !outcome.violations.is_empty(),
        "{} {:?}",
        program.name,
        outcome.coverage
    );
    for violation in &outcome.violations {
        assert!(!relations::is_sequentially_consistent(&violation.trace), "{} shows a cycle", program.name);
        assert_eq!(violation.token.model, model);
        let again = replay(&program, &violation.token).expect("the execution can be replayed");
        assert_eq!(again.trace, violation.trace);
        let seen_in = violation.seen_in.as_ref().expect("it was seen under sequential consistency");
        let again = replay(&program, seen_in).expect("so can the one of sequential consistency");
        assert!(relations::is_sequentially_consistent(&again.trace));
    }
    outcome
}

/// The stores after which fences are wanted.
fn wanted(outcome: &Outcome) -> BTreeSet<(ThreadId, u32)> {
    let delays = outcome.violations.iter().filter_map(|violation| match &violation.finding {
        Finding::NotRobust(delay) => Some((delay.store_at.thread, delay.store_at.place)),
        _ => None,
    });
    delays.collect()
}

/// Demands a verdict under TSO and PSO; where it is bad, each fence removes its group and all together every one.
fn check_robust(program: &Program, search: SearchId, expected: [bool; 2]) {
    for (model, expected) in [Tso, Pso].into_iter().zip(expected) {
        let found = outcome(program, model, search);
        assert_eq!(found.violations.is_empty(), expected, "{} under {model:?}", program.name);
        let stores = wanted(&found);
        for &store in &stores {
            let fenced = program.with_fences_after(&BTreeSet::from([store]));
            let left = wanted(&outcome(&fenced, model, search));
            assert!(!left.contains(&store), "{} under {model:?}: the fence after {store:?} helps", program.name);
        }
        let fenced = program.with_fences_after(&stores);
        assert!(outcome(&fenced, model, search).violations.is_empty(), "{} is mended under {model:?}", program.name);
    }
}

#[test]
fn the_classics_are_as_known() {
    check_robust(&store_buffering(), SearchId::Dpor, [false, false]);
    check_robust(&message_passing(), SearchId::Dpor, [true, false]);
    check_robust(&n6(), SearchId::Dpor, [false, false]);
    check_robust(&two_plus_two_writes(), SearchId::Dpor, [true, false]);
    check_robust(&iriw(2), SearchId::Dpor, [true, true]);
    check_robust(&message_passing_release(Publication::Store), SearchId::Dpor, [true, true]);
    check_robust(&message_passing_release(Publication::Fence), SearchId::Dpor, [true, true]);
}

/// With the executions that would wait discarded, as Nidhugg has it.
#[test]
fn nidhugg_agrees() {
    let plain = Variant::PLAIN.unchecked().with_waiting(Waiting::Assume);
    let fenced = Variant::FENCED.unchecked().with_waiting(Waiting::Assume);
    check_robust(&dekker_try(1, plain), SearchId::Dpor, [false, false]);
    check_robust(&dekker_try(1, fenced), SearchId::Dpor, [true, true]);
    check_robust(&fibonacci(2, plain), SearchId::Dpor, [false, false]);
    check_robust(&message_passing_rounds(1, plain), SearchId::Dpor, [true, false]);
    check_robust(&message_passing_rounds(1, fenced), SearchId::Dpor, [true, true]);
    check_robust(&two_lock_queue(1, 1, plain), SearchId::Dpor, [true, false]);
    check_robust(&two_lock_queue(1, 1, fenced), SearchId::Dpor, [true, true]);
    // A fence before the flag alone: the data of the second round may pass the flag of the first.
    check_robust(&message_passing_rounds(2, fenced), SearchId::Dpor, [true, false]);
}

#[test]
fn threads_without_an_end_get_an_answer() {
    let versions = |build: fn(Variant) -> Program| (build(Variant::PLAIN), build(Variant::FENCED));
    let robust_under_tso = [spin_lock, mcs_lock, clh_lock, sense_barrier, |variant| ticket_lock(3, variant)];
    for build in robust_under_tso {
        let (plain, fenced) = versions(build);
        check_robust(&plain, SearchId::Stateful, [true, false]);
        check_robust(&fenced, SearchId::Stateful, [true, true]);
    }
    let with_loops = |variant: Variant| variant.with_waiting(Waiting::Loop);
    let weak: [fn(Variant) -> Program; 4] =
        [work_stealing, |v| dekker_loop(1, v), |v| peterson_loop(1, v), |v| lamport_loop(2, v)];
    for build in weak {
        check_robust(&build(with_loops(Variant::PLAIN)), SearchId::Stateful, [false, false]);
        check_robust(&build(with_loops(Variant::FENCED)), SearchId::Stateful, [true, true]);
    }
}

#[test]
fn both_searches_agree_where_both_can_be_used() {
    let plain = Variant::PLAIN.unchecked();
    let programs = [dekker(), peterson(), dekker_try(2, plain), store_buffering_sum(3, plain)];
    for program in &programs {
        for model in [Tso, Pso] {
            let [traces, states] = [SearchId::Dpor, SearchId::Stateful].map(|search| outcome(program, model, search));
            assert_eq!(wanted(&traces), wanted(&states), "{} under {model:?}", program.name);
        }
    }
}

/// A thread that waits for an old value may pass two stores at once: by traces the newer one is named, by states the
/// older one, whose value before lets the thread go on. Fences after either set mend the program.
#[test]
fn both_searches_mend_what_waits_for_an_old_value() {
    let bakery = bakery_loop(2, Variant::PLAIN.unchecked());
    for search in [SearchId::Dpor, SearchId::Stateful] {
        check_robust(&bakery, search, [false, false]);
    }
}

#[test]
fn a_wait_that_only_an_old_value_ends_is_seen() {
    let mut p = Builder::new("test");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.store(x, 1);
        t.store(y, 1);
    });
    p.thread("P1", |t| {
        let r = t.load("r", y);
        t.when(r, |t| _ = t.await_until("s", x, |s| s.eq(0)));
    });
    let program = p.build().expect("well formed");
    check_robust(&program, SearchId::Dpor, [true, false]);
    check_robust(&program, SearchId::Stateful, [true, false]);
}

#[test]
fn a_wait_that_no_old_value_ends_hides_the_delay() {
    let mut p = Builder::new("test");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.store(x, 1);
        t.store(y, 1);
    });
    p.thread("P1", |t| {
        let r = t.load("r", y);
        t.when(r, |t| _ = t.await_until("s", x, |s| s.eq(1)));
    });
    let program = p.build().expect("well formed");
    check_robust(&program, SearchId::Dpor, [true, true]);
    check_robust(&program, SearchId::Stateful, [true, true]);
}

#[test]
fn an_assumption_that_fails_later_discards_the_cycle() {
    let build = |expected: u64| {
        let mut p = Builder::new("test");
        let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
        p.thread("P0", |t| {
            t.store(x, 1);
            t.store(y, 1);
        });
        p.thread("P1", |t| {
            let r = t.load("r", y);
            let s = t.load("s", x);
            t.load("again", y);
            t.assume(r.eq(0).or(s.eq(expected)));
        });
        p.build().expect("well formed")
    };
    check_robust(&build(0), SearchId::Dpor, [true, false]);
    check_robust(&build(1), SearchId::Dpor, [true, true]);
}

/// Two pending stores to one location wait together, which a simulation of the buffers does not show here.
#[test]
fn stores_to_one_location_wait_in_order() {
    let mut p = Builder::new("test");
    let [x, y, z] = [p.shared("x", 0), p.shared("y", 0), p.shared("z", 0)];
    p.thread("P0", |t| {
        t.store(x, 1);
        t.store(y, 1);
    });
    p.thread("P1", |t| {
        t.store(y, 2);
        t.load("r", z);
    });
    p.thread("P2", |t| {
        t.store(z, 1);
        t.load("r", x);
    });
    check_robust(&p.build().expect("well formed"), SearchId::Dpor, [false, false]);
}

#[test]
fn a_drain_after_a_store_is_waited_for_in_the_proof() {
    let mut p = Builder::new("test");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.store_with(y, 1, Order::SeqCst);
        t.load("r", x);
    });
    p.thread("P1", |t| {
        t.store(x, 1);
        t.load("r", y);
    });
    check_robust(&p.build().expect("well formed"), SearchId::Dpor, [false, false]);
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let peterson = Arc::new(peterson_loop(1, Variant::PLAIN));
    let error = check(&peterson, &options(Tso, SearchId::Dpor), &|| None).expect_err("two locations at once");
    assert!(matches!(error, CheckError::Undecided { .. }), "{error}");
    let sober = Options { monitors: vec![MonitorId::Sober], ..options(Pso, SearchId::Dpor) };
    let error = check(&Arc::new(store_buffering()), &sober, &|| None).expect_err("Sober knows TSO");
    assert!(matches!(error, CheckError::UnknownModel { .. }), "{error}");
    let buffers = Options { monitors: vec![MonitorId::Buffers], ..options(Pso, SearchId::Dpor) };
    let error = check(&Arc::new(store_buffering()), &buffers, &|| None).expect_err("every interleaving");
    assert!(matches!(error, CheckError::Unfit { instead: "brute", .. }), "{error}");
}

#[test]
fn a_variable_that_grows_forever_is_named() {
    let mut p = Builder::new("test");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        let n = t.reg("n");
        t.repeat(|t, _| {
            t.set(n, n.plus(1));
            t.store(x, 1);
            t.load("r", y);
        });
    });
    let program = Arc::new(p.build().expect("well formed"));
    let error = check(&program, &options(Tso, SearchId::Stateful), &|| None).expect_err("it has no end");
    assert_eq!(error, CheckError::Unbounded { program: "test".to_owned(), variable: "0:n".to_owned() });
}

/// A step that reads and stores is one moment under sequential consistency.
#[test]
fn an_increment_in_one_step_is_not_robust_and_no_fence_mends_it() {
    let mut p = Builder::new("increment");
    let x = p.shared("x", 0);
    for name in ["P0", "P1"] {
        p.thread(name, |t| {
            let r = t.reg("r");
            t.transfer(vec![(r, x.into())], x, r.plus(1));
        });
    }
    let increment = Arc::new(p.build().expect("well formed"));
    for model in [Tso, Pso] {
        let found = check(&increment, &options(model, SearchId::Stateful), &|| None).expect("by states");
        assert!(found.coverage.is_complete() && !found.violations.is_empty() && !found.fences_suffice);
    }
}

#[test]
fn awaits_of_two_locations_are_decided() {
    for (build, expected) in [(Variant::PLAIN, false), (Variant::FENCED, true)] {
        for program in [peterson_loop(1, build), dekker_loop(1, build)] {
            let program = Arc::new(program);
            for model in [Tso, Pso] {
                let found = check(&program, &options(model, SearchId::Stateful), &|| None).expect("by states");
                assert_eq!(found.violations.is_empty(), expected, "{} under {model:?}", program.name);
                assert!(!expected || found.coverage.is_complete());
                for violation in &found.violations {
                    let again = replay(&program, &violation.token).expect("the execution can be replayed");
                    assert_eq!(again.trace, violation.trace);
                    axiomatic::accepts(ModelId::Sc, &again.trace, |loc| program.locations[loc.index()].initial)
                        .expect_err("it is not one of sequential consistency");
                }
            }
        }
    }
}

/// What is found under TSO and PSO, and whether everything was looked at.
fn check_sections(program: Program, expected: [(bool, Coverage); 2]) {
    let program = Arc::new(program);
    for (model, (is_robust, coverage)) in [Tso, Pso].into_iter().zip(expected) {
        let found = check(&program, &options(model, SearchId::Stateful), &|| None).expect("by states");
        assert_eq!((found.violations.is_empty(), found.coverage), (is_robust, coverage), "{} {model:?}", program.name);
    }
}

/// Under sequential consistency the section is not divided, as the step is always possible.
#[test]
fn a_section_is_not_divided_where_its_thread_waits_for_its_own_buffer() {
    let mut p = Builder::new("own buffer");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        t.load("r1", x);
    });
    p.thread("P1", |t| {
        let read = t.reg("r2");
        t.exclusive(|t| {
            t.store_with(x, 1, Order::SeqCst);
            t.transfer(vec![(read, x.into())], x, 1);
        });
    });
    let [tso, pso] = [(false, Coverage::Complete), (false, Coverage::Complete)];
    check_sections(p.build().expect("well formed"), [tso, pso]);
}

/// Two threads with sections, that of P0 can be divided at its await; and perhaps one without an end.
fn divided_before_its_await(is_endless: bool) -> Program {
    let mut p = Builder::new("divided");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.exclusive(|t| {
            t.load("r0", y);
            t.await_until("r1", x, |read| read.eq(1));
        });
    });
    p.thread("P1", |t| {
        t.exclusive(|t| {
            t.store(x, 1);
            t.store(y, 1);
        });
    });
    if is_endless {
        p.thread("P2", |t| t.repeat(|t, _| _ = t.load("r2", y)));
    }
    p.build().expect("well formed")
}

/// The await is never blocked in the execution of the model, but in the one of sequential consistency.
#[test]
fn a_section_is_divided_where_it_would_be_blocked_earlier() {
    check_sections(divided_before_its_await(false), [(true, Coverage::Complete), (true, Coverage::Complete)]);
}

#[test]
fn what_is_not_known_of_the_division_of_sections_is_not_called_robust() {
    let undecided = || (true, Coverage::Stopped(StopReason::AtomicSection));
    check_sections(divided_before_its_await(true), [undecided(), undecided()]);
}

/// In the execution of the model the await is blocked after P1 has seen the store; under sequential consistency the section
/// would have ended by then.
#[test]
fn a_section_is_not_divided_by_what_comes_after_it() {
    let mut p = Builder::new("too late");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.exclusive(|t| {
            t.store_with(x, 1, Order::SeqCst);
            t.await_until("r0", y, |read| read.eq(0));
        });
    });
    p.thread("P1", |t| {
        t.await_until("r1", x, |read| read.eq(1));
        t.store(y, 1);
        t.store(y, 0);
    });
    check_sections(p.build().expect("well formed"), [(false, Coverage::Complete), (false, Coverage::Complete)]);
}

/// Each hands over to the other, in a loop without end.
#[test]
fn sections_that_are_always_blocked_are_decided_in_loops() {
    let mut p = Builder::new("handshake");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.repeat(|t, _| {
            t.exclusive(|t| {
                t.store(x, 1);
                t.await_until("r0", y, |read| read.eq(1));
                t.store(y, 0);
            });
            t.fence();
        });
    });
    p.thread("P1", |t| {
        t.repeat(|t, _| {
            t.await_until("r1", x, |read| read.eq(1));
            t.store(x, 0);
            t.fence();
            t.store(y, 1);
        });
    });
    check_sections(p.build().expect("well formed"), [(true, Coverage::Complete), (true, Coverage::Complete)]);
}

/// Under sequential consistency the await is possible directly after the store, unless P1 comes first with both.
#[test]
fn a_thread_that_is_blocked_forever_in_a_section_counts() {
    let mut p = Builder::new("blocked");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("P0", |t| {
        t.exclusive(|t| {
            t.store(x, 2);
            t.await_until("r0", y, |read| read.eq(0));
        });
    });
    p.thread("P1", |t| {
        t.store(x, 3);
        t.rmw("r1", y, Update::Exchange(1.into()), Order::Relaxed);
    });
    check_sections(p.build().expect("well formed"), [(true, Coverage::Complete), (false, Coverage::Complete)]);
}

/// Two threads that store and load by turns, with a fence between or not.
fn by_turns(rounds: usize, fence: &str) -> Program {
    let thread = |own: &str, other: &str| {
        let round = |n: usize| format!("{own}={}; {fence}r0={other}", n % 2);
        (0..rounds).map(round).collect::<Vec<_>>().join("; ")
    };
    program(&format!("{} || {}", thread("x", "y"), thread("y", "x")))
}

#[test]
fn few_states_are_searched_before_many_executions_are_run() {
    let few = outcome(&by_turns(2, "fence; "), Tso, SearchId::Auto);
    assert_eq!(few.search, SearchId::Dpor);
    let robust = outcome(&by_turns(7, "fence; "), Tso, SearchId::Auto);
    assert!(robust.violations.is_empty());
    assert_eq!(robust.search, SearchId::Stateful, "{:?}", robust.stats);
    assert!(robust.stats.states < 10_000, "{} states", robust.stats.states);
    assert!(!outcome(&by_turns(7, ""), Tso, SearchId::Auto).violations.is_empty());
}
