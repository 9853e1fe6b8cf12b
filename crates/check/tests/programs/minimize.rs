//! The executions that are reported are the simplest that show the same.

use std::sync::Arc;

use teetotal_check::minimize::Cost;
use teetotal_check::{Options, Outcome, SearchInfo, check};
use teetotal_engine::trace_of;
use teetotal_gallery as gallery;
use teetotal_generate::program;
use teetotal_memory::{ModelId, Step, Trace};
use teetotal_program::ir::Program;

fn cost_of(trace: &Trace) -> Cost {
    let steps: Vec<Step> = trace.steps().iter().map(|record| record.step).collect();
    Cost::of(&steps)
}

fn checked(program: &Arc<Program>, options: &Options) -> Outcome {
    check(program, options, &|| None).expect("it can be checked")
}

#[test]
fn every_search_reports_the_same_simple_execution() {
    let dekker = gallery::dekker_try(1, gallery::Variant::PLAIN);
    for (program, model) in [(gallery::write_order(), ModelId::Pso), (dekker, ModelId::Tso)] {
        let (name, program) = (program.name.clone(), Arc::new(program));
        let mut shown = SearchInfo::of_programs().map(|search| {
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
    assert_eq!(trace_of(&program, ModelId::Tso, &witness.schedule).trace, witness.trace);
    assert_eq!(witness.token.to_string(), "tso1:6:50b2d262:0x2.1x2.0w.1w");
}

#[test]
fn as_found_is_as_found() {
    let program = Arc::new(gallery::store_buffering());
    let options = Options { minimize: false, ..Options::new(ModelId::Tso) };
    let witness = checked(&program, &options).satisfying.expect("it is observed");
    assert_eq!(witness.token.to_string(), "tso1:6:45f799f4:0.1.0.1w.1.0w");
}

#[test]
fn what_a_failure_does_not_need_is_left_out() {
    let program = Arc::new(program("x=1; x=2; x=3 || r0=y; assert r0==1 || z=1; z=2"));
    for search in SearchInfo::of_programs() {
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
