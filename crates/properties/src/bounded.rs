//! The bounded search shows the executions of brute force with few preemptions, and each once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::{Bounded, Brute};
use teetotal_engine::{Abandon, Choice, Coverage, Limits, StopReason, Strategy, System};
use teetotal_judge::{Ending, View};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::ThreadId;
use teetotal_program::ir::Interpreter;

use crate::everything::under_every_model;
use crate::{Case, Verdict};

pub(super) fn agrees(case: &Case) -> Verdict {
    under_every_model!(agrees_under, case)
}

fn agrees_under<M: Model>(case: &Case) -> Verdict {
    let (all, _) = shown::<M>(case, Brute::default());
    let most = all.keys().copied().max().unwrap_or(0);
    for bound in 0..=most {
        let (found, coverage) = shown::<M>(case, Bounded::new(Some(bound)));
        let within: BTreeMap<u64, Digest> = all.range(..=bound).map(|(n, digest)| (*n, *digest)).collect();
        if found != within {
            return Err(format!("{found:?} within {bound} preemptions, brute force has {within:?}"));
        }
        let cut = if bound < most { Coverage::Stopped(StopReason::Preemptions(bound)) } else { Coverage::Complete };
        if coverage != cut {
            return Err(format!("{coverage:?} within {bound} of {most} preemptions"));
        }
    }
    if shown::<M>(case, Bounded::new(None)) != (all, Coverage::Complete) {
        return Err("without a bound it does not show what brute force shows".to_owned());
    }
    Ok(())
}

/// A set of executions, so that two of them can be compared: how many there are, and the sum of their hashes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Digest {
    executions: u64,
    sum: u64,
}

/// The executions that a strategy shows, by their preemptions.
fn shown<M: Model>(case: &Case, strategy: impl Strategy) -> (BTreeMap<u64, Digest>, Coverage) {
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(&case.program)));
    let mut counting = Counting { strategy, preemptions: Vec::new() };
    let mut ends = Ends(Vec::new());
    let coverage = driver::run(&mut system, &mut counting, &mut ends, &Limits::default(), &|| None);
    let mut shown: BTreeMap<u64, Digest> = BTreeMap::new();
    let executions = ends.0.into_iter().zip(counting.preemptions);
    for (hash, preemptions) in executions.filter_map(|(hash, preemptions)| Some((hash?, preemptions))) {
        let digest = shown.entry(preemptions).or_default();
        digest.executions += 1;
        digest.sum = digest.sum.wrapping_add(hash);
    }
    (shown, coverage)
}

/// Counts the preemptions of each execution, by the definition and not by the strategy.
struct Counting<S> {
    strategy: S,
    preemptions: Vec<u64>,
}

impl<S: Strategy> Strategy for Counting<S> {
    fn begin(&mut self) -> bool {
        let goes_on = self.strategy.begin();
        self.preemptions.extend(goes_on.then_some(0));
        goes_on
    }

    fn choose(&mut self, enabled: &[Step], trace: &Trace) -> Choice {
        let choice = self.strategy.choose(enabled, trace);
        let operation = |step: Step| (!step.is_commit()).then(|| step.thread());
        let before: Option<ThreadId> = trace.steps().iter().rev().find_map(|record| operation(record.step));
        if let (Choice::Take(index), Some(before), Some(last)) = (choice, before, self.preemptions.last_mut()) {
            let can_go_on = enabled.iter().any(|&step| operation(step) == Some(before));
            let switches = operation(enabled[index]).is_some_and(|thread| thread != before);
            *last += u64::from(can_go_on && switches);
        }
        choice
    }

    fn is_new(&self) -> bool {
        self.strategy.is_new()
    }

    fn end(&mut self, trace: &Trace) {
        self.strategy.end(trace);
    }

    fn left_out(&self) -> Option<StopReason> {
        self.strategy.left_out()
    }
}

/// The hash of each execution, or nothing if it was not shown.
struct Ends(Vec<Option<u64>>);

impl Observer for Ends {
    fn end(&mut self, view: &View<'_>, _: &Ending) -> Flow {
        let mut hasher = DefaultHasher::new();
        view.trace.steps().iter().for_each(|record| record.step.hash(&mut hasher));
        self.0.push(Some(hasher.finish()));
        Flow::Continue
    }

    fn abandoned(&mut self, _: &View<'_>, _: Abandon) {
        self.0.push(None);
    }
}
