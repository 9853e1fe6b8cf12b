//! The report on a sampling search: its seed, and its guarantee.

use teetotal_check::{Options, Outcome, SearchId};
use teetotal_engine::stateless::Guarantee;

use crate::verdict::is_sampled;
use crate::words::count;

/// Describes how the sample was drawn, and what it guarantees.
pub(crate) fn describe(options: &Options, outcome: &Outcome) -> Vec<String> {
    let Options { seed, depth, .. } = options;
    let priorities = format!("random priorities with seed {seed} and depth {depth}");
    match (outcome.search, &outcome.guarantee) {
        _ if !is_sampled(outcome) => Vec::new(),
        (SearchId::Pct, Some(guarantee)) => vec![priorities, promise(guarantee)],
        (SearchId::Pct, None) if outcome.stats.executions <= 1 => {
            vec![format!("{priorities}; no guarantee, since the first execution only measures")]
        }
        (SearchId::Pct, None) => vec![format!("{priorities}; no guarantee, since a thread waits in a loop")],
        _ => vec![format!("random walks with seed {seed}: each possible step is equally likely, not each execution")],
    }
}

/// Returns the guarantee in words.
fn promise(guarantee: &Guarantee) -> String {
    let Guarantee { depth, processes, steps, executions, choices } = *guarantee;
    let value = guarantee.one_in().map_or_else(String::new, |one_in| format!(" = 1/{one_in}"));
    let probability = match depth {
        0 | 1 => format!("1/{processes}"),
        2 => format!("1/({processes}·{steps}){value}"),
        _ => format!("1/({processes}·{steps}^{}){value}", depth - 1),
    };
    let given = if choices { ", given the right choices of the program," } else { "" };
    format!(
        "each of the last {} shows a given bug of depth {depth}{given} with a probability of at least {probability}, if \
         no execution has more than {} or more than these {processes} threads and buffers",
        count(executions, "execution"),
        count(steps, "step"),
    )
}
