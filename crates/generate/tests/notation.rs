//! The one-line notation says the programs that it seems to say.

use expect_test::{Expect, expect};
use teetotal_generate::program;

fn check(text: &str, expected: Expect) {
    let printed = program(text).to_string();
    let lines = printed.lines().skip(1).map(|line| format!("{}\n", line.trim_end()));
    expected.assert_eq(&lines.collect::<String>());
}

fn check_refused(text: &str, expected: Expect) {
    let text = text.to_owned();
    let refusal = std::panic::catch_unwind(|| program(&text)).expect_err("it is malformed");
    expected.assert_eq(refusal.downcast_ref::<String>().expect("a message"));
}

#[test]
fn stores_and_loads() {
    check(
        "x=1; r0=y || y=1; r1=x",
        expect![[r#"
          shared x = 0
          shared y = 0
        thread P0
              x = 1
              r0 = y
        thread P1
              y = 1
              r1 = x
    "#]],
    );
}

#[test]
fn orders_follow_the_sign() {
    check(
        "x =rel 1; x =sc 2; x =rlx r0; r0 =acq x; r1 =sc x; x=r1+1",
        expect![[r#"
          shared x = 0
        thread P0
              x = 1 (release)
              x = 2 (seq-cst)
              x = r0 (relaxed)
              r0 = x (acquire)
              r1 = x (seq-cst)
              x = r1 + 1
    "#]],
    );
}

#[test]
fn read_modify_writes() {
    check(
        "r0 = xchg(x,1); r1 = add(x, r0); r2 = add.rlx(x,1); r3 = cas(x,0,1); r4 = cas.acq/rlx(x, 0, r3); r5=max.ar(x,-1)",
        expect![[r#"
              shared x = 0
            thread P0
                  r0 = exchange(x, 1)
                  r1 = fetch_add(x, r0)
                  r2 = fetch_add(x, 1) (relaxed)
                  r3 = compare_exchange(x, 0, 1)
                  r4 = compare_exchange(x, 0, r3, else relaxed) (acquire)
                  r5 = fetch_max(x, -1) (acquire-release)
        "#]],
    );
}

#[test]
fn fences_and_locks() {
    check(
        "fence; sfence; lfence; fence.ar; sync; lock l; x=1; unlock l; lock.acq l; unlock.rel l",
        expect![[r#"
          shared l = 0
          shared x = 0
        thread P0
              fence
              store-store fence
              load-load fence
              acquire-release fence
              sync
              lock l
              x = 1
              unlock l
              lock l (acquire)
              unlock l (release)
    "#]],
    );
}

#[test]
fn waiting_choosing_and_conditions() {
    check(
        "await x==1; await x!=r0 && y>=2; r0 = choose 2; assume r0==1; assert r0!=2; if r0 > 0: y=2; r1 = r0 - 1",
        expect![[r#"
              shared x = 0
              shared y = 0
            thread P0
                  await t0 = x until t0 == 1
                  await t1 = x, t3 = y until (t1 != r0) && (2 <= t3)
                  r0 = choose below 2
                  assume r0 == 1
                  assert r0 != 2 "r0!=2"
                  if !(0 < r0) goto 7
                  y = 2
              7:  r1 := r0 - 1
        "#]],
    );
}

#[test]
fn a_spawned_thread_waits_for_its_spawn() {
    check(
        "x=1; spawn P1; join.acq P1; r0=y || y=1",
        expect![[r#"
          shared x = 0
          shared y = 0
        thread P0
              x = 1
              spawn P1
              join P1 (acquire)
              r0 = y
        thread P1 (spawned)
              y = 1
    "#]],
    );
}

#[test]
fn locations_may_be_declared_first() {
    check(
        "{y=2, x: u8 = 255} r0 = add(x, 1) || r0 = y",
        expect![[r#"
          shared y = 2
          shared x = 255
        thread P0
              r0 = fetch_add(x, 1)
        thread P1
              r0 = y
    "#]],
    );
}

#[test]
fn everything_is_observed_and_every_statement_has_its_place() {
    let program = program("x=1; r0=y || r0=x");
    let observed: Vec<String> = program.observed.iter().map(|&term| program.term_name(term)).collect();
    assert_eq!(observed, ["0:r0", "1:r0", "[x]", "[y]"]);
    let span = program.threads[0].places[1].span.expect("every statement has one");
    assert_eq!((span.line, span.column, span.length), (1, 6, 4));
}

#[test]
fn malformed_texts_are_refused_with_a_reason() {
    check_refused(
        "x=1; nonsense",
        expect![[r#"
        malformed program: not a statement in `nonsense`
          in: x=1; nonsense"#]],
    );
    check_refused(
        "r0 = x + 1",
        expect![[r#"
        malformed program: `x` is not a register in `r0 = x + 1`
          in: r0 = x + 1"#]],
    );
    check_refused(
        "r0 = frob(x, 1)",
        expect![[r#"
        malformed program: `frob` is not a read-modify-write in `r0 = frob(x, 1)`
          in: r0 = frob(x, 1)"#]],
    );
    check_refused(
        "lock.often l",
        expect![[r#"
        malformed program: `often` is not an order in `lock.often l`
          in: lock.often l"#]],
    );
    check_refused(
        "{x: u7 = 1} x=1",
        expect![[r#"
        malformed program: `u7` is not a type
          in: {x: u7 = 1} x=1"#]],
    );
    check_refused(
        "spawn P3",
        expect![[r#"
        malformed program: an instruction of thread `P0` names a thread that does not exist
          in: spawn P3"#]],
    );
}
