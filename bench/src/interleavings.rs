//! Every interleaving of sequential consistency with few preemptions, with or without the monitors for robustness.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::Bounded;
use teetotal_engine::{Coverage, Limits, StopReason, System};
use teetotal_judge::monitors::robustness::{Algorithm, Attempt, Borderline};
use teetotal_judge::{Ending, View};
use teetotal_memory::models::Sc;
use teetotal_memory::{EventId, ModelId};
use teetotal_program::ThreadId;
use teetotal_program::ir::{Interpreter, Program};

/// Longer is not waited.
const PATIENCE: Duration = Duration::from_secs(20);

/// A store and an access, by thread and instruction.
pub(crate) type Pair = [(ThreadId, u32); 2];

/// What was seen within a bound.
pub(crate) struct Seen {
    pub(crate) interleavings: u64,
    /// For each monitor, how many interleavings have a violation, and the different ones.
    pub(crate) borderline: Vec<u64>,
    pub(crate) pairs: Vec<BTreeSet<Pair>>,
    pub(crate) time: Duration,
    /// Whether these are all interleavings within the bound.
    pub(crate) is_all: bool,
}

/// What to look for.
#[derive(Clone, Copy)]
pub(crate) struct Looking<'l> {
    pub(crate) models: &'l [ModelId],
    pub(crate) stop_at_first: bool,
}

/// Runs the interleavings of `program` with at most `bound` preemptions, or all.
pub(crate) fn run(program: &Arc<Program>, bound: Option<u64>, looking: Looking<'_>) -> Seen {
    let mut watch = Watch {
        algorithms: looking.models.iter().map(|&model| (model, Borderline::new(program, model))).collect(),
        stop_at_first: looking.stop_at_first,
        found: vec![false; looking.models.len()],
        interleavings: 0,
        borderline: vec![0; looking.models.len()],
        pairs: vec![BTreeSet::new(); looking.models.len()],
        sites: Vec::new(),
    };
    let mut system = System::<Interpreter, Sc>::new(Interpreter::new(Arc::clone(program)));
    let begin = Instant::now();
    let signal = || (begin.elapsed() > PATIENCE).then_some(StopReason::Time);
    let limits = Limits { steps: Some(2_000), ..Limits::default() };
    let coverage = driver::run(&mut system, &mut Bounded::new(bound), &mut watch, &limits, &signal);
    let is_all = matches!(coverage, Coverage::Complete | Coverage::Stopped(StopReason::Preemptions(_)));
    let Watch { interleavings, borderline, pairs, .. } = watch;
    Seen { interleavings, borderline, pairs, time: begin.elapsed(), is_all }
}

struct Watch {
    algorithms: Vec<(ModelId, Borderline)>,
    stop_at_first: bool,
    /// For each monitor, whether this interleaving has a violation.
    found: Vec<bool>,
    interleavings: u64,
    borderline: Vec<u64>,
    pairs: Vec<BTreeSet<Pair>>,
    /// For each event of this interleaving where it stands.
    sites: Vec<(ThreadId, u32)>,
}

impl Observer for Watch {
    fn begin(&mut self) {
        self.algorithms.iter_mut().for_each(|(_, algorithm)| Algorithm::begin(algorithm));
        self.found.fill(false);
        self.sites.clear();
    }

    fn step(&mut self, view: &View<'_>) -> Flow {
        if self.algorithms.is_empty() {
            return Flow::Continue;
        }
        for event in view.events {
            let id = EventId::at(self.sites.len());
            let site = (event.thread, event.place);
            for (index, (model, algorithm)) in self.algorithms.iter_mut().enumerate() {
                if let Some(store) = Attempt::of(*model, event).and_then(|attempt| algorithm.overtaken(&attempt)) {
                    self.found[index] = true;
                    self.pairs[index].insert([self.sites[store.index()], site]);
                }
                algorithm.perform(id, event);
            }
            self.sites.push(site);
        }
        if self.stop_at_first && self.found.contains(&true) {
            Flow::Stop(StopReason::Violation)
        } else {
            Flow::Continue
        }
    }

    fn end(&mut self, _: &View<'_>, _: &Ending) -> Flow {
        self.interleavings += 1;
        for (n, &found) in self.borderline.iter_mut().zip(&self.found) {
            *n += u64::from(found);
        }
        Flow::Continue
    }
}
