//! The symbolic search reaches exactly what the machine reaches.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_explore::symbolic::compare::{Bounds, Compared, compare};
use teetotal_explore::{Options, SearchId, check};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{MODELS, ModelId};
use teetotal_program::ir::Program;
use teetotal_program::testing::{Shape, generate, looped};

const BOUNDS: Bounds = Bounds { buffer: 4, states: 1_500, symbolic: 1_000 };

fn random(seed: u64, shapes: &[fn() -> Shape]) -> Program {
    generate(seed, &Shape { max_interleavings: 10_000, ..shapes[seed as usize % shapes.len()]() })
}

/// How many comparisons went how.
fn agree(programs: impl Iterator<Item = Program>) -> [u32; 3] {
    let mut counts = [0; 3];
    for program in programs {
        let program = Arc::new(program);
        let results = [
            ("sc", compare::<Sc>(&program, BOUNDS)),
            ("tso", compare::<Tso>(&program, BOUNDS)),
            ("pso", compare::<Pso>(&program, BOUNDS)),
        ];
        for (model, result) in results {
            match result {
                Ok(Compared::Equal) => counts[0] += 1,
                Ok(Compared::Sound) => counts[1] += 1,
                Ok(Compared::Unknown | Compared::EndlessLoop) => counts[2] += 1,
                Err(difference) => panic!("under {model}: {difference}\n{program}"),
            }
        }
    }
    counts
}

#[test]
fn the_states_of_random_programs_are_those_of_the_machine() {
    let shapes = [Shape::litmus, Shape::full, Shape::loops, Shape::spins];
    let [equal, sound, unknown] = agree((0..200).map(|seed| random(seed, &shapes)));
    assert!(sound == 0 && unknown * 20 < equal, "{equal} equal, {sound} not complete, {unknown} too large");
}

#[test]
fn the_states_of_endless_programs_are_those_of_the_machine() {
    let programs = (1_000..1_150).filter_map(|seed| looped(&random(seed, &[Shape::litmus, Shape::full])).ok());
    let [equal, sound, unknown] = agree(programs);
    // Numbers that grow without end make many of them too large.
    assert!(equal > 2 * (sound + unknown), "{equal} equal, {sound} not complete, {unknown} too large");
}

/// What a search finds, as text.
fn findings(program: &Arc<Program>, model: ModelId, search: SearchId) -> BTreeSet<String> {
    let options = Options { search, ..Options::new(model) };
    let outcome = check(program, &options, &|| None).expect("a random program can be checked");
    assert!(outcome.coverage.is_complete(), "{:?}\n{program}", outcome.coverage);
    let found = outcome.violations.iter().map(|violation| format!("{:?}", violation.finding));
    found.chain(outcome.states.keys().map(|values| format!("{values:?}"))).collect()
}

#[test]
fn it_finds_what_the_search_over_states_finds() {
    for seed in 0..400 {
        let program = Arc::new(random(seed, &[Shape::litmus, Shape::full, Shape::loops]));
        for model in MODELS {
            let [symbolic, stateful] =
                [SearchId::Symbolic, SearchId::Stateful].map(|search| findings(&program, model.id, search));
            assert_eq!(symbolic, stateful, "under {}\n{program}", model.name);
        }
    }
}
