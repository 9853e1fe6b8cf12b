//! How a program is checked, and why one may be refused.

use std::error::Error;
use std::fmt;

use teetotal_dpor::CheckpointError;
use teetotal_engine::{LimitError, Limits, SearchId};
use teetotal_judge::MonitorId;
use teetotal_memory::ModelId;

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    pub model: ModelId,
    pub search: SearchId,
    pub monitors: Vec<MonitorId>,
    pub limits: Limits,
    /// How many processor cores to use; results do not depend on it.
    pub jobs: usize,
    /// Whether the first violation ends the search.
    pub stop_at_first: bool,
    /// Of a search that samples: the same seed runs the same executions.
    pub seed: u64,
    /// Of the bugs that a search by random priorities promises something about.
    pub depth: u32,
    /// Whether the executions that are reported are replaced by simpler ones that show the same.
    pub minimize: bool,
}

impl Options {
    /// The default search with every monitor that watches the model itself.
    #[must_use]
    pub fn new(model: ModelId) -> Self {
        Options {
            model,
            search: SearchId::Auto,
            monitors: MonitorId::defaults(),
            limits: Limits::default(),
            jobs: 1,
            stop_at_first: false,
            seed: 0,
            depth: 3,
            minimize: true,
        }
    }

    /// What is asked.
    #[must_use]
    pub fn question(&self) -> Question {
        match self.monitors.iter().any(|id| id.is_about_robustness()) {
            true => Question::Robustness(self.model),
            false => Question::Violations(self.model),
        }
    }
}

/// What is asked about the executions of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// What goes wrong in executions of this model.
    Violations(ModelId),
    /// Whether each execution of this model is one of sequential consistency; and what goes wrong in those.
    Robustness(ModelId),
}

impl Question {
    /// The model whose executions are searched: the strongest of all where robustness is asked for.
    #[must_use]
    pub fn explored(self) -> ModelId {
        match self {
            Question::Violations(model) => model,
            Question::Robustness(_) => ModelId::STRONGEST,
        }
    }

    /// Whether it is one of robustness.
    #[must_use]
    pub fn is_robustness(self) -> bool {
        matches!(self, Question::Robustness(_))
    }
}

/// Why nothing was checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckError {
    NothingToCheck { program: String },
    Limit(LimitError),
    NoJobs,
    NoDepth,
    NoPrograms { search: &'static str, reason: &'static str },
    Unsupported { program: String, search: &'static str, reason: &'static str },
    Undefined { program: String, model: &'static str, reason: &'static str },
    UnknownModel { monitor: &'static str, model: &'static str },
    Undecided { program: String, search: &'static str, reason: &'static str },
    NotRecorded { program: String, reason: &'static str },
    Unbounded { program: String, variable: String },
    NoCheckpoints { search: &'static str },
    NotKept { monitor: &'static str },
    Checkpoint(CheckpointError),
    Unfit { monitor: &'static str, search: &'static str, instead: &'static str },
    Disagreement { model: &'static str, reason: String, token: String },
}

impl fmt::Display for CheckError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::NothingToCheck { program } => write!(
                formatter,
                "`{program}` has no operation on shared memory and no condition, so there is nothing to check"
            ),
            CheckError::Limit(error) => error.fmt(formatter),
            CheckError::NoJobs => formatter.write_str("the number of jobs is 0"),
            CheckError::NoDepth => formatter.write_str("the bug depth is 0; it must be at least 1"),
            CheckError::NoPrograms { search, reason } => write!(formatter, "the search `{search}` {reason}"),
            CheckError::Unsupported { program, search, reason } => write!(
                formatter,
                "`{program}` has {reason}, which the search `{search}` does not support; use `stateful`"
            ),
            CheckError::Undefined { program, model, reason } => {
                write!(formatter, "`{program}` has {reason}; {model} does not say what these do")
            }
            CheckError::UnknownModel { monitor: monitor @ "robustness", model } => {
                write!(formatter, "`{monitor}` asks about store buffers, which {model} does not have; use tso or pso")
            }
            CheckError::UnknownModel { monitor, model } => {
                write!(formatter, "`{monitor}` does not support {model}; use `robustness`")
            }
            CheckError::Undecided { program, search, reason } => write!(
                formatter,
                "`{program}` has {reason}, and the search `{search}` cannot decide robustness of that; use `stateful`"
            ),
            CheckError::NotRecorded { program, reason } => {
                write!(formatter, "`{program}` has {reason}, which a trace cannot express; it is not recorded")
            }
            CheckError::Unbounded { program, variable } => write!(
                formatter,
                "`{variable}` of `{program}` grows without bound, so a search over states does not end; use `dpor`"
            ),
            CheckError::NoCheckpoints { search } => {
                write!(formatter, "the search `{search}` has no checkpoints; use `dpor`")
            }
            CheckError::NotKept { monitor } => {
                write!(formatter, "a checkpoint does not save the state of `{monitor}`; leave out one of them")
            }
            CheckError::Checkpoint(error) => error.fmt(formatter),
            CheckError::Unfit { monitor, search, instead } => {
                write!(formatter, "`{monitor}` needs more than the search `{search}` distinguishes; use `{instead}`")
            }
            CheckError::Disagreement { model, reason, token } => write!(
                formatter,
                "an execution that the {model} machine allows is rejected by its axiomatic model: {reason}; \
         this is a bug in teetotal, please report it with the program and the token {token}"
            ),
        }
    }
}

impl Error for CheckError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CheckError::Limit(error) => error.source(),
            CheckError::Checkpoint(error) => error.source(),
            _ => None,
        }
    }
}

impl From<LimitError> for CheckError {
    fn from(error: LimitError) -> Self {
        CheckError::Limit(error)
    }
}

impl From<CheckpointError> for CheckError {
    fn from(error: CheckpointError) -> Self {
        CheckError::Checkpoint(error)
    }
}
