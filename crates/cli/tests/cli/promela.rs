//! Promela models on the command line.

use expect_test::expect;

use crate::Folder;

/// Two processes that each count up a variable and look at it.
const COUNTING: &str = "byte x;\n\nactive [2] proctype user() {\n  x = x + 1;\n  fence;\nlast:\n  assert(x > 0)\n}\n";

#[test]
fn a_model_is_checked_by_its_ending_and_named_after_its_file() {
    let folder = Folder::new("promela").file("models/counting.pml", COUNTING);
    folder.check("check models --model all", 0, expect![[r#"
        counting: holds under sc (complete, 15 states)
        counting: holds under tso (complete, 34 states)
        counting: holds under pso (complete, 34 states)
    "#]], expect![[r#"
        note: models/counting.pml:4:3: one step accesses shared variables 2 times; `--split` makes each access a step of its own
    "#]]);
    folder.check(
        "check models/counting.pml --quiet",
        0,
        expect![[r#"
        counting: holds under tso (complete, 34 states)
    "#]],
        expect![[""]],
    );
}

#[test]
fn each_access_may_be_a_step_of_its_own() {
    let model =
        "byte x;\nactive [2] proctype user() { x = x + 1; fence }\nactive proctype last() { (x == 1); (x == 2) }";
    let folder = Folder::new("promela-split").file("m.pml", model);
    folder.check(
        "check m.pml --model sc --quiet",
        1,
        expect![[r#"
        m: violated under sc (found after 13 states)
    "#]],
        expect![[""]],
    );
    folder.check(
        "check m.pml --model sc --split --width 80",
        1,
        expect![[r#"
            m: violated under sc (found after 30 states)

            deadlock: last is blocked forever
              last waits at `(x == 1)`, but x is 2
              --> PLACE

             step │ user[0]             │ user[1]            │ last │ memory
            ──────┼─────────────────────┼────────────────────┼──────┼───────
            start │                     │                    │      │ x=0
              (1) │ x = x + 1           │                    │      │
                  │   reads 0 (initial) │                    │      │
              (2) │ x = x + 1 ──────────┼────────────────────┼──────▶ x=1
              (3) │ fence               │                    │      │
              (4) │                     │ x = x + 1          │      │
                  │                     │   reads 1 from (2) │      │
              (5) │                     │ x = x + 1 ─────────┼──────▶ x=2
              (6) │                     │ fence              │      │
              end │                     │                    │      │ x=2

            No execution shows this with fewer context switches, then commits, then steps.
            replay: teetotal replay m.pml --split sc1:6:8d56502e:0x3.1x3
        "#]],
        expect![""],
    );
    let shown = folder.run("check m.pml --model sc --split").stdout;
    let (_, command) = shown.split_once("replay: teetotal ").expect("there is a counterexample");
    let again = folder.run(command.lines().next().expect("it is one line"));
    assert_eq!((again.code, again.stderr.as_str()), (Some(1), ""));
}

#[test]
fn a_label_is_looked_for() {
    let folder = Folder::new("promela-label").file("counting.pml", COUNTING);
    folder.check(
        "check counting.pml --model sc --label last --quiet",
        1,
        expect![[r#"
        counting: violated under sc (found after 5 states)
    "#]],
        expect![[""]],
    );
    folder.check(
        "check counting.pml --label nobody@last",
        2,
        expect![[""]],
        expect![[r#"
        error: no process has the label `nobody@last`
          --> counting.pml:3:21
           |
         3 | active [2] proctype user() {
           |                     ^^^^
    "#]],
    );
}

#[test]
fn mistakes_are_told_with_their_places() {
    let folder =
        Folder::new("promela-mistakes").file("m.pml", "byte x;\nactive proctype P() {\n  y = 1;\n  timeout\n}\n");
    folder.check(
        "check m.pml",
        2,
        expect![[""]],
        expect![[r#"
        error: there is no variable `y`
          --> m.pml:3:3
           |
         3 |   y = 1;
           |   ^
        help: declare it above its first use

        error: `timeout` is not supported
          --> m.pml:4:3
           |
         4 |   timeout
           |   ^^^^^^^
        help: it observes all processes at once, which no memory model defines; use a shared variable
    "#]],
    );
}

#[test]
fn a_model_is_inspected() {
    let folder = Folder::new("promela-inspect").file("counting.pml", COUNTING);
    folder.check(
        "inspect counting.pml",
        0,
        expect![[r#"
        program counting
          shared x = 0
        thread user[0]
              [t0 = x] when 1 do x = t0 + 1 goto 1
          1:  t0 := 0
              fence
              t0 = x
              assert 0 < t0 ""
              t0 := 0
        thread user[1]
              [t0 = x] when 1 do x = t0 + 1 goto 1
          1:  t0 := 0
              fence
              t0 = x
              assert 0 < t0 ""
              t0 := 0
    "#]],
        expect![[""]],
    );
}

/// Neither loop waits for its buffer, and they depend on each other.
#[test]
fn it_is_said_where_a_coarse_search_gave_the_answer() {
    let model = include_str!("../../../../corpus/promela/work-flag.pml");
    let folder = Folder::new("promela-coarse").file("work-flag.pml", model);
    folder.check(
        "check work-flag.pml --model tso --quiet",
        0,
        expect![[r#"
        work-flag: holds under tso (complete, 689 symbolic states, 610 of them abstract)
    "#]],
        expect![[""]],
    );
    folder.check("check work-flag.pml --model pso --quiet --format json", 0, expect![[r#"
        {"format":1,"file":"work-flag.pml","test":"work-flag","model":"pso","check":["assertion","condition","deadlock"],"search":"symbolic","search_reason":"a loop may fill a buffer without bound","verdict":"holds","coverage":{"complete":true,"stopped":null},"condition":null,"observation":null,"ends":"never","states":[],"stats":{"states":508,"executions":0,"completed":0,"blocked":0,"discarded":0,"failed":0,"abandoned":0,"steps":1922,"bytes":629484,"pending":0,"satisfying":0,"falsifying":0,"coarse":419}}
    "#]], expect![[""]]);
}
