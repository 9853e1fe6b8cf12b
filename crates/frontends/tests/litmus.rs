//! How litmus tests read as programs.

use expect_test::{Expect, expect};
use teetotal_frontends::litmus;

fn check(text: &str, expected: Expect) {
    let text = match litmus::read("test.litmus", text) {
        Ok(program) => {
            let observed: Vec<_> = program.observed.iter().map(|&term| program.term_name(term)).collect();
            format!("{program}shows {observed:?}\n")
        }
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
    };
    expected.assert_eq(&text);
}

#[test]
fn the_source_is_first_with_64_bits() {
    check(
        "X86_64 SB with a remark\n\"PodWR Fre\"\nOrig=\n{\nuint64_t y; uint64_t x; uint64_t 0:rax;\n\n}\n P0 | P1 ;\n \
         movq $1,(x) | MOVQ $-2,(y) ;\n mfence\t| ;\n movq (y),%rax | movq (x),%rax ;\nexists\n0:rax=0 /\\ 1:eax=0;\n",
        expect![[r#"
            program SB
              shared y = 0
              shared x = 0
            thread P0
                  x = 1
                  fence
                  rax = y
            thread P1
                  y = -2
                  rax = x
            exists (0:rax=0 /\ 1:rax=0)
            shows ["0:rax", "1:rax"]
        "#]],
    );
}

#[test]
fn the_destination_is_first_with_32_bits() {
    check(
        "X86 n\n{ x=0x10; [y]=-1; P1:EAX=3; };\n P0 | P1 ;\n MOV [x],$1 | mov [y], 1 ;\n XCHG [x],EAX | xchg EBX,[x] ;\n \
         LOCK INC [x] | sub [x],EAX ;\n~exists (P1:EAX = 1 \\/ x=2 /\\ not (y=1))\n<< remark >>\n",
        expect![[r#"
            program n
              shared x = 16
              shared y = -1
            thread P0
                  x = 1
                  EAX = exchange(x, EAX)
                  t1 = fetch_add(x, 1)
            thread P1
                  y = 1
                  EBX = exchange(x, EBX)
                  t2 = x
                  x = t2 - EAX
            ~exists (1:EAX=1 \/ [x]=2 /\ not ([y]=1))
            shows ["1:EAX", "[x]", "[y]"]
        "#]],
    );
}

#[test]
fn narrow_writes_keep_the_rest_and_32_bits_clear_the_upper_half() {
    check(
        "X86_64 n\n{ int x; uint8_t b; }\n P0 ;\n movl (x),%eax ;\n movb (b),%al ;\n movw $-1,%bx ;\n movl %eax,%ebx ;\n \
         movzbl (b),%ecx ;\n movslq (x),%rdx ;\n movl %edx,(x) ;\nlocations [0:rcx; x;]\n",
        expect![[r#"
            program n
              shared x = 0
              shared b = 0
            thread P0
                  rax = x
                  rax := u32(rax)
                  t2 = b
                  rax := (rax & -256) | u8(t2)
                  rbx := (rbx & -65536) | 65535
                  rbx := u32(rax)
                  t2 = b
                  rcx := u32(t2)
                  t2 = x
                  rdx := t2
                  x = rdx
            forall (true)
            shows ["0:rcx", "[x]"]
        "#]],
    );
}

#[test]
fn pointers_that_stay_are_locations_and_others_are_computed() {
    check(
        "X86_64 n\n{ 0:rbx=x; 0:rdi=t; int64_t t[2]={1,-1}; int64_t p=t[1]; }\n P0 ;\n movq $1,(%rbx) ;\n movq 8(%rdi),%rax ;\n \
         movq t(,%rax,8),%rcx ;\n movq $7,t+8(%rip) ;\n leaq (x),%rsi ;\n movq (%rsi),%rdx ;\nforall (t[1]=7 /\\ 0:rsi=x)\n",
        expect![[r#"
            program n
              shared x = 0
              shared t[0] = 1
              shared t[1] = -1
              shared p = 4112
            thread P0
                  x = 1
                  rax = t[1]
                  rcx = t[rax]
                  t[1] = 7
                  rsi := &x
                  rdx = *rsi
            forall ([t[1]]=7 /\ 0:rsi=x)
            shows ["0:rsi", "[t[1]]"]
        "#]],
    );
}

#[test]
fn jumps_ask_the_flags_that_are_needed() {
    check(
        "X86_64 n\n{}\n P0 ;\n L: ;\n movq (x),%rax ;\n cmpq $3,%rax ;\n jl L ;\n addl $1,%ebx ;\n jb M ;\n \
         lock cmpxchgq %rbx,(x) ;\n sete %cl ;\n ret ;\n M: nop ;\nforall (true)\n",
        expect![[r#"
            program n
              shared x = 0
            thread P0
              0:  rax = x
                  t0 := rax - 3
                  t1 := rax < 3
                  t2 := rax <u 3
                  if t1 goto 0
                  t0 := i32((i32(rbx) + 1))
                  t1 := (t0 ^ ((i32(rbx) ^ t0) & (1 ^ t0))) < 0
                  t2 := t0 <u i32(rbx)
                  rbx := u32((rbx + 1))
                  if t2 goto 17
                  t5 = compare_exchange(x, rax, rbx)
                  t0 := rax - t5
                  t1 := rax < t5
                  t2 := rax <u t5
                  rax := t5
                  rcx := (rcx & -256) | u8((t0 == 0))
                  goto 17
              17: end
            forall (true)
            shows []
        "#]],
    );
}

#[test]
fn arithmetic_on_memory_is_a_load_and_a_store_unless_it_is_locked() {
    check(
        "X86_64 n\n{}\n P0 | P1 ;\n addq $1,(x) | lock addq $1,(x) ;\n negq (x) | lock negq (x) ;\n \
         xaddq %rax,(x) | lock xaddq %rax,(x) ;\n cmpxchgq %rbx,(x) | lock cmpxchgq %rbx,(x) ;\nfinal (x=2)\n",
        expect![[r#"
            program n
              shared x = 0
            thread P0
                  t0 = x
                  x = t0 + 1
                  t0 = x
                  x = -t0
                  t0 = x
                  x = t0 + rax
                  rax := t0
                  t0 = x
                  x = (rax == t0) ? rbx : t0
                  rax := t0
            thread P1
                  t0 = fetch_add(x, 1)
                  t0 = update(x, -old)
                  t0 = fetch_add(x, rax)
                  rax := t0
                  t0 = compare_exchange(x, rax, rbx)
                  rax := t0
            exists ([x]=2)
            shows ["[x]"]
        "#]],
    );
}

#[test]
fn outcomes_show_registers_by_thread_and_name_and_then_memory() {
    check(
        "X86_64 n\n{ 0:rdx=0; uint64_t 1:rax; }\n P0 | P1 ;\n movq $1,(y) | movq $1,(x) ;\nlocations [y; 1:rbx; 1:rax;]\nexists (x=1 /\\ 1:rax=0 /\\ 0:rdx=0)\n",
        expect![[r#"
            program n
              shared y = 0
              shared x = 0
            thread P0
                  y = 1
            thread P1
                  x = 1
            exists ([x]=1 /\ 1:rax=0 /\ 0:rdx=0)
            shows ["0:rdx", "1:rax", "1:rbx", "[x]", "[y]"]
        "#]],
    );
}

#[test]
fn a_declaration_wider_than_the_accesses_is_narrowed() {
    check(
        "X86_64 n\n{ uint64_t x; }\n P0 ;\n movl $-1,(x) ;\nexists (x=-1)\n",
        expect![[r#"
            program n
              shared x = 0
            thread P0
                  x = -1
            exists ([x]=4294967295)
            shows ["[x]"]
        "#]],
    );
}

#[test]
fn comments_and_operands_of_nops_are_skipped() {
    check(
        "X86_64 n\n(* one *)\n{ 0:RAX=1 }\n(**** (* two *) ****)\nP0;\n NOPL %cs:0(%rax,%eax,0); # three | four\n shl 2,%eax;\n MOVQ %RAX,(x);\nforall 0:RAX=4\n",
        expect![[r#"
            program n
              shared x = 0
            thread P0
                  rax := u32((i32(rax) << 2))
                  x = rax
            forall (0:rax=4)
            shows ["0:rax"]
        "#]],
    );
}

#[test]
fn every_instruction_knows_its_place() {
    let text = "X86_64 n\n{}\n P0 | P1 ;\n mfence | lock incq (x) ;\nexists (x=1)\n";
    let program = litmus::read("test.litmus", text).expect("it is well formed");
    assert_eq!(program.sources[0].text.as_deref(), Some(text));
    let span = program.threads[1].places[0].span.expect("it came from a text");
    assert_eq!((span.source, span.line, span.column, span.length), (0, 4, 11, 13));
}
