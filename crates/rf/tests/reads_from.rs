//! One execution for all in which every read takes its value from the same write, by annotations.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_dpor as dpor;
use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::{Brute, Replay};
use teetotal_engine::{Abandon, Coverage, Execution, Limits, Move, Schedule, Stats, StopReason, System};
use teetotal_gallery as gallery;
use teetotal_generate::{Idioms, Shape, generate, program, shrink};
use teetotal_judge::{Ending, View};
use teetotal_memory::models::Pso;
use teetotal_memory::{BUFFER_MODELS, Model, ModelId, ModelVisitor, Trace};
use teetotal_program::Value;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_rf as rf;

/// What makes a class: what each thread read and from where, and how it ended.
type Class = (Vec<Value>, Vec<u32>, String);

fn class(trace: &Trace, ending: &Ending) -> Class {
    let counts = (0..trace.n_threads()).map(|thread| {
        let own = trace.events().iter().filter(|event| event.thread.index() == thread);
        own.count() as u32
    });
    (trace.reads_from_key(), counts.collect(), format!("{ending:?}"))
}

#[derive(Default)]
struct Classes(BTreeSet<Class>, u64);

impl Observer for Classes {
    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.0.insert(class(view.trace, ending));
        self.1 += 1;
        if self.1 > 30_000 { Flow::Stop(StopReason::Executions(self.1)) } else { Flow::Continue }
    }

    fn abandoned(&mut self, view: &View<'_>, _: Abandon) {
        // An execution that is followed ends where its moves do.
        self.0.insert(class(view.trace, &Ending::Completed));
    }
}

struct Compare<'c>(&'c Arc<Program>);

impl ModelVisitor for Compare<'_> {
    type Output = Option<String>;

    fn visit<M: Model>(self) -> Option<String> {
        let subject = || Interpreter::new(Arc::clone(self.0));
        let mut brute = Classes::default();
        let mut system = System::<_, M>::new(subject());
        let limits = Limits { steps: Some(200), ..Limits::default() };
        let coverage = driver::run(&mut system, &mut Brute::default(), &mut brute, &limits, &|| None);
        if !coverage.is_complete() {
            return None;
        }
        let mut found = Vec::new();
        let result = rf::watch::<_, M>(subject(), &limits, &|| None, &mut |ended: &Execution<'_, Interpreter>| {
            let steps = Schedule::Steps(ended.moves().into_iter().map(Move::step).collect());
            let mut one = Classes::default();
            let mut system = System::<_, M>::new(subject());
            driver::run(&mut system, &mut Replay::of_schedule(&steps), &mut one, &limits, &|| None);
            let key = one.0.into_iter().next().map(|(reads, counts, _)| (reads, counts, format!("{:?}", ended.ending)));
            found.extend(key);
            Flow::Continue
        });
        let Ok((stats, coverage)) = result else { return Some(format!("{result:?}")) };
        let all: BTreeSet<Class> = found.iter().cloned().collect();
        let missed = brute.0.difference(&all).count();
        let invented = all.difference(&brute.0).count();
        let is_same = missed + invented == 0 && all.len() == found.len() && coverage == Coverage::Complete;
        (!is_same || stats.classes != all.len() as u64).then(|| {
            let repeated = found.len() - all.len();
            let of = brute.0.len();
            format!("{missed} of {of} missed, {invented} invented, {repeated} repeated, {coverage:?}, {stats:?}")
        })
    }
}

fn demand_all_classes(program: &Program) {
    for model in BUFFER_MODELS {
        let differs = |program: &Program| {
            let is_supported = dpor::unsupported(program).is_none();
            is_supported.then(|| model.id.visit(Compare(&Arc::new(program.clone())))).flatten()
        };
        if differs(program).is_some() {
            let small = shrink(program, |program| differs(program).is_some());
            panic!("under {}: {small}\n{}", model.name, differs(&small).unwrap_or_default());
        }
    }
}

#[test]
fn random_programs_have_the_classes_of_brute_force() {
    let litmus = Shape::litmus();
    let idioms = Idioms { snapshot: 0, guarded: 0, locked: 20, spawned: 15, ..litmus.idioms };
    let shape = Shape { idioms, global_fences: 0, awaits: 12, asserts: 10, assumes: 5, ..litmus };
    let mut n_programs = 0;
    for seed in 0..800 {
        let program = generate(seed, &shape);
        if dpor::unsupported(&program).is_none() {
            n_programs += 1;
            demand_all_classes(&program);
        }
    }
    assert!(n_programs > 100, "only {n_programs} programs");
}

