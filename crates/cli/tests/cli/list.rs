//! The tables, and programs as text.

use expect_test::expect;

use crate::{check, check_file};

#[test]
fn models_are_listed() {
    check(
        "list models",
        0,
        expect![[r#"
            sc    sequential consistency
                  every store reaches memory at once
            tso   total store order (x86)
                  each thread has one buffer; its stores reach memory later, in order
            pso   partial store order
                  each thread has a buffer for each location; stores to different ones pass
                  each other
            rc11  RC11 (Rust and C without load buffering)
                  orderings decide which writes a load may still return, and which accesses
                  happen before others
        "#]],
    );
}

#[test]
fn checks_are_listed_with_the_searches_that_fit() {
    check(
        "list checks",
        0,
        expect![[r#"
            check             needs               auto  stateful  symbolic  dpor  mcr  bounded  random  pct     brute
            assertion         state               all   all       all       all   all  bound    sample  sample  all
            condition         state               all   all       all       all   all  bound    sample  sample  all
            deadlock          state               all   all       all       all   all  bound    sample  sample  all
            races             synchronization     all   -         -         all   all  bound    sample  sample  all
            robustness        trace               all   all       -         all   -    bound    sample  sample  all
            sober             trace               -     -         -         all   -    bound    sample  sample  all
            sober-as-printed  trace               -     -         -         all   -    bound    sample  sample  all
            buffers           every interleaving  -     -         -         -     -    bound    sample  sample  all

            all     every execution is covered; the answer is certain unless a limit is reached
            bound   every execution within a bound is covered
            sample  some executions are covered; finding nothing is no answer
            -       the search distinguishes too few executions, and is refused

            check             requires that
            assertion         no assertion fails, and no thread fails otherwise
            condition         the final states satisfy the condition of the program
            deadlock          no thread is blocked forever
            races             accesses that are not atomic are ordered by happens-before, as
                              C11 and Rust require
            robustness        every execution is sequentially consistent; decided by a
                              search of sc executions
            sober             robustness under TSO by Sober's relaxed happens-before,
                              corrected
            sober-as-printed  robustness under TSO by Sober as published, which misses
                              violations
            buffers           robustness by Burnim, Sen and Stergiou's simulation of
                              buffers; needs every interleaving
        "#]],
    );
}

#[test]
fn searches_are_listed() {
    check(
        "list searches",
        0,
        expect![[r#"
            auto      chooses stateful, dpor or mcr, or symbolic where loops may fill
                      buffers without bound; dpor under rc11
                      preserves: state, of all executions
                      takes: programs and Rust code
            stateful  every state once; complete for programs with finitely many states,
                      loops included
                      preserves: state, of all executions
                      takes: programs
            symbolic  sets of buffer contents at once; complete for loops that fill buffers
                      without bound
                      preserves: state, of all executions
                      takes: programs
            dpor      every trace (reads-from and coherence order) once; for programs whose
                      executions end
                      preserves: trace, of all executions
                      takes: programs and Rust code
            rf        one execution for each reads-from relation; for Rust code
                      preserves: reads-from, of all executions
                      takes: Rust code
            mcr       one execution for all that read the same values and end alike; for
                      programs whose executions end
                      preserves: values, of all executions
                      takes: programs
            bounded   every interleaving with few preemptions, the fewest first; for
                      programs whose executions end
                      preserves: every interleaving, of the executions within a bound
                      takes: programs
            random    random walks, each possible step equally likely; not uniform over
                      executions
                      preserves: every interleaving, of a sample of the executions
                      takes: programs
            pct       random priorities of threads and buffers; finds a bug of small depth
                      with a known probability
                      preserves: every interleaving, of a sample of the executions
                      takes: programs
            brute     every interleaving of operations and commits; for small programs and
                      for testing the others
                      preserves: every interleaving, of all executions
                      takes: programs
        "#]],
    );
}

#[test]
fn limits_are_listed() {
    check(
        "list limits",
        0,
        expect![[r#"
            limit        default  unit         of (searches that apply it)
            states       none     states       stored states (auto, stateful, symbolic, mcr)
            executions   none     executions   executions; 10000 by default for random and
                                               pct (dpor, mcr, bounded, random, pct, brute)
            steps        1000000  steps        steps in one execution (all)
            buffer       none     stores       stores in the buffer of one thread (auto,
                                               stateful, symbolic, mcr, bounded, random,
                                               pct, brute)
            memory       8192     MiB          memory of the stored states (auto, stateful,
                                               symbolic, mcr)
            preemptions  2        preemptions  switches away from a thread that can
                                               continue; may be 0 (bounded)
            time         none     seconds      seconds of running time (all)
        "#]],
    );
}

#[test]
fn front_ends_are_listed_with_the_ending_of_their_files() {
    let ran = crate::run(&mut crate::teetotal("list frontends"));
    assert!(ran.stdout.starts_with("litmus   .litmus  litmus tests in the format of herd7"), "{}", ran.stdout);
    assert!(ran.stdout.contains("\npromela  .pml     models of SPIN"), "{}", ran.stdout);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn programs_are_listed() {
    check_file("list programs", 0, "programs");
}

#[test]
fn a_program_can_be_inspected() {
    check(
        "inspect SB",
        0,
        expect![[r#"
        program SB
          shared x = 0
          shared y = 0
        thread P0
              x = 1
              r0 = y
        thread P1
              y = 1
              r1 = x
        exists (0:r0=0 /\ 1:r1=0)
    "#]],
    );
}

#[test]
fn help_fits_in_80_columns() {
    check_file("--help", 0, "help");
    check_file("check --help", 0, "help_check");
    check_file("compare --help", 0, "help_compare");
}
