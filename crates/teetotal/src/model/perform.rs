//! One execution of a model, performed on the machine.

use teetotal_explore::dpor::Move;
use teetotal_explore::driver::{self, Flow, Observer};
use teetotal_explore::stateless::{Follow, Replay};
use teetotal_explore::token::{Token, TokenStep};
use teetotal_explore::{Abandon, Limits, System};
use teetotal_judge::{Ending, View};
use teetotal_live::Live;
use teetotal_memory::{EventKind, Model, Source, Trace};

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
}

/// Performs an execution of `live`, as far as `way` leads.
pub(super) fn perform<M: Model>(mut live: Live, way: &Way) -> Performed<M> {
    live.record_places();
    let mut system = System::<Live, M>::new(live);
    let mut last = Last::default();
    let mut run = |strategy: &mut dyn teetotal_explore::Strategy| {
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
    let trace = last.trace;
    let token = Token { model: M::ID, hash: hash(&trace), steps };
    // An execution that is cut short may leave threads that could go on.
    let mut enabled = Vec::new();
    let mut ending = system.ending();
    system.enabled(&mut enabled);
    if let (Ending::Blocked(_), false) = (&ending, enabled.is_empty()) {
        ending = Ending::Discarded;
    }
    let problem = problem_of(system.subject(), &ending);
    Performed { system, trace, token, problem }
}

/// A hash of what an execution did. Values are left out, since addresses differ from run to run.
fn hash(trace: &Trace) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    for event in trace.events() {
        let kind = match event.kind {
            EventKind::Load => 0,
            EventKind::Store => 1,
            EventKind::Rmw => 2,
            EventKind::FailedRmw => 3,
            EventKind::Fence => 4,
            EventKind::GlobalFence => 5,
            EventKind::Lock => 6,
            EventKind::Unlock => 7,
            EventKind::Spawn(_) => 8,
            EventKind::Join(_) => 9,
            EventKind::Choose => 10,
        };
        add(u64::from(event.thread.0) << 8 | kind);
        add(event.loc.map_or(0, |loc| u64::from(loc.0) + 1));
        add(match event.source {
            None => 0,
            Some(Source::Initial) => 1,
            Some(Source::Write(id)) => 2 + u64::from(id.0),
        });
    }
    (hash ^ hash >> 32) as u32
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
