//! Families of small programs: machine against axioms on every program, and how many traces there are.
//!
//! [SOBER, Def. 3] as printed forbids traces that the machine performs; the corrected axioms are those of TSO here, so
//! that they forbid none where machine and axioms agree.

use std::collections::BTreeSet;
use std::sync::Arc;

use teetotal_judge::axiomatic::families::{e1, e2, e3, three_threads_without_fences, two_threads_without_fences};
use teetotal_judge::axiomatic::survey::Survey;
use teetotal_judge::axiomatic::{accepts, enumerate};
use teetotal_memory::ModelId::{self, Pso, Sc, Tso};
use teetotal_memory::{Event, EventId, Model, ModelVisitor, Recorder, Source, Trace};
use teetotal_program::ir::Program;
use teetotal_program::{Loc, Order};
use teetotal_stateful::{Reads, Remember};

use super::Row;
use super::count::{Class, ends};

type Programs = fn() -> Box<dyn Iterator<Item = Program>>;

/// A family under a model, and what is known of it.
struct Family {
    name: &'static str,
    programs: Programs,
    model: ModelId,
    expected: Survey,
    quick: bool,
}

pub(super) fn rows() -> Vec<Row> {
    let row = |family: &'static Family| Row {
        what: format!("{} under {}", family.name, family.model.info().name),
        expected: text(&family.expected, 0),
        quick: family.quick,
        count: Box::new(|jobs| {
            let (survey, disagreements) = family.survey(jobs, 1);
            text(&survey, disagreements)
        }),
    };
    FAMILIES.iter().map(row).collect()
}

impl Family {
    const fn quick(self) -> Family {
        Family { quick: true, ..self }
    }

    /// Counts over every program whose number is a multiple of `stride`, and the programs on which machine and axioms
    /// disagree.
    fn survey(&self, jobs: usize, stride: usize) -> (Survey, usize) {
        let jobs = jobs.max(1);
        let part = |first: usize| {
            let mut total = (Survey::default(), 0);
            for program in (self.programs)().skip(first * stride).step_by(jobs * stride) {
                total.1 += usize::from(!self.model.visit(Agreement { program, survey: &mut total.0 }));
            }
            total
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|first| scope.spawn(move || part(first))).collect();
            workers.into_iter().fold((Survey::default(), 0), |mut sum, worker| {
                let (survey, disagreements) = worker.join().expect("a worker does not panic");
                sum.0.merge(&survey);
                (sum.0, sum.1 + disagreements)
            })
        })
    }
}

fn text(survey: &Survey, disagreements: usize) -> String {
    let Survey { programs, candidates, traces, reads_from_classes, not_robust, .. } = survey;
    let forbidden = match survey.wrongly_forbidden {
        0 => String::new(),
        n => format!(", {n} traces of {} forbidden as printed", survey.programs_with_wrongly_forbidden),
    };
    format!(
        "{programs} programs, {candidates} candidates, {traces} traces, {reads_from_classes} by reads-from, \
         {not_robust} not robust{forbidden}, machine and axioms differ on {disagreements}"
    )
}

/// Counts a program; says whether machine and axioms agree on it.
struct Agreement<'s> {
    program: Program,
    survey: &'s mut Survey,
}

impl ModelVisitor for Agreement<'_> {
    type Output = bool;

    fn visit<M: Model>(self) -> bool {
        let program = Arc::new(self.program);
        let executions = enumerate(M::ID, &program, usize::MAX).expect("the families have no loops");
        self.survey.add(M::ID, &executions);
        let traces = || executions.iter().map(|execution| &execution.trace);
        let twin: BTreeSet<Class> = traces().map(|trace| class_of(trace, &program)).collect();
        let machine = ends::<M>(&program, Remember::Trace, 1, false);
        let agree = twin.len() == executions.len() && twin == machine.complete && machine.blocked.is_empty();
        if !agree {
            println!("machine and axioms disagree under {:?} on\n{program}", M::ID);
        }
        agree && traces().all(|trace| accepts(M::ID, trace, |_| 0).is_ok())
    }
}

