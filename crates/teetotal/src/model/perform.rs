//! One execution of a model, performed on the machine.

use teetotal_explore::dpor::Move;
use teetotal_explore::driver::{self, Flow, Observer};
use teetotal_explore::stateless::{Follow, Replay};
use teetotal_explore::token::{self, Token, TokenStep};
use teetotal_explore::{Abandon, Choice, Limits, Strategy, System};
use teetotal_judge::{Ending, View};
use teetotal_live::Live;
use teetotal_memory::{Model, Step, Trace};

use super::problem::{Problem, problem_of};

/// How to find an execution.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// As the search for graphs has it.
    Moves(Vec<Move>),
    Token(Token),
}

/// An execution and how it ended.
pub(super) struct Performed<M> {
    /// At its end.
    pub(super) system: System<Live, M>,
    pub(super) trace: Trace,
    pub(super) token: Token,
    pub(super) problem: Option<Problem>,
    /// Whether threads could go on.
    pub(super) is_unfinished: bool,
}

/// Performs an execution of `live`, as far as `way` leads.
pub(super) fn perform<M: Model>(mut live: Live, way: &Way) -> Performed<M> {
    live.record_places();
    live.follow(true);
    let mut system = System::<Live, M>::new(live);
    let mut last = Last::default();
    let mut run = |strategy: &mut dyn Strategy| {
        let limits = Limits { steps: None, ..Limits::default() };
        driver::run(&mut system, strategy, &mut last, &limits, &|| None);
    };
    let steps: Vec<TokenStep> = match way {
        Way::Moves(moves) => {
            let mut follow = Follow::new(moves);
            run(&mut follow);
            follow.taken
        }
        Way::Token(token) => {
            let mut replay = Replay::of_token(token);
            run(&mut replay);
            replay.taken
        }
    };
    system.subject_mut().follow(false);
    let trace = last.trace;
    let token = Token { model: M::ID, hash: hash(&trace), steps };
    // An execution that is cut short may leave threads that could go on.
    let mut enabled = Vec::new();
    let mut ending = system.ending();
    system.enabled(&mut enabled);
    if let (Ending::Blocked(_), false) = (&ending, enabled.is_empty()) {
        ending = Ending::Discarded;
    }
    let is_unfinished = !enabled.is_empty();
    let problem = problem_of(system.subject(), &ending);
    Performed { system, trace, token, problem, is_unfinished }
}

/// So many steps threads go on after the end of an execution that is looked at for loops.
const MORE_STEPS: usize = 200;

/// Runs an execution of `live` again and lets its threads go on for a while, so that they are seen to loop if they do.
pub(super) fn look_for_loops<M: Model>(mut live: Live, token: &Token) {
    live.follow(true);
    let mut system = System::<Live, M>::new(live);
    let mut strategy = GoOn { replay: Replay::of_token(token), left: MORE_STEPS };
    let limits = Limits { steps: None, ..Limits::default() };
    driver::run(&mut system, &mut strategy, &mut Last::default(), &limits, &|| None);
}

/// Replays an execution, then lets its threads go on by turns.
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

/// A hash of what an execution did. Values are left out, since addresses differ from run to run.
fn hash(trace: &Trace) -> u32 {
    let mut trace = trace.clone();
    trace.map_values(|_| 0);
    token::hash(&trace)
}

#[derive(Default)]
struct Last {
    trace: Trace,
}

impl Observer for Last {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        self.trace = view.trace.clone();
        Flow::Continue
    }

    fn abandoned(&mut self, view: &View<'_>, _: Abandon) {
        self.trace = view.trace.clone();
    }
}
