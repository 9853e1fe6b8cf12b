//! Every search under every model with every monitor, on small programs, against brute force.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_check::{Options, Outcome, SearchId, SearchInfo, check};
use teetotal_engine::{Coverage, Limits, StopReason};
use teetotal_gallery::{self as gallery, Variant};
use teetotal_generate::program;
use teetotal_judge::{Extent, Finding, MONITORS, MonitorId, MonitorInfo};
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

/// Programs that brute force can take, with something to find for every monitor.
fn programs() -> Vec<Program> {
    vec![
        gallery::store_buffering(),
        gallery::message_passing(),
        gallery::n6(),
        gallery::two_plus_two_writes(),
        gallery::write_order(),
        gallery::message_passing_rounds(1, Variant::PLAIN),
        gallery::message_passing_rounds(1, Variant::FENCED),
        forbidden(gallery::store_buffering()),
        forbidden(gallery::message_passing()),
        program("lock m; lock n; unlock n; unlock m || lock n; lock m; unlock m; unlock n"),
        program("x=1; r0=y; assert r0==1 || y=1; r0=x; assert r0==1"),
        program("x=1; await y==1 || r0=x; if r0 > 0: y=1"),
    ]
}

/// The program with its question as a demand.
fn forbidden(mut program: Program) -> Program {
    use teetotal_program::condition::Condition;
    if let Some(Condition::Exists(formula)) = program.condition.take() {
        program.condition = Some(Condition::NotExists(formula));
    }
    program
}

fn outcome(program: &Arc<Program>, model: ModelId, search: SearchId, monitor: MonitorId) -> Outcome {
    let limits =
        Limits { preemptions: None, executions: Some(400).filter(|_| is_sampled(search)), ..Limits::default() };
    let options = Options { search, limits, monitors: vec![monitor], seed: 5, ..Options::new(model) };
    check(program, &options, &|| None)
        .unwrap_or_else(|error| panic!("{} with {}: {error}", program.name, search.info().name))
}

fn is_sampled(search: SearchId) -> bool {
    search.info().preserves.extent == Extent::Sampled
}

fn findings(outcome: &Outcome) -> BTreeSet<String> {
    let said = |finding: &Finding| match finding {
        // The events are those of the execution in which a search saw it first.
        Finding::NotRobust(delay) => format!("{:?} {:?}", delay.store_at, delay.access_at),
        other => format!("{other:?}"),
    };
    outcome.violations.iter().map(|violation| said(&violation.finding)).collect()
}

fn knows(monitor: &MonitorInfo, model: ModelId) -> bool {
    monitor.watches.knows(model)
}

#[test]
fn every_search_answers_as_brute_force_under_every_model_with_every_monitor() {
    let mut found = BTreeSet::new();
    for program in programs().into_iter().map(Arc::new) {
        for model in BUFFER_MODELS {
            for monitor in MONITORS.iter().filter(|monitor| knows(monitor, model.id)) {
                let all = outcome(&program, model.id, SearchId::Brute, monitor.id);
                assert_eq!(all.coverage, Coverage::Complete);
                found.extend(findings(&all).iter().map(|_| monitor.name));
                for search in SearchInfo::of_programs().filter(|search| search.fits(monitor)) {
                    let some = outcome(&program, model.id, search.id, monitor.id);
                    let cell = format!("{} {} {} {}", program.name, model.name, monitor.name, search.name);
                    if is_sampled(search.id) {
                        assert_eq!(some.coverage, Coverage::Stopped(StopReason::Executions(400)), "{cell}");
                        assert!(findings(&some).is_subset(&findings(&all)), "{cell}");
                        assert!(some.states.keys().all(|state| all.states.contains_key(state)), "{cell}");
                    } else {
                        assert_eq!(some.coverage, Coverage::Complete, "{cell}");
                        assert_eq!(findings(&some), findings(&all), "{cell}");
                        assert!(some.states.keys().eq(all.states.keys()), "{cell}");
                        assert_eq!(some.satisfying.is_some(), all.satisfying.is_some(), "{cell}");
                    }
                }
            }
        }
    }
    assert_eq!(found.len(), MONITORS.len(), "every monitor finds something: {found:?}");
}
