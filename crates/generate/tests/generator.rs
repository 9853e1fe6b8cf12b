//! Random programs: they are well formed, depend on the seed alone, stay small, and cover what they are meant to.

use teetotal_generate::{Coverage, Shape, generate, interleavings_bound, rebuild};

const N: u64 = 3_000;

fn presets() -> [(&'static str, Shape); 4] {
    [("litmus", Shape::litmus()), ("full", Shape::full()), ("loops", Shape::loops()), ("spins", Shape::spins())]
}

fn coverage(shape: &Shape) -> Coverage {
    let mut coverage = Coverage::default();
    coverage.extend((0..N).map(|seed| generate(seed, shape)));
    coverage
}

/// Demands of each feature that at least one in so many programs has it.
fn check(shape: &Shape, demands: &[(&str, u64)]) {
    let coverage = coverage(shape);
    for &(name, one_in) in demands {
        assert!(coverage.count(name) * one_in >= N, "less than 1 in {one_in}: {name}\n{coverage}");
    }
}

#[test]
fn every_seed_gives_a_program_within_the_sizes() {
    for (name, shape) in presets() {
        for seed in 0..N {
            let program = generate(seed, &shape);
            assert_eq!(program.name, format!("random-{seed}"));
            assert!((2..=4).contains(&program.n_threads()), "{name} {program}");
            assert!(program.n_operations() <= shape.max_operations, "{name} {program}");
            assert!(interleavings_bound(&program, u64::MAX) <= shape.max_interleavings, "{name} {program}");
        }
    }
}

#[test]
fn a_seed_always_gives_the_same_program() {
    for (_, shape) in presets() {
        for seed in (0..200).chain([u64::MAX]) {
            assert_eq!(generate(seed, &shape), generate(seed, &shape));
        }
    }
}

/// If this changes, seeds noted down elsewhere no longer mean what they did.
#[test]
fn seeds_mean_what_they_meant() {
    let mixed = presets()
        .iter()
        .flat_map(|(_, shape)| (0..50).map(|seed| generate(seed, shape).fingerprint()))
        .fold(0, |sum: u64, print| sum.rotate_left(5) ^ print);
    expect_test::expect!["9ea650a9feb4284b"].assert_eq(&format!("{mixed:x}"));
}

#[test]
fn different_seeds_give_different_programs() {
    let mut prints: Vec<u64> = (0..N).map(|seed| generate(seed, &Shape::litmus()).fingerprint()).collect();
    prints.sort_unstable();
    prints.dedup();
    assert!(prints.len() as u64 > N * 95 / 100, "only {} of {N} differ", prints.len());
}

#[test]
fn what_is_rebuilt_is_the_same() {
    for (_, shape) in presets() {
        for seed in 0..500 {
            let program = generate(seed, &shape);
            assert_eq!(rebuild(&program).as_ref(), Ok(&program));
        }
    }
}

#[test]
fn only_the_shapes_for_loops_have_loops() {
    for (shape, loops) in
        [(Shape::litmus(), false), (Shape::full(), false), (Shape::loops(), true), (Shape::spins(), true)]
    {
        assert_eq!(coverage(&shape).count("loop") > N / 3, loops);
    }
}

#[test]
fn litmus_programs_have_nothing_that_cannot_be_enumerated() {
    let coverage = coverage(&Shape::litmus());
    for name in ["loop", "exclusive stretch", "assertion", "assumption"] {
        assert_eq!(coverage.count(name), 0, "{name}");
    }
}

#[test]
fn litmus_programs_cover_every_operation() {
    let common = [
        "3 threads",
        "plain store",
        "relaxed store",
        "release store",
        "seq-cst store",
        "acquire load",
        "relaxed rmw",
        "acquire rmw",
        "release rmw",
        "seq-cst rmw",
        "exchange",
        "fetch-and-op",
        "full fence",
        "store-store fence",
        "lock",
        "branch",
        "data dependency",
        "computed address",
        "forwarding pair",
        "two stores of a thread to one location",
    ];
    check(&Shape::litmus(), &common.map(|name| (name, 20)));
    let rare = [
        "4 threads",
        "plain rmw",
        "acquire-release rmw",
        "update by a function",
        "compare-exchange, failure a load",
        "compare-exchange, failure locked",
        "acquire-release fence",
        "load-load fence",
        "global fence",
        "spawn",
        "join",
        "choice",
        "await one location",
        "await two locations",
        "lock in two threads",
        "location narrower than 64 bits",
    ];
    check(&Shape::litmus(), &rare.map(|name| (name, 50)));
}

#[test]
fn litmus_programs_have_the_shapes_on_which_faults_show() {
    let shapes = [
        "join, then a read of what the child stored",
        "value wider than its location",
        "computed index",
        "two stores to one location, then a load",
        "store buffering",
        "store buffering, both sides drain",
        "store buffering, seq-cst stores",
        "store buffering past a failed exchange",
        "message passing",
        "message passing, store-store fence",
        "message passing, release store",
        "message passing by rmw",
        "2+2W",
    ];
    check(&Shape::litmus(), &shapes.map(|name| (name, 200)));
}

#[test]
fn full_programs_add_exclusive_stretches_and_checks() {
    check(&Shape::full(), &[("exclusive stretch", 12), ("assertion", 12), ("assumption", 15), ("lock", 20)]);
}

#[test]
fn merged_counts_are_sums() {
    let (mut one, other) = (coverage(&Shape::litmus()), coverage(&Shape::full()));
    let sum = one.count("lock") + other.count("lock");
    one.merge(&other);
    assert_eq!((one.count("lock"), one.n_programs()), (sum, 2 * N));
}
