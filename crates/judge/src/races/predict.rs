//! The races of all executions in which every thread reads what it read in one.
//!
//! Which accesses may race at all is a matter of what every such execution has in common: a read that has one writer left
//! synchronizes with that, and a lock with every unlock that must come before it. Of those that may, pairs that can be
//! performed next to each other race. For the others, reads that may synchronize with different writes are tried with
//! each. Every execution that is given was performed by the machine and has a race that was not known.

use teetotal_memory::{EventId, EventKind, ModelId, Source, Step, Trace};
use teetotal_program::ir::{Instruction, Program};

use super::rehearsal::Rehearsal;
use super::watch::Pair;
use super::{DataRace, Role, Watch, locks};
use crate::order::{Answer, Demand, Effort, Narrowed, Question, Solver, needed};

/// What was predicted.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// The steps of executions with a race that was not known; not all of them are executions to the end.
    pub schedules: Vec<Vec<Step>>,
    /// Whether there may be other races, because questions were given up.
    pub is_partial: bool,
    pub effort: Effort,
}

/// So many questions are asked about one trace at most.
const MOST_QUESTIONS: u64 = 1_000;

/// Predicts races from `trace`, an execution of `program` under `model`; those of which `is_known` holds are not wanted.
#[must_use]
pub fn predict(program: &Program, model: ModelId, trace: &Trace, is_known: &dyn Fn(&DataRace) -> bool) -> Prediction {
    if possible_pairs(program, trace, None, &[], is_known).is_empty() {
        return Prediction::default();
    }
    let initial = |loc: teetotal_program::Loc| program.locations[loc.index()].initial;
    let mut solver = Solver::new(model, trace, initial);
    let everything = vec![u32::MAX; trace.n_threads()];
    let whole = Question { events: &everything, demands: &[] };
    let mut pairs = Vec::new();
    if let Some(narrowed) = solver.narrow(&whole) {
        pairs = possible_pairs(program, trace, Some(&narrowed), &[], is_known);
    }
    let (found, prediction) = (Vec::new(), Prediction::default());
    let rehearsal = Rehearsal::new(program, model);
    let mut predicting = Predicting { program, trace, everything: &everything, rehearsal, found, prediction };
    if !pairs.is_empty() {
        predicting.try_side_by_side(&mut solver, &pairs);
        predicting.try_sources(&mut solver, is_known);
    }
    Prediction { effort: solver.effort(), ..predicting.prediction }
}

struct Predicting<'p> {
    program: &'p Program,
    trace: &'p Trace,
    everything: &'p [u32],
    rehearsal: Rehearsal,
    found: Vec<DataRace>,
    prediction: Prediction,
}

/// The pairs that race when nothing more is synchronized than must be, and no lock keeps them apart.
///
/// Where nothing is known of sources, no read synchronizes.
fn possible_pairs(
    program: &Program,
    trace: &Trace,
    narrowed: Option<&Narrowed<'_>>,
    chosen: &[(EventId, Source)],
    is_known: &dyn Fn(&DataRace) -> bool,
) -> Vec<Pair> {
    let (mut watch, mut pairs) = (Watch::default(), Vec::new());
    for (id, event) in trace.ids() {
        let narrowed = narrowed.filter(|_| event.is_read());
        let sources = narrowed.map_or_else(Vec::new, |narrowed| certain_sources(trace, narrowed, id, chosen));
        watch.perform(program, event, &sources, &mut pairs);
    }
    let held = locks::held(trace);
    let is_apart = |pair: &Pair| !held[pair.events[0].index()].is_disjoint(&held[pair.events[1].index()]);
    pairs.retain(|pair| !is_known(&pair.race) && !is_apart(pair));
    pairs
}

/// The writes that a read certainly synchronizes with, if it acquires.
fn certain_sources(trace: &Trace, narrowed: &Narrowed<'_>, read: EventId, chosen: &[(EventId, Source)]) -> Vec<Source> {
    if let Some(&(_, source)) = chosen.iter().find(|(other, _)| *other == read) {
        return vec![source];
    }
    let event = trace.event(read);
    let sources = narrowed.sources(read);
    if sources.len() == 1 || event.kind != EventKind::Lock {
        return if sources.len() == 1 { sources } else { Vec::new() };
    }
    let unlocks = trace.ids().filter(|(_, other)| other.kind == EventKind::Unlock && other.loc == event.loc);
    unlocks.filter(|(id, _)| narrowed.precedes(*id, read)).map(|(id, _)| Source::Write(id)).collect()
}

