//! The counts of the reference over families of programs.

use teetotal_judge::axiomatic::families::{e1, e2, e3, three_threads_without_fences, two_threads_without_fences};
use teetotal_judge::axiomatic::survey::{Survey, survey};
use teetotal_memory::ModelId::{Pso, Tso};
use teetotal_program::Order::{Relaxed, SeqCst};

#[test]
fn as_many_programs_are_not_robust_as_the_reference_says() {
    let e1_tso = survey(Tso, e1(SeqCst)).expect("no loops");
    assert_eq!((e1_tso.not_robust, e1_tso.traces, e1_tso.reads_from_classes), (1_511, 180_141, 159_223));
    let e1_pso = survey(Pso, e1(SeqCst)).expect("no loops");
    assert_eq!((e1_pso.not_robust, e1_pso.traces, e1_pso.reads_from_classes), (3_383, 183_823, 161_070));
    let e1_own = survey(Pso, e1(Relaxed)).expect("no loops");
    assert_eq!((e1_own.not_robust, e1_own.traces, e1_own.reads_from_classes), (5_015, 187_385, 163_362));
    assert_eq!(survey(Tso, e2(SeqCst)).expect("no loops").not_robust, 354);
    assert_eq!(survey(Pso, e2(SeqCst)).expect("no loops").not_robust, 732);
    assert_eq!(survey(Pso, e2(Relaxed)).expect("no loops").not_robust, 1_050);
    assert_eq!(survey(Tso, e3()).expect("no loops").not_robust, 1_644);
    assert_eq!(survey(Pso, e3()).expect("no loops").not_robust, 3_600);
}

/// [SOBER, Def. 3] as printed.
#[test]
fn sober_as_printed_wrongly_forbids_as_many_traces_as_the_reference_says() {
    let families =
        [survey(Tso, two_threads_without_fences()), survey(Tso, three_threads_without_fences()), survey(Tso, e3())];
    let [two, three, four] = families.map(|counts| counts.expect("no loops"));
    assert_eq!((two.programs, two.candidates), (16_770, 815_797));
    assert_eq!(two.candidates + three.candidates + four.candidates, 2_553_001);
    let forbidden = |total: Survey| (total.wrongly_forbidden, total.programs_with_wrongly_forbidden);
    assert_eq!([two, three, four].map(forbidden), [(80, 60), (0, 0), (312, 188)]);
}
