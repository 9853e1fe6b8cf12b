//! Decides whether a test passes, and prints why.

use std::io::{self, Write};

use teetotal_engine::{Coverage, StopReason};

use super::robustness::test_name;
use super::{Builder, Caveat, Report, Standing};

/// Panics unless the model holds, or holds within bounds that were set.
///
/// # Panics
/// If the model fails or the search is incomplete for a reason that was not chosen.
#[track_caller]
pub(super) fn conclude(builder: &Builder, report: &Report) {
    if let Some(failure) = &report.failure {
        panic!("{failure}");
    }
    if report.discarded > 0 {
        say(&left(report));
    }
    report.caveats.iter().filter(|caveat| is_always_said(caveat)).for_each(|caveat| say(&caveat.to_string()));
    if !report.has_operations {
        return doubt(builder, builder.passes_like_loom, NOTHING_CHECKED);
    }
    let reason = match report.coverage {
        Coverage::Complete => {
            let is_new = |caveat: &&Caveat| builder.log && !is_always_said(caveat);
            report.caveats.iter().filter(is_new).for_each(|caveat| say(&format!("holds, with {caveat}")));
            return;
        }
        Coverage::Stopped(reason) => reason,
    };
    let why = why(reason, report);
    match reason {
        // These are errors in the test, also for loom.
        StopReason::Steps(steps) => doubt(builder, false, &too_long(steps, &report.standing)),
        StopReason::NotDeterministic => doubt(builder, false, &not_deterministic(&report.standing)),
        StopReason::Interrupted => {
            panic!("{}interrupted after {}; no violation found", name_of_test(), executions(report))
        }
        // A bound that leaves no execution proves nothing.
        _ if is_chosen(builder, reason) && report.executions > 0 => {
            say(&format!("holds within the bound: {why} ({})", executions(report)));
        }
        StopReason::Unrepeatable(_) => {
            doubt(builder, builder.passes_like_loom, &format!("{why}\n{}", not_deterministic(&report.standing)));
        }
        _ => doubt(builder, builder.passes_like_loom, &why),
    }
}

/// Returns whether a search is incomplete because of a bound that was set.
fn is_chosen(builder: &Builder, reason: StopReason) -> bool {
    match reason {
        StopReason::Preemptions(_) | StopReason::Executions(_) | StopReason::Time => true,
        // A preemption bound also lowers the bound on loops that yield.
        StopReason::Turns => builder.fairness_bound.is_some() || builder.preemption_bound.is_some(),
        StopReason::Unrepeatable(_) => builder.leave_out_unrepeatable && !builder.passes_like_loom,
        _ => false,
    }
}

/// Returns whether a caveat is printed even if progress was not requested.
fn is_always_said(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::UncheckedMemory | Caveat::SampledAccesses | Caveat::FreeAfter { .. })
}

/// Returns the line about discarded executions.
fn left(report: &Report) -> String {
    let executions = match report.discarded {
        1 => "1 execution was".to_owned(),
        n => format!("{n} executions were"),
    };
    let bytes = if report.leaked > 0 { format!(" ({} bytes)", report.leaked) } else { String::new() };
    format!("{executions} discarded: what the threads own is leaked{bytes}, locks that they hold stay locked")
}

const NOTHING_CHECKED: &str = "nothing was checked: the model uses no atomic, lock, cell or channel of `teetotal`\n\
    help: objects that threads of a model share must be of `teetotal::sync`, `teetotal::cell` and \
    `teetotal::thread`, not of `std`\n\
    help: the types of `teetotal::shim` are those of `std` unless the build has `RUSTFLAGS=\"--cfg teetotal\"`";

/// Reports an incomplete search; the model fails unless that is allowed or `passes`.
///
/// # Panics
/// If the model fails.
#[track_caller]
fn doubt(builder: &Builder, passes: bool, why: &str) {
    let text = format!("no violation found, but the search is incomplete: {why}");
    if passes || builder.allow_incomplete {
        return say(text.lines().next().unwrap_or_default());
    }
    let name = name_of_test();
    panic!(
        "{name}{text}\n\
         help: to let the test pass anyway, set `Builder::allow_incomplete` or `TEETOTAL_ALLOW_INCOMPLETE=1`"
    );
}

/// Returns the prefix of lines about this test.
fn name_of_test() -> String {
    test_name().map_or(String::new(), |name| format!("{name}: "))
}

/// Returns the reason why a search without violations is incomplete.
fn why(reason: StopReason, report: &Report) -> String {
    match reason {
        StopReason::Preemptions(1) => "at most 1 preemption in an execution".to_owned(),
        StopReason::Preemptions(bound) => format!("at most {bound} preemptions in an execution"),
        StopReason::Executions(1) => "at most 1 execution".to_owned(),
        StopReason::Executions(limit) => format!("at most {limit} executions"),
        StopReason::Time => "the time limit was reached".to_owned(),
        StopReason::Turns => {
            let loops = report.caveats.iter().filter(|caveat| matches!(caveat, Caveat::Fairness { .. }));
            let loops: Vec<String> = loops.map(Caveat::to_string).collect();
            format!("{}\nhelp: `Builder::fairness_bound` or `TEETOTAL_FAIRNESS_BOUND` sets the bound", loops.join("; "))
        }
        StopReason::Memory(_) => "discarded executions have leaked too much".to_owned(),
        StopReason::Unrepeatable(1) => "nondeterministic replay: the code diverged at 1 point".to_owned(),
        StopReason::Unrepeatable(n) => format!("nondeterministic replay: the code diverged at {n} points"),
        StopReason::Unconfirmed(_) => "a reordering was neither confirmed nor ruled out".to_owned(),
        StopReason::Undecided => "whether some executions exist could not be decided".to_owned(),
        other => format!("{other:?}"),
    }
}

fn executions(report: &Report) -> String {
    match report.executions {
        1 => "1 execution".to_owned(),
        n => format!("{n} executions"),
    }
}

/// Returns the message about an execution with more than this many operations.
fn too_long(steps: u64, standing: &[Standing]) -> String {
    format!(
        "an execution has more than {steps} operations\n{}\
         help: for longer executions set `Builder::max_branches`, up to 4095",
        lines(standing)
    )
}

fn not_deterministic(standing: &[Standing]) -> String {
    format!(
        "nondeterministic replay: the model diverged from its previous run\n{}\
         help: a model must not use random numbers, time, addresses or anything else that changes from run to \
         run\n\
         help: objects that threads share, statics included, must be of `teetotal`; for those of another crate, \
         `TEETOTAL_LEAVE_OUT_UNREPEATABLE=1` leaves out executions that cannot be replayed\n\
         help: if another crate uses `std::thread_local!`, `TEETOTAL_BACKEND=os` gives each thread its own\n\
         help: if it frees memory or compares addresses, make `teetotal::alloc::Checked` the global allocator of the \
         test: addresses are then the same in every run",
        lines(standing)
    )
}

/// Joins the items, each on a line of its own.
fn lines(standing: &[Standing]) -> String {
    standing.iter().map(|standing| format!("  {standing}\n")).collect()
}

/// Writes lines to standard error that name the test, also where its output is captured.
pub(super) fn say(text: &str) {
    say_for(test_name().as_deref(), text);
}

/// Writes lines to standard error that name this test.
pub(super) fn say_for(test: Option<&str>, text: &str) {
    let name = test.filter(|name| *name != "main").map_or(String::new(), |name| format!("{name}: "));
    let lines: String = text.lines().map(|line| format!("teetotal: {name}{line}\n")).collect();
    let _ = io::stderr().write_all(lines.as_bytes());
}
