//! The axioms forbid every trace that the machines do not perform, however absurd.
//!
//! A candidate has any order of the writes to each location and any write to its location as the source of each read.

mod common;

use std::collections::BTreeMap;

use common::check;
use teetotal_judge::axiomatic::families::{e3, three_threads_without_fences, two_threads_without_fences};
use teetotal_judge::axiomatic::{accepts, accepts_as_sober_printed};
use teetotal_memory::ModelId::{Pso, Sc, Tso};
use teetotal_memory::{Event, EventId, EventKind, ModelId, Recorder, Source, Step, Trace};
use teetotal_program::ir::{Builder, Instruction, Program, Update};
use teetotal_program::{Loc, Order};

/// What has to be checked of a candidate with its model and whether the machine performs it.
fn for_each_candidate(program: &Program, models: &[ModelId], mut visit: impl FnMut(ModelId, bool, &Trace)) {
    let performed: Vec<_> = models.iter().map(|&model| (model, check(model, program))).collect();
    let skeleton = by_thread(performed[0].1.values().next().expect("a program has an execution"));
    candidates(&skeleton, &mut |trace| {
        let key = trace.key();
        performed.iter().for_each(|(model, traces)| visit(*model, traces.contains_key(&key), trace));
    });
}

/// Checks that the axioms allow exactly those candidates that the machines perform, and gives how many there are.
fn compare(program: &Program) -> usize {
    let mut n_candidates = 0;
    for_each_candidate(program, &[Sc, Tso, Pso], |model, performed, trace| {
        n_candidates += usize::from(model == Tso);
        let verdict = accepts(model, trace, |_| 0);
        assert_eq!(verdict.is_ok(), performed, "{model:?}: {verdict:?}\n{trace:#?}\nof {program}");
    });
    n_candidates
}

/// Every how many of a family's programs is compared.
fn stride() -> usize {
    std::env::var("TEETOTAL_STRIDE").ok().and_then(|text| text.parse().ok()).unwrap_or(41)
}

#[test]
fn axioms_and_machine_agree_on_every_candidate_of_the_families() {
    two_threads_without_fences().step_by(stride()).for_each(|program| _ = compare(&program));
    three_threads_without_fences().step_by(stride()).for_each(|program| _ = compare(&program));
    e3().step_by(stride()).for_each(|program| _ = compare(&program));
}

#[test]
fn axioms_and_machine_agree_on_every_candidate_with_barriers_and_orderings() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..6_000 / stride() {
        compare(&ordered(&mut random));
    }
}

/// [SOBER, Def. 3] as printed is too strict, never too weak.
#[test]
fn sober_as_printed_allows_nothing_that_the_machine_does_not_perform() {
    for program in two_threads_without_fences().chain(e3()).step_by(stride()) {
        for_each_candidate(&program, &[Tso], |_, performed, trace| {
            assert!(performed || !accepts_as_sober_printed(trace), "{trace:#?}\nof {program}");
        });
    }
}

/// A straight-line program of two threads with stores, loads, exchanges and fences of every ordering.
fn ordered(random: &mut u64) -> Program {
    let mut below = |bound: u64| {
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*random >> 33) % bound
    };
    let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
    let mut p = Builder::new("ordered");
    let locations = [p.shared("x", 0), p.shared("y", 0)];
    let mut next = 0;
    for thread in 0..2 {
        p.thread(&format!("P{thread}"), |t| {
            for _ in 0..2 + below(3) {
                next += 1;
                let (loc, order) = (locations[below(2) as usize], orders[below(5) as usize]);
                match below(10) {
                    0..4 => t.store_with(loc, next, order),
                    4..7 => _ = t.load_with("r", loc, order),
                    7 => _ = t.rmw("r", loc, Update::Exchange(next.into()), order),
                    8 => t.push(Instruction::Fence { order }),
                    _ => t.push(Instruction::GlobalFence),
                }
            }
        });
    }
    p.build().expect("well formed")
}

/// The events of a trace thread by thread, without what was read.
fn by_thread(trace: &Trace) -> Vec<Event> {
    let mut events = trace.events().to_vec();
    events.sort_by_key(|event| (event.thread, event.index));
    events
}

fn candidates(skeleton: &[Event], visit: &mut dyn FnMut(&Trace)) {
    let mut writes: BTreeMap<Loc, Vec<usize>> = BTreeMap::new();
    for (id, event) in skeleton.iter().enumerate().filter(|(_, event)| event.is_write()) {
        writes.entry(event.loc.expect("a write has a location")).or_default().push(id);
    }
    let orders = writes.values().fold(vec![Vec::new()], |chosen: Vec<Vec<usize>>, writes| {
        let extend = |prefix: Vec<usize>| {
            permutations(writes).into_iter().map(move |order| prefix.iter().copied().chain(order).collect())
        };
        chosen.into_iter().flat_map(extend).collect()
    });
    for coherence in orders {
        choose_sources(skeleton.to_vec(), 0, &coherence, visit);
    }
}

/// Gives each read from `at` on each source it may have; an exchange reads what it overwrites.
fn choose_sources(events: Vec<Event>, at: usize, coherence: &[usize], visit: &mut dyn FnMut(&Trace)) {
    let Some(event) = events.get(at) else { return visit(&recorded(&events, coherence)) };
    let Some(_) = event.source else { return choose_sources(events, at + 1, coherence, visit) };
    let same_location = |write: &&usize| events[**write].loc == event.loc;
    let mut sources: Vec<Option<usize>> =
        std::iter::once(None).chain(coherence.iter().filter(same_location).copied().map(Some)).collect();
    if event.kind == EventKind::Rmw {
        let own = sources.iter().position(|&source| source == Some(at)).expect("an exchange writes");
        sources = vec![sources[own - 1]];
    }
    for source in sources {
        let mut events = events.clone();
        events[at].read = Some(source.map_or(0, |write| events[write].written.expect("a write writes")));
        events[at].source = Some(source.map_or(Source::Initial, |write| Source::Write(EventId::at(write))));
        choose_sources(events, at + 1, coherence, visit);
    }
}

fn recorded(events: &[Event], coherence: &[usize]) -> Trace {
    let mut trace = Trace::default();
    for &event in events {
        trace.step(Step::Issue { thread: event.thread, alternative: 0 });
        Recorder::event(&mut trace, Event { committed: None, ..event });
    }
    for &write in coherence {
        trace.step(Step::Commit { thread: events[write].thread, loc: events[write].loc.expect("a write has one") });
        trace.committed(EventId::at(write));
    }
    trace
}

fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let choose = |index: usize| {
        let mut rest = of.to_vec();
        let first = rest.remove(index);
        permutations(&rest).into_iter().map(move |tail| [vec![first], tail].concat())
    };
    (0..of.len()).flat_map(choose).collect()
}
