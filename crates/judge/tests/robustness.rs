//! What the algorithms for robustness find, beside what enumeration of the model says.

use std::sync::Arc;

use teetotal_judge::axiomatic::families::{e1, e2, e3};
use teetotal_judge::monitors::robustness::survey::Survey;
use teetotal_memory::ModelId::{self, Pso, Tso};
use teetotal_program::Loc;
use teetotal_program::Order;
use teetotal_program::ir::{Builder, Instruction, Program, ThreadBuilder, Update};

fn survey(model: ModelId, programs: impl Iterator<Item = Program>) -> Survey {
    let mut survey = Survey::default();
    programs.for_each(|program| survey.add(model, &Arc::new(program)));
    survey
}

/// Checks that what claims to be complete is, and that nothing gives a false alarm. Sober knows TSO only.
fn check(model: ModelId, survey: &Survey) {
    let knows = |index: usize| model == Tso || index == 0 || index == 3;
    for index in (0..4).filter(|&index| knows(index)) {
        assert_eq!(survey.false_alarms[index], 0, "{model:?} {index}: {survey:?}");
        assert!(index == 2 || survey.missed[index] == 0, "{model:?} {index}: {survey:?}");
        assert!(index >= 2 || survey.hidden[index] == 0, "{model:?} {index}: {survey:?}");
    }
}

/// Every how many of a family's programs is compared.
fn stride() -> usize {
    std::env::var("TEETOTAL_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(23)
}

#[test]
fn the_algorithms_agree_with_enumeration_on_the_families() {
    for model in [Tso, Pso] {
        for update in [Order::SeqCst, Order::Relaxed] {
            check(model, &survey(model, e1(update).step_by(stride())));
            check(model, &survey(model, e2(update).step_by(stride())));
        }
        check(model, &survey(model, e3().step_by(stride())));
    }
}

/// A random program with every operation and ordering, branches, and up to three locations and threads.
fn random_program(seed: u64) -> Program {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut p = Builder::new("random");
    let locations = [p.shared("x", 0), p.shared("y", 0), p.shared("z", 0)];
    let n_threads = 2 + below(2);
    let n_locations = 2 + below(2);
    for thread in 0..n_threads {
        let length = if n_threads == 2 { 2 + below(3) } else { 1 + below(3) };
        p.thread(&format!("P{thread}"), |t| {
            for _ in 0..length {
                let loc = locations[below(n_locations) as usize];
                let (kind, choice) = (below(16), [below(8), below(8), below(8)]);
                operation(t, loc, kind, choice);
            }
        });
    }
    p.build().expect("well formed")
}

fn operation(t: &mut ThreadBuilder<'_>, loc: Loc, kind: u64, [order, value, branch]: [u64; 3]) {
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::SeqCst];
    let order = orders[order as usize % 4];
    match kind {
        0..5 => t.store(loc, value),
        5 => t.store_with(loc, value, order),
        6..10 => {
            let r = t.load("r", loc);
            if branch < 3 {
                t.when(r, |t| t.store(loc, value));
            }
        }
        10 => _ = t.rmw("r", loc, Update::Exchange(value.into()), order),
        11 => _ = t.rmw("r", loc, Update::Fetch(teetotal_program::ir::FetchOp::Add, value.into()), order),
        12 => {
            let on_failure = if branch < 4 {
                teetotal_program::OnFailure::Load(Order::Relaxed)
            } else {
                teetotal_program::OnFailure::Locked
            };
            let update = Update::CompareExchange { expected: (value % 2).into(), new: (2 + value).into(), on_failure };
            t.rmw("r", loc, update, order);
        }
        13 => t.fence(),
        14 => t.store_store_fence(),
        _ => t.push(Instruction::Fence { order }),
    }
}

#[test]
fn the_algorithms_agree_with_enumeration_on_random_programs() {
    let n: u64 = std::env::var("TEETOTAL_RANDOM").ok().and_then(|text| text.parse().ok()).unwrap_or(1_500);
    for seed in 0..n {
        let program = Arc::new(random_program(seed));
        for model in [Tso, Pso] {
            let mut survey = Survey::default();
            survey.add(model, &program);
            // What may fail reads something else in the model; whether it then waits is decided when it is performed.
            let certain = !program.to_string().contains("cas");
            let knows = |index: usize| model == Tso || index == 0 || index == 3;
            for index in (0..4).filter(|&index| knows(index)) {
                let ok = survey.missed[index] == 0 || index == 2;
                assert!(ok, "{model:?} {index} misses (seed {seed}): {survey:?}\n{program}");
                assert!(index >= 2 || survey.hidden[index] == 0, "{model:?} {index} {seed}: {survey:?}\n{program}");
                let alarm = survey.false_alarms[index] > 0 && certain;
                assert!(!alarm, "{model:?} {index} false alarm (seed {seed}): {survey:?}\n{program}");
            }
        }
    }
}
