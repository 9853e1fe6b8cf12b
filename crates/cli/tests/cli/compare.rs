//! Models side by side.

use expect_test::expect;

use crate::{Folder, check, check_file, run, teetotal};

#[test]
fn a_load_that_passes_a_store_is_what_tso_adds() {
    check(
        "compare SB",
        0,
        expect![[r#"
        SB: 3 final states under sc, 4 under tso, 4 under pso (complete)
          * asks: exists (0:r0=0 /\ 1:r1=0)

          sc   tso  pso
          -    yes  yes  * 0:r0=0; 1:r1=0;
          yes  yes  yes    0:r0=0; 1:r1=1;
          yes  yes  yes    0:r0=1; 1:r1=0;
          yes  yes  yes    0:r0=1; 1:r1=1;

        tso adds 0:r0=0; 1:r1=0;
          the load of y passed the buffered store of x in P0
          show: teetotal replay SB tso1:6:45f799f4:0.1.0.1w.1.0w
    "#]],
    );
}

#[test]
fn stores_that_pass_each_other_are_what_pso_adds() {
    check(
        "compare MP 2+2W --model tso,pso",
        0,
        expect![[r#"
        MP: 3 final states under tso, 4 under pso (complete)
          * asks: exists (1:r0=1 /\ 1:r1=0)

          tso  pso
          yes  yes    1:r0=0; 1:r1=0;
          yes  yes    1:r0=0; 1:r1=1;
          -    yes  * 1:r0=1; 1:r1=0;
          yes  yes    1:r0=1; 1:r1=1;

        pso adds 1:r0=1; 1:r1=0;
          the store of flag overtook the buffered store of data in P0
          show: teetotal replay MP pso1:6:96ae09ec:0x2.0w1.1x2.0w

        2+2W: 3 final states under tso, 4 under pso (complete)
          * asks: exists ([x]=2 /\ [y]=2)

          tso  pso
          yes  yes    [x]=1; [y]=1;
          yes  yes    [x]=1; [y]=2;
          yes  yes    [x]=2; [y]=1;
          -    yes  * [x]=2; [y]=2;

        pso adds [x]=2; [y]=2;
          the store of y overtook the buffered store of x in P0; only the final memory
            shows it
          show: teetotal replay 2+2W pso1:8:76c8e4d8:0x2.1x2.0w1.1wx2.0w
    "#]],
    );
}

#[test]
fn a_failure_that_only_a_weak_model_has_is_no_mistake_here() {
    check(
        "compare write-order",
        0,
        expect![[r#"
        write-order: 1 final state under sc, 1 under tso, 1 under pso (complete)

          sc   tso  pso
          yes  yes  yes    [x]=1; [y]=1;
          -    -    yes  * assertion failed in Thread2: y is 1 and x is still 0

        pso adds: assertion failed in Thread2: y is 1 and x is still 0
          the store of y overtook the buffered store of x in Thread1
          show: teetotal replay write-order pso1:5:7ca54618:0x2.0w1.1x2
    "#]],
    );
}

#[test]
fn both_kinds_of_reasons_are_told_apart() {
    check(
        "compare n6",
        0,
        expect![[r#"
        n6: 4 final states under sc, 5 under tso, 6 under pso (complete)
          * asks: exists (0:r0=1 /\ 0:r1=0 /\ [x]=1)

          sc   tso  pso
          -    yes  yes  * 0:r0=1; 0:r1=0; [x]=1;
          yes  yes  yes    0:r0=1; 0:r1=0; [x]=2;
          yes  yes  yes    0:r0=1; 0:r1=2; [x]=1;
          yes  yes  yes    0:r0=1; 0:r1=2; [x]=2;
          -    -    yes    0:r0=2; 0:r1=0; [x]=2;
          yes  yes  yes    0:r0=2; 0:r1=2; [x]=2;

        tso adds 0:r0=1; 0:r1=0; [x]=1;
          the load of y passed the buffered store of x in P0
          show: teetotal replay n6 tso1:8:f3be8b6a:0.1x2.0x2.1wx2.0w

        pso adds 0:r0=2; 0:r1=0; [x]=2;
          the store of x overtook the buffered store of y in P1
          show: teetotal replay n6 pso1:8:833af2c1:0.1x2.0w.1w1.0x2.1w
    "#]],
    );
}

#[test]
fn the_execution_behind_a_state_is_shown_on_request() {
    check_file("compare SB --witness --model sc,tso", 0, "compare_witness");
}

#[test]
fn the_first_line_alone_says_how_many_states_there_are() {
    check(
        "compare SB MP writers iriw --quiet",
        0,
        expect![[r#"
        SB: 3 final states under sc, 4 under tso, 4 under pso (complete)
        MP: 3 final states under sc, 3 under tso, 4 under pso (complete)
        writers: 5 final states under sc, 5 under tso, 5 under pso (complete)
        iriw: 15 final states under sc, 15 under tso, 15 under pso (complete)
    "#]],
    );
}

#[test]
fn many_states_are_folded_where_the_models_agree() {
    check_file("compare fib --model sc,tso", 0, "compare_many");
}

#[test]
fn a_search_that_was_stopped_leaves_questions() {
    check(
        "compare SB --search brute --limit executions=3",
        3,
        expect![[r#"
        SB: at least 2 final states under sc, 3 under tso, 3 under pso (stopped: 3 executions)
          * asks: exists (0:r0=0 /\ 1:r1=0)
          ? not found so far: the search was stopped
          help: explore more with a higher limit than `--limit executions=3`

          sc   tso  pso
          ?    yes  yes  * 0:r0=0; 1:r1=0;
          yes  yes  yes    0:r0=0; 1:r1=1;
          yes  yes  yes    0:r0=1; 1:r1=1;

        found under tso, not so far under sc: 0:r0=0; 1:r1=0;
          the load of y passed the buffered store of x in P0 and the load of x passed
            the buffered store of y in P1
          show: teetotal replay SB tso1:6:50b2d262:0x2.1x2.0w.1w
    "#]],
    );
    check(
        "compare MP --search brute --limit executions=2",
        3,
        expect![[r#"
        MP: at least 2 final states under sc, 3 under tso, 3 under pso (stopped: 2 executions)
          asks: exists (1:r0=1 /\ 1:r1=0)
          ? not found so far: the search was stopped
          help: explore more with a higher limit than `--limit executions=2`

          sc   tso  pso
          ?    yes  yes    1:r0=0; 1:r1=0;
          yes  yes  yes    1:r0=0; 1:r1=1;
          yes  yes  yes    1:r0=1; 1:r1=1;

        found under tso, not so far under sc: 1:r0=0; 1:r1=0;
          sc allows this execution too: its search was stopped too early
          show: teetotal replay MP tso1:6:99bb9c18:0x2.1x2.0wx2
    "#]],
    );
    check(
        "compare n6 --limit states=18",
        3,
        expect![[r#"
        n6: 4 final states under sc, at least 4 under tso (stopped: 18 states), at least 4 under pso (stopped: 18 states)
          asks: exists (0:r0=1 /\ 0:r1=0 /\ [x]=1)
          help: explore more with a higher limit than `--limit states=18`

          sc   tso  pso
          yes  yes  yes    0:r0=1; 0:r1=0; [x]=2;
          yes  yes  yes    0:r0=1; 0:r1=2; [x]=1;
          yes  yes  yes    0:r0=1; 0:r1=2; [x]=2;
          yes  yes  yes    0:r0=2; 0:r1=2; [x]=2;
    "#]],
    );
    check(
        "compare SB --limit states=3",
        3,
        expect![[r#"
        SB: at least 0 final states under sc, 0 under tso, 0 under pso (stopped: 3 states)
          asks: exists (0:r0=0 /\ 1:r1=0)
          note: no execution ended so far
          help: explore more with a higher limit than `--limit states=3`
    "#]],
    );
    let allowed = run(&mut teetotal("compare SB --limit states=9 --allow-incomplete"));
    assert_eq!(allowed.code, Some(0));
}

#[test]
fn a_demand_marks_the_states_that_break_it() {
    let text = "X86 MP\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n MOV [y],$1 | MOV EBX,[x] ;\n\
                forall (1:EAX=0 \\/ 1:EBX=1)\n";
    Folder::new("compare").file("a/MP.litmus", text).file("list", "a/MP.litmus\nmissing.litmus\n").check(
        "compare a @list",
        2,
        expect![[r#"
            MP: 3 final states under sc, 3 under tso, 4 under pso (complete)
              * requires: forall (1:EAX=0 \/ 1:EBX=1)

              sc   tso  pso
              yes  yes  yes    1:EAX=0; 1:EBX=0;
              yes  yes  yes    1:EAX=0; 1:EBX=1;
              -    -    yes  * 1:EAX=1; 1:EBX=0;
              yes  yes  yes    1:EAX=1; 1:EBX=1;

            pso adds 1:EAX=1; 1:EBX=0;
              the store of y overtook the buffered store of x in P0
              show: teetotal replay a/MP.litmus pso1:6:96ae09ec:0x2.0w1.1x2.0w

            MP: 3 final states under sc, 3 under tso, 4 under pso (complete)
              * requires: forall (1:EAX=0 \/ 1:EBX=1)

              sc   tso  pso
              yes  yes  yes    1:EAX=0; 1:EBX=0;
              yes  yes  yes    1:EAX=0; 1:EBX=1;
              -    -    yes  * 1:EAX=1; 1:EBX=0;
              yes  yes  yes    1:EAX=1; 1:EBX=1;

            pso adds 1:EAX=1; 1:EBX=0;
              the store of y overtook the buffered store of x in P0
              show: teetotal replay a/MP.litmus pso1:6:96ae09ec:0x2.0w1.1x2.0w
        "#]],
        expect![[r#"
            error: `missing.litmus` cannot be read: there is no such file
        "#]],
    );
}

#[test]
fn a_comparison_as_an_object_on_a_line() {
    let text = "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                exists (0:EAX=0 /\\ 1:EAX=0)\n";
    Folder::new("compare-json").file("SB.litmus", text).check(
        "compare SB.litmus --model sc,tso --format json",
        0,
        expect![[r#"
            {"format":1,"file":"SB.litmus","test":"SB","condition":"exists (0:EAX=0 /\\ 1:EAX=0)","models":[{"model":"sc","search":"stateful","coverage":{"complete":true,"stopped":null},"stats":{"states":12,"executions":3}},{"model":"tso","search":"stateful","coverage":{"complete":true,"stopped":null},"stats":{"states":15,"executions":4}}],"states":[{"state":"0:EAX=0; 1:EAX=0;","wanted":true,"models":["tso"],"unknown":[],"added_by":"tso","reason":"the load of y passed the buffered store of x in P0","token":"tso1:6:45f799f4:0.1.0.1w.1.0w","events":[{"step":1,"thread":"P0","kind":"store","statement":"x = 1","place":"SB.litmus:4:2","location":"x","written":1,"reaches_memory":6},{"step":2,"thread":"P1","kind":"store","statement":"y = 1","place":"SB.litmus:4:15","location":"y","written":1,"reaches_memory":4},{"step":3,"thread":"P0","kind":"load","statement":"EAX = y","place":"SB.litmus:5:2","location":"y","read":0,"from":0},{"step":5,"thread":"P1","kind":"load","statement":"EAX = x","place":"SB.litmus:5:16","location":"x","read":0,"from":0}]},{"state":"0:EAX=0; 1:EAX=1;","wanted":false,"models":["sc","tso"],"unknown":[]},{"state":"0:EAX=1; 1:EAX=0;","wanted":false,"models":["sc","tso"],"unknown":[]},{"state":"0:EAX=1; 1:EAX=1;","wanted":false,"models":["sc","tso"],"unknown":[]}],"failures":[]}
        "#]],
        expect![[""]],
    );
}

#[test]
fn every_state_that_a_model_adds_to_a_bundled_program_has_a_reason() {
    let programs = "SB MP n6 2+2W store-forwarding write-order dekker-try sb-sum sb-ring mp-rounds peterson fib \
                    write-read iriw two-lock-queue michael-scott-spinlock";
    let ran = run(&mut teetotal(&format!("compare {programs} --format json")));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let added = ran.stdout.matches("\"added_by\":").count();
    assert!(added >= 40, "only {added} states were added");
    assert_eq!(ran.stdout.matches("\"reason\":\"the ").count(), added);
}

#[test]
fn the_result_is_the_same_for_any_number_of_jobs() {
    let one = run(&mut teetotal("compare dekker bakery --jobs 1 --format json"));
    assert_eq!(run(&mut teetotal("compare dekker bakery --jobs 3 --format json")), one);
}
