//! Robustness of a model: whether every execution of the memory model is sequentially consistent.
//!
//! Only sequentially consistent executions are searched. A reordering that the monitor finds in one is confirmed by an
//! execution of the memory model, by running the same code on its machine; only confirmed ones are reported.

mod mend;
mod record;
mod relaxed;
mod text;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, PoisonError};

use teetotal_dpor::Rest;
use teetotal_engine::auto::RustChoice;
use teetotal_engine::driver::{Flow, StopSignal};
use teetotal_engine::{Coverage, Execution, Move, Schedule, SearchId, Stats, StopReason};
use teetotal_judge::monitors::robustness::{Delay, Site};
use teetotal_live::{Ledger, Live, Place, Script};
use teetotal_memory::models::Strongest;
use teetotal_memory::{EventKind, Machine, ModelId, Step, Trace};
use teetotal_program::{Op, Status, Subject, ThreadId};
use teetotal_robustness::{waiters, watch};

use super::caveat::{caveats, coverage_of};
use super::failure::misused;
use super::problem::problem_of;
use super::rust_searches::{self, RustSearched, RustTask};
use super::search::{Wrong, first_choice};
use super::violation::Violation;
use super::watchman::Watchman;
use super::{Builder, Report};

pub(super) use record::record;

/// The number of executions in which the confirmation of a pair of places is tried.
const MAX_OCCURRENCES: usize = 16;

/// A reordering: a store that can still be in its buffer at an access that happens after it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NotRobust {
    /// The place of the store in the source.
    pub store: Place,
    /// The place of the access in the source.
    pub access: Place,
    /// Whether making the store `SeqCst` prevents the reordering, if that was tried.
    pub stronger_store_helps: Option<bool>,
    /// The operation before which a full fence is suggested.
    pub fence_before: Option<Place>,
    /// Whether that fence prevents the reordering, if that was tried.
    pub fence_helps: Option<bool>,
    /// The number of sequentially consistent executions in which the reordering was found.
    pub executions: u64,
    /// The execution of the memory model that shows the reordering.
    pub token: String,
}

/// Decides robustness of `body` under the memory model of `builder`.
pub(super) fn decide(builder: &Builder, body: &teetotal_live::Model) -> Report {
    let searched = Search { builder, body }.run();
    let Searched { stats, coverage, wrong, pairs, ledger } = searched;
    let coverage = coverage_of(coverage, &stats, &ledger);
    let report = |coverage, failure, not_robust| report(builder, (stats, coverage), failure, not_robust, &ledger);
    if let Some(wrong) = wrong {
        let failure = text::wrong_already(builder, body, &wrong, &ledger, stats.executions);
        return report(coverage, Some(failure), Vec::new());
    }
    let (shown, n_unconfirmed) = relaxed::show(builder, body, &ledger, pairs);
    let coverage = match coverage {
        Coverage::Complete if n_unconfirmed > 0 => Coverage::Stopped(StopReason::Unconfirmed(n_unconfirmed)),
        coverage => coverage,
    };
    if shown.is_empty() {
        let failure = misused(&ledger, builder.model).filter(|_| !coverage.is_complete());
        return report(coverage, failure, Vec::new());
    }
    let trials = mend::try_all(builder, body, &shown);
    let failure = text::not_robust(builder, &shown, &trials, stats.executions);
    let found = shown.iter().zip(&trials.of_pairs).map(|(shown, trial)| NotRobust {
        store: shown.pair.store.clone(),
        access: shown.pair.access.clone(),
        stronger_store_helps: trial.store_helps,
        fence_before: shown.pair.fence_before.clone(),
        fence_helps: trial.fence_helps,
        executions: shown.pair.executions,
        token: shown.token.clone(),
    });
    report(coverage, Some(failure), found.collect())
}

fn report(
    builder: &Builder,
    (stats, coverage): (Stats, Coverage),
    failure: Option<Violation>,
    not_robust: Vec<NotRobust>,
    ledger: &Ledger,
) -> Report {
    let RustChoice { search, reason: search_reason } = first_choice(&Builder { robustness: true, ..builder.clone() });
    Report {
        model: builder.model,
        executions: stats.executions,
        coverage,
        caveats: caveats(builder, ledger),
        has_operations: ledger.has_operations(),
        search,
        search_reason,
        stats,
        failure,
        not_robust,
        reachable: Vec::new(),
        standing: ledger.standing(),
        discarded: 0,
        leaked: 0,
    }
}

