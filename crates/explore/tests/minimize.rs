//! The executions that are reported are the simplest that show the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_explore::driver::{self, Flow, Observer};
use teetotal_explore::minimize::Cost;
use teetotal_explore::stateless::Brute;
use teetotal_explore::{Limits, Options, Outcome, SEARCHES, SearchId, System, check, trace_of};
use teetotal_judge::{Ending, Finding, View};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Model, ModelId, Step, Trace};
use teetotal_program::gallery;
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::testing::{Shape, generate, program};

/// The least cost of each finding, by brute force.
#[derive(Default)]
struct Least(BTreeMap<String, Cost>);

impl Least {
    fn note(&mut self, finding: &Finding, trace: &Trace) {
        let cost = cost_of(trace);
        let least = self.0.entry(format!("{finding:?}")).or_insert(cost);
        *least = cost.min(*least);
    }
}

impl Observer for Least {
    fn step(&mut self, view: &View<'_>) -> Flow {
        if let Some((thread, failure)) = view.failure {
            self.note(&Finding::Failure { thread, failure }, view.trace);
        }
        Flow::Continue
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        if let Ending::Blocked(blocked) = ending {
            self.note(&Finding::Deadlock { blocked: blocked.clone() }, view.trace);
        }
        Flow::Continue
    }
}

fn cost_of(trace: &Trace) -> Cost {
    let steps: Vec<Step> = trace.steps().iter().map(|record| record.step).collect();
    Cost::of(&steps)
}

/// Checks the costs of all findings; gives how many there are.
fn compare<M: Model>(program: &Program) -> usize {
    let program = Arc::new(program.clone());
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(&program)));
    let mut least = Least::default();
    driver::run(&mut system, &mut Brute::default(), &mut least, &Limits::default(), &|| None);
    for search in [SearchId::Stateful, SearchId::Brute, SearchId::Random] {
        let limits = Limits { executions: Some(300).filter(|_| search == SearchId::Random), ..Limits::default() };
        let outcome = checked(&program, &Options { search, limits, ..Options::new(M::ID) });
        assert!(search == SearchId::Random || outcome.violations.len() == least.0.len(), "{program}");
        compare_costs(&program, &outcome, &least);
    }
    least.0.len()
}

fn compare_costs(program: &Arc<Program>, outcome: &Outcome, least: &Least) {
    for violation in &outcome.violations {
        assert!(violation.is_minimal, "{:?} of\n{program}", violation.finding);
        let cost = cost_of(&violation.trace);
        assert_eq!(cost, least.0[&format!("{:?}", violation.finding)], "{:?} of\n{program}", violation.finding);
        let again = trace_of(program, outcome.model, &violation.schedule);
        assert!(again.findings.contains(&(violation.monitor, violation.finding.clone())), "{program}");
    }
}

#[test]
fn nothing_that_brute_force_finds_is_simpler() {
    let mut findings = 0;
    for (shape, seeds) in [(Shape::full(), 0..300), (Shape::loops(), 300..400), (Shape::litmus(), 400..450)] {
        for seed in seeds {
            let program = generate(seed, &Shape { max_interleavings: 2_000, ..shape.clone() });
            findings += compare::<Sc>(&program) + compare::<Tso>(&program) + compare::<Pso>(&program);
        }
    }
    assert!(findings > 100, "only {findings} findings");
}

fn checked(program: &Arc<Program>, options: &Options) -> Outcome {
    check(program, options, &|| None).expect("it can be checked")
}

#[test]
fn every_search_reports_the_same_simple_execution() {
    let dekker = gallery::dekker_try(1, gallery::Variant::PLAIN);
    for (program, model) in [(gallery::write_order(), ModelId::Pso), (dekker, ModelId::Tso)] {
        let (name, program) = (program.name.clone(), Arc::new(program));
        let mut shown = SEARCHES.iter().map(|search| {
            let options = Options { search: search.id, stop_at_first: true, ..Options::new(model) };
            let outcome = checked(&program, &options);
            let violation = outcome.violations.into_iter().next().unwrap_or_else(|| panic!("{name}: {}", search.name));
            assert!(violation.is_minimal, "{name}: {}", search.name);
            (format!("{:?}", violation.finding), violation.token.to_string())
        });
        let first = shown.next().expect("there are searches");
        // Which of several findings comes first depends on the search.
        assert!(shown.filter(|(finding, _)| *finding == first.0).all(|other| other == first), "{name}");
    }
}

#[test]
fn a_witness_is_simple_too() {
    let program = Arc::new(gallery::store_buffering());
    let outcome = checked(&program, &Options::new(ModelId::Tso));
    let witness = outcome.satisfying.expect("it is observed");
    let again = trace_of(&program, ModelId::Tso, &witness);
    assert_eq!(again.token.to_string(), "tso1:6:50b2d262:0x2.1x2.0w.1w");
}

#[test]
fn as_found_is_as_found() {
    let program = Arc::new(gallery::store_buffering());
    let options = Options { minimize: false, ..Options::new(ModelId::Tso) };
    let witness = checked(&program, &options).satisfying.expect("it is observed");
    assert_eq!(trace_of(&program, ModelId::Tso, &witness).token.to_string(), "tso1:6:45f799f4:0.1.0.1w.1.0w");
}

#[test]
fn what_a_failure_does_not_need_is_left_out() {
    let program = Arc::new(program("x=1; x=2; x=3 || r0=y; assert r0==1 || z=1; z=2"));
    for search in SEARCHES {
        let outcome = checked(&program, &Options { search: search.id, ..Options::new(ModelId::Tso) });
        assert_eq!(cost_of(&outcome.violations[0].trace), Cost { switches: 0, commits: 0, steps: 1 });
    }
}

#[test]
fn what_goes_wrong_before_the_first_step_is_as_simple_as_can_be() {
    let program = Arc::new(program("assert 0; x=1 || r0=x"));
    let outcome = checked(&program, &Options::new(ModelId::Tso));
    assert!(outcome.violations[0].is_minimal);
    assert!(outcome.violations[0].schedule.is_empty());
}
