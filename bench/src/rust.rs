//! Rust code under the checker, beside loom and shuttle in the same run.

use std::process::ExitCode;
use std::time::Duration;

use teetotal::ModelId;
use teetotal::model::{Builder, Report};

use crate::clock::Clock;

pub(crate) mod allocator;
mod cases;
mod library;
mod peers;
mod progress;
mod rates;
mod searches;

use peers::{End, Peers, Run};

/// How much faster than loom we are to be where loom ends with the right verdict.
const TARGET_RATIO: f64 = 100.0;

/// How many seconds we may need where loom does not.
const TARGET_SECONDS: f64 = 10.0;

/// A measurement is repeated for so long.
const ENOUGH: Duration = Duration::from_millis(200);

/// Measures and compares with the targets.
pub(crate) fn run(alone: bool) -> ExitCode {
    let peers = if alone { Peers::none() } else { Peers::build() };
    println!("every case is right, and a search that fails is wrong; ours is complete under pso");
    println!(
        "{:<28} {:>10} {:>10}   {:>10} {:>10} {:>7}   {:>10} {:>10}   {:>10} {:>10}",
        "case", "executions", "time", "loom", "time", "ratio", "bound 2", "time", "shuttle", "time"
    );
    let mut missed = 0;
    for (name, make) in cases::CASES {
        let (report, seconds) = measure(ModelId::Pso, std::sync::Arc::from(make()), ENOUGH);
        let [loom, bounded, shuttle] = ["loom", "loom-bounded", "shuttle"].map(|library| peers.run(library, name));
        let ratio = loom.as_ref().filter(|loom| loom.end == End::Passes).map(|loom| loom.seconds / seconds);
        let is_reached = match ratio {
            Some(ratio) => ratio >= TARGET_RATIO,
            None => seconds < TARGET_SECONDS,
        };
        let is_right = report.failure.is_none() && report.coverage.is_complete();
        missed += u32::from(!(is_reached && is_right));
        println!(
            "{name:<28} {:>10} {:>10}   {} {:>7}   {}   {}{}{}",
            report.executions,
            time(seconds),
            shown(loom.as_ref()),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.0}")),
            shown(bounded.as_ref()),
            shown(shuttle.as_ref()),
            if is_right { "" } else { "  WRONG" },
            if is_reached { "" } else { "  MISSED" },
        );
    }
    missed += rates::counts();
    missed += rates::rate();
    missed += searches::compare();
    if missed == 0 {
        println!("\nall targets reached");
        return ExitCode::SUCCESS;
    }
    println!("\n{missed} targets missed");
    ExitCode::FAILURE
}

/// What a search finds, and the seconds on a core that one takes; it is repeated until there are `enough`.
fn measure(model: ModelId, body: std::sync::Arc<dyn Fn() + Send + Sync>, enough: Duration) -> (Report, f64) {
    let mut builder = Builder::new();
    builder.model = model;
    let clock = Clock::start();
    let mut runs = 0;
    loop {
        let body = std::sync::Arc::clone(&body);
        let report = builder.explore(move || body());
        runs += 1;
        if clock.on_core() >= enough {
            return (report, clock.on_core().as_secs_f64() / f64::from(runs));
        }
    }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// Executions and time of a peer.
fn shown(run: Option<&Run>) -> String {
    let Some(run) = run else { return format!("{:>10} {:>10}", "", "") };
    let executions = match run.end {
        End::Passes => run.executions.to_string(),
        End::Fails => format!("F@{}", run.executions),
        End::Unfinished => format!(">{}", run.executions),
    };
    format!("{executions:>10} {:>10}", time(run.seconds))
}