/// The class of a trace as the search over states remembers it.
fn class_of(trace: &Trace, program: &Program) -> Class {
    let empty = || Reads::new(Remember::Trace, program.n_threads(), program.locations.len());
    let mut names = empty();
    let names: Vec<EventId> = trace.events().iter().map(|&event| names.event(event)).collect();
    let mut history = empty();
    for &event in trace.events() {
        let source = event.source.map(|source| match source {
            Source::Initial => Source::Initial,
            Source::Write(write) => Source::Write(names[write.index()]),
        });
        history.event(Event { source, ..event });
    }
    for loc in (0..trace.n_locations()).map(Loc::at) {
        trace.coherence(loc).iter().for_each(|write| history.committed(names[write.index()]));
    }
    let (reads, writes) = history.classes();
    (reads.to_vec(), writes.to_vec())
}

/// A row of the table: programs, candidates, traces, reads-from classes, programs that are not robust, and what Sober as
/// printed wrongly forbids: traces, and programs that have one.
const fn family(name: &'static str, programs: Programs, model: ModelId, counts: [usize; 7]) -> Family {
    let [programs_counted, candidates, traces, reads_from_classes, not_robust, forbidden, with_forbidden] = counts;
    let expected = Survey {
        programs: programs_counted,
        candidates,
        traces,
        reads_from_classes,
        not_robust,
        wrongly_forbidden: forbidden,
        programs_with_wrongly_forbidden: with_forbidden,
    };
    Family { name, programs, model, expected, quick: false }
}

const E1: Programs = || Box::new(e1(Order::SeqCst));
const E1_OWN: Programs = || Box::new(e1(Order::Relaxed));
const E2: Programs = || Box::new(e2(Order::SeqCst));
const E2_OWN: Programs = || Box::new(e2(Order::Relaxed));
const E3: Programs = || Box::new(e3());
const TWO: Programs = || Box::new(two_threads_without_fences());
const THREE: Programs = || Box::new(three_threads_without_fences());

/// The numbers of programs, of those that are not robust and of traces that are wrongly forbidden, and the sum of the
/// candidates of those without fences are in the reference; the others are our own.
#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    family("E1", E1, Sc, [40_002, 1_096_460, 177_704, 157_758, 0, 0, 0]),
    family("E1", E1, Tso, [40_002, 1_096_460, 180_141, 159_223, 1_511, 92, 72]),
    family("E1", E1, Pso, [40_002, 1_096_460, 183_823, 161_070, 3_383, 0, 0]),
    family("E1, updates waiting for their own location", E1_OWN, Pso, [40_002, 1_096_460, 187_385, 163_362, 5_015, 0, 0]),
    family("E2", E2, Sc, [15_457, 421_509, 148_037, 117_570, 0, 0, 0]),
    family("E2", E2, Tso, [15_457, 421_509, 149_581, 118_313, 354, 0, 0]),
    family("E2", E2, Pso, [15_457, 421_509, 151_672, 119_044, 732, 0, 0]),
    family("E2, updates waiting for their own location", E2_OWN, Pso, [15_457, 421_509, 153_507, 120_031, 1_050, 0, 0]),
    family("E3", E3, Sc, [10_752, 1_418_050, 78_720, 50_913, 0, 0, 0]),
    family("E3", E3, Tso, [10_752, 1_418_050, 82_875, 52_075, 1_644, 312, 188]).quick(),
    family("E3", E3, Pso, [10_752, 1_418_050, 90_944, 54_720, 3_600, 0, 0]),
    family("two threads without fences", TWO, Tso, [16_770, 815_797, 102_005, 88_746, 1_084, 80, 60]).quick(),
    family("three threads without fences", THREE, Tso, [6_622, 319_154, 98_174, 75_538, 264, 0, 0]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_families_have_the_known_counts() {
        super::super::check_quick(rows());
    }

    #[test]
    fn machine_and_axioms_agree_on_every_twentieth_program() {
        for family in FAMILIES.iter().filter(|family| !family.quick) {
            let (survey, disagreements) = family.survey(1, 20);
            assert_eq!(survey.programs, family.expected.programs.div_ceil(20));
            assert_eq!(disagreements, 0, "{} under {}", family.name, family.model.info().name);
        }
    }

    #[test]
    fn the_families_that_sober_knows_have_as_many_candidates_as_the_reference_says() {
        let without_fences = FAMILIES.iter().filter(|family| family.model == Tso && !family.name.starts_with("E1"));
        let without_fences = without_fences.filter(|family| !family.name.starts_with("E2"));
        assert_eq!(without_fences.map(|family| family.expected.candidates).sum::<usize>(), 2_553_001);
    }
}
