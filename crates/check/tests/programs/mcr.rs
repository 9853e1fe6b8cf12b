//! Maximal causality reduction: one execution for each class of executions that read the same values.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_engine::{Coverage, Limits, StopReason, System, replay, trace_of};
use teetotal_gallery as gallery;
use teetotal_generate::{Shape, generate, program};
use teetotal_judge::axiomatic::families::{e1, e2};
use teetotal_judge::{Finding, MonitorId};
use teetotal_mcr as mcr;
use teetotal_mcr::Settings;
use teetotal_memory::{BUFFER_MODELS, Model, ModelId, ModelVisitor, Step};
use teetotal_program::Order;
use teetotal_program::condition::Term;
use teetotal_program::ir::{Builder, Interpreter, Program};

fn options(model: ModelId) -> Options {
    Options { search: SearchId::Mcr, ..Options::new(model) }
}

fn search(program: &Arc<Program>, options: &Options) -> Outcome {
    check(program, options, &|| None).expect("it can be searched")
}

/// Demands so many classes of `program` under SC, TSO and PSO, one execution each and none abandoned.
fn classes(program: Program, expected: [u64; 3]) {
    let program = Arc::new(program);
    for (model, expected) in BUFFER_MODELS.iter().zip(expected) {
        let outcome = search(&program, &options(model.id));
        let of = format!("{} under {}", program.name, model.name);
        assert!(outcome.coverage.is_complete(), "{of}");
        assert_eq!(outcome.stats.classes, expected, "{of}");
        assert_eq!(outcome.stats.executions, expected, "{of}");
        assert_eq!(outcome.stats.abandoned, 0, "{of}");
    }
}

/// The same with nothing observed but what threads read.
fn values(mut program: Program, expected: [u64; 3]) {
    program.observed.clear();
    program.condition = None;
    classes(program, expected);
}

/// Calls `each` with one execution of each class.
fn visit(program: &Arc<Program>, model: ModelId, each: &mut dyn FnMut(Vec<Step>)) {
    visit_with(program, model, &Settings::new(Limits::default(), 1), each);
}

fn visit_with(program: &Arc<Program>, model: ModelId, settings: &Settings, each: &mut dyn FnMut(Vec<Step>)) {
    struct Visit<'v>(&'v Arc<Program>, &'v Settings, &'v mut dyn FnMut(Vec<Step>));
    impl ModelVisitor for Visit<'_> {
        type Output = ();

        fn visit<M: Model>(self) {
            let system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(self.0)));
            let coverage = mcr::visit(&system, &self.0.locations_at_end(), self.1, self.2);
            assert_eq!(coverage, Coverage::Complete);
        }
    }
    model.visit(Visit(program, settings, each));
}

/// The counts of the reference, which observe no memory.
#[test]
fn the_programs_of_the_papers_have_the_known_numbers_of_value_states() {
    values(gallery::store_buffering(), [3, 4, 4]);
    values(gallery::store_forwarding(), [3, 4, 4]);
    values(gallery::n6(), [3, 3, 4]);
    values(gallery::write_order(), [2, 2, 3]);
    values(gallery::example(1), [2, 2, 10]);
    values(gallery::example(2), [52, 52, 188]);
    values(gallery::example(3), [1_016, 1_016, 2_728]);
    values(gallery::peterson(), [36, 36, 36]);
    values(gallery::dekker(), [84, 86, 154]);
    values(gallery::bakery(), [194, 496, 624]);
    values(gallery::lamport(), [121, 123, 311]);
    values(gallery::rv_example(), [107, 107, 137]);
    values(gallery::counter(2), [19, 19, 19]);
    values(gallery::counter(3), [140, 140, 140]);
}

#[test]
fn what_a_condition_sees_of_memory_tells_classes_apart() {
    let mut n6 = gallery::n6();
    n6.condition = None;
    n6.observed = (0..n6.locations.len()).map(|index| Term::Memory(teetotal_program::Loc::at(index))).collect();
    classes(n6, [4, 5, 6]);
    classes(gallery::two_plus_two_writes(), [3, 3, 4]);
}

