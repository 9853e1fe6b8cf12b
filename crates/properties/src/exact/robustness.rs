//! Robustness over the families: how many programs are not robust, and what each algorithm misses.

use std::sync::Arc;

use teetotal_judge::axiomatic::families::{e1, e2, e3};
use teetotal_judge::monitors::robustness::survey::Survey;
use teetotal_memory::ModelId::{self, Pso, Tso};
use teetotal_program::Order;
use teetotal_program::ir::Program;

use super::Row;

type Programs = fn() -> Box<dyn Iterator<Item = Program>>;

/// A family under a model, and what is known of it.
struct Family {
    name: &'static str,
    programs: Programs,
    model: ModelId,
    not_robust: usize,
    /// What Sober as printed misses, under TSO.
    missed_as_printed: usize,
    /// What the simulation of buffers may miss that sees one interleaving of each trace.
    hidden_from_buffers: usize,
}

pub(super) fn rows() -> Vec<Row> {
    let row = |family: &'static Family| Row {
        what: format!("robustness of {} under {}", family.name, family.model.info().name),
        expected: text(family.not_robust, 0, family.missed_as_printed, family.hidden_from_buffers),
        quick: false,
        count: Box::new(|jobs| family.count(jobs, 1)),
    };
    FAMILIES.iter().map(row).collect()
}

fn text(not_robust: usize, wrong: usize, as_printed: usize, hidden: usize) -> String {
    format!("{not_robust} not robust, {wrong} wrong, {as_printed} missed as printed, {hidden} hidden from buffers")
}

impl Family {
    /// Counts over every program whose number is a multiple of `stride`.
    fn count(&self, jobs: usize, stride: usize) -> String {
        let jobs = jobs.max(1);
        let part = |first: usize| {
            let mut survey = Survey::default();
            for program in (self.programs)().skip(first * stride).step_by(jobs * stride) {
                survey.add(self.model, &Arc::new(program));
            }
            survey
        };
        let survey = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|first| scope.spawn(move || part(first))).collect();
            workers.into_iter().fold(Survey::default(), |mut sum, worker| {
                sum.merge(&worker.join().expect("a worker does not panic"));
                sum
            })
        });
        let Survey { not_robust, missed, false_alarms, hidden, .. } = survey;
        // Sober knows TSO alone; the default algorithm and Sober see one interleaving of each trace.
        let sober = if self.model == Tso { missed[1] + false_alarms[1] + hidden[1] + false_alarms[2] } else { 0 };
        let wrong = missed[0] + false_alarms[0] + hidden[0] + missed[3] + false_alarms[3] + sober;
        let as_printed = if self.model == Tso { missed[2] } else { 0 };
        text(not_robust, wrong, as_printed, hidden[3])
    }
}

const fn family(name: &'static str, programs: Programs, model: ModelId, counts: [usize; 3]) -> Family {
    let [not_robust, missed_as_printed, hidden_from_buffers] = counts;
    Family { name, programs, model, not_robust, missed_as_printed, hidden_from_buffers }
}

const E1: Programs = || Box::new(e1(Order::SeqCst));
const E1_OWN: Programs = || Box::new(e1(Order::Relaxed));
const E2: Programs = || Box::new(e2(Order::SeqCst));
const E2_OWN: Programs = || Box::new(e2(Order::Relaxed));
const E3: Programs = || Box::new(e3());

/// All of these are in the reference.
const FAMILIES: &[Family] = &[
    family("E1", E1, Tso, [1_511, 68, 160]),
    family("E2", E2, Tso, [354, 0, 0]),
    family("E3", E3, Tso, [1_644, 143, 0]),
    family("E1", E1, Pso, [3_383, 0, 341]),
    family("E2", E2, Pso, [732, 0, 0]),
    family("E3", E3, Pso, [3_600, 0, 0]),
    family("E1, updates waiting for their own location", E1_OWN, Pso, [5_015, 0, 252]),
    family("E2, updates waiting for their own location", E2_OWN, Pso, [1_050, 0, 0]),
];
