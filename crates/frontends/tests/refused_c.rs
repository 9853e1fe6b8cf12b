//! What is refused of litmus tests for C, where, and with which help.

use std::fmt::Write;

use expect_test::{Expect, expect};
use teetotal_frontends::litmus;

fn check(text: &str, expected: Expect) {
    let errors = litmus::read("test.litmus", text).expect_err("this test is wrong");
    let mut shown = String::new();
    for error in errors {
        let help = error.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        writeln!(shown, "{error}{help}").expect("a string takes any text");
    }
    expected.assert_eq(&shown);
}

/// A thread with these statements from line 5 on, one a line.
fn body(lines: &[&str]) -> String {
    format!(
        "C n\n{{ int y=1; }}\nP0(atomic_int *x, int **p, long *l, bool *f)\n{{\n{}\n}}\nexists (x=1)\n",
        lines.join("\n")
    )
}

#[test]
fn all_mistakes_are_found_in_one_pass() {
    check(
        &body(&[
            "int r0 = atomic_laod(x);",
            "r0 = r1;",
            "*y = 1;",
            "*q = 1;",
            "x = 1;",
            "r0 = *r0;",
            "smp_mb(1);",
            "r0 = smp_mb();",
            "r0 + 1 = 2;",
            "goto L;",
            "break;",
            "int r0 = 2;",
            "atomic_store(x);",
        ]),
        expect![[r#"
            5:10: the function `atomic_laod` is not supported (did you mean `atomic_load`?)
            6:6: `r1` is declared nowhere in thread 0 (did you mean `r0`?)
            7:2: `y` is declared nowhere in thread 0 (add it to the parameters: `P0(int *y)`)
            8:2: `q` is declared nowhere in thread 0 (declare a local variable: `int q;`)
            9:1: `x` is a pointer to a shared location (write `*x` for what it points to)
            10:7: this is a number, and locations have different types (declare what holds an address as a pointer: `int *r0;`)
            11:1: `smp_mb` takes 0 arguments, but has 1
            12:6: `smp_mb` returns no value
            13:1: this is neither a local variable nor a place in memory
            14:1: this thread has no label `L`
            15:1: there is no loop around this
            16:5: `r0` is declared already (a thread has one variable of each name; give this one another)
            17:1: `atomic_store` takes 2 arguments, but has 1
        "#]],
    );
}

#[test]
fn what_is_not_supported_says_what_to_do() {
    check(
        &body(&[
            "rcu_read_lock();",
            "synchronize_rcu();",
            "int r0 = srcu_read_lock(x);",
            "int *r1 = malloc(4);",
            "printf(\"%d { \", r0);",
            "struct node *n;",
            "float r2;",
            "r0 = x->next;",
            "r0 = 1.5;",
            "switch (r0) { case 1: break; }",
            "int r3[2];",
            "void *r4;",
            "r0 = sizeof(int);",
            "asm volatile (\"mfence\");",
            "mutex_lock(x);",
            "foo(r0);",
        ]),
        expect![[r#"
            5:1: the function `rcu_read_lock` is not supported (grace periods of RCU are not part of the models; `rcu_dereference` and `rcu_assign_pointer` are supported)
            6:1: the function `synchronize_rcu` is not supported (grace periods of RCU are not part of the models)
            7:10: the function `srcu_read_lock` is not supported (grace periods of SRCU are not part of the models)
            8:11: the function `malloc` is not supported (declare every location in the initial state)
            9:8: strings are not supported
            10:1: `struct` is not supported (declare each member as a location of its own)
            11:1: `float` is not supported (only integers are supported)
            12:7: structures are not supported (declare each member as a location of its own)
            13:6: `1.5` is no integer; only integers are supported
            14:1: `switch` is not supported (write it with `if` and `else`)
            15:5: the local variable `r3` is an array (declare arrays in the initial state: `{ int t[2]={0,0}; }`)
            16:1: `void` is not supported (a pointer says what it points to: `int *`)
            17:6: `sizeof` is not supported
            18:1: `asm` is not supported (use the fences and the atomic operations of C11 or of the kernel)
            19:1: the function `mutex_lock` is not supported (locks are `spinlock_t`, with `spin_lock` and `spin_unlock`)
            20:1: the function `foo` is not supported
        "#]],
    );
}

#[test]
fn orders_that_c_does_not_have_are_refused() {
    check(
        &body(&[
            "int r0 = atomic_load_explicit(x, memory_order_release);",
            "atomic_store_explicit(x, 1, memory_order_acquire);",
            "r0 = atomic_load_explicit(x, memory_order_relax);",
            "r0 = atomic_load_explicit(x, 1);",
            "atomic_compare_exchange_strong_explicit(x, &r0, 1, memory_order_seq_cst, memory_order_release);",
        ]),
        expect![[r#"
            5:10: a load cannot be ordered as a release
            6:1: a store cannot be ordered as an acquire
            7:30: this is not a memory order (did you mean `memory_order_relaxed`?)
            8:30: this is not a memory order (write `memory_order_seq_cst`, or a weaker one)
            9:1: a compare-exchange that fails is a load, which cannot be ordered as a release
        "#]],
    );
}

#[test]
fn pointers_and_numbers_are_told_apart() {
    check(
        &body(&[
            "int r0 = 4096;",
            "int *r1 = r0;",
            "long *r2 = x;",
            "*p = l;",
            "*p = &r0;",
            "r1 = &x;",
            "r0 = x * 2;",
            "r0 = x == 1;",
            "atomic_fetch_add(p, 1);",
            "atomic_fetch_add(f, 1);",
            "r0 = *(x + 5);",
            "r0 = x[1];",
            "READ_ONCE(r0);",
            "WRITE_ONCE(x, 1);",
        ]),
        expect![[r#"
            6:11: where a number leads to as a pointer is not known, as locations differ in width (declare what holds an address as a pointer: `int *r0;`)
            7:12: this pointer leads to something of another type than is wanted here
            8:1: this pointer leads to something of another type than is wanted here
            9:6: local variables have no address (only the second argument of a compare-exchange may be the address of one)
            10:6: `x` is a pointer already (write `x` for the address of the location `x`)
            11:6: this operator takes numbers, not pointers
            13:1: this is arithmetic on a location that holds no number
            14:1: this is arithmetic on a location that holds no number
            15:7: this is not the address of a location
            16:6: `x` has no element 1
            17:11: this is a local variable, not a shared location
            18:12: `x` is a pointer to a shared location (write `*x` for what it points to)
        "#]],
    );
}

#[test]
fn parameters_are_pointers_of_one_width() {
    check(
        "C n\n{ long z=0; }\nP0(int x, node *y, int *z, int *w, int *w) { }\nP1(int *a) { *a = 1; }\nP2(long *a) { }\nexists (a=1)\n",
        expect![[r#"
            3:8: the parameter `x` is not a pointer (parameters are pointers to shared locations: `int *x`)
            3:11: `node` is not a known type (integer types such as `int`, `atomic_int`, `int64_t` and `atomic_t` are known)
            3:25: `z` has 32 bits here and 64 elsewhere (accesses of mixed size are not supported)
            3:41: two parameters are called `w`
            5:10: `a` has 64 bits here and 32 elsewhere (accesses of mixed size are not supported)
        "#]],
    );
}

#[test]
fn a_condition_on_an_unknown_variable_is_refused() {
    check(
        "C n\n{ 2:r0=1; }\nP0(int *x) { int r0 = *x; }\nP1(int *x) { *x = 1; }\nfilter (1:r0=0)\nexists (0:r1=1 /\\ 3:r0=0 /\\ 0:r0=x)\n",
        expect![[r#"
            2:3: this test has no thread 2 (its threads are 0 to 1)
            5:9: thread 1 has no local variable `r0`
            6:9: thread 0 has no local variable `r1` (did you mean `r0`?)
            6:19: this test has no thread 3 (its threads are 0 to 1)
            6:34: `x` on this side is its address, which no thread has (write `[x]` for what it holds)
        "#]],
    );
}

#[test]
fn truncated_tests_are_refused() {
    check(
        "C n\n{}\n",
        expect![[r#"
        3:1: the text ends where a function such as `P0(int *x) { … }` is expected
    "#]],
    );
    check(
        "C n\n{}\nP1(int *x) {}\n",
        expect![[r#"
        3:1: `P1` stands where thread `P0` is expected
    "#]],
    );
    check(
        "C n\n{}\nP0(int *x) { *x = 1;\nexists (x=1)\n",
        expect![[r#"
        4:1: a function does not end before this (close it with `}`)
    "#]],
    );
    check(
        "C n\n{}\nP0(int *x) { *x = ; if (*x { *x = 2; } }\nexist (x=1)\n",
        expect![[r#"
        3:19: `;` stands where an expression is expected
        3:28: `{` stands where `)` is expected
        4:1: `exist` is found where a condition is expected (did you mean `exists`?)
    "#]],
    );
    check(
        "C n\n{}\nP0(int *x) { /* *x = 1; }\n",
        expect![[r#"
        3:14: this comment does not end (close it with `*/`)
        4:1: the text ends inside a function (close it with `}`)
    "#]],
    );
    check(
        "C n\n{}\nP0(int *x) { if (*x) int r0 = 1; else *x = 2; else *x = 3; }\nexists (x=1)",
        expect![[r#"
        3:22: a declaration stands alone under a condition or in a loop (put it into braces)
        3:34: this `else` has no `if`
        3:47: this `else` has no `if`
    "#]],
    );
}

#[test]
fn deep_nesting_and_long_files_are_no_trouble() {
    let read = |line: String| litmus::read("test.litmus", &body(&[&line])).map_err(|errors| errors[0].message.clone());
    let deep = "code is nested more than 100 deep".to_owned();
    let n = 100_000;
    let wrong = [
        format!("int r0 = {}1{};", "(".repeat(n), ")".repeat(n)),
        format!("int r0 = {}1;", "!".repeat(n)),
        format!("int r0 = {}1;", "1+".repeat(n)),
        format!("int r0 = {}1;", "1?2:".repeat(n)),
        format!("int r0; {}1;", "r0=".repeat(n)),
        format!("{}{}", "{".repeat(n), "}".repeat(n)),
        format!("int r0; {}r0=1;", "if(r0) r0=2; else ".repeat(n)),
        format!("int r0 = atomic_load({}x);", "&*".repeat(n)),
    ];
    for line in wrong {
        let start: String = line.chars().take(30).collect();
        assert_eq!(read(line).err(), Some(deep.clone()), "{start}");
    }
    assert!(read("atomic_store(x, 1); ".repeat(10_000)).is_ok());
    let wrong = litmus::read("test.litmus", &body(&["atomic_sotre(y, z); ".repeat(10_000).as_str()]));
    assert_eq!(wrong.map_err(|errors| errors.len()), Err(100));
}
