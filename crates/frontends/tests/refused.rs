//! What is refused, where, and with which help.

use std::fmt::Write;

use expect_test::{Expect, expect};
use teetotal_frontends::litmus;

fn check(text: &str, expected: Expect) {
    let errors = litmus::read("test.litmus", text).expect_err("this test is wrong");
    let mut shown = String::new();
    for error in errors {
        let label = error.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
        let help = error.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        writeln!(shown, "{error}{label}{help}").expect("a string takes any text");
    }
    expected.assert_eq(&shown);
}

fn body(rows: &str) -> String {
    format!("X86_64 n\n{{ x=0; }}\n P0 | P1 ;\n{rows}\n")
}

#[test]
fn other_architectures_are_named() {
    check(
        "AArch64 n\n{}\n P0 ;\n",
        expect![[r#"
            1:1: litmus tests for `AArch64` are not supported yet (tests for `X86`, `X86_64` and `C` are)
        "#]],
    );
    check(
        "X86-64 n\n{}\n",
        expect![[r#"
        1:1: `X86-64` is not an architecture of litmus tests (did you mean `X86_64`?)
    "#]],
    );
    check(
        "hello\n",
        expect![[r#"
            1:1: `hello` is not an architecture of litmus tests (a litmus test begins with `X86 NAME`, `X86_64 NAME` or `C NAME`)
        "#]],
    );
    check(
        "",
        expect![[r#"
        1:1: this file is empty
    "#]],
    );
}

#[test]
fn all_mistakes_are_found_in_one_pass() {
    check(
        &body(
            " movz $1,(x) | mfenc ;\n movq $1,(x) | movq (x),%rxa ;\n jmp L | movq (x),rax ;\n movl $1,%rax | lock movq $1,(x) ;\n M: movq $1 | jne MM ;\n movq $1,$2 | movq (x),(x) ;\nexists (x=1)",
        ),
        expect![[r#"
            4:2: the instruction `movz` is not supported (did you mean `mov`?)
            4:16: the instruction `mfenc` is not supported (did you mean `mfence`?)
            5:26: `rxa` is not a register (did you mean `rax`?)
            6:6: this thread has no label `L`
            6:19: the register `rax` lacks its `%` (write `%rax`)
            7:10: this register has 64 bits, the instruction works on 32
            7:17: `lock` cannot stand before `movq`
            8:5: `movq` takes 2 operands, but has 1
            8:19: this thread has no label `MM`
            9:10: the destination is neither a register nor a location
            9:24: an instruction has at most one operand in memory
        "#]],
    );
}

#[test]
fn a_condition_on_an_unknown_name_is_refused() {
    check(
        &body(" movq $1,(xy) | ;\nexists (xz=1 /\\ 2:rax=1 /\\ x=xy)"),
        expect![[r#"
            5:9: this test has no location `xz` (did you mean `xy`?)
            5:17: this test has no thread 2 (its threads are 0 to 1)
            5:30: `xy` on this side is its address, which no thread has (write `[xy]` for what it holds)
        "#]],
    );
    check(
        &body(" movq $1,(x) | ;\nexists (0:rix=1)"),
        expect![[r#"
        5:11: `rix` is not a register (did you mean `rax`?)
    "#]],
    );
    check(
        &body(" movq $1,(x) | ;\nexist (x=1)"),
        expect![[r#"
            5:1: `exist` is found where a condition is expected (did you mean `exists`?)
        "#]],
    );
}

#[test]
fn a_register_that_is_never_written_is_refused() {
    check(
        &body(
            " movq (x),%rbx | movq $1,(x) ;\n movq (x),%rcx | ;\nexists (0:rbx=1 /\\ 0:edx=0 /\\ 1:rax=0 /\\ 0:r8=1)",
        ),
        expect![[r#"
            6:20: the register `rdx` of thread 0 is never written [thread 0 writes rbx and rcx] (did you mean `0:rbx`?)
            6:31: the register `rax` of thread 1 is never written [thread 1 writes no register]
            6:42: the register `r8` of thread 0 is never written [thread 0 writes rbx and rcx]
        "#]],
    );
    let set = "X86_64 n\n{ uint64_t 0:rax; 0:rbx=1; }\n P0 ;\n movq $1,(x) ;\nexists (0:rax=0 /\\ 0:ebx=1)\n";
    assert!(litmus::read("test.litmus", set).is_ok(), "the initial state is enough");
}

#[test]
fn truncated_tests_are_refused() {
    check(
        "X86_64 n\n",
        expect![[r#"
        1:1: this test has no initial state and no program (after the header, write the initial state in braces: `{ x=0; }`)
    "#]],
    );
    check(
        "X86_64 n\n{ x=",
        expect![[r#"
            2:5: the text ends where a number is expected
            2:5: the text ends inside the initial state (close it with `}`)
        "#]],
    );
    check(
        "X86_64 n\n{ x=0; }\n",
        expect![[r#"
        3:1: the text ends where the row of threads, such as `P0 | P1 ;`, is expected
    "#]],
    );
    check(
        &body(" movq $1,(x) |"),
        expect![[r#"
        5:1: the row before this does not end (end each row of the program with `;`)
    "#]],
    );
    check(
        &body(" movq $1,(x) | ;\nexists (x=1 /\\"),
        expect![[r#"
        6:1: the text ends where the name of a location is expected
    "#]],
    );
    check(
        &body(" movq $1,(x) | ;\n(* exists"),
        expect![[r#"
        5:1: this comment does not end (close it with `*)`)
    "#]],
    );
}

#[test]
fn columns_that_do_not_match_are_refused() {
    check(
        &body(" movq $1,(x) ;\n movq $1,(x) | mfence | mfence ;\n mfence | mfence\nexists (x=1)"),
        expect![[r#"
        4:2: this row has 1 column, the program 2 columns (separate the threads with `|`, leave a cell empty where a thread does nothing, end rows with `;`)
        5:2: this row has 3 columns, the program 2 columns (separate the threads with `|`, leave a cell empty where a thread does nothing, end rows with `;`)
        7:1: the row before this does not end (end each row of the program with `;`)
    "#]],
    );
}

#[test]
fn accesses_of_mixed_size_are_refused_by_name() {
    check(
        &body(" movq $1,(x) | movl $1,(x) ;\nexists (x=1)"),
        expect![[r#"
            4:24: `x` is used with 32 bits here and with 64 elsewhere (accesses of mixed size are not supported)
        "#]],
    );
    check(
        "X86_64 n\n{ 0:rbx=x; int x; int t[2]; }\n P0 ;\n movq $1,(%rbx) ;\n movl $1,(x) ;\n movl $1,6(t) ;\n",
        expect![[r#"
            4:10: `x` has 32 bits, this access may use 64 of it (accesses of mixed size are not supported)
            6:10: no location begins 6 bytes after `t` (`t` has 2 elements)
        "#]],
    );
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    check(
        "X86_64 n\n{ x=99999999999999999999; uint8_t b=300; t[99999]; 5x=1; }\n P0 ;\n movb $256,(b) ;\n movl $0x1ffffffff,%eax ;\nexists (b=0xzz)\n",
        expect![[r#"
            2:5: `99999999999999999999` does not fit into 64 bits
            2:37: this value does not fit into the 8 bits of `b`
            2:44: this number is larger than 65536
            2:52: `5x` stands where a register such as `0:EAX`, or a location is expected
            4:7: this number does not fit into 8 bits
            5:7: this number does not fit into 32 bits
            6:11: `0xzz` is not a number
        "#]],
    );
}

#[test]
fn no_instruction_is_left_out_in_silence() {
    check(
        "X86 n\n{}\n P0 ;\n MOV EAX,BYTE PTR [x] ;\nexists (x=1)\n",
        expect![[r#"
        4:2: these operands do not fit this instruction
    "#]],
    );
}

#[test]
fn two_filters_are_refused() {
    check(
        &body(" movq $1,(x) | ;\nfilter (x=1)\nfilter (y=1)\nexists (x=1)"),
        expect![[r#"
        6:1: this test has two filters (join them with `/\`)
    "#]],
    );
}

#[test]
fn deep_nesting_and_long_files_are_no_trouble() {
    let deep = format!("{}x=1{}", "(".repeat(100_000), ")".repeat(100_000));
    check(
        &body(&format!(" movq $1,(x) | ;\nexists {deep}")),
        expect![[r#"
        5:209: conditions are nested more than 200 deep (write it with fewer parentheses)
    "#]],
    );
    let long = " movq $1,(x) | lock incq (x) ;\n".repeat(10_000) + "exists (x=1)";
    assert!(litmus::read("test.litmus", &body(&long)).is_ok());
    let wrong = " mowq $1,(x) | mvoq (x),%rxa ;\n".repeat(10_000);
    assert_eq!(litmus::read("test.litmus", &body(&wrong)).map_err(|errors| errors.len()), Err(100));
}