/// A pair of places.
pub(super) struct Pair {
    store: Place,
    access: Place,
    /// The operation before which a full fence drains the store.
    fence_before: Option<Place>,
    executions: u64,
    /// Sequentially consistent executions in which the pair was found, with their paths.
    occurrences: BTreeMap<Vec<u32>, Occurrence>,
    /// Whether it was also found in executions that are not kept.
    has_more: bool,
}

impl Pair {
    /// Returns whether the reordering may be possible although none of the kept executions confirms it.
    ///
    /// An execution in which the access is always possible would have confirmed it.
    fn is_in_doubt(&self) -> bool {
        self.has_more || self.occurrences.values().any(|known| known.never_waits)
    }

    /// Returns whether executions before the one at the end of `path` suffice to confirm it.
    fn is_shown_before(&self, path: &[u32]) -> bool {
        let mut before = self.occurrences.iter().take_while(|(known, _)| known.as_slice() < path);
        // A load or a store is always possible.
        before.clone().count() >= MAX_OCCURRENCES || before.any(|(_, known)| known.never_waits)
    }
}

/// A sequentially consistent execution in which a reordering was found.
struct Occurrence {
    trace: Trace,
    delay: Delay,
    /// The kind of the access.
    access: EventKind,
    /// Whether the access is possible whatever it reads.
    never_waits: bool,
}

/// A search of the sequentially consistent executions.
struct Search<'s> {
    builder: &'s Builder,
    body: &'s teetotal_live::Model,
}

/// The result of the search.
struct Searched {
    stats: Stats,
    coverage: Coverage,
    wrong: Option<Wrong>,
    pairs: Vec<Pair>,
    ledger: Ledger,
}

/// The findings so far.
#[derive(Default)]
struct Found {
    wrong: Option<Wrong>,
    pairs: BTreeMap<Key, Pair>,
}

/// The key of a pair of places.
type Key = [(String, u32, u32); 2];

fn key_of(place: &Place) -> (String, u32, u32) {
    (place.file.clone(), place.line, place.column)
}

