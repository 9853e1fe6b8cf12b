//! Data races: seen in executions, and predicted from one execution of each class.

use std::sync::Arc;

use teetotal_check::{CheckError, Options, Outcome, SearchId, check};
use teetotal_generate::program;
use teetotal_judge::races::DataRace;
use teetotal_judge::{Finding, MonitorId};
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ThreadId;

fn search(text: &str, search: SearchId, model: ModelId) -> Outcome {
    let monitors = vec![MonitorId::Races];
    check(&Arc::new(program(text)), &Options { search, monitors, ..Options::new(model) }, &|| None).expect("searched")
}

fn races(outcome: &Outcome) -> Vec<DataRace> {
    let findings = outcome.violations.iter().map(|violation| &violation.finding);
    let races = findings.filter_map(|finding| if let Finding::Race(race) = finding { Some(*race) } else { None });
    let mut races: Vec<DataRace> = races.collect();
    races.sort();
    races
}

/// Demands races between these threads, whatever the model and the search.
fn expect(text: &str, expected: &[(u16, u16)]) {
    for model in BUFFER_MODELS {
        let of_search = |id| {
            let outcome = search(text, id, model.id);
            assert!(outcome.coverage.is_complete(), "{text} under {} by {id:?}", model.name);
            races(&outcome)
        };
        let all = of_search(SearchId::Brute);
        let threads = |race: &DataRace| (race.accesses[0].thread, race.accesses[1].thread);
        let found: Vec<(ThreadId, ThreadId)> = all.iter().map(threads).collect();
        let expected: Vec<_> = expected.iter().map(|&(a, b)| (ThreadId(a), ThreadId(b))).collect();
        assert_eq!(found, expected, "{text} under {}", model.name);
        for id in [SearchId::Dpor, SearchId::Mcr, SearchId::Auto] {
            assert_eq!(of_search(id), all, "{text} under {} by {id:?}", model.name);
        }
    }
}

#[test]
fn a_flag_that_is_released_and_acquired_orders_what_it_guards() {
    expect("d=1; f=rel 1 || r0=acq f; if r0==1: r1=d", &[]);
    expect("d=1; f=rlx 1 || r0=acq f; if r0==1: r1=d", &[(0, 1)]);
    expect("d=1; f=rel 1 || r0=rlx f; if r0==1: r1=d", &[(0, 1)]);
}

/// One class of values: the flag may come from the store that releases or from the one that does not.
#[test]
fn a_value_that_may_come_from_elsewhere_may_not_synchronize() {
    expect("d=1; f=rel 1 || f=rlx 1 || r0=acq f; if r0==1: r1=d", &[(0, 2)]);
}

#[test]
fn locks_order_what_they_guard() {
    expect("lock l; d=1; unlock l || lock l; r0=d; unlock l", &[]);
    expect("lock l; d=1; unlock l || r0=d", &[(0, 1)]);
    expect("d=1; lock l; x=1; unlock l || lock l; r0=x; unlock l; if r0==1: r1=d", &[]);
    expect("d=1; lock l; x=1; unlock l || lock l; r0=x; unlock l; if r0==0: r1=d", &[(0, 1)]);
}

#[test]
fn atomic_accesses_do_not_race() {
    expect("x=rlx 1; r0=rlx y || y=rlx 1; r1=rlx x", &[]);
}

#[test]
fn the_solver_is_not_asked_where_values_leave_nothing_open() {
    let outcome = search("d=1; f=rel 1 || r0=acq f; if r0==1: r1=d", SearchId::Mcr, ModelId::Tso);
    assert_eq!(outcome.stats.solver_calls, 0);
}

#[test]
fn a_search_over_states_shows_no_races() {
    let monitors = vec![MonitorId::Races];
    let options = Options { search: SearchId::Stateful, monitors, ..Options::new(ModelId::Tso) };
    let refused = check(&Arc::new(program("x=1 || r0=x")), &options, &|| None);
    assert!(matches!(refused, Err(CheckError::Unfit { monitor: "races", search: "stateful", .. })), "{refused:?}");
}
