//! Dynamic partial-order reduction: each trace once, in the same order for any number of workers.

use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_engine::{Coverage, Limits, StopReason};
use teetotal_gallery::{self as gallery, Variant, Waiting};
use teetotal_generate::{Shape, generate, program};
use teetotal_judge::Finding;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::{Builder, Expr, Instruction, Program};

/// Without fences and assertions, and with the executions that would wait discarded, as the peers count.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

/// The same with assertions.
const ASSERTING: Variant = Variant { asserts: true, ..ALL };

fn options(model: ModelId, jobs: usize) -> Options {
    Options { search: SearchId::Dpor, jobs, ..Options::new(model) }
}

fn search(program: &Arc<Program>, options: &Options) -> Outcome {
    check(program, options, &|| None).expect("it can be searched")
}

/// How many executions `text` has under SC, TSO and PSO.
fn executions(text: &str) -> [u64; 3] {
    let program = Arc::new(program(text));
    [ModelId::Sc, ModelId::Tso, ModelId::Pso].map(|model| search(&program, &options(model, 1)).stats.executions)
}

/// Demands as many complete executions of `program` as the peers count, under SC, TSO and PSO, and none abandoned.
fn complete(program: Program, expected: [u64; 3]) {
    let program = Arc::new(program);
    for (model, expected) in BUFFER_MODELS.iter().zip(expected) {
        let outcome = search(&program, &options(model.id, 1));
        assert!(outcome.coverage.is_complete());
        assert_eq!(outcome.stats.completed, expected, "{} under {}", program.name, model.name);
        assert_eq!(outcome.stats.abandoned, 0, "{} under {}", program.name, model.name);
    }
}

#[test]
fn store_buffering_has_as_many_executions_as_the_peers_count() {
    for n in 2..=6 {
        complete(gallery::store_buffering_sum(n, ALL), [(1 << n) - 1, 1 << n, 1 << n]);
    }
}

#[test]
fn dekker_has_as_many_executions_as_the_peers_count() {
    complete(gallery::dekker_try(1, ALL), [7, 11, 15]);
    complete(gallery::dekker_try(2, ALL), [107, 346, 834]);
    complete(gallery::dekker_try(3, ALL), [1_833, 15_247, 69_141]);
    complete(gallery::dekker_loop(2, ALL), [71, 1_007, 9_582]);
}

#[test]
fn other_mutual_exclusion_has_as_many_executions_as_the_peers_count() {
    complete(gallery::peterson_loop(2, ALL), [48, 1_510, 7_020]);
    complete(gallery::lamport_loop(2, ALL), [16, 52, 240]);
    complete(gallery::bakery_loop(2, ALL), [9, 28, 128]);
}

#[test]
fn message_passing_has_as_many_executions_as_the_peers_count() {
    complete(gallery::message_passing_rounds(3, ALL), [931, 931, 8_000]);
    complete(gallery::message_passing_rounds(4, ALL), [14_545, 14_545, 343_000]);
}

#[test]
fn programs_of_many_threads_have_as_many_executions_as_the_peers_count() {
    complete(gallery::fibonacci(3, ALL), [141, 175, 175]);
    complete(gallery::fibonacci(4, ALL), [1_107, 1_764, 1_764]);
    complete(gallery::fibonacci(5, ALL), [8_953, 19_404, 19_404]);
    complete(gallery::readers(8), [256; 3]);
    complete(gallery::last_zero(9), [1_536; 3]);
    complete(gallery::indexer(12), [8; 3]);
    complete(gallery::indexer(15), [4_096; 3]);
}

#[test]
fn a_store_that_comes_after_a_read_of_its_thread_is_seen_by_others() {
    // loom runs this once and misses the execution in which the second thread reads 1.
    assert_eq!(executions("r0=x; x=1 || r0=x"), [2; 3]);
    assert_eq!(executions("r0=x; x=1 || r0=x; r1=x"), [3; 3]);
    for text in ["r0=x; x=1 || r0=x; if r0==1: y=1 || r0=y; if r0==1: x=2", "r0=x; x=1 || r0=x; x=r0+1 || r0=x; y=r0"] {
        let program = Arc::new(program(text));
        for model in BUFFER_MODELS {
            let brute = search(&program, &Options { search: SearchId::Brute, ..Options::new(model.id) });
            let dpor = search(&program, &options(model.id, 1));
            assert!(dpor.states.keys().eq(brute.states.keys()), "{text} under {}", model.name);
        }
    }
}

#[test]
fn what_comes_later_may_depend_on_what_was_read() {
    assert_eq!(executions("r0=x; if r0==1: y=1 || r0=y; x=1"), [2, 2, 2]);
    assert_eq!(executions("r0=x; y=r0 || r0=y; x=1"), [3, 3, 3]);
}

#[test]
fn locks_are_taken_in_each_order() {
    assert_eq!(executions("lock l; x=1; unlock l || lock l; x=2; unlock l"), [2; 3]);
    assert_eq!(executions("lock l; unlock l || lock l; unlock l || lock l; unlock l"), [6; 3]);
}

