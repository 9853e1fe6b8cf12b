//! The symbolic search reaches exactly what the machine reaches.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_generate::{Shape, generate, looped, program};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;
use teetotal_symbolic::compare::{Bounds, Compared, compare};

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

/// A store after which its thread waits for the buffer ends every round with the buffer empty.
#[test]
fn a_loop_that_drains_in_each_round_keeps_its_buffer_short() {
    let texts = ["x = 2; x =sc 2 || r0 = x", "x = 1; x =sc 1; y = 1 || y =sc 1; x = 1", "x =sc 1; x =sc 1 || r0 = x"];
    let programs = texts.map(|text| looped(&program(text)).expect("its threads can go round"));
    assert_eq!(agree(programs.into_iter()), [9, 0, 0]);
}

/// What a search finds, as text.
fn findings(program: &Arc<Program>, model: ModelId, search: SearchId) -> BTreeSet<String> {
    let options = Options { search, ..Options::new(model) };
    let outcome = check(program, &options, &|| None).expect("a random program can be checked");
    assert!(outcome.coverage.is_complete(), "{:?}\n{program}", outcome.coverage);
    let found = outcome.violations.iter().map(|violation| format!("{:?}", violation.finding));
    found.chain(outcome.states.keys().map(|values| format!("{values:?}"))).collect()
}

/// A store must not come before another thread that waits for all buffers; such a wait may come before everything.
#[test]
fn it_finds_the_same_where_threads_wait_for_all_buffers() {
    let texts = [
        "x = 1; sync; r0 = y || y = 1; sync; r0 = x",
        "x = 1; r0 = y || sync; y = 1; sync; r0 = x",
        "x = 1; y = 1; sync; x = 2 || r0 = y; sync; r1 = x; y = 2",
        "x = 1; sync; x = 2; r0 = y || y = 1; r0 = x; sync; r1 = x || sync; r0 = x; r1 = y",
    ];
    for text in texts {
        let program = Arc::new(program(text));
        for model in BUFFER_MODELS {
            let [symbolic, stateful] =
                [SearchId::Symbolic, SearchId::Stateful].map(|search| findings(&program, model.id, search));
            assert_eq!(symbolic, stateful, "under {}\n{program}", model.name);
        }
    }
}

#[test]
fn it_finds_what_the_search_over_states_finds() {
    for seed in 0..400 {
        let program = Arc::new(random(seed, &[Shape::litmus, Shape::full, Shape::loops]));
        for model in BUFFER_MODELS {
            let [symbolic, stateful] =
                [SearchId::Symbolic, SearchId::Stateful].map(|search| findings(&program, model.id, search));
            assert_eq!(symbolic, stateful, "under {}\n{program}", model.name);
        }
    }
}
