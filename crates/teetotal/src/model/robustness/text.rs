//! The report on a model that is not robust.

use teetotal_engine::SearchId;
use teetotal_live::{Ledger, Place};
use teetotal_memory::{EventKind, ModelId};

use super::super::failure::{Failing, after_message, replay_line, snippet};
use super::super::search::Wrong;
use super::super::source_text::SourceTexts;
use super::super::violation::{Violation, ViolationKind};
use super::mend::{Trial, Trials};
use super::relaxed::Shown;
use super::{Builder, thread_name};

/// The maximum number of pairs that are shown in full.
const MAX_SHOWN: usize = 1;

/// Reports a failure under sequential consistency.
pub(super) fn wrong_already(
    builder: &Builder,
    body: &teetotal_live::Model,
    wrong: &Wrong,
    ledger: &Ledger,
    executions: u64,
) -> Violation {
    let sc = Builder { model: ModelId::STRONGEST, ..builder.clone() };
    let search = SearchId::Dpor;
    Failing { builder: &sc, body, wrong, ledger, executions, search }.shown()
}

/// Reports the pairs, their repairs, and an execution that shows the first pair.
pub(super) fn not_robust(builder: &Builder, shown: &[Shown], trials: &Trials, executions: u64) -> Violation {
    let model = builder.model.info().name;
    let mut texts = SourceTexts::default();
    let mut out = String::new();
    for (index, (one, trial)) in shown.iter().zip(&trials.of_pairs).enumerate() {
        out.push_str(&pair(model, one, trial, &mut texts));
        if index < MAX_SHOWN {
            out.push_str(&execution(model, one, builder.robustness_by_environment));
        }
        out.push('\n');
    }
    out.push_str(&summary(model, shown, trials, executions));
    let places = shown.iter().flat_map(|one| [one.pair.store.clone(), one.pair.access.clone()]).collect();
    let (execution, token) = shown.first().map(|one| (one.trace.clone(), one.token.clone())).unzip();
    Violation { kind: ViolationKind::NotRobust, places, model: builder.model, execution, token, text: out }
}

/// Describes the two places and the repairs.
fn pair(model: &str, one: &Shown, trial: &Trial, texts: &mut SourceTexts) -> String {
    let [first, second] = one.threads.map(thread_name);
    let message =
        format!("not robust under {model}: a store can still be in its buffer at an access that happens after it");
    let (does, finds) = match one.access {
        EventKind::Store => ("stores", "so that the older store overwrites it"),
        EventKind::Load => ("loads", "and may read the value before (1)"),
        EventKind::Lock => ("locks", "and may read the value before (1)"),
        _ => ("updates", "and may read the value before (1)"),
    };
    let store = format!("(1) {first} stores here, which happens before (2)");
    let access = format!("(2) {second} {does} here, {finds}");
    let mut out = snippet(&message, &one.pair.store, Some(&store), texts);
    out.push_str(after_message(&snippet("", &one.pair.access, Some(&access), texts)));
    out.push_str(&suggestion(one, trial));
    out
}

/// Returns the lines that suggest a stronger ordering and a fence, each with the result of its trial.
fn suggestion(one: &Shown, trial: &Trial) -> String {
    let Place { file, line, .. } = &one.pair.store;
    let mut out = format!("help: make the store at {file}:{line} `SeqCst`{}\n", tried(trial.store_helps));
    if let Some(before) = &one.pair.fence_before {
        let at = if before.file == *file { format!("line {}", before.line) } else { named(before) };
        out.push_str(&format!("      or put `fence(SeqCst)` before {at}{}\n", tried(trial.fence_helps)));
    }
    out
}

fn named(place: &Place) -> String {
    format!("{}:{}", place.file, place.line)
}

fn tried(helps: Option<bool>) -> &'static str {
    match helps {
        Some(true) => " (confirmed: this prevents it)",
        Some(false) => " (not confirmed: this does not prevent it)",
        None => " (not tried)",
    }
}

fn execution(model: &str, one: &Shown, by_environment: bool) -> String {
    let asked = if by_environment { "TEETOTAL_CHECK=robustness " } else { "" };
    let harm = one.harm.as_ref().map_or(String::new(), |harm| format!("It fails: {harm}\n"));
    format!(
        "\nAn execution under {model} that is not sequentially consistent:\n\n{}{harm}\n\
         To run this execution again:\n    {asked}{}\n",
        one.timeline,
        replay_line(&one.token)
    )
}

/// Returns the summary.
fn summary(model: &str, shown: &[Shown], trials: &Trials, executions: u64) -> String {
    let pairs =
        if shown.len() == 1 { "1 pair of places".to_owned() } else { format!("{} pairs of places", shown.len()) };
    let noun = if executions == 1 { "execution" } else { "executions" };
    let mut out = format!("{pairs} in {executions} {noun} of sc.\n");
    let mut fences: Vec<String> = shown.iter().filter_map(|one| one.pair.fence_before.as_ref().map(named)).collect();
    fences.sort();
    fences.dedup();
    let what = if fences.len() == 1 { "this fence" } else { "these fences" };
    let list = fences.join(", ");
    match (trials.all_fences, trials.all_stores) {
        (Some(true), _) => out.push_str(&format!("With {what} it is robust under {model}: before {list}.\n")),
        (_, Some(true)) => out.push_str(&format!("With all of these stores `SeqCst` it is robust under {model}.\n")),
        (Some(false), _) | (_, Some(false)) => {
            out.push_str("With all of these changes it is still not robust; make them and run it again.\n");
        }
        (None, None) => {}
    }
    if shown.iter().all(|one| one.harm.is_none()) {
        out.push_str("It need not be an error: run the test without asking for robustness to see whether it fails.\n");
    }
    out
}
