//! An execution at its end, as a search that takes any subject shows it.

use teetotal_judge::Ending;
use teetotal_judge::monitors::robustness::Site;
use teetotal_memory::ModelId;
use teetotal_program::{Failure, Loc, ThreadId, Value};

use crate::schedule::Move;

/// One execution of a search, at its end.
#[expect(missing_debug_implementations, reason = "a subject need not be printable")]
pub struct Execution<'e, S> {
    /// The subject at the end of it.
    pub subject: &'e S,
    pub ending: Ending,
    /// What went wrong, thread by thread.
    pub failures: Vec<(ThreadId, Failure)>,
    /// Its path in the tree of the search, if that has one: a search by one worker meets the least path first.
    pub path: Vec<u32>,
    /// What is computed only where it is asked for.
    pub more: &'e dyn More,
}

/// What is known of an execution and costs something to say.
pub trait More {
    /// How much of the search comes before the execution, between 0 and 1, if all alternatives are worth the same; 0 if
    /// that is not known.
    fn share(&self) -> f64 {
        0.0
    }

    /// The steps of the execution.
    fn moves(&self) -> Vec<Move>;

    /// What memory holds at the end of it.
    fn memory(&self, loc: Loc) -> Value;

    /// Where stores stand that an access could overtake under `model`, and where these accesses stand.
    ///
    /// Nothing is said of executions of a model with buffers.
    fn delays(&self, _model: ModelId) -> Vec<(Site, Site)> {
        Vec::new()
    }
}

impl<S> Execution<'_, S> {
    /// How much of the search comes before it, between 0 and 1; 0 if that is not known.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.more.share()
    }

    /// Its steps.
    #[must_use]
    pub fn moves(&self) -> Vec<Move> {
        self.more.moves()
    }

    /// What memory holds at the end of it.
    #[must_use]
    pub fn memory(&self, loc: Loc) -> Value {
        self.more.memory(loc)
    }

    /// Where stores stand that an access could overtake under `model`, and where these accesses stand.
    ///
    /// Nothing is said of executions of a model with buffers.
    #[must_use]
    pub fn delays(&self, model: ModelId) -> Vec<(Site, Site)> {
        self.more.delays(model)
    }
}
