//! The classic shapes under every model, with every search that can be complete.

use std::sync::Arc;

use teetotal_check::{Options, SearchInfo, check};
use teetotal_engine::Limits;
use teetotal_gallery as gallery;
use teetotal_judge::Extent;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

/// Checks whether the condition can be satisfied, and the number of final states, with every search.
fn check_states(program: Program, expected: [(bool, usize); 3]) {
    let program = Arc::new(program);
    for (model, expected) in BUFFER_MODELS.iter().zip(expected) {
        for search in SearchInfo::of_programs().filter(|search| search.preserves.extent != Extent::Sampled) {
            let limits = Limits { preemptions: None, ..Limits::default() };
            let options = Options { search: search.id, limits, ..Options::new(model.id) };
            let outcome = check(&program, &options, &|| None).expect("the classics can be checked");
            assert!(outcome.coverage.is_complete());
            let found = (outcome.satisfying.is_some(), outcome.states.len());
            assert_eq!(found, expected, "{} under {} with {}", program.name, model.name, search.name);
        }
    }
}

#[test]
fn both_loads_of_store_buffering_may_read_the_initial_values_under_tso() {
    check_states(gallery::store_buffering(), [(false, 3), (true, 4), (true, 4)]);
}

#[test]
fn a_flag_may_be_seen_before_its_data_under_pso_alone() {
    check_states(gallery::message_passing(), [(false, 3), (false, 3), (true, 4)]);
}

#[test]
fn a_store_may_be_forwarded_and_then_lose_the_race_to_memory_under_tso() {
    check_states(gallery::n6(), [(false, 4), (true, 5), (true, 6)]);
}

#[test]
fn both_first_stores_may_be_last_under_pso_alone() {
    check_states(gallery::two_plus_two_writes(), [(false, 3), (false, 3), (true, 4)]);
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    let program = Arc::new(gallery::n6());
    for jobs in [1, 2, 5] {
        let options = Options { jobs, ..Options::new(ModelId::Pso) };
        let outcome = check(&program, &options, &|| None).expect("the classics can be checked");
        let one = check(&program, &Options::new(ModelId::Pso), &|| None).expect("the classics can be checked");
        assert_eq!(outcome.states, one.states);
        assert_eq!(outcome.stats, one.stats);
    }
}