/// In one class, the flag may come from the store that releases or from the one that does not.
#[test]
fn who_wrote_a_value_does_not_tell_classes_apart() {
    classes(program("d=1; f=rel 1 || f=rlx 1 || r0=acq f; if r0==1: r1=d"), [3, 3, 3]);
}

/// Every write writes a value of its own there, so that values are as many as sources.
#[test]
fn small_programs_with_distinct_values_have_as_many_classes_as_reads_from_maps() {
    let count = |programs: Box<dyn Iterator<Item = Program>>, model| {
        let mut count = 0;
        for mut program in programs {
            program.observed.clear();
            visit(&Arc::new(program), model, &mut |_| count += 1);
        }
        count
    };
    use ModelId::{Pso, Sc, Tso};
    let relaxed = Order::Relaxed;
    for (model, expected) in [(Sc, 157_758), (Tso, 159_223), (Pso, 161_070)] {
        assert_eq!(count(Box::new(e1(Order::SeqCst)), model), expected, "E1 under {model:?}");
    }
    for (model, expected) in [(Sc, 117_570), (Tso, 118_313), (Pso, 119_044)] {
        assert_eq!(count(Box::new(e2(Order::SeqCst)), model), expected, "E2 under {model:?}");
    }
    assert_eq!(count(Box::new(e1(relaxed)), Pso), 163_362, "E1, updates waiting for their own location");
    assert_eq!(count(Box::new(e2(relaxed)), Pso), 120_031, "E2, updates waiting for their own location");
}

#[test]
fn it_never_runs_more_executions_than_dpor() {
    // Twelve threads may each access every element of an array, as far as their code says.
    for entry in gallery::PROGRAMS.iter().filter(|entry| entry.name != "indexer") {
        let program = Arc::new((entry.build)());
        for model in BUFFER_MODELS {
            let limits = Limits { executions: Some(5_000), steps: Some(200), ..Limits::default() };
            let dpor = check(&program, &Options { search: SearchId::Dpor, limits, ..options(model.id) }, &|| None);
            let Ok(dpor) = dpor else { continue };
            if dpor.coverage.is_complete() {
                let outcome = search(&program, &options(model.id));
                assert!(outcome.coverage.is_complete(), "{}", entry.name);
                assert!(outcome.stats.executions <= dpor.stats.executions, "{} under {}", entry.name, model.name);
                assert!(outcome.states.keys().eq(dpor.states.keys()), "{} under {}", entry.name, model.name);
            }
        }
    }
}

#[test]
fn violations_come_with_a_token_that_replays_them() {
    let program = Arc::new(gallery::write_order());
    let outcome = search(&program, &options(ModelId::Pso));
    let [violation] = &outcome.violations[..] else { panic!("one assertion fails: {:?}", outcome.violations) };
    assert_eq!(violation.monitor, MonitorId::Assertion);
    let again = replay(&program, &violation.token).expect("a token can be replayed");
    assert_eq!(again.trace, violation.trace);
    assert!(search(&program, &options(ModelId::Tso)).violations.is_empty());
}

#[test]
fn deadlocks_are_found_with_the_threads_that_wait() {
    let program = Arc::new(program("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b"));
    for model in BUFFER_MODELS {
        let outcome = search(&program, &options(model.id));
        let found: Vec<usize> = outcome
            .violations
            .iter()
            .map(|violation| match &violation.finding {
                Finding::Deadlock { blocked } => blocked.len(),
                other => panic!("only a deadlock can be found, not {other:?}"),
            })
            .collect();
        assert_eq!(found, [2], "under {}", model.name);
        assert_eq!((outcome.stats.blocked, outcome.stats.completed), (1, 1), "under {}", model.name);
    }
}

#[test]
fn each_execution_that_is_shown_reads_other_values() {
    let mut program = gallery::dekker();
    program.observed.clear();
    program.condition = None;
    let program = Arc::new(program);
    for model in BUFFER_MODELS {
        let mut seen = BTreeSet::new();
        visit(&program, model.id, &mut |steps| {
            let again = trace_of(&program, model.id, &teetotal_engine::Schedule::Steps(steps));
            assert!(again.ending.is_some(), "every execution that is shown is maximal");
            assert!(seen.insert(again.trace.values_key()), "values are shown once");
        });
    }
}

