//! Litmus tests in the formats for other programs.

use expect_test::expect;

use crate::{Folder, check};

const SB: &str = "\
X86_64 SB
{}
 P0         | P1         ;
 movl $1,(x)  | movl $1,(y)  ;
 movl (y),%eax | movl (x),%eax ;
exists (0:rax=0 /\\ 1:rax=0)
";

const COHERENCE: &str = "\
X86 CO
{ x=0; }
 P0         | P1         ;
 MOV [x],$1 | MOV [x],$2 ;
forall (x=1 \\/ x=2 /\\ not (x=1))
";

const MP: &str = "\
X86 MP
\"Fre PodWW Rfe PodRR\"
{ }
 P0         | P1         ;
 MOV [x],$1 | MOV EAX,[y] ;
 MOV [y],$1 | MOV EBX,[x] ;
~exists (1:EAX=1 /\\ 1:EBX=0)
";

#[test]
fn store_buffering_in_the_words_of_herd() {
    Folder::new("herd").file("SB.litmus", SB).check(
        "check SB.litmus --model all --format herd",
        0,
        expect![[r#"
            Test SB Allowed
            States 3
            0:rax=0; 1:rax=1;
            0:rax=1; 1:rax=0;
            0:rax=1; 1:rax=1;
            No
            Witnesses
            Positive: 0 Negative: 3
            Condition exists (0:rax=0 /\ 1:rax=0)
            Observation SB Never 0 3
            Time SB 0.00

            Test SB Allowed
            States 4
            0:rax=0; 1:rax=0;
            0:rax=0; 1:rax=1;
            0:rax=1; 1:rax=0;
            0:rax=1; 1:rax=1;
            Ok
            Witnesses
            Positive: 1 Negative: 3
            Condition exists (0:rax=0 /\ 1:rax=0)
            Observation SB Sometimes 1 3
            Time SB 0.00

            Test SB Allowed
            States 4
            0:rax=0; 1:rax=0;
            0:rax=0; 1:rax=1;
            0:rax=1; 1:rax=0;
            0:rax=1; 1:rax=1;
            Ok
            Witnesses
            Positive: 1 Negative: 3
            Condition exists (0:rax=0 /\ 1:rax=0)
            Observation SB Sometimes 1 3
            Time SB 0.00

        "#]],
        expect![[""]],
    );
}

#[test]
fn a_demand_that_is_met_and_one_that_is_broken() {
    let folder = Folder::new("demands").file("CO.litmus", COHERENCE).file("MP.litmus", MP);
    folder.check(
        "check CO.litmus --format herd",
        0,
        expect![[r#"
        Test CO Required
        States 2
        [x]=1;
        [x]=2;
        Ok
        Witnesses
        Positive: 2 Negative: 0
        Condition forall ([x]=1 \/ [x]=2 /\ not ([x]=1))
        Observation CO Always 2 0
        Time CO 0.00

    "#]],
        expect![[""]],
    );
    folder.check(
        "check MP.litmus --format herd --model tso,pso",
        1,
        expect![[r#"
        Test MP Forbidden
        States 3
        1:EAX=0; 1:EBX=0;
        1:EAX=0; 1:EBX=1;
        1:EAX=1; 1:EBX=1;
        Ok
        Witnesses
        Positive: 3 Negative: 0
        Condition ~exists (1:EAX=1 /\ 1:EBX=0)
        Observation MP Never 0 3
        Time MP 0.00

        Test MP Forbidden
        States 4
        1:EAX=0; 1:EBX=0;
        1:EAX=0; 1:EBX=1;
        1:EAX=1; 1:EBX=0;
        1:EAX=1; 1:EBX=1;
        No
        Witnesses
        Positive: 3 Negative: 1
        Condition ~exists (1:EAX=1 /\ 1:EBX=0)
        Observation MP Sometimes 1 3
        Time MP 0.00

    "#]],
        expect![[""]],
    );
    let broken = COHERENCE.replace("x=1 \\/ x=2 /\\ not (x=1)", "x=1");
    Folder::new("forall").file("CO.litmus", broken).check(
        "check CO.litmus --format herd",
        1,
        expect![[r#"
            Test CO Required
            States 2
            [x]=1;
            [x]=2;
            No
            Witnesses
            Positive: 1 Negative: 1
            Condition forall ([x]=1)
            Observation CO Sometimes 1 1
            Time CO 0.00

        "#]],
        expect![[""]],
    );
}

#[test]
fn what_herd_has_no_words_for_is_told_beside_it() {
    let folder = Folder::new("beside");
    folder.check(
        "check MP --format herd --limit states=3",
        3,
        expect![[r#"
        Test MP Allowed
        States 0
        Loop No
        Witnesses
        Positive: 0 Negative: 0
        Condition exists (1:r0=1 /\ 1:r1=0)
        Observation MP Never 0 0
        Time MP 0.00

    "#]],
        expect![[r#"
        note: MP under tso: stopped: 3 states
    "#]],
    );
    folder.check(
        "check ping-pong --format herd",
        1,
        expect![[r#"
            Test ping-pong Required
            States 0
            Loop Ok
            Witnesses
            Positive: 0 Negative: 0
            Condition forall (true)
            Observation ping-pong Never 0 0
            Time ping-pong 0.00

        "#]],
        expect![[r#"
            note: ping-pong under tso: assertion failed in T1: the player is null
            note: ping-pong under tso: assertion failed in T2: the player is null
            note: ping-pong under tso: assertion failed in T0: the player is null
            note: ping-pong under tso: found after 68 states
        "#]],
    );
}

#[test]
fn each_answer_is_a_line_of_json() {
    let folder = Folder::new("json").file("SB.litmus", SB).file("MP.litmus", MP);
    folder.check("check SB.litmus --model sc,tso --format json", 0, expect![[r#"
        {"format":1,"file":"SB.litmus","test":"SB","model":"sc","check":["assertion","condition","deadlock"],"search":"stateful","search_reason":"there are few states","verdict":"holds","coverage":{"complete":true,"stopped":null},"condition":"exists (0:rax=0 /\\ 1:rax=0)","observation":"never","ends":"always","states":["0:rax=0; 1:rax=1;","0:rax=1; 1:rax=0;","0:rax=1; 1:rax=1;"],"stats":{"states":12,"executions":3,"completed":3,"blocked":0,"discarded":0,"failed":0,"abandoned":0,"steps":12,"bytes":777,"pending":0,"satisfying":0,"falsifying":3}}
        {"format":1,"file":"SB.litmus","test":"SB","model":"tso","check":["assertion","condition","deadlock"],"search":"stateful","search_reason":"there are few states","verdict":"holds","coverage":{"complete":true,"stopped":null},"condition":"exists (0:rax=0 /\\ 1:rax=0)","observation":"sometimes","ends":"always","states":["0:rax=0; 1:rax=0;","0:rax=0; 1:rax=1;","0:rax=1; 1:rax=0;","0:rax=1; 1:rax=1;"],"stats":{"states":15,"executions":4,"completed":4,"blocked":0,"discarded":0,"failed":0,"abandoned":0,"steps":14,"bytes":1221,"pending":0,"satisfying":1,"falsifying":3},"witness":{"state":"0:rax=0; 1:rax=0;","token":"tso1:6:50b2d262:0x2.1x2.0w.1w","events":[{"step":1,"thread":"P0","kind":"store","statement":"x = 1","place":"SB.litmus:4:2","location":"x","written":1,"reaches_memory":5},{"step":2,"thread":"P0","kind":"load","statement":"rax = y","place":"SB.litmus:5:2","location":"y","read":0,"from":0},{"step":3,"thread":"P1","kind":"store","statement":"y = 1","place":"SB.litmus:4:17","location":"y","written":1,"reaches_memory":6},{"step":4,"thread":"P1","kind":"load","statement":"rax = x","place":"SB.litmus:5:18","location":"x","read":0,"from":0}]}}
    "#]], expect![[""]]);
    folder.check("check MP.litmus --model pso --format json", 1, expect![[r#"
        {"format":1,"file":"MP.litmus","test":"MP","model":"pso","check":["assertion","condition","deadlock"],"search":"stateful","search_reason":"there are few states","verdict":"violated","coverage":{"complete":true,"stopped":null},"condition":"~exists (1:EAX=1 /\\ 1:EBX=0)","observation":"sometimes","ends":"always","states":["1:EAX=0; 1:EBX=0;","1:EAX=0; 1:EBX=1;","1:EAX=1; 1:EBX=0;","1:EAX=1; 1:EBX=1;"],"stats":{"states":19,"executions":4,"completed":4,"blocked":0,"discarded":0,"failed":0,"abandoned":0,"steps":20,"bytes":1188,"pending":0,"satisfying":1,"falsifying":3},"violation":{"check":"condition","message":"condition violated: ~exists (1:EAX=1 /\\ 1:EBX=0)\nthe final state is 1:EAX=1; 1:EBX=0;","state":"1:EAX=1; 1:EBX=0;","token":"pso1:6:96ae09ec:0x2.0w1.1x2.0w","events":[{"step":1,"thread":"P0","kind":"store","statement":"x = 1","place":"MP.litmus:5:2","location":"x","written":1,"reaches_memory":6},{"step":2,"thread":"P0","kind":"store","statement":"y = 1","place":"MP.litmus:6:2","location":"y","written":1,"reaches_memory":3},{"step":4,"thread":"P1","kind":"load","statement":"EAX = y","place":"MP.litmus:5:15","location":"y","read":1,"from":2},{"step":5,"thread":"P1","kind":"load","statement":"EBX = x","place":"MP.litmus:6:15","location":"x","read":0,"from":0}]}}
    "#]], expect![[""]]);
}

#[test]
fn a_search_that_was_stopped_knows_nothing() {
    check(
        "check MP --format json --limit states=3",
        3,
        expect![[r#"
            {"format":1,"file":null,"test":"MP","model":"tso","check":["assertion","condition","deadlock"],"search":"stateful","search_reason":"no buffer grows without bound","verdict":"unknown","coverage":{"complete":false,"stopped":"3 states"},"condition":"exists (1:r0=1 /\\ 1:r1=0)","observation":null,"ends":null,"states":[],"stats":{"states":5,"executions":0,"completed":0,"blocked":0,"discarded":0,"failed":0,"abandoned":0,"steps":4,"bytes":438,"pending":0,"satisfying":0,"falsifying":0}}
        "#]],
    );
}

#[test]
fn the_time_is_told_only_with_statistics() {
    let folder = Folder::new("time").file("SB.litmus", SB);
    assert_eq!(folder.run("check SB.litmus --format herd"), folder.run("check SB.litmus --format herd --jobs 3"));
    assert!(folder.run("check SB.litmus --format herd --stats").stdout.contains("\nTime SB 0."));
}

#[test]
fn an_address_is_shown_as_its_location() {
    let text = "X86_64 A\n{ 0:rbx=x; }\n P0 ;\n movq $1,(%rbx) ;\n movq %rbx,(y) ;\nexists (0:rbx=x /\\ y=x /\\ x=1)\n";
    Folder::new("address").file("A.litmus", text).check(
        "check A.litmus --format herd",
        0,
        expect![[r#"
            Test A Allowed
            States 1
            0:rbx=x; [x]=1; [y]=x;
            Ok
            Witnesses
            Positive: 1 Negative: 0
            Condition exists (0:rbx=x /\ [y]=x /\ [x]=1)
            Observation A Always 1 0
            Time A 0.00

        "#]],
        expect![[""]],
    );
}

#[test]
fn an_address_is_shown_as_its_location_to_people_too() {
    let text = "X86_64 A\n{ 0:rbx=x; y=z; }\n P0 | P1 ;\n movq %rbx,(y) | movq (y),%rax ;\nexists (1:rax=x)\n";
    Folder::new("address-human").file("A.litmus", text).check(
        "check A.litmus --witness",
        0,
        expect![[r#"
            A: observed under tso (complete, 6 states)
              asks: exists (1:rax=x)

             step │ P0                   buffer │ P1                         │ memory
            ──────┼─────────────────────────────┼────────────────────────────┼───────
            start │                             │                            │ y=z
              (1) │ y = rbx   buffered   [y=x]  │                            │
              (2) │ y=x leaves the buffer ──────┼────────────────────────────▶ y=x
              (3) │                             │ rax = y   reads x from (1) │
              end │                             │                            │ y=x

            Outcome: 1:rax=x;

            The same reads and writes are possible under sequential consistency.

            replay: teetotal replay A.litmus tso1:3:210801b7:0.0w.1
        "#]],
        expect![[""]],
    );
}

#[test]
fn an_execution_as_a_graph() {
    let folder = Folder::new("dot").file("SB.litmus", SB).file("MP.litmus", MP).file("CO.litmus", COHERENCE);
    folder.check(
        "check SB.litmus --model sc,tso --format dot",
        0,
        expect![[r#"
            digraph "SB" {
              label="SB: never observed under sc (complete, 12 states)";
              node [shape=box, fontname=monospace];
              edge [fontname=monospace];
            }
            digraph "SB" {
              label="SB: observed under tso (complete, 15 states)\n0:rax=0; 1:rax=0;";
              node [shape=box, fontname=monospace];
              edge [fontname=monospace];
              subgraph cluster_0 {
                label="P0";
                e0 [label="(1) x = 1\nwrites x=1"];
                e1 [label="(2) rax = y\nreads y=0 (initial)"];
              }
              subgraph cluster_1 {
                label="P1";
                e2 [label="(3) y = 1\nwrites y=1"];
                e3 [label="(4) rax = x\nreads x=0 (initial)"];
              }
              e0 -> e1 [label=po, color=black, fontcolor=black];
              e2 -> e3 [label=po, color=black, fontcolor=black];
              e1 -> e2 [label=fr, color=darkorange, fontcolor=darkorange];
              e3 -> e0 [label=fr, color=darkorange, fontcolor=darkorange];
            }
        "#]],
        expect![[""]],
    );
    folder.check(
        "check MP.litmus --model pso --format dot",
        1,
        expect![[r#"
        digraph "MP" {
          label="MP: violated under pso (found after 19 states)";
          node [shape=box, fontname=monospace];
          edge [fontname=monospace];
          subgraph cluster_0 {
            label="P0";
            e0 [label="(1) x = 1\nwrites x=1"];
            e1 [label="(2) y = 1\nwrites y=1"];
          }
          subgraph cluster_1 {
            label="P1";
            e2 [label="(4) EAX = y\nreads y=1"];
            e3 [label="(5) EBX = x\nreads x=0 (initial)"];
          }
          e0 -> e1 [label=po, color=black, fontcolor=black];
          e2 -> e3 [label=po, color=black, fontcolor=black];
          e1 -> e2 [label=rf, color=red, fontcolor=red];
          e3 -> e0 [label=fr, color=darkorange, fontcolor=darkorange];
        }
    "#]],
        expect![[""]],
    );
    folder.check(
        "check CO.litmus --format dot",
        0,
        expect![[r#"
        digraph "CO" {
          label="CO: holds under tso (complete, 7 states)";
          node [shape=box, fontname=monospace];
          edge [fontname=monospace];
        }
    "#]],
        expect![[""]],
    );
}

#[test]
fn a_replayed_execution_as_a_graph() {
    check(
        "replay n6 tso1:8:f3be8b6a:0.1x2.0x2.1wx2.0w --format dot",
        0,
        expect![[r#"
        digraph "n6" {
          label="n6 under tso\n0:r0=1; 0:r1=0; [x]=1;";
          node [shape=box, fontname=monospace];
          edge [fontname=monospace];
          subgraph cluster_0 {
            label="P0";
            e0 [label="(1) x = 1\nwrites x=1"];
            e3 [label="(4) r0 = x\nreads x=1"];
            e4 [label="(5) r1 = y\nreads y=0 (initial)"];
          }
          subgraph cluster_1 {
            label="P1";
            e1 [label="(2) y = 2\nwrites y=2"];
            e2 [label="(3) x = 2\nwrites x=2"];
          }
          e1 -> e2 [label=po, color=black, fontcolor=black];
          e0 -> e3 [label=po, color=black, fontcolor=black];
          e3 -> e4 [label=po, color=black, fontcolor=black];
          e0 -> e3 [label=rf, color=red, fontcolor=red];
          e2 -> e0 [label=co, color=blue, fontcolor=blue];
          e4 -> e1 [label=fr, color=darkorange, fontcolor=darkorange];
        }
    "#]],
    );
}

#[test]
fn a_test_that_never_touches_memory_has_the_answer_of_herd() {
    let asked = "X86_64 A\n{ 0:rax=1; }\n P0 ;\n addq $1,%rax ;\nexists (0:rax=2)\n";
    let folder = Folder::new("registers").file("A.litmus", asked);
    folder.check(
        "check A.litmus --format herd",
        0,
        expect![[r#"
        Test A Allowed
        States 1
        0:rax=2;
        Ok
        Witnesses
        Positive: 1 Negative: 0
        Condition exists (0:rax=2)
        Observation A Always 1 0
        Time A 0.00

    "#]],
        expect![[""]],
    );
    folder.check(
        "check A.litmus --witness",
        0,
        expect![[r#"
        A: observed under tso (complete, 1 state)
          asks: exists (0:rax=2)
          note: no thread uses shared memory, so this is the answer under every model

         step │ P0 │ memory
        ──────┼────┼───────
        start │    │
          end │    │

        Outcome: 0:rax=2;

        replay: teetotal replay A.litmus tso1:0:4fd0bfc1:
    "#]],
        expect![[""]],
    );
    folder.check(
        "compare A.litmus --model sc,tso",
        0,
        expect![[r#"
        A: 1 final state under sc, 1 under tso (complete)
          * asks: exists (0:rax=2)

          sc   tso
          yes  yes  * 0:rax=2;
    "#]],
        expect![[""]],
    );
    let broken = asked.replace("exists", "~exists");
    let folder = Folder::new("registers-broken").file("A.litmus", broken);
    folder.check(
        "check A.litmus --quiet",
        1,
        expect![[r#"
        A: violated under tso (found after 1 state)
    "#]],
        expect![[""]],
    );
}

#[test]
fn a_test_that_never_ends_says_so() {
    let text = "X86_64 W\n{ }\n P0 ;\n L: cmpq $0,(x) ;\n je L ;\nexists (x=0)\n";
    let folder = Folder::new("waits").file("W.litmus", text);
    folder.check(
        "check W.litmus",
        4,
        expect![[r#"
        W: nothing to check under tso (no execution ends)
          asks: exists ([x]=0)
          note: no execution ended, so the condition was never evaluated
    "#]],
        expect![[""]],
    );
    for condition in ["forall (x=7)", "~exists (x=0)"] {
        let folder = Folder::new("waits-forever").file("W.litmus", text.replace("exists (x=0)", condition));
        folder.check(
            "check W.litmus --quiet",
            4,
            expect![[r#"
            W: nothing to check under tso (no execution ends)
        "#]],
            expect![[""]],
        );
    }
    let json = folder.run("check W.litmus --format json").stdout;
    assert!(json.contains("\"ends\":\"never\""), "{json}");
}

const PUBLISH: &str = "\
C publish
{ int *p=&x; z=7; }
P0(int *z, int **p)
{
    WRITE_ONCE(*z, -1);
    rcu_assign_pointer(*p, z);
}
P1(int **p)
{
    int *r0 = rcu_dereference(*p);
    int r1 = READ_ONCE(*r0);
}
filter (not (1:r1=0))
forall (1:r0=z /\\ 1:r1=-1)
";

#[test]
fn addresses_are_named_and_filtered_executions_do_not_count() {
    let folder = Folder::new("publish").file("publish.litmus", PUBLISH);
    folder.check(
        "check publish.litmus --model pso --format herd",
        0,
        expect![[r#"
        Test publish Required
        States 1
        1:r0=z; 1:r1=-1;
        Ok
        Witnesses
        Positive: 1 Negative: 0
        Condition forall (1:r0=z /\ 1:r1=-1)
        Observation publish Always 1 0
        Time publish 0.00

    "#]],
        expect![[""]],
    );
    folder.check(
        "check publish.litmus --model pso",
        0,
        expect![[r#"
        publish: holds under pso (complete, 12 states)
          filter: not (1:r1=0)
    "#]],
        expect![[""]],
    );
    let json = folder.run("check publish.litmus --format json").stdout;
    assert!(json.contains(r#""filter":"not (1:r1=0)""#), "{json}");
}

#[test]
fn a_filter_that_rejects_everything_leaves_nothing_to_check() {
    let folder = Folder::new("rejected").file("n.litmus", PUBLISH.replace("filter (not (1:r1=0))", "filter (1:r1=3)"));
    folder.check(
        "check n.litmus",
        4,
        expect![[r#"
        publish: nothing to check under tso (no execution passes the filter)
          filter: 1:r1=3
          note: the filter or an assumption rules out every execution
    "#]],
        expect![[""]],
    );
}

#[test]
fn a_mistake_in_c_is_shown_in_its_line() {
    let folder = Folder::new("mistake").file("n.litmus", PUBLISH.replace("READ_ONCE", "REED_ONCE"));
    folder.check(
        "check n.litmus",
        2,
        expect![[""]],
        expect![[r#"
            error: the function `REED_ONCE` is not supported
               --> n.litmus:11:14
                |
             11 |     int r1 = REED_ONCE(*r0);
                |              ^^^^^^^^^^^^^^
            help: did you mean `READ_ONCE`?
        "#]],
    );
}
