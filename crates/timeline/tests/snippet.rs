//! Places in sources, as they are shown.

use expect_test::{Expect, expect};
use teetotal_program::{Source, Span};
use teetotal_timeline::Snippet;

fn check(text: &str, (line, column, length): (u32, u32, u32), expected: Expect) {
    let source = Source { name: "MP.litmus".to_owned(), text: Some(text.to_owned()) };
    let span = Span { source: 0, line, column, length };
    let snippet = Snippet { message: "wrong", source: &source, span, label: Some("here"), help: Some("do it") };
    expected.assert_eq(&snippet.render());
}

#[test]
fn the_place_is_marked() {
    check(
        "X86 MP\n{}\nexists (1:r2=0)\n",
        (3, 11, 2),
        expect![[r#"
        error: wrong
          --> MP.litmus:3:11
           |
         3 | exists (1:r2=0)
           |           ^^ here
        help: do it
    "#]],
    );
    check(
        &format!("{}abc", "\n".repeat(11)),
        (12, 1, 1),
        expect![[r#"
        error: wrong
           --> MP.litmus:12:1
            |
         12 | abc
            | ^ here
        help: do it
    "#]],
    );
}

#[test]
fn tabs_and_wide_characters_keep_the_marks_in_their_place() {
    check(
        "\tMOV\t[x]",
        (1, 6, 3),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:6
           |
         1 |     MOV [x]
           |         ^^^ here
        help: do it
    "#]],
    );
    check(
        "\u{4e00}\u{4e8c}x",
        (1, 2, 2),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:2
           |
         1 | 一二x
           |   ^^^ here
        help: do it
    "#]],
    );
    check(
        "a\u{1b}[31mb",
        (1, 7, 1),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:7
           |
         1 | a�[31mb
           |       ^ here
        help: do it
    "#]],
    );
}

#[test]
fn a_place_at_or_after_the_end_is_shown_at_the_end() {
    check(
        "exists\n",
        (1, 7, 0),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:7
           |
         1 | exists
           |       ^ here
        help: do it
    "#]],
    );
    check(
        "exists\r\n",
        (1, 900, 4_000_000_000),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:900
           |
         1 | exists
           |       ^ here
        help: do it
    "#]],
    );
    check(
        "exists\n",
        (2, 1, 0),
        expect![[r#"
        error: wrong
          --> MP.litmus:2:1
           |
         2 |
           | ^ here
        help: do it
    "#]],
    );
}

#[test]
fn a_place_that_is_not_there_is_only_named() {
    check(
        "exists\n",
        (9, 1, 1),
        expect![[r#"
        error: wrong
          --> MP.litmus:9:1
           = here
        help: do it
    "#]],
    );
    check(
        "exists\n",
        (0, 0, 0),
        expect![[r#"
        error: wrong
          --> MP.litmus:0:0
           = here
        help: do it
    "#]],
    );
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    check(
        &format!("{}y{}", "x".repeat(500), "z".repeat(500)),
        (1, 501, 1),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:501
           |
         1 | ...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxyzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...
           |                                  ^ here
        help: do it
    "#]],
    );
    check(
        &"x".repeat(500),
        (1, 1, 400),
        expect![[r#"
        error: wrong
          --> MP.litmus:1:1
           |
         1 | xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
           | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
        help: do it
    "#]],
    );
}

#[test]
fn no_place_is_too_odd() {
    for text in ["", "\n", "\r\n\r", "\t\t\t", "e\u{301}\u{feff}", &"\t".repeat(300)] {
        for line in [0, 1, 2, u32::MAX] {
            for (column, length) in [(0, 0), (1, 0), (1, 1), (2, u32::MAX), (u32::MAX, u32::MAX), (299, 5)] {
                let source = Source { name: String::new(), text: Some(text.to_owned()) };
                let span = Span { source: 9, line, column, length };
                let snippet = Snippet { message: "", source: &source, span, label: None, help: None };
                assert!(snippet.render().ends_with('\n'));
            }
        }
    }
}
