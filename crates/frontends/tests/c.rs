//! How litmus tests for C read as programs.

use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal_frontends::litmus;
use teetotal_program::ir::Interpreter;
use teetotal_program::{Reg, Subject, ThreadId};

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

/// A test of one thread with some parameters, and this body.
fn body(body: &str) -> String {
    let parameters = "atomic_int *x, int *y, unsigned *u, int **p, long *l, int *t, uint8_t *b";
    format!("C n\n{{ int t[3]={{1,2,3}}; int *p=&x; }}\nP0({parameters})\n{{\n{body}\n}}\nforall (true)\n")
}

/// Only the code of it.
fn check_body(text: &str, expected: Expect) {
    let shown = match litmus::read("test.litmus", &body(text)) {
        Ok(program) => {
            let shown = program.to_string();
            let code = shown.lines().skip_while(|line| !line.starts_with("thread")).skip(1);
            let code: Vec<&str> = code.take_while(|line| !line.starts_with("forall")).collect();
            // Where no line has a label, all are indented as if they had one.
            let indent = code.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
            code.iter().map(|line| format!("{}\n", &line[indent..])).collect()
        }
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect::<String>(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn functions_are_threads_and_locals_are_registers() {
    check(
        "C SB with a remark\n\"Fre PodWR\"\n(* a comment *)\n{ [x]=0; int y=-1; 1:r2=5; }\n\n\
         P0(atomic_int* x, volatile int *y) {\n  atomic_store(x, 1); // one\n  int r0 = *y;\n}\n\n\
         /* two */ void P1 (atomic_int *x, int y[]) {\n  *y = 1; /* three */\n  (* four *)\n  int r1 = atomic_load_explicit(x, memory_order_relaxed);\n}\n\
         locations [y;]\nfilter (1:r2=5)\nexists (0:r0=0 /\\ 1:r1=0)\n",
        expect![[r#"
            program SB
              shared x = 0
              shared y = -1
            thread P0
                  x = 1 (seq-cst)
                  r0 = y
            thread P1
                  y = 1
                  r1 = x (relaxed)
            filter (1:r2=5)
            exists (0:r0=0 /\ 1:r1=0)
            shows ["0:r0", "1:r1", "[y]"]
        "#]],
    );
}

#[test]
fn expressions_compute_as_c_does() {
    check_body(
        "int r0 = 1 + 2 * 3 - 4; unsigned r1 = r0; long r2 = -1; r0 += 0x10 | 010; r1 = r0 < r1; r2 = r0 << 3 >> 1;\n\
         r0 = ~r0 & -r0 ^ !r0; r1 = (uint8_t)r0 / 3u; r0 = r0 > 1 ? r1 : 0; r0 = r0 && r1 || !r2; r0 = (r0 == 1, 7);\n\
         int r3 = 0, *r4 = NULL; r3++; r3 = r3-- + --r3; bool r5 = r0; r5 = r5 / r3;",
        expect![[r#"
                  r0 := 3
                  r1 := u32(r0)
                  r2 := -1
                  r0 := i32((r0 + 24))
                  r1 := u32((u32(r0) <u r1))
                  r2 := i32((i32((r0 << 3)) >> 1))
                  r0 := (i32(~r0) & i32(-r0)) ^ !r0
                  r1 := u8(r0) /u 3
                  r0 := i32(((1 < r0) ? r1 : 0))
                  r0 := (r0 && r1) || !r2
                  r0 := 7
                  r3 := 0
                  r4 := 0
                  r3 := i32((r3 + 1))
                  t6 := r3
                  r3 := i32((t6 - 1))
                  t7 := t6
                  r3 := i32((r3 - 1))
                  r3 := i32((t7 + r3))
                  r5 := r0 != 0
                  r5 := i32((r5 / r3)) != 0
        "#]],
    );
}

#[test]
fn shared_memory_is_accessed_from_left_to_right() {
    check_body(
        "int r0 = *y + *x; *y = *x + r0; *y += *x; (*y)++; int r1 = (*y)--; t[1] = t[r0]; t[r0 + 1]++; *b = *b + 1; *u = *y; r0 = *u; *l = *y;",
        expect![[r#"
                  t2 = y
                  t3 = x
                  r0 := i32((t2 + t3))
                  t2 = x
                  y = t2 + r0
                  t2 = y
                  t3 = x
                  y = t2 + t3
                  t2 = y
                  y = t2 + 1
                  t2 = y
                  y = t2 - 1
                  r1 := t2
                  t2 = t[r0]
                  t[1] = t2
                  t2 = t[i32((r0 + 1))]
                  t[i32((r0 + 1))] = t2 + 1
                  t2 = b
                  b = t2 + 1
                  t2 = y
                  u = t2
                  t2 = u
                  r0 := i32(t2)
                  t2 = y
                  l = t2
        "#]],
    );
}

#[test]
fn pointers_are_values() {
    check_body(
        "int *r0 = *p; int r1 = *r0; *p = y; *p = &t[1]; *(t + 1) = 7; r0 = t + r1; *r0 = 1; r0[1] = 2; r1 = r0 - t; r1 = r0 == t; int **r2 = p; r1 = **r2; r1 = *p == NULL;",
        expect![[r#"
                  r0 = p
                  t3 = *r0
                  r1 := i32(t3)
                  p = &y
                  p = &t[1]
                  t[1] = 7
                  r0 := &t[0] + (r1 * 4)
                  *r0 = 1
                  *(r0 + 4) = 2
                  r1 := i32(((r0 - &t[0]) / 4))
                  r1 := r0 == &t[0]
                  r2 := &p
                  t3 = *r2
                  t4 = *t3
                  r1 := i32(t4)
                  t3 = p
                  r1 := t3 == 0
        "#]],
    );
}

#[test]
fn variables_need_no_declaration_and_numbers_may_be_addresses_as_in_herd() {
    check(
        "C n\n{ h=l1; l1=l2; }\nP0(int *h, int *new)\n{\n int r1;\n r1 = READ_ONCE(*h); r2 = cmpxchg(h, r1, new);\n\
         if (r1 != new) { r3 = new + (r1 - r1); r4 = smp_load_acquire(r1); WRITE_ONCE(*r3, r1); }\n}\n\
         exists (~h=new \\/ 0:r1=0:r2 /\\ 0:r4=l2)\n",
        expect![[r#"
            program n
              shared h = 4104
              shared l1 = 4112
              shared l2 = 0
              shared new = 0
            thread P0
                  r1 = h (relaxed)
                  r2 = compare_exchange(h, r1, &new, else relaxed)
                  if r1 == &new goto 6
                  r3 := &new + (i32((r1 - r1)) * 4)
                  r4 = *r1 (acquire)
                  *r3 = r1 (relaxed)
              6:  end
            exists (not ([h]=new) \/ 0:r1=0:r2 /\ 0:r4=l2)
            shows ["0:r1", "0:r2", "0:r4", "[h]"]
        "#]],
    );
    check(
        "C n\n{ p=x; }\nP0(int **p) { r0 = rcu_dereference(*p); r1 = READ_ONCE(*r0); for (i = 0; i < 2; i++) r1 += i; }\nexists (0:r0=x)\n",
        expect![[r#"
            program n
              shared p = 4104
              shared x = 0
            thread P0
                  r0 = p (relaxed)
                  r1 = *r0 (relaxed)
                  i := 0
              3:  if !(i < 2) goto 7
                  r1 := i32((r1 + i))
                  i := i32((i + 1))
                  goto 3
              7:  end
            exists (0:r0=x)
            shows ["0:r0"]
        "#]],
    );
}

#[test]
fn control_flow_is_jumps() {
    check_body(
        "int r0 = 0; if (*x) r0 = 1; else { r0 = 2; }\nwhile (atomic_load(x) == 0) ;\ndo { r0++; if (r0 == 3) continue; if (r0 > 5) break; } while (r0);\n\
         for (int i = 0; i < 2; i++) *y = i;\nif (*x && !*y || r0) goto out;\nwhile (1) { if (*x) return; }\nout: ; assert(r0 == 1 || *y);",
        expect![[r#"
                  r0 := 0
                  t2 = x
                  if !t2 goto 5
                  r0 := 1
                  goto 6
              5:  r0 := 2
              6:  t2 = x (seq-cst)
                  if t2 != 0 goto 9
                  goto 6
              9:  r0 := i32((r0 + 1))
                  if r0 != 3 goto 12
                  goto 14
              12: if !(5 < r0) goto 14
                  goto 15
              14: if r0 goto 9
              15: i := 0
              16: if !(i < 2) goto 20
                  y = i
                  i := i32((i + 1))
                  goto 16
              20: t2 = x
                  if !t2 goto 24
                  t3 = y
                  if !t3 goto 25
              24: if !r0 goto 26
              25: goto 30
              26: t2 = x
                  if !t2 goto 29
                  goto 37
              29: goto 26
              30: if r0 == 1 goto 35
                  t3 = y
                  if t3 goto 35
                  t2 := 0
                  goto 36
              35: t2 := 1
              36: assert t2 "r0 == 1 || *y"
              37: end
        "#]],
    );
}

#[test]
fn what_the_left_side_decides_is_not_computed() {
    check_body(
        "int r0 = *x && *y; r0 = *x || *y; r0 = r0 ? *x : *u; r0 = r0 && 1 / r0;",
        expect![[r#"
                  t2 = x
                  if !t2 goto 4
                  t3 = y
                  if t3 goto 6
              4:  t1 := 0
                  goto 7
              6:  t1 := 1
              7:  r0 := t1
                  t2 = x
                  if t2 goto 14
                  t3 = y
                  if t3 goto 14
                  t1 := 0
                  goto 15
              14: t1 := 1
              15: r0 := t1
                  if !r0 goto 20
                  t2 = x
                  t1 := t2
                  goto 22
              20: t3 = u
                  t1 := t3
              22: r0 := i32(u32(t1))
                  if !r0 goto 25
                  if i32((1 / r0)) goto 27
              25: t1 := 0
                  goto 28
              27: t1 := 1
              28: r0 := t1
        "#]],
    );
}

#[test]
fn operations_of_c11_have_their_orders() {
    check_body(
        "int r0 = atomic_load_explicit(x, memory_order_acquire); atomic_store_explicit(x, r0, memory_order_release); atomic_store(x, 2);\n\
         atomic_init(x, 3); r0 = atomic_exchange_explicit(x, 4, relaxed); r0 = atomic_fetch_add(x, 1); atomic_fetch_or_explicit(x, r0, memory_order_acq_rel);\n\
         atomic_thread_fence(memory_order_seq_cst); atomic_thread_fence(memory_order_release); atomic_thread_fence(memory_order_acquire);\n\
         atomic_thread_fence(memory_order_relaxed); atomic_signal_fence(memory_order_seq_cst); r0 = atomic_fetch_sub_explicit(x, *y, memory_order_seq_cst);",
        expect![[r#"
                  r0 = x (acquire)
                  x = r0 (release)
                  x = 2 (seq-cst)
                  x = 3
                  r0 = exchange(x, 4) (relaxed)
                  r0 = fetch_add(x, 1)
                  t1 = fetch_or(x, r0) (acquire-release)
                  fence
                  store-store fence
                  load-load fence
                  t1 = y
                  r0 = fetch_sub(x, t1)
        "#]],
    );
}

#[test]
fn a_compare_exchange_keeps_what_it_found() {
    check_body(
        "int r0 = 0; int r1 = atomic_compare_exchange_strong(x, &r0, 1);\n\
         if (atomic_compare_exchange_strong_explicit(x, y, 2, memory_order_release, memory_order_relaxed)) r0 = 1;\n\
         r1 = atomic_compare_exchange_weak_explicit(x, &r0, 3, memory_order_acq_rel, memory_order_acquire);",
        expect![[r#"
                  r0 := 0
                  t2 = compare_exchange(x, r0, 1, else seq-cst)
                  t3 := t2 == r0
                  r0 := t3 ? r0 : t2
                  r1 := t3
                  t2 = y
                  t3 = compare_exchange(x, t2, 2, else relaxed) (release)
                  t4 := t3 == t2
                  if t4 goto 10
                  y = t3
              10: if !t4 goto 12
                  r0 := 1
              12: t3 = choose below 2
                  t2 = update(x, 3 when (old == r0) && (t3 == 0), else acquire) (acquire-release)
                  assume (t2 == r0) || (t3 == 0)
                  t4 := (t2 == r0) && (t3 == 0)
                  r0 := t4 ? r0 : t2
                  r1 := t4
        "#]],
    );
}

#[test]
fn operations_of_the_kernel_have_their_orders() {
    check_body(
        "int r0 = READ_ONCE(*x); WRITE_ONCE(*x, 1); r0 = smp_load_acquire(x); smp_store_release(x, 2); smp_store_mb(*x, 3);\n\
         smp_mb(); smp_wmb(); smp_rmb(); smp_mb__before_atomic(); barrier(); int *r1 = rcu_dereference(*p); rcu_assign_pointer(*p, x);\n\
         r0 = xchg(x, 1); r0 = xchg_relaxed(x, 1); r0 = cmpxchg(x, 1, 2); r0 = cmpxchg_acquire(x, r0, 2);",
        expect![[r#"
                  r0 = x (relaxed)
                  x = 1 (relaxed)
                  r0 = x (acquire)
                  x = 2 (release)
                  x = 3 (relaxed)
                  fence
                  fence
                  store-store fence
                  load-load fence
                  fence
                  r1 = p (relaxed)
                  p = &x (release)
                  r0 = exchange(x, 1)
                  r0 = exchange(x, 1) (relaxed)
                  r0 = compare_exchange(x, 1, 2, else relaxed)
                  r0 = compare_exchange(x, r0, 2, else relaxed) (acquire)
        "#]],
    );
}

#[test]
fn atomics_of_the_kernel_are_updates() {
    check(
        "C n\n{ atomic_t v = ATOMIC_INIT(3); }\nP0(atomic_t *v)\n{\n\
         int r0 = atomic_read(v); atomic_set(v, 1); atomic_inc(v); atomic_add(2, v); atomic_andnot(6, v); r0 = atomic_add_return(r0, v);\n\
         r0 = atomic_dec_return_release(v); r0 = atomic_fetch_add(1, v); r0 = atomic_fetch_add_relaxed(1, v); r0 = atomic_dec_and_test(v);\n\
         r0 = atomic_add_unless(v, 1, 5); r0 = atomic_cmpxchg(v, 0, 1); r0 = atomic_xchg_acquire(v, 9); r0 = atomic_add_negative(-4, v); r0 = atomic_inc_not_zero(v);\n}\nforall (true)\n",
        expect![[r#"
            program n
              shared v = 3
            thread P0
                  r0 = v (relaxed)
                  v = 1 (relaxed)
                  t1 = fetch_add(v, 1) (relaxed)
                  t1 = fetch_add(v, 2) (relaxed)
                  t1 = fetch_and(v, -7) (relaxed)
                  t1 = fetch_add(v, r0)
                  r0 := i32((t1 + r0))
                  t1 = fetch_sub(v, 1) (release)
                  r0 := i32((t1 - 1))
                  r0 = fetch_add(v, 1)
                  r0 = fetch_add(v, 1) (relaxed)
                  t1 = fetch_sub(v, 1)
                  r0 := i32((t1 - 1)) == 0
                  t1 = update(v, (old + 1) when old != 5, else relaxed)
                  r0 := t1 != 5
                  r0 = compare_exchange(v, 0, 1, else relaxed)
                  r0 = exchange(v, 9) (acquire)
                  t1 = fetch_add(v, -4)
                  r0 := i32((t1 + -4)) < 0
                  t1 = update(v, (old + 1) when old != 0, else relaxed)
                  r0 := t1 != 0
            forall (true)
            shows []
        "#]],
    );
}

#[test]
fn locks_of_the_kernel_are_taken_and_stored_to() {
    check(
        "C n\n{}\nP0(spinlock_t *s, int *x)\n{\n spin_lock(s); *x = 1; spin_unlock(s);\n\
         int r0 = spin_trylock(s); if (r0) spin_unlock(s); r0 = spin_is_locked(s);\n}\nexists (0:r0=0)\n",
        expect![[r#"
            program n
              shared s = 0
              shared x = 0
            thread P0
                  lock s (acquire)
                  x = 1
                  s = 0 (release)
                  t1 = compare_exchange(s, 0, 1, else relaxed) (acquire)
                  r0 := t1 == 0
                  if !r0 goto 7
                  s = 0 (release)
              7:  t1 = s (relaxed)
                  r0 := t1 != 0
            exists (0:r0=0)
            shows ["0:r0"]
        "#]],
    );
}

#[test]
fn every_operation_knows_its_place() {
    let text = "C n\n{}\nP0(int *x)\n{\n  int r0 = READ_ONCE(*x);\n}\nexists (0:r0=0)\n";
    let program = litmus::read("test.litmus", text).expect("it is well formed");
    let span = program.threads[0].places[0].span.expect("it came from a text");
    assert_eq!((span.source, span.line, span.column, span.length), (0, 5, 12, 13));
}

/// What `r` of type `ty` holds after `expression` was assigned to it.
fn computed(ty: &str, expression: &str) -> i64 {
    let text = format!(
        "C n\n{{ int 0:a=-7; int 0:b=2; unsigned 0:u=1; long 0:l=-1; uint8_t 0:c=200; int8_t 0:s=-56; }}\n\
         P0(int *x) {{ {ty} r = {expression}; *x = 1; }}\nexists (x=1)\n"
    );
    let program = Arc::new(litmus::read("test.litmus", &text).unwrap_or_else(|errors| panic!("{}", errors[0])));
    let register =
        program.threads[0].registers.iter().position(|register| register.name == "r").expect("it is declared");
    Interpreter::new(program).register(ThreadId(0), Reg(register as u16)) as i64
}

#[test]
fn numbers_come_out_as_in_c() {
    let expected: &[(&str, &str, i64)] = &[
        ("int", "a / b", -3),
        ("int", "a % b", -1),
        ("int", "a >> 1", -4),
        ("int", "a < u", 0),
        ("int", "a < 1", 1),
        ("int", "a < c", 1),
        ("int", "l < u", 1),
        ("unsigned", "a", 4_294_967_289),
        ("unsigned", "-u", 4_294_967_295),
        ("unsigned", "-u >> 1", 2_147_483_647),
        ("int", "-u / 2", 2_147_483_647),
        ("long", "-u + l", 4_294_967_294),
        ("long", "a + 0ul < 5", 0),
        ("int", "c + c", 400),
        ("uint8_t", "c + c", 144),
        ("int8_t", "c", -56),
        ("int", "(uint8_t)s == c", 1),
        ("int", "s == c", 0),
        ("int", "~c", -201),
        ("int", "!a + !!a * 2", 2),
        ("int", "1 << 31", -2_147_483_648),
        ("int", "(b << 30) + 0 == -2147483647 - 1", 1),
        ("int", "2147483647 + b", -2_147_483_647),
        ("long", "2147483648 * b", 4_294_967_296),
        ("long", "0xffffffff", 4_294_967_295),
        ("int", "0xffffffff == -1", 1),
        ("int", "4294967295 == -1", 0),
        ("int", "017 + 0b11 + 0x1F", 49),
        ("bool", "256", 1),
        ("int", "(bool)a", 1),
        ("int", "b ? u - 2 > 0 : 5", 1),
        ("long", "0 ? u : -1", 4_294_967_295),
        ("int", "1 - 1 - 1", -1),
        ("int", "1 | 2 ^ 3 & 2 == 2", 3),
        ("int", "b == 2 || a / (b - 2)", 1),
        ("int", "b != 2 && a / (b - 2)", 0),
        ("int", "(a = 5, a++ + ++a)", 12),
    ];
    for (ty, expression, value) in expected {
        assert_eq!(computed(ty, expression), *value, "{ty} r = {expression}");
    }
}
