//! What models are refused for, and that no text makes the reader panic.

use std::fs;
use std::path::Path;

use expect_test::{Expect, expect};
use teetotal_frontends::{Settings, promela};
use teetotal_generate::Rng;

fn check(text: &str, expected: Expect) {
    let errors = promela::read("test.pml", text, &Settings::default()).expect_err("this model is wrong");
    let show = |error: &teetotal_frontends::Diagnostic| match &error.help {
        Some(help) => format!("{error}\n  {help}\n"),
        None => format!("{error}\n"),
    };
    expected.assert_eq(&errors.iter().map(show).collect::<String>());
}

/// In a process with the shared variables `x`, `a[2]` and one of its own, `r`.
fn check_body(body: &str, expected: Expect) {
    check(&format!("byte x, a[2];\nactive proctype P() {{ byte r;\n{body}\n}}"), expected);
}

#[test]
fn features_outside_of_the_subset_are_refused_by_name() {
    check(
        "chan q = [2] of { byte };\ntypedef T { byte a };\nltl p { [] (x == 0) }\nnever { skip }\nc_code { int i; };\n\
         proctype P() provided (true) { skip }\ninit { skip }",
        expect![[r#"
            1:1: `chan` is not supported
              processes communicate by shared variables; memory models do not cover channels
            2:1: `typedef` is not supported
              use one variable or array for each field
            3:1: `ltl` is not supported
              only assertions, labels (`--label`) and deadlocks are checked; write the property as an assertion
            4:1: `never` is not supported
              only assertions, labels (`--label`) and deadlocks are checked; write the property as an assertion
            5:1: `c_code` is not supported
              only Promela itself is read; write it as statements
            6:14: `provided` is not supported
              write the condition as a guard of each statement
        "#]],
    );
    check_body(
        "q!1; q?r; timeout; x = len(q); x = 1 unless x == 2; x = _nr_pr; P[0]@here",
        expect![[r#"
        3:1: there is no variable `q`
          declare it above its first use
        3:6: there is no variable `q`
          declare it above its first use
        3:11: `timeout` is not supported
          it observes all processes at once, which no memory model defines; use a shared variable
        3:24: `len` is not supported
          it is about channels, which are not supported
        3:38: `unless` is not supported
          write the escape as an option of the `if` and `do` around each statement
        3:57: `_nr_pr` is not supported
          processes cannot observe each other; use a shared variable
        3:65: the location of another process (`@`) is not supported
          processes cannot observe each other; use a shared variable
    "#]],
    );
    check_body(
        "r = run P(); x = y.z; r = 1 + cas(x, 0, 1)",
        expect![[r#"
        3:5: `run` inside an expression is not supported
          write `run` as a statement of its own; its number is not known
        3:18: there is no variable `y`
          declare it above its first use
        3:31: `cas` inside an expression is not supported
          write `r = cas(...)` with a variable `r` of the process
    "#]],
    );
}

#[test]
fn all_mistakes_are_found_in_one_pass() {
    check_body(
        "x = ;\nx == 1 -> ->\ngoto nowhere;\nbrek;\nif :: fi;\nr = 1 +* 2; x = 99999999999; a = 1; x[1] = 2",
        expect![[r#"
            3:5: expected an expression, found `;`
            5:6: this process has no label `nowhere`
            6:1: there is no variable `brek`
              did you mean `break`?
            7:4: this option has no statement
              write `skip`
            8:8: expected an expression, found `*`
            8:17: this number does not fit into an `int`
              numbers have 32 bits with a sign
            8:30: `a` is an array of 2
              name an element: `a[0]`
            8:37: `x` is not an array
              leave the index out
        "#]],
    );
}

#[test]
fn names_have_to_be_known() {
    check_body(
        "trn = 1; x = xx",
        expect![[r#"
        3:1: there is no variable `trn`
          declare it above its first use
        3:14: there is no variable `xx`
          declare it above its first use
    "#]],
    );
    check(
        "byte turn; active proctype P() { trun = 1 }",
        expect![[r#"
        1:34: there is no variable `trun`
          did you mean `turn`?
    "#]],
    );
    check(
        "byte x; byte x; mtype = { x }; active proctype P() { byte r; byte r; skip }",
        expect![[r#"
        1:14: `x` is declared twice
        1:27: `x` is declared twice
        1:67: `r` is declared twice
    "#]],
    );
    check(
        "byte x; active proctype P() { run Q(1); run R() } proctype R(byte i) { x = i }",
        expect![[r#"
            1:35: there is no process `Q`
            1:45: `R` has 1 parameters, not 0
        "#]],
    );
}

#[test]
fn labels_and_else_have_their_places() {
    check_body(
        "if :: here: x == 1 -> skip fi; else; break; here: skip; here: skip",
        expect![[r#"
        3:7: the label `here` stands before the first statement of an option
          SPIN refuses it too; put the label before the `if` or `do`, or a `skip` before the label
        3:32: this `else` does not belong to an `if` or `do`
          `else` is the first statement of an option, and of one option only
        3:38: there is no `do` around this `break`
        3:45: the label `here` is defined twice in this process
        3:57: the label `here` is defined twice in this process
    "#]],
    );
    check_body(
        "if :: else -> skip :: else -> skip fi",
        expect![[r#"
        3:23: a second `else`
          one option at most begins with `else`
    "#]],
    );
}

#[test]
fn processes_have_to_be_known_before_the_model_runs() {
    check(
        "byte x; proctype P() { x = 1 } init { do :: run P() od }",
        expect![[r#"
        1:45: this `run` is in a loop that may run forever
          let the loop count to a number that is known before the model runs
    "#]],
    );
    check(
        "byte x; proctype P(byte i) { x = i } init { run P(x) }",
        expect![[r#"
        1:51: this argument is not known before the model runs
          compute it from constants and counters of this process
    "#]],
    );
    check(
        "byte x; proctype P() { run P(); x = 1 } init { run P() }",
        expect![[r#"
        1:18: this model starts more than 255 processes
          SPIN runs no more either
    "#]],
    );
    check(
        "byte x; proctype P() { x = 1 }",
        expect![[r#"
        1:1: no process of this model runs
          write `active proctype` or `init`
    "#]],
    );
}

#[test]
fn directives_are_those_that_are_supported() {
    check(
        "#include \"a.h\"\n#define\n#defin N 2\n#if N > 2\n#endif\n#else\n#ifdef M\n#define f(a) a ## a\n\
         byte x; active proctype P() { x = 1 }",
        expect![[r#"
            1:2: `#include` is not supported: a model is one file
              put the text of that file here
            2:2: this macro has no name
              write `#define NAME text`
            3:2: the directive `#defin` is not supported
              did you mean `define`?
            4:2: this condition is not supported
              write `#ifdef NAME`, `#ifndef NAME`, `#if NAME`, `#if 0` or `#if 1`
            6:2: `#else` without `#if`
              leave it out
            7:2: this condition does not end
              close it with `#endif`
        "#]],
    );
}

#[test]
fn exchanges_access_one_shared_variable() {
    check_body(
        "x = cas(a[0], 0, 1); r = cas(x, a[0], 1); r = xchg(r, 1); store(r, 1); d_step { skip; fence }",
        expect![[r#"
            3:1: `cas` accesses one shared variable, and this is another
              use a variable of the process here
            3:33: `cas` accesses one shared variable, and this is another
              use a variable of the process here
            3:52: `xchg` is for shared variables, and this is one of the process
              assign it with `=`
            3:65: `store` is for shared variables, and this is one of the process
              assign it with `=`
            3:87: `fence` waits for buffers, and nothing in a `d_step` may wait
              use `atomic`
        "#]],
    );
}

#[test]
fn a_label_to_look_for_has_to_be_there() {
    let settings = Settings { labels: vec!["eror".to_owned()], ..Settings::default() };
    let text = "byte x; active proctype P() { error: x = 1 }";
    let errors = promela::read("test.pml", text, &settings).expect_err("there is no such label");
    expect![[r#"1:25: no process has the label `eror`: Some("did you mean `error`?")"#]]
        .assert_eq(&format!("{}: {:?}", errors[0], errors[0].help));
}

#[test]
fn deep_and_large_models_are_refused_or_read_without_running_out() {
    let nested = |open: &str, close: &str, n: usize| {
        format!("byte x; active proctype P() {{ {} x = 1 {} }}", open.repeat(n), close.repeat(n))
    };
    for text in [
        nested("if :: ", " fi", 50_000),
        nested("{ ", " }", 50_000),
        nested("d_step { if :: x -> skip :: else -> ", " fi }", 90),
        nested("if :: skip :: ", " :: else fi", 90),
        format!("byte x; active proctype P() {{ x = {}1 }}", "(".repeat(100_000)),
        format!("byte x; active proctype P() {{ x = {}1 }}", "!".repeat(100_000)),
        format!("byte x; active proctype P() {{ x = 1{} }}", " + x".repeat(100_000)),
        format!("byte x; active proctype P() {{ if {} fi }}", ":: x == 1 ".repeat(10_000)),
        format!("byte x; active proctype P() {{ x = a{} }}", "[a".repeat(100_000)),
        format!("#define a0 x\n{}byte x; active proctype P() {{ a40 = 1 }}", doubling(40)),
        "inline f() { f(); f() } byte x; active proctype P() { f(); x = 1 }".to_owned(),
        "byte x; active [999] proctype P() { x = 1 }".to_owned(),
        "byte x[99999999]; active proctype P() { x[0] = 1 }".to_owned(),
        "byte x; active proctype P() { byte a[4000]; a[x] = 1 }".to_owned(),
        "byte i; active proctype P() { byte n; for (n : 0 .. 200) { run Q(n) } } proctype Q(byte k) { i = k }"
            .to_owned(),
        "int i; active proctype P() { int n; for (n : 0 .. 2000000000) { run Q(n) } } proctype Q(int k) { i = k }"
            .to_owned(),
    ] {
        let _ = promela::read("test.pml", &text, &Settings::default());
        let _ = promela::read("test.pml", &text, &Settings { split: true, ..Settings::default() });
    }
}

/// Macros that each stand for the one before, twice.
fn doubling(n: usize) -> String {
    (1..=n).map(|i| format!("#define a{i} a{} a{}\n", i - 1, i - 1)).collect()
}

/// What a mutation puts in, so that some get past the lexer.
const PIECES: &[&str] = &[
    "{",
    "}",
    ";",
    "->",
    "::",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    "++",
    "--",
    "!",
    "?",
    "@",
    ".",
    ":",
    "..",
    "if",
    "fi",
    "do",
    "od",
    "else",
    "break",
    "goto again",
    "again:",
    "end:",
    "atomic {",
    "d_step {",
    "run user(",
    "byte",
    "chan",
    "mtype",
    "inline f(a) {",
    "f(x)",
    "for (",
    "select (",
    "#define N",
    "#if",
    "#endif",
    "\n#",
    "\"",
    "/*",
    "//",
    "_pid",
    "timeout",
    "99999999999999999999",
    "0",
    "255",
    "- 1",
    "% 0",
    "cas(",
    "xchg(",
    "store(",
    "load(x,",
    "fence",
    "sync",
    "active [3]",
    "proctype Q()",
    "init {",
    "assert(",
    "printf(\"%d\",",
    "unsigned u : 3",
    "\\",
    "é",
    "\u{feff}",
];

#[test]
fn no_mutation_of_a_model_causes_a_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/promela");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    paths.sort();
    let texts: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).expect("models are text")).collect();
    let mut rng = Rng::new(9);
    let (mut read, mut refused) = (0, 0);
    for round in 0..6_000 {
        let mut text: Vec<char> = texts[round % texts.len()].chars().collect();
        for _ in 0..rng.between(1, 4) {
            let at = rng.below(text.len());
            match rng.below(4) {
                0 => {
                    let end = (at + rng.between(1, 12)).min(text.len());
                    text.drain(at..end);
                }
                1 => {
                    let end = (at + rng.between(1, 30)).min(text.len());
                    let copy: Vec<char> = text[at..end].to_vec();
                    let to = rng.below(text.len());
                    text.splice(to..to, copy);
                }
                _ => {
                    let piece: Vec<char> = rng.pick(PIECES).chars().collect();
                    text.splice(at..at, piece);
                }
            }
            if text.is_empty() {
                text.push(' ');
            }
        }
        let text: String = text.into_iter().collect();
        let settings = Settings { split: round % 3 == 0, ..Settings::default() };
        match promela::read("test.pml", &text, &settings) {
            Ok(_) => read += 1,
            Err(errors) => {
                assert!(!errors.is_empty(), "a refusal has a reason");
                refused += 1;
            }
        }
    }
    assert!(read > 300 && refused > 1_000, "{read} read, {refused} refused");
}
