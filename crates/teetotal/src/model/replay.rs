//! Replays one execution of a model.

use teetotal_engine::token::{Token, TokenError};
use teetotal_engine::{Coverage, Schedule, SearchId, Stats};
use teetotal_live::Ledger;
use teetotal_memory::relations;

use super::failure::{show_again, show_relaxed};
use super::perform::{look_for_loops, perform};
use super::search::ModelSearch;
use super::{Builder, Report};

/// Replays the execution of the token `text`.
///
/// # Panics
/// With the failure of the execution, as the search did; or if the token is not one of this model.
#[track_caller]
pub(super) fn replay(builder: &Builder, body: &teetotal_live::Model, text: &str) -> Report {
    let token: Token = match text.trim().parse() {
        Ok(token) => token,
        Err(error) => panic!("the environment variable TEETOTAL_REPLAY is not a token: {error}"),
    };
    match (Again { builder, body, token: &token }).told() {
        Ok(None) => {
            let stats = Stats { executions: 1, ..Stats::default() };
            let coverage = Coverage::Stopped(teetotal_engine::StopReason::Executions(1));
            Report {
                model: token.model,
                executions: 1,
                coverage,
                caveats: Vec::new(),
                has_operations: true,
                search: SearchId::Replay,
                search_reason: "a token asks for one execution".into(),
                stats,
                failure: None,
                not_robust: Vec::new(),
                reachable: Vec::new(),
                standing: Vec::new(),
                discarded: 0,
                leaked: 0,
            }
        }
        Ok(Some(failure)) => panic!("{failure}"),
        Err(error) => panic!(
            "the execution of TEETOTAL_REPLAY cannot be run: {error}\n\
             help: name the test that it belongs to, as in `cargo test NAME`; if the code has changed, search again \
             without TEETOTAL_REPLAY"
        ),
    }
}

struct Again<'a> {
    builder: &'a Builder,
    body: &'a teetotal_live::Model,
    token: &'a Token,
}

impl Again<'_> {
    fn told(&self) -> Result<Option<String>, TokenError> {
        let ledger = Ledger::default();
        if let Ok(performed) = self.attempt(&ledger) {
            return Ok(performed);
        }
        // The search may have observed more than one execution shows.
        ModelSearch::new(self.builder, self.body, &ledger).run();
        self.attempt(&ledger)
    }

    /// Replays the execution, with everything that it observes as operations.
    fn attempt(&self, ledger: &Ledger) -> Result<Option<String>, TokenError> {
        let schedule = Schedule::Token(self.token.steps.clone());
        loop {
            let performed = perform(self.token.model, self.builder.live(self.body, ledger), &schedule);
            if ledger.is_out_of_date() {
                ledger.open();
                continue;
            }
            let position = performed.trace.steps().len();
            if position < self.token.steps.len() {
                return Err(TokenError::NotPossible { position: position + 1 });
            }
            if performed.token.hash != self.token.hash {
                return Err(TokenError::OtherProgram);
            }
            if performed.is_unfinished {
                look_for_loops(self.builder.live(self.body, ledger), self.token);
                if ledger.is_out_of_date() {
                    ledger.open();
                    continue;
                }
            }
            let is_relaxed = || !relations::is_sequentially_consistent(&performed.trace);
            return Ok(match &performed.problem {
                Some(problem) => Some(show_again(&performed, problem)),
                None => (self.builder.robustness && is_relaxed()).then(|| show_relaxed(&performed)),
            });
        }
    }
}
