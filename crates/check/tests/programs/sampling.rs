//! The searches that sample: what they find, that a seed means one thing, and what they promise.

use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::{Guarantee, Pct};
use teetotal_engine::{Coverage, Limits, StopReason, System};
use teetotal_gallery as gallery;
use teetotal_generate::program;
use teetotal_judge::{Ending, View};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Model, ModelId, Trace};
use teetotal_program::ir::{Interpreter, Program};

const SAMPLED: [SearchId; 2] = [SearchId::Random, SearchId::Pct];

fn options(search: SearchId, model: ModelId, seed: u64, executions: u64) -> Options {
    let limits = Limits { executions: Some(executions), ..Limits::default() };
    Options { search, seed, limits, ..Options::new(model) }
}

fn sample(program: &Arc<Program>, options: &Options) -> Outcome {
    check(program, options, &|| None).expect("it can be searched")
}

#[test]
fn known_bugs_are_found() {
    for (name, model) in [
        ("write-order", ModelId::Pso),
        ("dekker-try", ModelId::Tso),
        ("peterson-loop", ModelId::Tso),
        ("chase-lev", ModelId::Pso),
        ("ping-pong", ModelId::Sc),
    ] {
        let program = Arc::new((gallery::by_name(name).expect("it is in the gallery").build)());
        for search in SAMPLED {
            let outcome = sample(&program, &options(search, model, 1, 3_000));
            assert!(!outcome.violations.is_empty(), "{name} with {search:?}");
        }
    }
}

#[test]
fn a_sample_is_never_complete() {
    let program = Arc::new(program("x=1 || r0=y"));
    for search in SAMPLED {
        let outcome = sample(&program, &options(search, ModelId::Sc, 0, 50));
        assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Executions(50)));
        assert_eq!(outcome.stats.executions, 50);
        let unlimited = Options { limits: Limits::default(), ..options(search, ModelId::Sc, 0, 1) };
        assert_eq!(sample(&program, &unlimited).stats.executions, Limits::SAMPLES);
    }
}

#[test]
fn a_seed_means_one_sample() {
    let program = Arc::new(gallery::n6());
    for search in SAMPLED {
        let schedules = |seed| sample(&program, &options(search, ModelId::Pso, seed, 4)).states;
        assert_eq!(schedules(7), schedules(7), "{search:?}");
        assert!((0..5).any(|seed| schedules(seed) != schedules(7)), "{search:?}");
    }
}

#[test]
fn a_random_walk_takes_each_possible_step_equally_often() {
    // Of the 6 executions of SB under SC, 2 have a first thread that ends before the other begins.
    // The walk takes each of them with probability 1/4, and each of the other 4 with probability 1/8.
    let mut one_after_the_other = 0;
    let program = Arc::new(program("x=1; r0=y || y=1; r1=x"));
    let n = 2_000;
    for seed in 0..n {
        let outcome = sample(&program, &options(SearchId::Random, ModelId::Sc, seed, 1));
        let both_read_1 = outcome.states.keys().any(|values| values.iter().take(2).all(|&value| value == 1));
        one_after_the_other += u64::from(!both_read_1);
    }
    assert!((n * 45 / 100..n * 55 / 100).contains(&one_after_the_other), "{one_after_the_other} of {n}");
}

/// Counts the executions in which something is observed.
struct Count<'c> {
    is_wanted: &'c dyn Fn(&Trace) -> bool,
    found: u64,
}

impl Observer for Count<'_> {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        self.found += u64::from((self.is_wanted)(view.trace));
        Flow::Continue
    }
}

fn count<M: Model>(program: Program, depth: u32, is_wanted: &dyn Fn(&Trace) -> bool) -> (u64, Guarantee) {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::new(program)));
    let mut pct = Pct::new::<M>(3, depth, 4_000);
    let mut count = Count { is_wanted, found: 0 };
    driver::run(&mut system, &mut pct, &mut count, &Limits::default(), &|| None);
    (count.found, pct.guarantee().expect("nobody waits"))
}

#[test]
fn threads_and_buffers_have_priorities() {
    let text = "x=1; y=1 || y=2; x=2";
    let processes = [
        count::<Sc>(program(text), 3, &|_| false).1,
        count::<Tso>(program(text), 3, &|_| false).1,
        count::<Pso>(program(text), 3, &|_| false).1,
    ];
    assert_eq!(
        processes.map(|guarantee| guarantee.processes),
        [2, 4, 6],
        "a buffer a thread, then a thread and location"
    );
    assert_eq!(processes.map(|guarantee| guarantee.steps), [4, 8, 8]);
    assert_eq!(processes.map(|guarantee| guarantee.one_in()), [Some(2 * 16), Some(4 * 64), Some(6 * 64)]);
    assert!(processes.iter().all(|guarantee| guarantee.executions == 3_999 && !guarantee.choices));
}

/// Whether so many are about as many as promised or more.
fn is_kept(found: u64, guarantee: Guarantee) -> bool {
    found * 10 >= guarantee.executions * 9 / guarantee.one_in().expect("small")
}

#[test]
fn bugs_are_found_as_often_as_promised() {
    // Both loads read 0: each load comes before the commit of the other thread, two ordered pairs.
    let both_read_0 = |trace: &Trace| trace.events().iter().filter(|event| event.read == Some(0)).count() == 2;
    let (found, guarantee) = count::<Tso>(program("x=1; r0=y || y=1; r1=x"), 2, &both_read_0);
    assert!(is_kept(found, guarantee), "{found}, promised is {guarantee:?}");
    // The flag is seen before the data: two ordered pairs, under PSO alone.
    let overtaken = |trace: &Trace| trace.values_key().ends_with(&[1, 0]);
    let (found, guarantee) = count::<Pso>(program("x=1; y=1 || r0=y; r1=x"), 2, &overtaken);
    assert!(is_kept(found, guarantee), "{found}, promised is {guarantee:?}");
    // One pair: the last store of the second thread comes before the first thread begins.
    let late = |trace: &Trace| trace.values_key().starts_with(&[1, 9]);
    let (found, guarantee) = count::<Sc>(program("r0=x || x=1; x=2; x=9"), 1, &late);
    assert!(is_kept(found, guarantee), "{found}, promised is {guarantee:?}");
}

#[test]
fn a_choice_of_the_program_weakens_the_promise() {
    let outcome =
        sample(&Arc::new(program("r0 = choose 3; x=r0 || r1=x")), &options(SearchId::Pct, ModelId::Sc, 0, 100));
    assert!(outcome.guarantee.is_some_and(|guarantee| guarantee.choices));
    assert_eq!(outcome.states.len(), 5, "each alternative is taken now and then, and seen or not");
}

#[test]
fn nothing_is_promised_of_a_program_that_spins() {
    let program = Arc::new(gallery::peterson_loop(1, gallery::Variant::PLAIN.with_waiting(gallery::Waiting::Loop)));
    let outcome = sample(&program, &options(SearchId::Pct, ModelId::Tso, 0, 50));
    assert_eq!(outcome.guarantee, None);
    assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Executions(50)), "every execution came to its end");
}

#[test]
fn a_depth_of_0_is_refused() {
    let options = Options { depth: 0, ..options(SearchId::Pct, ModelId::Sc, 0, 1) };
    let refused = check(&Arc::new(gallery::n6()), &options, &|| None).err();
    assert_eq!(refused, Some(CheckError::NoDepth));
}
