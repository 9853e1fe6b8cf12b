//! Reading what was printed gives the same program.

use expect_test::{Expect, expect};
use teetotal_frontends::litmus;

mod common;

use common::without_places;

/// Demands that `text` and what is printed of it are the same program, and that printing again changes nothing.
fn round_trip(what: &str, text: &str) -> String {
    let read = |text: &str| litmus::read("test", text).unwrap_or_else(|errors| panic!("{what}: {}\n{text}", errors[0]));
    let printed = litmus::print(text).unwrap_or_else(|errors| panic!("{what}: {}", errors[0]));
    assert_eq!(without_places(read(text)), without_places(read(&printed)), "{what} became\n{printed}");
    assert_eq!(litmus::print(&printed).as_ref(), Ok(&printed), "{what}");
    printed
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&round_trip("the test", text));
}

#[test]
fn every_test_of_the_corpus_is_printed_as_the_same_program() {
    for file in common::corpus().into_iter().filter(|file| !file.text.starts_with("C ")) {
        round_trip(&file.path.display().to_string(), &file.text);
    }
}

#[test]
fn a_test_for_c_is_not_printed() {
    let errors =
        litmus::print("C n\n{}\nP0(int *x) { *x = 1; }\nexists (x=1)\n").expect_err("there is no printer for C");
    assert_eq!(errors[0].message, "a test for C is not printed");
}

#[test]
fn every_test_of_others_is_printed_as_the_same_program() {
    for file in common::conformance() {
        round_trip(&file.path.display().to_string(), &file.text);
    }
}

