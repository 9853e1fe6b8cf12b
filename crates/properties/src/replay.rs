//! A token replays the execution that it was made from.

use teetotal_check::{Options, check};
use teetotal_engine::{Token, replay, trace_of};
use teetotal_memory::BUFFER_MODELS;

use crate::{Case, Verdict};

/// Text to token and back, and the identical trace from it.
pub(super) fn round_trips(case: &Case) -> Verdict {
    let program = &case.program;
    for model in BUFFER_MODELS {
        let mut options = Options::new(model.id);
        options.limits.buffer = Some(6);
        let outcome = check(program, &options, &|| None).map_err(|error| error.to_string())?;
        let found = outcome.violations.iter().map(|violation| &violation.schedule);
        for schedule in outcome.states.values().chain(found) {
            let first = trace_of(program, model.id, schedule);
            let text = first.token.to_string();
            let token: Token = text.parse().map_err(|error| format!("{text}: {error}"))?;
            let second = replay(program, &token).map_err(|error| format!("{text}: {error}"))?;
            if first.trace != second.trace || first.token != second.token {
                return Err(format!("{text} replays another execution under {}", model.name));
            }
        }
    }
    Ok(())
}