impl Predicting<'_> {
    /// Keeps the execution if it has a race that is neither known nor found.
    fn keep(&mut self, trace: &Trace, steps: Vec<Step>, is_known: &dyn Fn(&DataRace) -> bool) {
        let mut races = Vec::new();
        Watch::default().follow(self.program, trace, &mut races);
        races.retain(|race| !is_known(race) && !self.found.contains(race));
        if !races.is_empty() {
            self.found.extend(races);
            self.prediction.schedules.push(steps);
        }
    }

    /// Tries to perform both accesses of each pair next to each other, after no more than they need.
    fn try_side_by_side(&mut self, solver: &mut Solver<'_>, pairs: &[Pair]) {
        for pair in pairs {
            if self.found.contains(&pair.race) || solver.effort().questions >= MOST_QUESTIONS {
                continue;
            }
            if !pair.events.iter().all(|&id| self.is_always_possible(id)) {
                continue;
            }
            let Some(events) = needed(self.trace, &[], &pair.events) else { continue };
            let question = Question { events: &events, demands: &[] };
            if let Answer::Possible(mut steps) = solver.ask(&question) {
                let issue = |id: EventId| {
                    let event = self.trace.event(id);
                    self.trace.steps().get(event.step as usize).map(|record| record.step)
                };
                steps.extend(pair.events.into_iter().filter_map(issue));
                if self.rehearsal.shows(&steps, &pair.race) {
                    self.found.push(pair.race);
                    self.prediction.schedules.push(steps);
                }
            }
        }
    }

    /// Whether the event can happen whatever memory holds, once its thread comes to it and its stores are in memory.
    fn is_always_possible(&self, id: EventId) -> bool {
        let event = self.trace.event(id);
        let code = &self.program.threads[event.thread.index()].code;
        let waits = matches!(
            code.get(event.place as usize),
            Some(Instruction::Await { .. } | Instruction::Guarded { .. } | Instruction::Lock { .. })
        );
        !waits && !self.program.threads[event.thread.index()].places[event.place as usize].exclusive
    }

    /// Tries reads that may synchronize with different writes with each of them.
    fn try_sources(&mut self, solver: &mut Solver<'_>, is_known: &dyn Fn(&DataRace) -> bool) {
        let whole = Question { events: self.everything, demands: &[] };
        let open = match solver.narrow(&whole) {
            Some(narrowed) => self.reads_in_doubt(&narrowed),
            None => return,
        };
        self.choose(solver, &open, &mut Vec::new(), is_known);
    }

    /// The reads that may synchronize with several writes, or with one or none.
    ///
    /// Where there are stretches without a switch, all reads are: what such a stretch reads, nobody else may overwrite in
    /// the middle of it.
    fn reads_in_doubt(&self, narrowed: &Narrowed<'_>) -> Vec<EventId> {
        let releases = |source: &Source| matches!(source, Source::Write(id) if self.may_release(*id));
        let synchronizes = |sources: &[Source], id| sources.iter().any(releases) && self.may_acquire(id);
        let is_in_doubt = |id: &EventId| {
            let sources = narrowed.sources(*id);
            sources.len() > 1 && (self.rehearsal.has_stretches || synchronizes(&sources, *id))
        };
        let reads = self.trace.ids().filter(|(_, event)| event.is_read()).map(|(id, _)| id);
        reads.filter(is_in_doubt).collect()
    }

    /// Whether the event acquires, passes on what it reads, or an acquire fence follows it.
    fn may_acquire(&self, id: EventId) -> bool {
        let event = self.trace.event(id);
        let later = self.trace.events()[id.index()..].iter().filter(|other| other.thread == event.thread);
        let fences = later.filter(|other| matches!(other.kind, EventKind::Fence | EventKind::GlobalFence));
        let passes_on = event.is_write();
        let acquires = Role::of(self.program, event).order.acquires() || passes_on;
        acquires || fences.into_iter().any(|fence| Role::of(self.program, fence).order.acquires())
    }

    /// Whether the event releases, goes on with what another released, or a release fence comes before it.
    fn may_release(&self, id: EventId) -> bool {
        let event = self.trace.event(id);
        let earlier = self.trace.events()[..id.index()].iter().filter(|other| other.thread == event.thread);
        let mut fences = earlier.filter(|other| matches!(other.kind, EventKind::Fence | EventKind::GlobalFence));
        let is_update = event.is_read();
        Role::of(self.program, event).order.releases()
            || is_update
            || fences.any(|fence| Role::of(self.program, fence).order.releases())
    }

    /// Chooses a source for the next read in doubt.
    fn choose(
        &mut self,
        solver: &mut Solver<'_>,
        open: &[EventId],
        chosen: &mut Vec<(EventId, Source)>,
        is_known: &dyn Fn(&DataRace) -> bool,
    ) {
        let demands: Vec<Demand> = chosen.iter().map(|&(read, source)| Demand::Source { read, source }).collect();
        let question = Question { events: self.everything, demands: &demands };
        let Some(narrowed) = solver.narrow(&question) else { return };
        let is_found = |race: &DataRace| is_known(race) || self.found.contains(race);
        if possible_pairs(self.program, self.trace, Some(&narrowed), chosen, &is_found).is_empty() {
            return;
        }
        if solver.effort().questions >= MOST_QUESTIONS {
            self.prediction.is_partial = true;
            return;
        }
        let left = open.iter().map(|&read| (read, narrowed.sources(read))).find(|(_, sources)| sources.len() > 1);
        match left {
            Some((read, sources)) => {
                for source in sources {
                    chosen.push((read, source));
                    self.choose(solver, open, chosen, is_known);
                    chosen.pop();
                }
            }
            None => {
                let answer = solver.ask(&question);
                self.prediction.is_partial |= answer == Answer::Unknown;
                let Answer::Possible(steps) = answer else { return };
                if self.rehearsal.has_stretches && self.rehearsal.perform(&steps).is_none() {
                    // Another order of the same may be possible.
                    self.prediction.is_partial = true;
                } else if let Some(trace) = solver.execution(&question, &steps) {
                    self.keep(&trace, steps, is_known);
                }
            }
        }
    }
}
