//! The exact search and coarse ones, in turns, until one of them knows the answer.
//!
//! The exact search reaches nothing that the machine does not, and may find no end. A coarse search reaches all that the
//! machine does, and some more; it always finds an end. Where a coarse search finds nothing that the exact one has not
//! found, that is all there is, wherever the exact search has got to. Where it finds more, that may be real or come of
//! being coarse; so it does not count, and a finer one is asked.

use teetotal_engine::driver::StopSignal;
use teetotal_engine::{Collector, Coverage, StopReason};
use teetotal_memory::{Access, Model};
use teetotal_program::{ExplicitState, Loc, Order};

use super::coarse::Grain;
use super::search::TakenTogether::{All, Nothing, SameLocations, SameStores};
use super::search::{Coarse, Effort, Search, Settings};

/// The coarse searches, from the quickest to the finest.
const COARSE: [Coarse; 8] = [
    Coarse { grain: grain(1, 1, true), taken_together: All },
    Coarse { grain: grain(1, 1, true), taken_together: SameLocations },
    Coarse { grain: grain(1, 1, true), taken_together: SameStores },
    Coarse { grain: grain(2, 2, true), taken_together: SameStores },
    Coarse { grain: grain(1, 1, false), taken_together: SameStores },
    Coarse { grain: grain(1, 1, false), taken_together: Nothing },
    Coarse { grain: grain(2, 2, false), taken_together: Nothing },
    Coarse { grain: grain(2, 4, false), taken_together: Nothing },
];

const fn grain(to_each: usize, of_all: usize, apart: bool) -> Grain {
    Grain { to_each, of_all, apart }
}

/// How much work the exact search may do before coarse ones are tried.
const PATIENCE: u64 = 100_000;

/// By how much a coarse search may do more than the exact one before it, and everybody in the next turn.
const MORE: u64 = 4;

/// After so many turns the exact search goes on alone.
const TURNS: usize = 7;

/// What came of a coarse search.
enum Answer {
    /// There is no more to find.
    NoMore,
    /// It found more, which says nothing.
    More,
    /// It was not over in time.
    Unfinished,
    /// It was stopped.
    Stopped(StopReason),
}

/// Searches all states that `subject` leads to under `M`, with buffers of any length.
pub fn search<S: ExplicitState, M: Model>(
    subject: S,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> (Coverage, Effort) {
    let mut exact = Search::<S, M>::new(subject.clone(), settings);
    let mut rungs = rungs::<M>().into_iter().peekable();
    let mut patience = PATIENCE;
    for _ in 0..TURNS {
        match exact.run_for(patience, collector, signal) {
            None | Some(Coverage::Stopped(StopReason::UnboundedLoop { .. })) if may_be_coarse::<M>(settings) => {}
            None => break,
            Some(coverage) => return (coverage, exact.effort),
        }
        patience *= MORE;
        while let Some(&coarse) = rungs.peek() {
            match attempt::<S, M>(&subject, coarse, patience, collector, settings, signal) {
                Answer::NoMore => return (Coverage::Complete, exact.effort),
                Answer::Stopped(reason) => return (Coverage::Stopped(reason), exact.effort),
                Answer::More => rungs.next(),
                // A finer one has more to do.
                Answer::Unfinished => break,
            };
        }
    }
    let coverage = exact.run(collector, signal);
    (coverage, exact.effort)
}

/// Where buffers have a bound the exact search has an end, and what the bound left out is to be known.
fn may_be_coarse<M: Model>(settings: &Settings) -> bool {
    M::BUFFERS && settings.limits.buffer.is_none()
}

/// The coarse searches that differ under the model.
pub(super) fn rungs<M: Model>() -> Vec<Coarse> {
    let mut rungs: Vec<Coarse> = Vec::new();
    for Coarse { grain, taken_together } in COARSE {
        let rung = Coarse { grain: Grain { apart: grain.apart && may_be_apart::<M>(), ..grain }, taken_together };
        if !rungs.contains(&rung) {
            rungs.push(rung);
        }
    }
    rungs
}

/// Whether stores to different locations ever pass each other.
fn may_be_apart<M: Model>() -> bool {
    let write = |loc| Access { loc: Some(loc), order: Order::Plain, epoch: 0 };
    !M::keeps_order(write(Loc(0)), write(Loc(1)))
}

fn attempt<S: ExplicitState, M: Model>(
    subject: &S,
    coarse: Coarse,
    patience: u64,
    collector: &mut Collector,
    settings: &Settings,
    signal: StopSignal<'_>,
) -> Answer {
    let settings = Settings { coarse: Some(coarse), ..*settings };
    let mut search = Search::<S, M>::new(subject.clone(), &settings);
    let mut found = collector.afresh();
    match search.run_for(patience, &mut found, signal) {
        None => Answer::Unfinished,
        Some(Coverage::Complete) if collector.has_all_of(&found) => {
            collector.stats.add_coarse(&found.stats);
            Answer::NoMore
        }
        Some(Coverage::Stopped(reason @ (StopReason::Time | StopReason::Interrupted))) => Answer::Stopped(reason),
        Some(_) => Answer::More,
    }
}
