//! Checks that run, and what they say.

use expect_test::expect;

use crate::{check, check_file, run, teetotal};

#[test]
fn a_question_is_answered_under_each_model() {
    check(
        "check SB --model all",
        0,
        expect![[r#"
            SB: never observed under sc (complete, 12 states)
              asks: exists (0:r0=0 /\ 1:r1=0)
            SB: observed under tso (complete, 15 states)
              asks: exists (0:r0=0 /\ 1:r1=0)
              show: teetotal replay SB tso1:6:50b2d262:0x2.1x2.0w.1w
            SB: observed under pso (complete, 15 states)
              asks: exists (0:r0=0 /\ 1:r1=0)
              show: teetotal replay SB pso1:6:50b2d262:0x2.1x2.0w.1w
        "#]],
    );
}

#[test]
fn tso_is_the_default_and_a_witness_is_shown_on_request() {
    check_file("check SB --witness", 0, "witness");
}

#[test]
fn a_question_whose_answer_is_no_has_no_witness() {
    check(
        "check SB --model sc --witness",
        0,
        expect![[r#"
        SB: never observed under sc (complete, 12 states)
          asks: exists (0:r0=0 /\ 1:r1=0)
    "#]],
    );
}

#[test]
fn quiet_leaves_the_verdict_lines() {
    check(
        "check SB MP n6 2+2W --model all --quiet",
        0,
        expect![[r#"
        SB: never observed under sc (complete, 12 states)
        SB: observed under tso (complete, 15 states)
        SB: observed under pso (complete, 15 states)
        MP: never observed under sc (complete, 12 states)
        MP: never observed under tso (complete, 14 states)
        MP: observed under pso (complete, 19 states)
        n6: never observed under sc (complete, 18 states)
        n6: observed under tso (complete, 25 states)
        n6: observed under pso (complete, 39 states)
        2+2W: never observed under sc (complete, 12 states)
        2+2W: never observed under tso (complete, 16 states)
        2+2W: observed under pso (complete, 25 states)
    "#]],
    );
}

#[test]
fn a_failed_assertion_comes_with_its_execution() {
    check_file("check write-order --model pso", 1, "assertion");
}

#[test]
fn a_broken_condition_comes_with_its_execution() {
    check_file("check rv-example --model sc", 1, "condition");
}

#[test]
fn other_violations_are_listed_on_request() {
    check_file("check ping-pong --all", 1, "all_violations");
}

#[test]
fn a_violation_under_one_model_outweighs_the_others() {
    check(
        "check write-order MP --model all --quiet",
        1,
        expect![[r#"
        write-order: holds under sc (complete, 8 states)
        write-order: holds under tso (complete, 10 states)
        write-order: violated under pso (found after 12 states)
        MP: never observed under sc (complete, 12 states)
        MP: never observed under tso (complete, 14 states)
        MP: observed under pso (complete, 19 states)
    "#]],
    );
}

#[test]
fn a_program_that_holds_takes_a_line() {
    check(
        "check peterson-loop-fenced",
        0,
        expect![[r#"
            peterson-loop-fenced: holds under tso (complete, 16 executions)
        "#]],
    );
}

#[test]
fn a_program_that_asserts_nothing_says_so() {
    check(
        "check peterson",
        0,
        expect![[r#"
            peterson: holds under tso (complete, 68 executions)
              note: the program has no assertions; checked only for deadlock and failures
                such as a division by zero
        "#]],
    );
    check(
        "check peterson --check condition",
        0,
        expect![[r#"
            peterson: holds under tso (complete, 68 executions)
              note: the program has nothing for these checks to check
        "#]],
    );
}

#[test]
fn a_search_that_was_stopped_is_never_sure() {
    check(
        "check MP --model tso --limit states=3",
        3,
        expect![[r#"
            MP: not observed so far under tso (stopped: 3 states)
              asks: exists (1:r0=1 /\ 1:r1=0)
              help: explore more with a higher limit than `--limit states=3`
        "#]],
    );
    check(
        "check peterson-loop-fenced --limit states=20",
        3,
        expect![[r#"
            peterson-loop-fenced: no violation found under tso (stopped: 20 states)
              help: explore more with a higher limit than `--limit states=20`
        "#]],
    );
    check(
        "check peterson-loop-fenced --limit steps=5",
        3,
        expect![[r#"
        peterson-loop-fenced: no violation found under tso (stopped: an execution of 5 steps)
          help: explore more with a higher limit than `--limit steps=5`
    "#]],
    );
    check(
        "check peterson-loop-fenced --limit states=20 --allow-incomplete --quiet",
        0,
        expect![[r#"
            peterson-loop-fenced: no violation found under tso (stopped: 20 states)
        "#]],
    );
}

#[test]
fn the_time_is_limited_too() {
    check(
        "check indexer --search stateful --limit time=1 --model sc",
        3,
        expect![[r#"
        indexer: no violation found under sc (stopped: out of time)
          help: explore more with a longer `--limit time=SECONDS`
    "#]],
    );
}

#[test]
fn brute_force_counts_executions() {
    check(
        "check SB --search brute --model sc",
        0,
        expect![[r#"
        SB: never observed under sc (complete, 6 executions)
          asks: exists (0:r0=0 /\ 1:r1=0)
    "#]],
    );
    check(
        "check SB --search brute --limit executions=3",
        3,
        expect![[r#"
        SB: observed under tso (stopped: 3 executions)
          asks: exists (0:r0=0 /\ 1:r1=0)
          help: explore more with a higher limit than `--limit executions=3`
          show: teetotal replay SB tso1:6:50b2d262:0x2.1x2.0w.1w
    "#]],
    );
}

#[test]
fn dpor_counts_traces() {
    check(
        "check SB --search dpor --model sc,tso --quiet",
        0,
        expect![[r#"
        SB: never observed under sc (complete, 3 executions)
        SB: observed under tso (complete, 4 executions)
    "#]],
    );
}

#[test]
fn a_bound_that_was_kept_is_no_full_answer() {
    check(
        "check peterson --search bounded --limit preemptions=1 --model sc",
        3,
        expect![[r#"
        peterson: no violation found under sc (complete within 1 preemption, 10 executions)
          help: explore more with a higher limit than `--limit preemptions=1`
    "#]],
    );
    check(
        "check SB --search bounded --limit preemptions=0",
        3,
        expect![[r#"
        SB: observed under tso (complete within 0 preemptions, 20 executions)
          asks: exists (0:r0=0 /\ 1:r1=0)
          help: explore more with a higher limit than `--limit preemptions=0`
          show: teetotal replay SB tso1:6:50b2d262:0x2.1x2.0w.1w
    "#]],
    );
}

#[test]
fn a_bound_that_nothing_exceeds_is_a_full_answer() {
    check(
        "check SB --search bounded --limit preemptions=9 --model sc",
        0,
        expect![[r#"
        SB: never observed under sc (complete, 6 executions)
          asks: exists (0:r0=0 /\ 1:r1=0)
    "#]],
    );
}

#[test]
fn a_sample_tells_its_seed_and_never_holds() {
    check(
        "check peterson-loop-fenced --search random --limit executions=50 --seed 7",
        3,
        expect![[r#"
        peterson-loop-fenced: no violation found under tso (sampled: 50 executions)
          note: random walks with seed 7: each possible step is equally likely, not each
            execution
          help: explore more with a higher limit than `--limit executions=50`
    "#]],
    );
    check(
        "check mp-rounds-fenced --search pct --limit executions=50 --seed 7 --depth 2 --model pso",
        3,
        expect![[r#"
            mp-rounds-fenced: no violation found under pso (sampled: 50 executions)
              note: random priorities with seed 7 and depth 2
              note: each of the last 49 executions shows a given bug of depth 2 with a
                probability of at least 1/(5·22) = 1/110, if no execution has more than 22
                steps or more than these 5 threads and buffers
              help: explore more with a higher limit than `--limit executions=50`
        "#]],
    );
    check(
        "check SB --search pct --limit executions=1 --model sc --depth 1",
        3,
        expect![[r#"
            SB: not observed so far under sc (sampled: 1 execution)
              asks: exists (0:r0=0 /\ 1:r1=0)
              note: random priorities with seed 0 and depth 1; no guarantee, since the first
                execution only measures
              help: explore more with a higher limit than `--limit executions=1`
        "#]],
    );
}

#[test]
fn a_seed_gives_the_same_sample_again() {
    for search in ["random", "pct"] {
        let shown = |seed: u32| {
            run(&mut teetotal(&format!("check n6 --search {search} --limit executions=2 --seed {seed} --format json")))
        };
        assert_eq!(shown(3), shown(3));
        assert!((4..9).any(|seed| shown(seed).stdout.replace(&seed.to_string(), "3") != shown(3).stdout), "{search}");
    }
}

#[test]
fn every_search_shows_the_simplest_execution() {
    let shown = |search: &str| {
        let text = run(&mut teetotal(&format!("check write-order --model pso --search {search}"))).stdout;
        text.split_once("\nassertion failed").expect("it fails").1.to_owned()
    };
    for search in ["dpor", "bounded", "random", "pct", "brute"] {
        assert_eq!(shown(search), shown("stateful"), "{search}");
    }
}

#[test]
fn only_what_is_asked_for_is_checked() {
    check(
        "check write-order --model pso --check deadlock,condition",
        0,
        expect![[r#"
        write-order: holds under pso (complete, 14 states)
    "#]],
    );
    check(
        "check SB --check deadlock",
        0,
        expect![[r#"
        SB: holds under tso (complete, 15 states)
          note: the program has no assertions; checked only for deadlock
    "#]],
    );
}

#[test]
fn names_of_programs_may_be_written_in_any_case() {
    check(
        "check sb --quiet",
        0,
        expect![[r#"
        SB: observed under tso (complete, 15 states)
    "#]],
    );
}

#[test]
fn statistics_are_told_on_request() {
    let ran = run(&mut teetotal("check SB --model sc --stats"));
    let (counts, time) = ran.stdout.rsplit_once("  time ").expect("the time comes last");
    expect![[r#"
        SB: never observed under sc (complete, 12 states)
          asks: exists (0:r0=0 /\ 1:r1=0)
          search      stateful, since there are few states
          limits      steps 1000000, memory 8.0 GiB
          states      12
          executions  3 (3 completed, 0 blocked, 0 discarded, 0 failed)
          abandoned   0
          steps       12
          memory      959 bytes
          pending     0
    "#]]
    .assert_eq(counts);
    assert!(time.trim().ends_with(" s"), "{time}");
}

#[test]
fn the_result_is_the_same_each_time_and_for_any_number_of_jobs() {
    let args = "check bakery dekker chase-lev --model all --all";
    let one = run(&mut teetotal(&format!("{args} --jobs 1")));
    for jobs in [1, 2, 7] {
        assert_eq!(run(&mut teetotal(&format!("{args} --jobs {jobs}"))), one, "with {jobs} jobs");
    }
}

#[test]
fn the_environment_mirrors_the_options() {
    let mut command = teetotal("check SB");
    command.env("TEETOTAL_MODEL", "sc,pso").env("TEETOTAL_QUIET", "1").env("TEETOTAL_JOBS", "2");
    assert_eq!(run(&mut command), run(&mut teetotal("check SB --model sc,pso --quiet --jobs 2")));
    let mut command = teetotal("check SB --model tso");
    command.env("TEETOTAL_MODEL", "sc").env("TEETOTAL_LIMIT", "states=3,time=60");
    assert_eq!(run(&mut command), run(&mut teetotal("check SB --model tso --limit states=3")));
}
