//! Executions of a model by chance, where there are too many to run them all.

use std::sync::Arc;

use teetotal_explore::driver::{self, Flow, Observer, Progress, StopSignal};
use teetotal_explore::stateless::Pct;
use teetotal_explore::{Abandon, Choice, Coverage, Schedule, Stats, StopReason, Strategy, System};
use teetotal_judge::{Ending, View};
use teetotal_live::{Ledger, Live};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::{Status, Subject, ThreadId};

use super::perform::Way;
use super::problem::problem_of;
use super::search::{Found, Search, Wrong};

/// The first of all seeds; the same executions are run each time.
const SEED: u64 = 1;

impl Search<'_> {
    /// Runs `samples` executions by chance, with a good one to find what needs at most `preemptions` preemptions.
    pub(super) fn sample<M: Model>(
        &self,
        ledger: &Ledger,
        signal: StopSignal<'_>,
        samples: u64,
        preemptions: usize,
    ) -> Found {
        let mut system = System::<Live, M>::new(Live::new(Arc::clone(&self.body), ledger));
        let mut pct = Pct::new::<M>(SEED, u32::try_from(preemptions).unwrap_or(u32::MAX - 1) + 1, samples);
        let mut stats = Stats::default();
        let bounded = Coverage::Stopped(StopReason::Preemptions(preemptions as u64));
        let found = |stats, coverage, wrong| Found { stats, coverage, wrong, ledger: ledger.clone() };
        for _ in 0..samples {
            let mut last = Last::default();
            let coverage = driver::run(&mut system, &mut Once::new(&mut pct), &mut last, &self.limits(), signal);
            stats.executions += 1;
            if let Coverage::Stopped(reason @ (StopReason::Steps(_) | StopReason::NotDeterministic)) = coverage {
                return found(stats, Coverage::Stopped(reason), None);
            }
            let progress = Progress { executions: stats.executions, states: 0 };
            if let Some(reason) = signal.stop(progress) {
                return found(stats, Coverage::Stopped(reason), None);
            }
            let threads = (0..system.subject().n_threads()).map(ThreadId::at);
            let failed: Vec<ThreadId> =
                threads.filter(|&thread| matches!(system.subject().status(thread), Status::Failed(_))).collect();
            if let Some(problem) = problem_of(system.subject(), &failed, &last.ending) {
                let way = Way::Schedule(Schedule::Steps(last.steps));
                let wrong = Wrong { path: Vec::new(), way, problem };
                return found(stats, Coverage::Stopped(StopReason::Violation), Some(wrong));
            }
        }
        found(stats, bounded, None)
    }
}

/// The next execution of a strategy.
struct Once<'s> {
    strategy: &'s mut dyn Strategy,
    begun: bool,
}

impl<'s> Once<'s> {
    fn new(strategy: &'s mut dyn Strategy) -> Self {
        Once { strategy, begun: false }
    }
}

impl Strategy for Once<'_> {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.begun, true) && self.strategy.begin()
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        self.strategy.choose(enabled, trace)
    }

    fn end(&mut self, trace: &Trace) {
        self.strategy.end(trace);
    }
}

struct Last {
    steps: Vec<Step>,
    ending: Ending,
}

impl Default for Last {
    fn default() -> Self {
        Last { steps: Vec::new(), ending: Ending::Discarded }
    }
}

impl Observer for Last {
    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        self.steps = view.trace.steps().iter().map(|record| record.step).collect();
        self.ending = ending.clone();
        Flow::Continue
    }

    fn abandoned(&mut self, _: &View<'_>, _: Abandon) {}
}
