//! One execution for all in which every read takes its value from the same write, by annotations.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_explore::annotations::{self, Leaf};
use teetotal_explore::driver::{self, Flow, Observer};
use teetotal_explore::dpor::Move;
use teetotal_explore::stateless::{Brute, Replay};
use teetotal_explore::{Abandon, Coverage, Limits, Schedule, Stats, StopReason, System, dpor};
use teetotal_judge::{Ending, View};
use teetotal_memory::{MODELS, Model, ModelId, ModelVisitor, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::testing::{Idioms, Shape, generate, program, shrink};
use teetotal_program::{Value, gallery};

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

fn step(step: &Move) -> Step {
    match *step {
        Move::Issue { thread, alternative, .. } => Step::Issue { thread, alternative },
        Move::Commit { thread, loc, .. } => Step::Commit { thread, loc },
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
        let result = annotations::watch::<_, M>(subject(), &limits, &|| None, &mut |leaf: &Leaf<'_, Interpreter>| {
            let steps = Schedule::Steps(leaf.moves().iter().map(step).collect());
            let mut one = Classes::default();
            let mut system = System::<_, M>::new(subject());
            driver::run(&mut system, &mut Replay::of_schedule(&steps), &mut one, &limits, &|| None);
            let key = one.0.into_iter().next().map(|(reads, counts, _)| (reads, counts, format!("{:?}", leaf.ending)));
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
    for model in MODELS {
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
    for seed in 5_000..5_600 {
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
            let mut each = |_: &Leaf<'_, Interpreter>| Flow::Continue;
            annotations::watch::<_, M>(subject, &Limits { executions: Some(20_000), ..Limits::default() }, &|| None, &mut each).expect("supported")
        }
    }
    model.visit(Visit(program))
}

#[test]
fn waiting_for_good_is_found_where_an_execution_goes_on() {
    let overwritten = program("x=1; x=2 || await x==1");
    let ordered = program("x=1; y=1 || r0=y; x=2 || await x==1");
    for model in MODELS {
        demand_all_classes(&overwritten);
        demand_all_classes(&ordered);
        assert_eq!(search(&overwritten, model.id).0.blocked, 1);
    }
    demand_all_classes(&program("lock a; lock b; unlock b; unlock a || lock b; lock a; unlock a; unlock b"));
}

#[test]
#[ignore]
fn figures() {
    let programs = [
        gallery::rv_example(), gallery::rv_example(), gallery::rv_example(), gallery::rv_example(), gallery::bakery(), gallery::bakery(), gallery::lamport(), gallery::lamport(),
        gallery::example(2), gallery::dekker(), gallery::bakery(), gallery::counter(2), gallery::counter(3), gallery::lamport(),
        gallery::peterson(), gallery::rv_example(),
        program("lock a; x=1; unlock a; lock a; x=2; unlock a || lock a; x=1; unlock a; lock a; x=2; unlock a || lock a; x=1; unlock a; lock a; x=2; unlock a"),
        program("lock a; lock b; x=1; unlock b; unlock a || lock a; lock b; x=1; unlock b; unlock a || lock a; lock b; x=1; unlock b; unlock a || lock a; lock b; x=1; unlock b; unlock a"),
        program("x=1; x=2; x=3 || x=4; x=5; x=6 || x=7; x=8; r0=x"),
    ];
    for program in programs {
        for model in MODELS {
            let begin = std::time::Instant::now();
            let (stats, coverage) = search(&program, model.id);
            let mine = begin.elapsed();
            let begin = std::time::Instant::now();
            let options = teetotal_explore::Options { search: teetotal_explore::SearchId::Dpor, limits: Limits{executions: Some(300_000), ..Limits::default()}, ..teetotal_explore::Options::new(model.id) };
            let dpor = teetotal_explore::check(&Arc::new(program.clone()), &options, &|| None).map(|o| o.stats.executions).unwrap_or(0);
            println!("= {} {} {coverage:?} {mine:?} {} exec {} abandoned {} nodes {} calls {} work; dpor {dpor} in {:?}", program.name, model.name, stats.executions, stats.abandoned, stats.states, stats.solver_calls, stats.solver_work, begin.elapsed());
        }
    }
}