#[test]
fn each_assembler_has_its_order_and_its_signs() {
    check(
        "X86_64 n a remark\n{ x=0x10; 1:RAX=-1; uint64_t 0:rbx=x; int t[2]={1,-1}; p=t[1]; }\n P0|P1;\n MOVQ $1 , (x) | L: ;\n \
         | lock\tXADDQ %rax,(x);\nlocations [ x; t[1] ]\n~exists P1:RAX = 0x2\n",
        expect![[r#"
            X86_64 n
            { x=16; 1:rax=-1; uint64_t 0:rbx=x; int32_t t[2]={1,-1}; p=t[1]; }
             P0          | P1                  ;
             movq $1,(x) | L:                  ;
                         | lock xaddq %rax,(x) ;
            locations [x; t[1];]
            ~exists (1:rax=2)
        "#]],
    );
    check(
        "X86 n\n{}\n P0 ;\n mov [x], 1 ;\n lock inc dword ptr [y] ;\n L: M: xchg eax,[x] ;\n cmp eax,-3 ;\n jnz L ;\nforall (true)\n",
        expect![[r#"
            X86 n
            { }
             P0                     ;
             MOV [x],$1             ;
             LOCK INC DWORD PTR [y] ;
             L: M: XCHG EAX,[x]     ;
             CMP EAX,$-3            ;
             JNE L                  ;
            forall (true)
        "#]],
    );
}

#[test]
fn every_form_of_address_is_kept() {
    check(
        "X86_64 n\n{ 0:rbx=t; int64_t t[9]; }\n P0 ;\n movq 8(%rbx),%rax ;\n movq t(,%rcx,8),%rax ;\n movq t+16(%rip),%rax ;\n \
         movq -8(%rbx,%rcx,8),%rax ;\n movq (%rbx,%rcx),%rax ;\n movq t,%rax ;\n leaq 8(t),%rcx ;\n movq $t,%rcx ;\n \
         leaq [rbx-8-2*%rcx],%rsi ;\n leaq [16*%rcx+rbx],%rsi ;\n leaq (,%rcx,0),%rsi ;\n movzbq (b),%rdi ;\n leaq [rip+8],%rdi ;\n movb BYTE PTR [b],%dil ;\n",
        expect![[r#"
            X86_64 n
            { 0:rbx=t; int64_t t[9]; }
             P0                        ;
             movq 8(%rbx),%rax         ;
             movq t(,%rcx,8),%rax      ;
             movq (t+16),%rax          ;
             movq -8(%rbx,%rcx,8),%rax ;
             movq (%rbx,%rcx),%rax     ;
             movq t,%rax               ;
             leaq (t+8),%rcx           ;
             movq $t,%rcx              ;
             leaq (rbx-2*rcx-8),%rsi   ;
             leaq (16*rcx+rbx),%rsi    ;
             leaq (,%rcx,0),%rsi       ;
             movzbq (b),%rdi           ;
             leaq (rip+8),%rdi         ;
             movb BYTE PTR [b],%dil    ;
        "#]],
    );
    check(
        "X86 n\n{ 0:EBX=t; int t[9]; }\n P0 ;\n MOV EAX,[EBX+4] ;\n MOV ECX,[t+EAX*4-4] ;\n MOV EAX,DWORD PTR [EBX-4*ECX] ;\n \
         MOVZX EAX,BYTE PTR [b] ;\n",
        expect![[r#"
            X86 n
            { 0:EBX=t; int32_t t[9]; }
             P0                            ;
             MOV EAX,[EBX+4]               ;
             MOV ECX,[t+EAX*4-4]           ;
             MOV EAX,DWORD PTR [EBX-4*ECX] ;
             MOVZX EAX,BYTE PTR [b]        ;
        "#]],
    );
}

#[test]
fn conditions_have_as_few_parentheses_as_they_allow() {
    check(
        "X86_64 n\n{ 0:rbx=x; 0:rax=0; }\n P0 ;\n movq $1,(x) ;\nexists ((x=1 /\\ (not (not (x<2)))) \\/ ((x=3 \\/ ~(x<>4 /\\ true)) /\\ (0:rax=x /\\ (false \\/ x>=[x]))))\n",
        expect![[r#"
            X86_64 n
            { 0:rbx=x; 0:rax=0; }
             P0          ;
             movq $1,(x) ;
            exists ([x]=1 /\ not not [x]<2 \/ ([x]=3 \/ not ([x]<>4 /\ true)) /\ 0:rax=x /\ (false \/ [x]>=[x]))
        "#]],
    );
}

#[test]
fn every_instruction_is_kept() {
    let plain = ["mov", "xchg", "xadd", "cmpxchg", "add", "sub", "and", "or", "xor", "cmp", "test"];
    let pairs = plain.map(|name| format!("{name} %ebx,%eax"));
    let single = ["inc", "dec", "neg", "not"].map(|name| format!("{name}l (x)"));
    let shifts = ["shl", "sal", "shr", "sar"].map(|name| format!("{name}w 3,%ax"));
    let others =
        ["movzbl %bl,%eax", "movswq %bx,%rax", "movslq (x),%rax", "movsx %bx,%eax", "mfence", "sfence", "lfence"];
    let rest = ["nopw 0(%rax)", "endbr64", "pause", "jmp L", "ret", "movabsq $-1,%rax", "lock cmpxchgl %ebx,(x)"];
    let codes = "e z ne nz s ns o no l nge ge nl le ng g nle b c nae ae nb nc be na a nbe".split(' ');
    let asked = codes.flat_map(|code| {
        [
            format!("j{code} L"),
            format!("set{code} %al"),
            format!("cmov{code} %ebx,%eax"),
            format!("cmov{code}l %ebx,%eax"),
        ]
    });
    let fixed = others.into_iter().chain(rest).map(str::to_owned);
    for row in pairs.into_iter().chain(single).chain(shifts).chain(fixed).chain(asked) {
        round_trip(
            &row,
            &format!(
                "X86_64 n\n{{ int x; 0:rax=0; }}\n P0 ;\n {row} ;\n movl $1,(x) ;\n L: ;\nexists (0:rax=1 /\\ x=1)\n"
            ),
        );
    }
}
