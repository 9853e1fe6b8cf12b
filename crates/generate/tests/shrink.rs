//! Shrinking leads to the smallest program of which something holds.

use expect_test::{Expect, expect};
use teetotal_generate::{Shape, generate, interleavings_bound, program, shrink};
use teetotal_program::Order;
use teetotal_program::ir::{Instruction, Program};

fn check(text: &str, still_fails: impl FnMut(&Program) -> bool, expected: Expect) {
    let printed = shrink(&program(text), still_fails).to_string();
    let lines = printed.lines().skip(1).map(|line| format!("{}\n", line.trim_end()));
    expected.assert_eq(&lines.collect::<String>());
}

fn count(program: &Program, holds: impl Fn(&Instruction) -> bool) -> usize {
    program.threads.iter().flat_map(|thread| &thread.code).filter(|i| holds(i)).count()
}

fn is_fence(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Fence { order: Order::Release })
}

#[test]
fn what_does_not_matter_is_removed() {
    check(
        "{y: u8 = 3} x=5; sfence; y =rel 2; r0 = add(z, 1) || r0=y; if r0==2: r1=x || z=1; spawn P3 || fence",
        |p| count(p, is_fence) == 1,
        expect![[r#"
            thread P0
                  store-store fence
        "#]],
    );
}

#[test]
fn what_matters_stays_and_is_simplified() {
    let both_threads = |p: &Program| {
        let stores = |at: usize| p.threads[at].code.iter().any(|i| matches!(i, Instruction::Store { .. }));
        p.n_threads() == 2 && stores(0) && stores(1)
    };
    check(
        "{x=7} r0 = x; x =sc r0+3; fence || r0 = cas.rlx/rlx(y, 1, 2); y =rel 9",
        both_threads,
        expect![[r#"
          shared x = 0
          shared y = 0
        thread P0
              x = 1
        thread P1
              y = 1
    "#]],
    );
}

#[test]
fn jumps_still_go_where_they_went() {
    check(
        "r0=x; if r0==1: y=1; fence; z=1 || x=1",
        |p| count(p, |i| matches!(i, Instruction::Branch { .. })) == 1,
        expect![[r#"
            thread P0
                  if !(r0 == 1) goto 1
              1:  end
        "#]],
    );
}

#[test]
fn random_programs_shrink_to_a_single_store() {
    let stores = |p: &Program| count(p, |i| matches!(i, Instruction::Store { .. })) > 0;
    for shape in [Shape::litmus(), Shape::full(), Shape::loops(), Shape::spins()] {
        for program in (0..60).map(|seed| generate(seed, &shape)).filter(stores) {
            let smallest = shrink(&program, stores);
            assert_eq!(smallest.n_threads(), 1, "{smallest}");
            assert_eq!(count(&smallest, |_| true), 1, "{smallest}");
        }
    }
}

#[test]
fn no_loop_becomes_endless_on_the_way() {
    for program in (0..60).map(|seed| generate(seed, &Shape::loops())).filter(|p| !p.is_loop_free()) {
        let smallest = shrink(&program, |p| !p.is_loop_free());
        assert!(interleavings_bound(&smallest, 1_000_000) <= 1_000_000, "{smallest}");
    }
}
