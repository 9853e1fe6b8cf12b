//! Follows an execution that was found by another search, whose names for threads and locations may be others.

use teetotal_memory::{EventKind, Step, Trace};
use teetotal_program::ThreadId;

use crate::dpor::Move;
use crate::strategy::{Abandon, Choice, Strategy};
use crate::token::TokenStep;

/// Takes given moves, then no more.
#[derive(Clone, Debug)]
pub struct Follow<'m> {
    moves: &'m [Move],
    /// For each thread of the moves what it is called here.
    threads: Vec<Option<ThreadId>>,
    /// The thread that the last move starts, as the moves call it.
    child: Option<ThreadId>,
    /// The steps taken so far, as a token has them.
    pub taken: Vec<TokenStep>,
    started: bool,
}

impl<'m> Follow<'m> {
    /// Follows `moves`; the first thread is called the same everywhere.
    #[must_use]
    pub fn new(moves: &'m [Move]) -> Self {
        Follow { moves, threads: vec![Some(ThreadId(0))], child: None, taken: Vec::new(), started: false }
    }

    /// Takes note of what the thread is called that the last move started.
    fn learn(&mut self, trace: &Trace) {
        let Some(child) = self.child.take() else { return };
        if let Some(EventKind::Spawn(name)) = trace.events().last().map(|event| event.kind) {
            if self.threads.len() <= child.index() {
                self.threads.resize(child.index() + 1, None);
            }
            self.threads[child.index()] = Some(name);
        }
    }

    fn step(&mut self, trace: &Trace) -> Result<Step, Abandon> {
        let step = self.moves.get(trace.steps().len()).ok_or(Abandon::EndOfSchedule)?;
        let name = |thread: ThreadId| self.threads.get(thread.index()).copied().flatten().ok_or(Abandon::NotPossible);
        Ok(match *step {
            Move::Issue { thread, alternative, child } => {
                let thread = name(thread)?;
                self.child = child;
                Step::Issue { thread, alternative }
            }
            Move::Commit { thread, index, .. } => {
                let thread = name(thread)?;
                let store = trace.events().iter().find(|e| e.thread == thread && e.index == index);
                let loc = store.and_then(|store| store.loc).ok_or(Abandon::NotPossible)?;
                Step::Commit { thread, loc }
            }
        })
    }
}

impl Strategy for Follow<'_> {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.started, true)
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        self.learn(trace);
        let position = self
            .step(trace)
            .and_then(|step| enabled.iter().position(|&possible| possible == step).ok_or(Abandon::NotPossible));
        match position {
            Ok(position) => {
                self.taken.push(TokenStep::of(enabled[position], enabled));
                Choice::Take(position)
            }
            Err(reason) => Choice::Abandon(reason),
        }
    }
}
