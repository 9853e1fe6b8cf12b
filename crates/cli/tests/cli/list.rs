//! The tables, and programs as text.

use expect_test::expect;

use crate::{check, check_file};

#[test]
fn models_are_listed() {
    check(
        "list models",
        0,
        expect![[r#"
        sc   sequential consistency
             every store reaches memory at once
        tso  total store order (x86)
             each thread has one buffer; its stores reach memory later, in order
        pso  partial store order
             each thread has a buffer for each location; stores to different ones pass
             each other
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

            all     every execution counts; without a limit met, the answer is sure
            bound   every execution within a bound counts
            sample  some executions count; nothing found is no answer
            -       the search tells too little of an execution apart, and is refused

            check             demands that
            assertion         no assertion fails and no thread goes wrong otherwise
            condition         every final state satisfies what the program demands of it
            deadlock          no thread waits forever
            races             accesses that are not atomic are ordered by happens-before, as
                              C11 and Rust demand
            robustness        every execution is sequentially consistent; decided by a
                              search of those that are
            sober             the same for TSO by Sober's relaxed happens-before, corrected
            sober-as-printed  the same as the paper has it, which misses some; to reproduce
                              it
            buffers           the same by Burnim, Sen and Stergiou's simulation of buffers;
                              needs every interleaving
        "#]],
    );
}

#[test]
fn searches_are_listed() {
    check(
        "list searches",
        0,
        expect![[r#"
            auto      stateful, or symbolic where a loop may fill a store buffer without end
                      preserves: state, of all executions
            stateful  every state once; complete for programs with finitely many states,
                      loops included
                      preserves: state, of all executions
            symbolic  sets of buffer contents at once; complete for loops that fill buffers
                      without end
                      preserves: state, of all executions
            dpor      every trace (who reads from whom, in which order writes reach memory)
                      once; for programs that end
                      preserves: trace, of all executions
            mcr       one execution for all that read the same values and end alike; for
                      programs that end
                      preserves: values, of all executions
            bounded   every interleaving with few preemptions, those with the fewest first;
                      for programs that end
                      preserves: every interleaving, of the executions within a bound
            random    random walks, each possible step equally likely; not uniform over
                      executions
                      preserves: every interleaving, of a sample of the executions
            pct       random priorities of threads and buffers; finds a bug of small depth
                      with a known probability
                      preserves: every interleaving, of a sample of the executions
            brute     every interleaving of operations and commits; for small programs and
                      for testing the others
                      preserves: every interleaving, of all executions
        "#]],
    );
}

#[test]
fn limits_are_listed() {
    check(
        "list limits",
        0,
        expect![[r#"
            limit        default  unit         on (searches that heed it)
            states       none     states       different states that are stored (auto,
                                               stateful, symbolic, mcr)
            executions   none     executions   executions that are run; 10000 where random
                                               and pct have none (dpor, mcr, bounded,
                                               random, pct, brute)
            steps        1000000  steps        steps in one execution (all)
            buffer       none     stores       stores in the buffer of one thread (auto,
                                               stateful, symbolic, mcr, bounded, random,
                                               pct, brute)
            memory       8192     MiB          memory that the stored states take (auto,
                                               stateful, symbolic, mcr)
            preemptions  2        preemptions  switches from a thread that can go on; may be
                                               0 (bounded)
            time         none     seconds      time that passes (all)
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