#[test]
fn deadlocks_are_executions() {
    let program = Arc::new(program("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b"));
    for model in BUFFER_MODELS {
        let outcome = search(&program, &options(model.id, 1));
        assert_eq!((outcome.stats.completed, outcome.stats.blocked), (2, 1));
        let Finding::Deadlock { blocked } = &outcome.violations[0].finding else { panic!("a deadlock is found") };
        assert_eq!(blocked.len(), 2);
    }
}

#[test]
fn waiting_ends_with_what_lets_it_go_on_or_never() {
    assert_eq!(executions("await x==1; r0=y || y=1; x=1"), [1, 1, 2]);
    assert_eq!(executions("await x==1 || x=1; x=2"), [2; 3]);
    assert_eq!(executions("await x==3 || x=1; x=2"), [1; 3]);
}

#[test]
fn threads_are_spawned_and_joined() {
    assert_eq!(executions("x=1; spawn P1; r0=x; join P1; r1=x || x=2"), [2; 3]);
    assert_eq!(executions("x=1; spawn.rlx P1; join.rlx P1 || r0=x"), [1, 1, 2]);
}

#[test]
fn each_alternative_of_a_choice_is_taken() {
    assert_eq!(executions("r0=choose 3; x=r0 || r0=x"), [6; 3]);
    assert_eq!(executions("r0=x; if r0==1: r1=choose 3 || r1=choose 2; x=1"), [8; 3]);
}

#[test]
fn what_the_search_cannot_take_is_refused_by_name() {
    let refused = |program: Program| {
        let refusal = check(&Arc::new(program), &options(ModelId::Tso, 1), &|| None);
        let Err(CheckError::Unsupported { reason, .. }) = refusal else { panic!("it is refused: {refusal:?}") };
        reason
    };
    assert_eq!(refused(program("x=1; sync || r0=x")), "a fence that drains the buffers of all threads");
    assert_eq!(refused(program("await x==1 && y==1 || x=1; y=1")), "a step that reads several locations at once");
    assert_eq!(refused(program("spawn P2 || spawn P2 || x=1")), "a thread that may be started twice");
    let mut p = Builder::new("exclusive");
    let x = p.shared("x", 0);
    p.thread("P0", |t| t.exclusive(|t| (0..2).for_each(|value| t.store(x, value))));
    let exclusive = p.build().expect("well formed");
    assert_eq!(refused(exclusive), "an atomic section");
}

/// Two threads that store `n` times each, and read each other's location once.
fn long(n: u64) -> Program {
    let mut p = Builder::new("long");
    let (x, y) = (p.shared("x", 0), p.shared("y", 0));
    for (index, (own, other)) in [(x, y), (y, x)].into_iter().enumerate() {
        p.thread(&format!("P{index}"), |t| {
            (1..=n).for_each(|value| t.store(own, value));
            t.load("r", other);
        });
    }
    p.build().expect("well formed")
}

#[test]
fn graphs_may_outgrow_the_sets_of_nodes_in_the_middle_of_a_search() {
    // Each thread reads any of the values, and under SC one of them reads the last.
    for n in [10, 30, 31, 32, 33, 62, 63, 64, 65] {
        let program = Arc::new(long(n));
        for jobs in [1, 3] {
            assert_eq!(search(&program, &options(ModelId::Sc, jobs)).stats.executions, 2 * n + 1, "{n}, {jobs} jobs");
            let buffered = search(&program, &options(ModelId::Tso, jobs));
            assert_eq!(buffered.stats.executions, (n + 1) * (n + 1), "{n} with {jobs} jobs");
            assert_eq!(buffered.states.len() as u64, (n + 1) * (n + 1));
        }
    }
}

#[test]
fn an_execution_that_is_longer_than_any_set_of_nodes_is_cut_short() {
    let mut p = Builder::new("longer");
    let (x, y) = (p.shared("x", 0), p.shared("y", 0));
    p.thread("P0", |t| (0..4_100).for_each(|value| t.store(x, value)));
    p.thread("P1", |t| t.store(y, 1));
    let program = Arc::new(p.build().expect("well formed"));
    let outcome = search(&program, &options(ModelId::Sc, 1));
    assert!(matches!(outcome.coverage, Coverage::Stopped(StopReason::Steps(_))), "{:?}", outcome.coverage);
    assert_eq!(outcome.stats.executions, 0);
}

/// Everything of an outcome that users can see.
fn everything(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let violations: Vec<_> = outcome.violations.iter().map(|v| (v.finding.clone(), v.schedule.clone())).collect();
    (outcome.coverage.clone(), outcome.states.clone(), outcome.satisfying.clone(), violations, outcome.stats)
}

