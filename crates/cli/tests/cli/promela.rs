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
    let model = "byte x;\nactive [2] proctype user() { x = x + 1; fence }\nactive proctype last() { (x == 2) }";
    let folder = Folder::new("promela-split").file("m.pml", model);
    folder.check(
        "check m.pml --model sc --quiet",
        0,
        expect![[r#"
        m: violated under sc (found after 13 states)
    "#]],
        expect![[""]],
    );
    folder.check("check m.pml --model sc --split --width 80", 1, expect![[""]], expect![[""]]);
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
        help: it looks at all processes at once, which no memory model explains; use a variable that tells
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