#[test]
fn limits_and_the_stop_signal_are_heeded() {
    let program = Arc::new(gallery::example(3));
    let stopped = |limits, signal: &(dyn Fn() -> Option<StopReason> + Sync)| {
        let outcome = check(&program, &Options { limits, ..options(ModelId::Pso) }, &signal).expect("searched");
        (outcome.coverage, outcome.stats.executions)
    };
    let none = Limits::default();
    let (coverage, executions) = stopped(Limits { executions: Some(100), ..none }, &|| None);
    assert_eq!((coverage, executions), (Coverage::Stopped(StopReason::Executions(100)), 100));
    let (coverage, _) = stopped(Limits { states: Some(2_000), ..none }, &|| None);
    assert_eq!(coverage, Coverage::Stopped(StopReason::States(2_000)));
    let (coverage, _) = stopped(Limits { memory: Some(200_000), ..none }, &|| None);
    assert_eq!(coverage, Coverage::Stopped(StopReason::Memory(200_000)));
    let (coverage, _) = stopped(Limits { steps: Some(10), ..none }, &|| None);
    assert_eq!(coverage, Coverage::Stopped(StopReason::Steps(10)));
    let (coverage, _) = stopped(none, &|| Some(StopReason::Time));
    assert_eq!(coverage, Coverage::Stopped(StopReason::Time));
    let (coverage, executions) = stopped(Limits { executions: Some(2_728), ..none }, &|| None);
    assert_eq!((coverage, executions), (Coverage::Complete, 2_728));
}

/// Demands that the outcome is the same for one, two and four jobs.
fn same_for_all_jobs(program: &Arc<Program>, options: &Options) -> Outcome {
    let [one, two, four] = [1, 2, 4].map(|jobs| search(program, &Options { jobs, ..options.clone() }));
    for other in [two, four] {
        let of = format!("{} under {:?}", program.name, options.model);
        assert_eq!(one.coverage, other.coverage, "{of}");
        assert_eq!(one.stats, other.stats, "{of}");
        assert_eq!(one.states, other.states, "{of}");
        assert_eq!((&one.satisfying, &one.falsifying), (&other.satisfying, &other.falsifying), "{of}");
        let shown = |outcome: &Outcome| {
            let violations = outcome.violations.iter();
            violations.map(|found| (found.token.to_string(), found.executions)).collect::<Vec<_>>()
        };
        assert_eq!(shown(&one), shown(&other), "{of}");
    }
    one
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    for program in [gallery::lamport(), gallery::example(3), gallery::rv_example(), gallery::counter(3)] {
        let program = Arc::new(program);
        for model in BUFFER_MODELS {
            let outcome = same_for_all_jobs(&program, &options(model.id));
            assert!(outcome.coverage.is_complete());
            same_for_all_jobs(&program, &Options { stop_at_first: true, ..options(model.id) });
        }
    }
}

#[test]
fn what_limits_leave_does_not_depend_on_the_number_of_jobs() {
    let program = Arc::new(gallery::example(4));
    let none = Limits::default();
    for limits in [Limits { executions: Some(3_000), ..none }, Limits { states: Some(20_000), ..none }] {
        let outcome = same_for_all_jobs(&program, &Options { limits, ..options(ModelId::Pso) });
        assert!(!outcome.coverage.is_complete());
        assert!(outcome.stats.states > 2_048, "the other workers have to help: {:?}", outcome.stats);
    }
    let program = Arc::new(gallery::example(3));
    for steps in [30, 40] {
        let limits = Limits { steps: Some(steps), buffer: Some(steps / 20), ..none };
        let outcome = same_for_all_jobs(&program, &Options { limits, ..options(ModelId::Pso) });
        assert!(!outcome.coverage.is_complete());
    }
}

