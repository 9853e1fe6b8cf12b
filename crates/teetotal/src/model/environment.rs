//! Settings of a model in environment variables.
//!
//! Their names begin with `TEETOTAL_`; if loom has a variable for the same setting, it is read too, and ours takes
//! precedence.

use std::time::Duration;

use teetotal_engine::{SearchId, SearchInfo};
use teetotal_memory::{MODELS, ModelId};
use teetotal_traces::Format;

use super::{Backend, Builder, PlainAccesses};

/// Sets the bound on spurious failures and wake-ups from the environment; a replay needs the same bound as the search.
pub(super) fn spurious() -> Option<String> {
    text("TEETOTAL_SPURIOUS")
}

/// Sets the bound on reuse of freed blocks from the environment; a replay needs the same bound as the search.
pub(super) fn reuse() -> Option<String> {
    text("TEETOTAL_REUSE")
}

/// Changes `builder` according to the environment.
///
/// # Panics
/// If a variable has an invalid value.
pub(super) fn apply(builder: &mut Builder) {
    if let Some(model) = read(&["TEETOTAL_MODEL"], "one of sc, tso, pso, rc11", model) {
        builder.model = model;
    }
    apply_limits(builder);
    if let Some(search) = read(&["TEETOTAL_SEARCH"], "one of auto, dpor, rf", search) {
        builder.search = search;
    }
    if let Some(n) = read(&["TEETOTAL_JOBS"], "a number that is at least 1", at_least_one) {
        builder.jobs = n;
    }
    if let Some(n) = read(&["TEETOTAL_STACK"], "a number of bytes that is at least 1", at_least_one) {
        builder.stack_size = n;
    }
    if read(&["TEETOTAL_CHECK"], "`robustness`, or not be set", robustness).is_some() {
        builder.robustness = true;
        builder.robustness_by_environment = true;
    }
    builder.record = text("TEETOTAL_RECORD").map(Into::into);
    if let Some(format) = read(&["TEETOTAL_RECORD_FORMAT"], "`teetotal` or `std`", format) {
        builder.record_format = format;
    }
    if let Some(backend) = read(&["TEETOTAL_BACKEND"], "coroutines or os", backend) {
        builder.backend = backend;
    }
    if let Some(n) = number(&["TEETOTAL_SPURIOUS"]) {
        builder.spurious = n;
    }
    if let Some(n) = number(&["TEETOTAL_REUSE"]) {
        builder.reuse = n;
    }
    builder.leaks |= is_set("TEETOTAL_LEAKS");
    if let Some(accesses) = read(&["TEETOTAL_PLAIN_ACCESSES"], "all, sampled or 0", plain_accesses) {
        builder.plain_accesses = accesses;
    }
    if let Some(file) = ["TEETOTAL_CHECKPOINT", "LOOM_CHECKPOINT_FILE"].into_iter().find_map(text) {
        builder.checkpoint_file = Some(file.into());
    }
    let interval = ["TEETOTAL_CHECKPOINT_INTERVAL", "LOOM_CHECKPOINT_INTERVAL"];
    if let Some(n) = read(&interval, "a number that is at least 1", at_least_one) {
        builder.checkpoint_interval = n;
    }
    builder.allow_incomplete |= is_set("TEETOTAL_ALLOW_INCOMPLETE");
    builder.leave_out_unrepeatable |= is_set("TEETOTAL_LEAVE_OUT_UNREPEATABLE");
    builder.progress |= is_set("TEETOTAL_PROGRESS");
    builder.log |= is_set("TEETOTAL_LOG") || text("LOOM_LOG").is_some_and(|text| !matches!(text.trim(), "0" | "off"));
}

/// Sets the limits of `builder` from the environment.
fn apply_limits(builder: &mut Builder) {
    if let Some(n) = number(&["TEETOTAL_MAX_BRANCHES", "LOOM_MAX_BRANCHES"]) {
        builder.max_branches = n;
    }
    if let Some(n) = number(&["TEETOTAL_MAX_PERMUTATIONS", "LOOM_MAX_PERMUTATIONS"]) {
        builder.max_permutations = Some(n);
    }
    if let Some(n) = number(&["TEETOTAL_MAX_DURATION", "LOOM_MAX_DURATION"]) {
        builder.max_duration = Some(Duration::from_secs(n as u64));
    }
    if let Some(n) = number(&["TEETOTAL_MAX_PREEMPTIONS", "LOOM_MAX_PREEMPTIONS"]) {
        builder.preemption_bound = Some(n);
    }
    if let Some(n) = number(&["TEETOTAL_FAIRNESS_BOUND"]) {
        builder.fairness_bound = Some(u32::try_from(n).unwrap_or(u32::MAX));
    }
}

/// Returns the token of the execution to replay, if one is set.
pub(super) fn replayed() -> Option<String> {
    text("TEETOTAL_REPLAY")
}

/// Returns the number of seconds without an operation after which the watchdog reports.
pub(super) fn patience() -> Option<u64> {
    number(&["TEETOTAL_WATCHDOG"]).map(|seconds| seconds as u64)
}

fn model(text: &str) -> Option<ModelId> {
    MODELS.iter().find(|info| info.name.eq_ignore_ascii_case(text)).map(|info| info.id)
}

fn search(text: &str) -> Option<SearchId> {
    // The former name of `rf`.
    let text = if text == "mcr" { "rf" } else { text };
    SearchInfo::of_rust().find(|info| info.name == text).map(|info| info.id)
}

fn robustness(text: &str) -> Option<()> {
    (text == "robustness").then_some(())
}

fn format(text: &str) -> Option<Format> {
    [Format::Own, Format::Std].into_iter().find(|format| format.name() == text)
}

fn backend(text: &str) -> Option<Backend> {
    match text {
        "coroutines" => Some(Backend::Coroutines),
        "os" => Some(Backend::OsThreads),
        _ => None,
    }
}

fn plain_accesses(text: &str) -> Option<PlainAccesses> {
    match text {
        "all" => Some(PlainAccesses::All),
        "sampled" => Some(PlainAccesses::Sampled),
        _ => switch(text).map(|is_on| if is_on { PlainAccesses::All } else { PlainAccesses::Never }),
    }
}

fn at_least_one(text: &str) -> Option<usize> {
    text.parse().ok().filter(|&n| n > 0)
}

fn number(names: &[&str]) -> Option<usize> {
    read(names, "a number", |text| text.parse().ok())
}

/// Returns the value of the first of these variables that is set, as parsed by `parse`.
fn read<T>(names: &[&str], wanted: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let (name, text) = names.iter().find_map(|name| Some((name, text(name)?)))?;
    let value = parse(text.trim());
    assert!(value.is_some(), "the environment variable {name} is `{text}`, and must be {wanted}");
    value
}

fn is_set(name: &str) -> bool {
    read(&[name], "1 or 0", switch).unwrap_or(false)
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "on" | "true" | "yes" => Some(true),
        "0" | "off" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// Returns the value of a variable; an empty one counts as not set.
fn text(name: &str) -> Option<String> {
    let text = std::env::var_os(name)?.to_string_lossy().into_owned();
    (!text.is_empty()).then_some(text)
}