fn search(program: &Program, model: ModelId) -> (Stats, Coverage) {
    struct Visit<'v>(&'v Program);
    impl ModelVisitor for Visit<'_> {
        type Output = (Stats, Coverage);

        fn visit<M: Model>(self) -> (Stats, Coverage) {
            let subject = Interpreter::new(Arc::new(self.0.clone()));
            let mut each = |_: &Execution<'_, Interpreter>| Flow::Continue;
            rf::watch::<_, M>(subject, &Limits::default(), &|| None, &mut each).expect("supported")
        }
    }
    model.visit(Visit(program))
}

/// As many executions as classes, and nothing in vain.
fn classes(program: Program, expected: [u64; 3]) {
    for (model, expected) in BUFFER_MODELS.iter().zip(expected) {
        let (stats, coverage) = search(&program, model.id);
        let of = format!("{} under {}", program.name, model.name);
        assert_eq!((stats.executions, stats.classes, coverage), (expected, expected, Coverage::Complete), "{of}");
        assert_eq!(stats.abandoned, 0, "{of}");
    }
}

#[test]
fn writes_that_nobody_reads_may_come_in_any_order() {
    classes(program("x=1; x=2; x=3 || x=4; x=5; x=6 || x=7; x=8; r0=x"), [7, 7, 7]);
    classes(gallery::two_plus_two_writes(), [1, 1, 1]);
    classes(gallery::store_buffering(), [3, 4, 4]);
    classes(gallery::example(2), [105, 105, 13_848]);
}

/// It reads every value that there is, and each from one write.
#[test]
fn an_update_may_succeed_or_fail_with_another_source() {
    demand_all_classes(&program("x=1; x=0 || r0=cas(x, 0, 5) || r0=cas(x, 1, 6)"));
    demand_all_classes(&program("x=1; x=0 || y=1; r0=cas.rel/rlx(x, 1, 5); r1=x || x=2; r0=cas.ar/acq(x, 0, 6); r1=y"));
}

#[test]
fn waiting_for_good_is_found_where_an_execution_goes_on() {
    let overwritten = program("x=1; x=2 || await x==1");
    classes(overwritten.clone(), [2, 2, 2]);
    demand_all_classes(&overwritten);
    demand_all_classes(&program("x=1; y=1 || r0=y; x=2 || await x==1"));
    demand_all_classes(&program("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b"));
}

/// Where locks are taken in one order nobody is held to see whether it waits for good.
#[test]
fn locks_in_one_order_leave_nothing_to_try_in_vain() {
    let thread = "lock a; lock b; x=1; unlock b; unlock a";
    classes(program(&[thread; 3].join(" || ")), [6, 6, 6]);
}

#[test]
fn limits_and_the_stop_signal_are_heeded() {
    let stopped = |limits: Limits, signal: &(dyn Fn() -> Option<StopReason> + Sync)| {
        let subject = Interpreter::new(Arc::new(gallery::example(2)));
        let mut each = |_: &Execution<'_, Interpreter>| Flow::Continue;
        rf::watch::<_, Pso>(subject, &limits, &signal, &mut each).expect("it can be searched")
    };
    let none = Limits::default();
    let (stats, coverage) = stopped(Limits { executions: Some(100), ..none }, &|| None);
    assert_eq!((stats.executions, coverage), (100, Coverage::Stopped(StopReason::Executions(100))));
    let (_, coverage) = stopped(Limits { steps: Some(5), ..none }, &|| None);
    assert_eq!(coverage, Coverage::Stopped(StopReason::Steps(5)));
    let (_, coverage) = stopped(Limits { memory: Some(1_000), ..none }, &|| None);
    assert_eq!(coverage, Coverage::Stopped(StopReason::Memory(1_000)));
    let (_, coverage) = stopped(none, &|| Some(StopReason::Time));
    assert_eq!(coverage, Coverage::Stopped(StopReason::Time));
}

#[test]
fn what_an_annotation_does_not_show_is_refused_by_name() {
    let refused = |program: Program| {
        let subject = Interpreter::new(Arc::new(program));
        let mut each = |_: &Execution<'_, Interpreter>| Flow::Continue;
        rf::watch::<_, Pso>(subject, &Limits::default(), &|| None, &mut each).map_err(|it| it.reason)
    };
    assert_eq!(refused(program("x=1; sync || r0=x")), Err("a fence that drains the buffers of all threads"));
}
