//! Robustness by a search over states: of sequential consistency, and where that does not decide it, of the model.

use teetotal_engine::auto::Attempt;
use teetotal_engine::{Coverage, Limits, StopReason, unsupported};
use teetotal_judge::MonitorId;
use teetotal_program::ir::Program;
use teetotal_robustness as robustness;
use teetotal_robustness::{Decided, Unbounded};

use super::{Check, Searched};
use crate::options::CheckError;

impl Check<'_> {
    /// Decides robustness by states, and searches those of sequential consistency for everything else that is asked.
    pub(super) fn search_states_for_robustness(&self, attempt: &Attempt) -> Result<Searched, CheckError> {
        let question = self.options.question();
        // A program with ever more states is refused here, so it comes before the search for everything else.
        let decided = match question.explored() == self.options.model {
            true => None,
            false => Some(self.decide(&attempt.limits)?),
        };
        let others = |id: &MonitorId| !id.is_about_robustness();
        let monitors: Vec<MonitorId> = self.options.monitors.iter().copied().filter(others).collect();
        let mut searched = self.gather(attempt, &monitors)?;
        if let Some(decided) = decided {
            searched.add(decided);
        }
        Ok(searched)
    }

    /// What states of sequential consistency say of robustness, or else those of the model.
    fn decide(&self, limits: &Limits) -> Result<Decided, CheckError> {
        if unsupported(self.program).is_some() {
            return self.search_model(limits);
        }
        let decided = robustness::decide(self.program, self.options.model, limits, self.signal);
        let decided = decided.map_err(|unbounded| refused(self.program, unbounded))?;
        let in_doubt = decided.coverage == Coverage::Stopped(StopReason::Continuation);
        if in_doubt && decided.violations.is_empty() { self.search_model(limits) } else { Ok(decided) }
    }

    /// What the states of the model say of robustness.
    pub(super) fn search_model(&self, limits: &Limits) -> Result<Decided, CheckError> {
        let decided = robustness::search_model(self.program, self.options.model, limits, self.signal);
        decided.map_err(|unbounded| refused(self.program, unbounded))
    }
}

fn refused(program: &Program, Unbounded { variable }: Unbounded) -> CheckError {
    CheckError::Unbounded { program: program.name.clone(), variable }
}
