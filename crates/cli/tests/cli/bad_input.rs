//! Files that cannot be checked: each gets an error message, and the others are still checked.

use expect_test::{Expect, expect};

use crate::Folder;

/// A test with these rows and this condition.
fn test(rows: &str, condition: &str) -> String {
    format!("X86_64 test\n{{ uint64_t x; }}\n P0 | P1 ;\n{rows}{condition}\n")
}

const GOOD: &str = " movq $1,(x) | movq (x),%rax ;\n";

/// Demands that a bad file is refused with this message, and that a good one beside it is checked.
fn check(name: &str, text: impl AsRef<[u8]>, expected: Expect) {
    let folder = Folder::new(name).file("bad.litmus", text).file("good.litmus", test(GOOD, "exists (1:rax=1)"));
    let ran = folder.run("check bad.litmus good.litmus --quiet");
    expected.assert_eq(&ran.stderr);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), "test: observed under tso (complete, 6 states)\n"));
}

#[test]
fn a_truncated_file() {
    check(
        "truncated-init",
        "X86_64 test\n{ uint64_t x;",
        expect![[r#"
        error: the text ends inside the initial state
          --> bad.litmus:2:14
           |
         2 | { uint64_t x;
           |              ^
        help: close it with `}`
    "#]],
    );
    check(
        "truncated-row",
        "X86_64 test\n{ }\n P0 | P1 ;\n movq $1,(x) | movq (",
        expect![[r#"
        error: the text ends where a location or a register is expected
          --> bad.litmus:4:22
           |
         4 |  movq $1,(x) | movq (
           |                      ^

        error: the row before this does not end
          --> bad.litmus:4:22
           |
         4 |  movq $1,(x) | movq (
           |                      ^
        help: end each row of the program with `;`
    "#]],
    );
    check(
        "truncated-condition",
        test(GOOD, "exists (1:rax=1 /\\ "),
        expect![[r#"
        error: the text ends where the name of a location is expected
          --> bad.litmus:6:1
           |
         6 |
           | ^
    "#]],
    );
}

#[test]
fn another_architecture() {
    check(
        "architecture",
        "AArch64 MP\n{ 0:X1=x; }\n P0 ;\n STR W0,[X1] ;\nexists (x=1)\n",
        expect![[r#"
            error: litmus tests for `AArch64` are not supported yet
              --> bad.litmus:1:1
               |
             1 | AArch64 MP
               | ^^^^^^^
            help: tests for `X86`, `X86_64` and `C` are
        "#]],
    );
}

#[test]
fn an_unknown_instruction() {
    check(
        "instruction",
        test(" movq $1,(x) | mvoq (x),%rax ;\n clflush (x) | ;\n", "exists (x=1)"),
        expect![[r#"
        error: the instruction `mvoq` is not supported
          --> bad.litmus:4:16
           |
         4 |  movq $1,(x) | mvoq (x),%rax ;
           |                ^^^^
        help: did you mean `movq`?

        error: the instruction `clflush` is not supported
          --> bad.litmus:5:2
           |
         5 |  clflush (x) | ;
           |  ^^^^^^^
    "#]],
    );
}

#[test]
fn a_register_that_is_never_written() {
    check(
        "register",
        test(GOOD, "exists (1:rbx=1)"),
        expect![[r#"
        error: the register `rbx` of thread 1 is never written
          --> bad.litmus:5:9
           |
         5 | exists (1:rbx=1)
           |         ^^^^^ thread 1 writes rax
        help: did you mean `1:rax`?
    "#]],
    );
}

#[test]
fn a_condition_on_an_unknown_name() {
    check(
        "name",
        test(GOOD, "exists (1:rax=1 /\\ flag=0 /\\ 2:rax=0)"),
        expect![[r#"
        error: this test has no location `flag`
          --> bad.litmus:5:20
           |
         5 | exists (1:rax=1 /\ flag=0 /\ 2:rax=0)
           |                    ^^^^

        error: this test has no thread 2
          --> bad.litmus:5:30
           |
         5 | exists (1:rax=1 /\ flag=0 /\ 2:rax=0)
           |                              ^^^^^
        help: its threads are 0 to 1
    "#]],
    );
}

#[test]
fn bytes_that_are_no_text() {
    check(
        "bytes",
        b"X86_64 test\n{ }\n P0 ;\n movq $1,(\xff) ;\n",
        expect![[r#"
        error: `bad.litmus` is not valid UTF-8: line 4 has an invalid byte
        help: save the file as UTF-8
    "#]],
    );
}

#[test]
fn ten_thousand_wrong_lines() {
    let rows = " mvoq $1,(x) | movq (x),%rax ;\n".repeat(10_000);
    let folder = Folder::new("lines").file("bad.litmus", test(&rows, "exists (x=1)"));
    let ran = folder.run("check bad.litmus");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(ran.stderr.matches("error: the instruction `mvoq` is not supported").count(), 20);
    assert!(ran.stderr.ends_with("\nerror: and at least 80 more in `bad.litmus`\n"), "{}", ran.stderr);
}

#[test]
fn an_empty_folder_beside_a_file() {
    let folder =
        Folder::new("empty-folder").file("empty/notes.txt", "").file("a.litmus", test(GOOD, "exists (1:rax=1)"));
    folder.check(
        "check empty a.litmus --quiet",
        2,
        expect![[r#"
        test: observed under tso (complete, 6 states)
    "#]],
        expect![[r#"
            error: the folder `empty` has no file that ends in .litmus or .pml
        "#]],
    );
}

/// A link to itself cannot be read, whatever the permissions of the user.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read() {
    let folder = Folder::new("unreadable-file").file("tests/a.litmus", test(GOOD, "exists (1:rax=1)"));
    std::os::unix::fs::symlink("loop.litmus", folder.0.join("tests/loop.litmus")).expect("links can be made");
    let ran = folder.run("check tests --quiet");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), "test: observed under tso (complete, 6 states)\n"));
    assert!(ran.stderr.starts_with("error: `tests/loop.litmus` cannot be read: "), "{}", ran.stderr);
}
