//! The search that `auto` takes on Rust code, beside `dpor` and `rf`.

use std::sync::Arc;

use teetotal::model::{Builder, Report, SearchId};

use super::progress::report_progress;
use super::{cases, time};
use crate::clock::Clock;

/// So many times as long as the better of the two it may take at most.
const SLOWER: f64 = 1.5;

/// Less than this is not worth a word.
const NOTHING: f64 = 1e-3;

/// Searches with more executions than this are not waited for.
const MANY: usize = 2_000_000;

/// Prints the times of each case; gives how many targets are missed.
pub(super) fn compare() -> u32 {
    println!("\nsearches of Rust code under pso; auto may take {SLOWER} times as long as the better of the others");
    println!(
        "{:<34} {:>10} {:>10}   {:>10} {:>10}   {:>10} {:>6}  chosen",
        "case", "dpor", "time", "rf", "time", "auto", "ratio"
    );
    let mut missed = 0;
    for (name, body) in bodies() {
        let searches = [SearchId::Auto, SearchId::Dpor, SearchId::ReadsFrom];
        let [auto, dpor, rf] = searches.map(|search| measure(search, &body));
        let best = [&dpor, &rf].into_iter().filter(|(report, _)| report.coverage.is_complete());
        let Some(best) = best.map(|(_, seconds)| *seconds).min_by(f64::total_cmp) else { continue };
        let ratio = auto.1 / best;
        let is_missed = ratio > SLOWER && auto.1 > NOTHING;
        missed += u32::from(is_missed);
        println!(
            "{name:<34} {:>10} {:>10}   {:>10} {:>10}   {:>10} {ratio:>6.2}  {}{}",
            executions(&dpor.0),
            time(dpor.1),
            executions(&rf.0),
            time(rf.1),
            time(auto.1),
            auto.0.search.name(),
            if is_missed { "  MISSED" } else { "" },
        );
    }
    missed
}

fn executions(report: &Report) -> String {
    format!("{}{}", if report.coverage.is_complete() { "" } else { ">" }, report.executions)
}

type Body = Arc<dyn Fn() + Send + Sync>;

/// The cases of the peers, and some in which most writes are not read.
fn bodies() -> impl Iterator<Item = (String, Body)> {
    let known = cases::CASES.into_iter().map(|(name, make)| (name.to_owned(), Body::from(make())));
    let reports = [(2, 4), (3, 2), (3, 3), (4, 2), (2, 8), (4, 3)].into_iter().map(|(threads, stores)| {
        let body: Body = Arc::new(move || report_progress(threads, stores));
        (format!("reports of progress, {threads}x{stores}"), body)
    });
    known.chain(reports)
}

/// What a search finds, and the seconds on a core that one takes.
fn measure(search: SearchId, body: &Body) -> (Report, f64) {
    let mut builder = Builder::new();
    builder.search = search;
    builder.max_permutations = Some(MANY);
    let clock = Clock::start();
    let mut runs = 0;
    loop {
        let body = Arc::clone(body);
        let report = builder.explore(move || body());
        runs += 1;
        if clock.on_core() >= super::ENOUGH {
            return (report, clock.on_core().as_secs_f64() / f64::from(runs));
        }
    }
}
