//! The flags answer as the processor does: compared with arithmetic on wider numbers.

use std::sync::Arc;

use teetotal_frontends::litmus;
use teetotal_program::ir::Interpreter;
use teetotal_program::{Subject, ThreadId};

const NUMBERS: [i8; 9] = [0, 1, 2, 5, 127, -128, -127, -2, -1];

/// The flags of zero, sign, overflow and carry.
#[derive(Clone, Copy)]
struct Flags {
    zero: bool,
    sign: bool,
    overflow: bool,
    carry: bool,
}

/// What `operation` of two bytes sets.
fn processor(operation: &str, left: i8, right: i8) -> Flags {
    let (wide_left, wide_right) = (i32::from(left), i32::from(right));
    let (bare_left, bare_right) = (i32::from(left as u8), i32::from(right as u8));
    let (exact, carry) = match operation {
        "add" => (wide_left + wide_right, bare_left + bare_right > 255),
        "sub" | "cmp" => (wide_left - wide_right, bare_left < bare_right),
        "and" | "test" => (wide_left & wide_right, false),
        "or" => (wide_left | wide_right, false),
        "xor" => (wide_left ^ wide_right, false),
        other => panic!("{other} is not in the table"),
    };
    let result = exact as i8;
    Flags { zero: result == 0, sign: result < 0, overflow: i32::from(result) != exact, carry }
}

fn answer(code: &str, Flags { zero, sign, overflow, carry }: Flags) -> bool {
    match code {
        "e" => zero,
        "ne" => !zero,
        "s" => sign,
        "ns" => !sign,
        "o" => overflow,
        "no" => !overflow,
        "l" => sign != overflow,
        "ge" => sign == overflow,
        "le" => zero || sign != overflow,
        "g" => !zero && sign == overflow,
        "b" => carry,
        "ae" => !carry,
        "be" => carry || zero,
        "a" => !carry && !zero,
        other => panic!("{other} is not in the table"),
    }
}

/// What register `name` of the only thread, which uses no memory, holds in the end.
fn register(rows: &str, name: &str) -> u64 {
    let text = format!("X86_64 n\n{{}}\n P0 ;\n{rows}exists (0:{name}=0)\n");
    let program = Arc::new(litmus::read("test.litmus", &text).unwrap_or_else(|errors| panic!("{text}: {}", errors[0])));
    let registers = &program.threads[0].registers;
    let at = registers.iter().position(|register| register.name == name).expect("the condition names it");
    Interpreter::new(Arc::clone(&program)).register(ThreadId(0), teetotal_program::Reg(at as u16))
}

#[test]
fn every_question_after_every_operation_is_answered_as_by_the_processor() {
    let codes = ["e", "ne", "s", "ns", "o", "no", "l", "ge", "le", "g", "b", "ae", "be", "a"];
    for operation in ["add", "sub", "cmp", "and", "test", "or", "xor"] {
        for (left, right) in NUMBERS.iter().flat_map(|&left| NUMBERS.map(|right| (left, right))) {
            for code in codes {
                let rows = format!(" movb ${left},%bl ;\n {operation}b ${right},%bl ;\n set{code} %al ;\n");
                let expected = answer(code, processor(operation, left, right));
                assert_eq!(register(&rows, "rax"), u64::from(expected), "{operation} {left} {right} {code}");
            }
        }
    }
}

#[test]
fn wide_operations_overflow_as_narrow_ones_do() {
    let most = i64::MAX;
    for (rows, expected) in [
        (format!(" movq ${most},%rbx ;\n addq $1,%rbx ;\n setl %al ;\n"), 0),
        (format!(" movq ${most},%rbx ;\n incq %rbx ;\n seto %al ;\n"), 1),
        (" movq $-1,%rbx ;\n addq $1,%rbx ;\n setb %al ;\n".to_owned(), 1),
        (" movl $-1,%ebx ;\n addl $1,%ebx ;\n setbe %al ;\n".to_owned(), 1),
        (" movl $5,%ebx ;\n negl %ebx ;\n setb %al ;\n".to_owned(), 1),
        (" movl $-128,%ebx ;\n shll $1,%ebx ;\n setb %al ;\n".to_owned(), 1),
    ] {
        assert_eq!(register(&rows, "rax"), expected, "{rows}");
    }
}

#[test]
fn registers_hold_what_their_parts_make_of_them() {
    for (rows, expected) in [
        (" movq $-1,%rax ;\n movl $1,%eax ;\n", 1),
        (" movq $-1,%rax ;\n movb $1,%al ;\n", 0xffff_ffff_ffff_ff01),
        (" movq $-1,%rax ;\n movw $1,%ax ;\n", 0xffff_ffff_ffff_0001),
        (" movb $-1,%bl ;\n movsbl %bl,%eax ;\n", 0xffff_ffff),
        (" movb $-1,%bl ;\n movsbq %bl,%rax ;\n", u64::MAX),
        (" movb $-1,%bl ;\n movzbq %bl,%rax ;\n", 255),
        (" movl $-8,%eax ;\n sarl $1,%eax ;\n", 0xffff_fffc),
        (" movl $-8,%eax ;\n shrl $1,%eax ;\n", 0x7fff_fffc),
        (" movl $3,%eax ;\n movl $4,%ebx ;\n xaddl %eax,%ebx ;\n addl %ebx,%eax ;\n", 11),
        (" movl $3,%eax ;\n movl $4,%ebx ;\n xchgl %eax,%ebx ;\n", 4),
        (" movl $3,%ecx ;\n movl $7,%ebx ;\n cmpxchgl %ebx,%ecx ;\n", 3),
        (" movl $1,%ebx ;\n cmpl $2,%ebx ;\n cmovll %ebx,%eax ;\n", 1),
        (" movq $2,%rbx ;\n leaq 5(%rbx,%rbx,4),%rax ;\n", 15),
        (" movq $1,%rax ;\n jmp L ;\n movq $2,%rax ;\n L: ;\n", 1),
        (" movq $1,%rax ;\n ret ;\n movq $2,%rax ;\n", 1),
        (" movl $6,%eax ;\n notl %eax ;\n", 0xffff_fff9),
        (" movl $6,%eax ;\n decl %eax ;\n andl $12,%eax ;\n orl $1,%eax ;\n", 5),
    ] {
        assert_eq!(register(rows, "rax"), expected, "{rows}");
    }
}
