//! One execution of a model, performed on the machine.

use teetotal_engine as engine;
use teetotal_engine::driver;
use teetotal_engine::stateless::Replay;
use teetotal_engine::token::{self, Token, TokenStep};
use teetotal_engine::{Abandon, Choice, Schedule, Strategy, System};
use teetotal_judge::Ending;
use teetotal_live::Live;
use teetotal_memory::{Model, ModelId, ModelVisitor, Step, Trace};
use teetotal_program::{Loc, Subject, Value};

use super::problem::{Problem, problem_of};

/// An execution and how it ended.
pub(super) struct Performed {
    pub(super) model: ModelId,
    /// The machine at the end of the execution.
    pub(super) live: Live,
    /// The values of all locations at the end.
    pub(super) memory: Vec<Value>,
    pub(super) trace: Trace,
    pub(super) token: Token,
    pub(super) problem: Option<Problem>,
    /// Whether threads could continue.
    pub(super) is_unfinished: bool,
}

/// Performs an execution of `live` as far as possible.
pub(super) fn perform(model: ModelId, mut live: Live, schedule: &Schedule) -> Performed {
    live.record_places();
    live.follow(true);
    finish(model, model.visit(Perform { live, schedule }))
}

/// Performs an execution on a machine that need not be that of its model.
#[cfg(test)]
pub(super) fn perform_on<M: Model>(mut live: Live, schedule: &Schedule) -> Performed {
    live.record_places();
    live.follow(true);
    finish(M::ID, Perform { live, schedule }.visit::<M>())
}

fn finish(model: ModelId, ended: Ended) -> Performed {
    let Ended { live, memory, trace, steps, mut ending, is_unfinished } = ended;
    let token = Token { model, hash: hash(&trace), steps };
    // An execution that is cut short may leave threads that could continue.
    if let (Ending::Blocked(_), true) = (&ending, is_unfinished) {
        ending = Ending::Discarded;
    }
    let problem = problem_of(&live, &ending);
    Performed { model, live, memory, trace, token, problem, is_unfinished }
}

/// The part of [`perform`] that is generic in the model.
struct Perform<'s> {
    live: Live,
    schedule: &'s Schedule,
}

struct Ended {
    live: Live,
    memory: Vec<Value>,
    trace: Trace,
    steps: Vec<TokenStep>,
    ending: Ending,
    is_unfinished: bool,
}

impl ModelVisitor for Perform<'_> {
    type Output = Ended;

    fn visit<M: Model>(self) -> Ended {
        let mut system = System::<Live, M>::new(self.live);
        let engine::Performed { trace, steps } = engine::perform(&mut system, self.schedule);
        system.subject_mut().follow(false);
        let ending = system.ending();
        let mut enabled = Vec::new();
        system.enabled(&mut enabled);
        let n_locations = system.subject().n_locations();
        let memory = (0..n_locations).map(|index| system.machine().memory(Loc::at(index))).collect();
        Ended { live: system.into_subject(), memory, trace, steps, ending, is_unfinished: !enabled.is_empty() }
    }
}

/// The number of steps for which threads continue after the end of an execution that is examined for loops.
const MORE_STEPS: usize = 200;

/// Replays an execution of `live` and lets its threads continue for a while, to detect loops.
pub(super) fn look_for_loops(mut live: Live, token: &Token) {
    live.follow(true);
    token.model.visit(LookForLoops { live, token });
}

struct LookForLoops<'t> {
    live: Live,
    token: &'t Token,
}

impl ModelVisitor for LookForLoops<'_> {
    type Output = ();

    fn visit<M: Model>(self) {
        let mut system = System::<Live, M>::new(self.live);
        let schedule = Schedule::Token(self.token.steps.clone());
        let mut strategy = GoOn { replay: Replay::of_schedule(&schedule), left: MORE_STEPS };
        driver::run_once(&mut system, &mut strategy, &mut driver::Unwatched);
    }
}

/// Replays an execution, then lets its threads continue in turn.
struct GoOn<'r> {
    replay: Replay<'r>,
    left: usize,
}

impl Strategy for GoOn<'_> {
    fn begin(&mut self) -> bool {
        self.replay.begin()
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        match self.replay.choose(enabled, trace) {
            Choice::Abandon(Abandon::EndOfSchedule) if self.left > 0 => {
                self.left -= 1;
                Choice::Take(self.left % enabled.len())
            }
            choice => choice,
        }
    }
}

/// Returns a hash of what an execution did, without values, since addresses differ from run to run.
fn hash(trace: &Trace) -> u32 {
    let mut trace = trace.clone();
    trace.map_values(|_| 0);
    token::hash(&trace)
}
