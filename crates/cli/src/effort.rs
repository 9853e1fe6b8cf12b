//! Options that every search accepts: search, limits, jobs.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use clap::Args;
use teetotal::{ModelId, MonitorId, Options, Program, SearchId, exit, search_for_robustness};

use crate::fault::Fault;
use crate::interrupt;
use crate::limits::{self, AllLimits, Limit};
use crate::values;

/// Which search, how far and with how many cores.
#[derive(Debug, Args)]
pub(crate) struct Effort {
    #[arg(long, value_name = "KIND", value_parser = values::search, env = "TEETOTAL_SEARCH", hide_env = true)]
    #[arg(help = values::search_help())]
    search: Option<SearchId>,

    /// Stop early; the result is then marked incomplete
    #[arg(short, long, value_name = "WHAT=N", value_parser = limits::limit, value_delimiter = ',')]
    #[arg(env = "TEETOTAL_LIMIT", hide_env = true)]
    limit: Vec<Limit>,

    /// Seed of random and pct; the same seed runs the same executions
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::seed)]
    #[arg(env = "TEETOTAL_SEED", hide_env = true)]
    seed: u64,

    /// Bug depth for the guarantee of pct
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = values::depth)]
    #[arg(env = "TEETOTAL_DEPTH", hide_env = true)]
    depth: u32,

    /// Cores to use; the result is the same [default: all]
    #[arg(short, long, value_name = "N", value_parser = values::jobs, env = "TEETOTAL_JOBS", hide_env = true)]
    jobs: Option<usize>,

    /// Exit with 0 instead of 3 if a limit was reached
    #[arg(long, env = "TEETOTAL_ALLOW_INCOMPLETE", hide_env = true, value_parser = values::flag())]
    allow_incomplete: bool,
}

impl Effort {
    /// Returns the limits, or an error if the search does not apply one of them.
    pub(crate) fn limits(&self) -> Result<AllLimits, Fault> {
        limits::gather(&self.limit, self.search())
    }

    /// Returns the options for a complete search under `model` with every check.
    pub(crate) fn options(&self, model: ModelId, limits: &AllLimits) -> Options {
        Options {
            model,
            search: self.search(),
            monitors: MonitorId::defaults(),
            limits: limits.limits,
            jobs: self.jobs.unwrap_or_else(|| available_parallelism().map_or(1, NonZeroUsize::get)),
            stop_at_first: false,
            seed: self.seed,
            depth: self.depth,
            minimize: true,
        }
    }

    /// Returns the options for `checks` of `program`: robustness is checked on complete traces, everything else on
    /// states.
    ///
    /// Fails if a limit does not fit the chosen search.
    pub(crate) fn options_for(
        &self,
        program: &Program,
        checks: &[MonitorId],
        model: ModelId,
    ) -> Result<(Options, AllLimits), Fault> {
        let about_traces = checks.iter().any(|id| id.is_about_robustness());
        let default = if about_traces { search_for_robustness(program) } else { SearchId::Auto };
        let limits = limits::gather(&self.limit, self.search.unwrap_or(default))?;
        let options = Options { monitors: checks.to_vec(), ..self.options(model, &limits) };
        Ok((options, limits))
    }

    /// Applies `--allow-incomplete` to an exit code; a search that the user interrupted stays incomplete.
    pub(crate) fn code(&self, code: u8) -> u8 {
        let allowed = self.allow_incomplete && !interrupt::is_requested();
        if code == exit::INCOMPLETE && allowed { exit::HOLDS } else { code }
    }

    fn search(&self) -> SearchId {
        self.search.unwrap_or(SearchId::Auto)
    }
}