fn same_for_any_number_of_jobs(program: &Arc<Program>, options: &Options) {
    let alone = everything(&search(program, options));
    for jobs in [2, 4] {
        let shared = everything(&search(program, &Options { jobs, ..options.clone() }));
        assert_eq!(shared, alone, "{} under {:?} with {jobs} jobs", program.name, options.model);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    for build in [gallery::dekker_try, gallery::peterson_loop, gallery::message_passing_rounds] {
        for model in BUFFER_MODELS {
            same_for_any_number_of_jobs(&Arc::new(build(2, ASSERTING)), &options(model.id, 1));
        }
    }
    same_for_any_number_of_jobs(&Arc::new(long(40)), &options(ModelId::Pso, 1));
}

#[test]
fn the_first_violation_is_the_same_for_any_number_of_jobs() {
    for build in [gallery::dekker_try, gallery::peterson_loop, gallery::message_passing_rounds] {
        for model in BUFFER_MODELS {
            let first = Options { stop_at_first: true, ..options(model.id, 1) };
            same_for_any_number_of_jobs(&Arc::new(build(2, ASSERTING)), &first);
        }
    }
}

/// Random programs that the search takes.
fn random(seeds: std::ops::Range<u64>) -> impl Iterator<Item = Arc<Program>> {
    let shape = |seed| if seed % 2 == 0 { Shape::litmus() } else { Shape::loops() };
    let programs = seeds.map(move |seed| generate(seed, &Shape { max_interleavings: 20_000, ..shape(seed) }));
    programs.filter(|program| teetotal_dpor::unsupported(program).is_none()).map(Arc::new)
}

#[test]
fn results_on_random_programs_do_not_depend_on_the_number_of_jobs() {
    for program in random(0..150) {
        for model in BUFFER_MODELS {
            same_for_any_number_of_jobs(&program, &options(model.id, 1));
            same_for_any_number_of_jobs(&program, &Options { stop_at_first: true, ..options(model.id, 1) });
        }
    }
}

#[test]
fn nothing_is_abandoned_where_nobody_waits() {
    let waits = |i: &Instruction| matches!(i, Instruction::Await { .. } | Instruction::Lock { .. });
    let mut n_programs = 0;
    for program in random(0..1_500) {
        if program.threads.iter().any(|thread| thread.code.iter().any(waits)) {
            continue;
        }
        n_programs += 1;
        for model in BUFFER_MODELS {
            let outcome = search(&program, &options(model.id, 1));
            assert_eq!(outcome.stats.abandoned, 0, "under {}: {program}", model.name);
        }
    }
    assert!(n_programs > 500, "only {n_programs} programs");
}

/// Whoever waits for a lock comes later, or looks at it in vain; no way is taken on which it waits for nothing.
#[test]
fn nothing_is_abandoned_where_threads_wait_for_locks() {
    for text in [
        "lock l; r0=x; x=1; unlock l || lock l; r0=x; x=2; unlock l || lock l; r0=x; x=3; unlock l",
        "lock l; r0=y; unlock l; x=1; lock l; unlock l || lock l; r0=x; unlock l; y=1 || y=2; lock l; unlock l",
        "lock l; lock m; unlock m; unlock l || lock m; lock l; unlock l; unlock m || lock l; unlock l",
    ] {
        let program = Arc::new(program(text));
        for model in BUFFER_MODELS {
            let brute = check(&program, &Options { search: SearchId::Brute, ..options(model.id, 1) }, &|| None);
            let brute = brute.expect("brute force takes every program");
            let outcome = search(&program, &options(model.id, 1));
            assert_eq!(outcome.stats.abandoned, 0, "under {}: {text}", model.name);
            assert!(outcome.states.keys().eq(brute.states.keys()), "under {}: {text}", model.name);
        }
    }
}

/// The first thread may read the exchange before or after that could be given to it; then it looks in vain, and not again.
#[test]
fn what_was_tried_before_a_look_in_vain_is_not_tried_after_it() {
    let mut p = Builder::new("looks");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        t.await_until("r0", x, |value| Expr::from(2).gt(value));
    });
    p.thread("P1", |t| {
        t.fetch_add("r1", x, 1);
    });
    p.thread("P2", |t| {
        t.exchange("r2", x, 1);
    });
    complete(p.build().expect("the program is right"), [5, 5, 5]);
}

#[test]
fn the_number_of_executions_can_be_limited() {
    let program = Arc::new(gallery::dekker_try(2, ALL));
    let limited = |executions, jobs| {
        let limits = Limits { executions: Some(executions), ..Limits::default() };
        search(&program, &Options { limits, ..options(ModelId::Sc, jobs) })
    };
    assert_eq!(limited(106, 1).coverage, Coverage::Stopped(StopReason::Executions(106)));
    assert_eq!(limited(106, 4).stats.executions, 106);
    assert!(limited(107, 1).coverage.is_complete());
    assert_eq!(everything(&limited(50, 1)), everything(&limited(50, 4)));
}

#[test]
fn a_signal_stops_the_search_even_if_no_execution_ends() {
    let program = Arc::new(gallery::dekker_try(3, ALL));
    let limits = Limits { steps: Some(20), ..Limits::default() };
    let outcome = check(&program, &Options { limits, ..options(ModelId::Tso, 2) }, &|| Some(StopReason::Time));
    assert_eq!(outcome.expect("it can be searched").coverage, Coverage::Stopped(StopReason::Time));
}