/// The workers help from the first state on.
#[test]
fn executions_of_small_programs_come_in_the_same_order_for_any_number_of_jobs() {
    let all = |program: &Arc<Program>, model, jobs, alone| {
        let mut executions = Vec::new();
        let settings = Settings { alone, ..Settings::new(Limits::default(), jobs) };
        visit_with(program, model, &settings, &mut |steps| executions.push(steps));
        executions
    };
    let shape = |seed: u64| if seed.is_multiple_of(2) { Shape::full() } else { Shape::litmus() };
    for program in (0..300).map(|seed| generate(seed, &shape(seed))).chain([gallery::dekker(), gallery::counter(2)]) {
        let program = Arc::new(program);
        for model in BUFFER_MODELS {
            let one = all(&program, model.id, 1, 0);
            for (jobs, alone) in [(2, 0), (4, 0), (5, 5)] {
                assert_eq!(one, all(&program, model.id, jobs, alone), "{jobs} jobs under {}\n{program}", model.name);
            }
        }
    }
}

#[test]
fn robustness_is_refused_with_a_search_that_fits() {
    let monitors = vec![MonitorId::Robustness];
    let refused =
        check(&Arc::new(gallery::store_buffering()), &Options { monitors, ..options(ModelId::Tso) }, &|| None);
    assert!(matches!(refused, Err(CheckError::Unfit { monitor: "robustness", search: "mcr", .. })), "{refused:?}");
}

/// A thread reads again and again until another has written.
fn spin() -> Program {
    let mut p = Builder::new("spin");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        let again = t.label();
        t.place(again);
        let seen = t.load("r0", x);
        t.branch(seen.eq(0), again);
    });
    p.thread("P1", |t| t.store(x, 1));
    p.build().expect("well formed")
}

#[test]
fn rounds_that_change_nothing_are_gone_once() {
    let program = Arc::new(spin());
    for model in BUFFER_MODELS {
        let outcome = search(&program, &options(model.id));
        assert!(outcome.coverage.is_complete(), "under {}", model.name);
        assert_eq!((outcome.stats.executions, outcome.stats.classes), (1, 1), "under {}", model.name);
    }
}

#[test]
fn what_goes_wrong_beside_a_thread_without_end_is_found() {
    let mut p = Builder::new("beside");
    let (x, y) = (p.shared("x", 0), p.shared("y", 0));
    p.thread("P0", |t| {
        let again = t.label();
        t.place(again);
        t.load("r0", y);
        t.jump(again);
    });
    p.thread("P1", |t| {
        let seen = t.load("r0", x);
        t.assert(seen.eq(0), "x is 0");
    });
    p.thread("P2", |t| t.store(x, 1));
    let program = Arc::new(p.build().expect("well formed"));
    for model in BUFFER_MODELS {
        let outcome = search(&program, &options(model.id));
        assert!(outcome.coverage.is_complete(), "under {}", model.name);
        assert_eq!(outcome.violations.len(), 1, "under {}", model.name);
    }
}

/// P0 counts on and on, so that no state comes again.
#[test]
fn a_count_without_end_is_cut_off_and_said_to_be() {
    let mut p = Builder::new("count");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        let again = t.label();
        t.place(again);
        let seen = t.load("r0", x);
        t.store(x, seen.plus(1));
        t.jump(again);
    });
    p.thread("P1", |t| _ = t.load("r0", x));
    let program = Arc::new(p.build().expect("well formed"));
    let limits = Limits { steps: Some(40), ..Limits::default() };
    let outcome = search(&program, &Options { limits, ..options(ModelId::Sc) });
    assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Steps(40)));
}

#[test]
fn a_thread_that_stores_without_end_is_held_back() {
    let mut p = Builder::new("stores");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        let again = t.label();
        t.place(again);
        t.store(x, 1);
        t.jump(again);
    });
    p.thread("P1", |t| _ = t.load("r0", x));
    let program = Arc::new(p.build().expect("well formed"));
    let coverage = |model, limits| search(&program, &Options { limits, ..options(model) }).coverage;
    let none = Limits::default();
    assert_eq!(coverage(ModelId::Sc, none), Coverage::Complete);
    for model in [ModelId::Tso, ModelId::Pso] {
        assert_eq!(coverage(model, none), Coverage::Stopped(StopReason::Buffer(8)));
        assert_eq!(coverage(model, Limits { buffer: Some(3), ..none }), Coverage::Stopped(StopReason::Buffer(3)));
        assert_eq!(coverage(model, Limits { steps: Some(200), ..none }), Coverage::Stopped(StopReason::Steps(200)));
    }
}