impl Search<'_> {
    fn run(&self) -> Searched {
        let ledger = Ledger::default();
        let signal = Watchman::new(self.builder, &ledger);
        loop {
            let searched = self.once(&ledger, &signal);
            if !ledger.is_out_of_date() {
                return searched;
            }
            ledger.open();
        }
    }

    fn once(&self, ledger: &Ledger, signal: StopSignal<'_>) -> Searched {
        let found = Mutex::new(Found::default());
        let look = |execution: &Execution<'_, Live>| {
            let problem = problem_of(execution.subject, &execution.ending);
            if ledger.is_out_of_date() {
                return Flow::Stop(StopReason::Superseded);
            }
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(problem) = problem else {
                self.monitor(execution, &mut found.pairs);
                return Flow::Continue;
            };
            if found.wrong.as_ref().is_none_or(|known| execution.path < known.path) {
                found.wrong =
                    Some(Wrong { path: execution.path.clone(), schedule: Schedule::Moves(execution.moves()), problem });
            }
            Flow::Stop(StopReason::Violation)
        };
        let make = || recording(self.builder.live(self.body, ledger));
        let task = RustTask {
            make: &make,
            model: ModelId::STRONGEST,
            limits: self.builder.limits(),
            jobs: self.builder.jobs,
            bound: None,
            rest: Rest::all(),
            signal,
            sink: &look,
        };
        let searched = rust_searches::run(SearchId::Dpor, &task).expect("`dpor` takes all Rust code");
        let RustSearched { stats, coverage, .. } = searched;
        let Found { wrong, pairs } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut pairs: Vec<Pair> = pairs.into_values().collect();
        pairs.sort_by(|a, b| a.occurrences.keys().next().cmp(&b.occurrences.keys().next()));
        Searched { stats, coverage, wrong, pairs, ledger: ledger.clone() }
    }

    /// Counts the reorderings of an execution if all of them were found before and another execution confirms each.
    fn is_known(&self, execution: &Execution<'_, Live>, pairs: &mut BTreeMap<Key, Pair>) -> bool {
        let live = execution.subject;
        let place = |site: Site| live.places(site.thread).get(site.place as usize).copied();
        let mut keys = Vec::new();
        for (store, access) in execution.delays(self.builder.model) {
            let (Some(store), Some(access)) = (place(store), place(access)) else { return false };
            let key = [store, access].map(|place| key_of(&place.into()));
            if !pairs.get(&key).is_some_and(|pair| pair.is_shown_before(&execution.path)) {
                return false;
            }
            keys.push(key);
        }
        keys.sort();
        keys.dedup();
        for key in keys {
            pairs.entry(key).and_modify(|pair| {
                pair.executions += 1;
                pair.has_more = true;
            });
        }
        true
    }

    /// Searches an execution for reorderings.
    fn monitor(&self, execution: &Execution<'_, Live>, pairs: &mut BTreeMap<Key, Pair>) {
        let live = execution.subject;
        let waiters = waiters(live);
        if waiters.is_empty() && self.is_known(execution, pairs) {
            return;
        }
        let trace = trace_of(execution);
        let mut seen: Vec<Key> = Vec::new();
        for delay in watch(self.builder.model, &trace, live.n_threads(), &waiters) {
            let store = trace.event(delay.store);
            let Some(store_at) = live.places(store.thread).get(store.index as usize) else { continue };
            let performed = trace.operation(delay.access_at.thread, delay.index);
            let own = live.places(delay.access_at.thread);
            let Some(access_at) = own.get(delay.index as usize).copied().or(live.source_place(delay.access_at.thread))
            else {
                continue;
            };
            let [store_at, access_at] = [*store_at, access_at].map(Place::from);
            let key = [&store_at, &access_at].map(key_of);
            let pair = pairs.entry(key.clone()).or_insert_with(|| Pair {
                store: store_at,
                access: access_at,
                fence_before: mend::fence_before(self.builder.model, live, &trace, store),
                executions: 0,
                occurrences: BTreeMap::new(),
                has_more: false,
            });
            if !seen.contains(&key) {
                pair.executions += 1;
                seen.push(key);
            }
            let access = performed.map_or(EventKind::Load, |event| event.kind);
            let done = live.done(delay.access_at.thread).get(delay.index as usize);
            let never_waits = done.is_some_and(|done| matches!(done.op, Op::Load { .. } | Op::Store { .. }));
            match pair.occurrences.entry(execution.path.clone()) {
                Entry::Occupied(_) => pair.has_more = true,
                Entry::Vacant(free) => {
                    free.insert(Occurrence { trace: trace.clone(), delay, access, never_waits });
                }
            }
            if pair.occurrences.len() > MAX_OCCURRENCES {
                pair.occurrences.pop_last();
                pair.has_more = true;
            }
        }
    }
}

fn recording(mut live: Live) -> Live {
    live.record_places();
    live
}

/// Returns the sequentially consistent execution at whose end `execution` stands.
fn trace_of(execution: &Execution<'_, Live>) -> Trace {
    let mut script = Script::new(execution.subject);
    let mut machine = Machine::<Strongest>::new(&script);
    let mut trace = Trace::default();
    for step in execution.moves() {
        let Move::Issue { thread, alternative, .. } = step else { continue };
        // Every step has one alternative, except a choice.
        let alternative = match script.status(thread) {
            Status::Ready(Op::Choose { .. }) => alternative,
            Status::Ready(_) => 0,
            _ => continue,
        };
        machine.perform(&mut script, Step::Issue { thread, alternative }, &mut trace);
    }
    trace
}

/// Returns the name of the current test.
pub(super) fn test_name() -> Option<String> {
    let thread = std::thread::current();
    thread.name().filter(|name| *name != "main").map(str::to_owned)
}

/// Returns the name of a thread in reports.
fn thread_name(thread: ThreadId) -> String {
    super::storyboard::thread_name(thread)
}
