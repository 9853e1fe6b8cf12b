//! What models become.

use expect_test::{Expect, expect};
use teetotal_frontends::{Settings, promela};

fn check(text: &str, expected: Expect) {
    check_with(&Settings::default(), text, expected);
}

fn check_with(settings: &Settings, text: &str, expected: Expect) {
    let shown = match promela::read("test.pml", text, settings) {
        Ok(reading) => {
            let program = reading.program.to_string();
            let shown = program.strip_prefix("program test\n").expect("the program is named after its file");
            shown.to_owned()
        }
        Err(errors) => errors.iter().map(|error| format!("error {error}\n")).collect(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_statement_that_reads_and_stores_is_one_step() {
    check(
        "byte x, y; active proctype P() { x = x + y; x++ }",
        expect![[r#"
          shared x = 0
          shared y = 0
        thread P
              [t0 = x, t1 = y] when 1 do x = t0 + t1 goto 1
          1:  t0 := 0
              t1 := 0
              [t0 = x] when 1 do x = t0 + 1 goto 4
          4:  t0 := 0
    "#]],
    );
}

#[test]
fn a_guard_waits_for_all_that_it_looks_at() {
    check(
        "bool f; byte turn; active proctype P() { (f == 0 || turn == _pid); f = 1 }",
        expect![[r#"
          shared f = 0
          shared turn = 0
        thread P
              await t0 = f, t1 = turn until (t0 == 0) || (t1 == 0)
              t0 := 0
              t1 := 0
              f = 1
    "#]],
    );
}

#[test]
fn one_guarded_step_chooses_among_options() {
    check(
        "byte x, y; active proctype P() { do :: x == 1 -> y = 2 :: y == 1 -> break :: else -> x = 3 od }",
        expect![[r#"
              shared x = 0
              shared y = 0
            thread P
              0:  [t0 = x, t1 = y] when t0 == 1 goto 1, when t1 == 1 goto 4, when !((t0 == 1) || (t1 == 1)) goto 7
              1:  t0 := 0
                  t1 := 0
                  goto 10
              4:  t0 := 0
                  t1 := 0
                  goto 14
              7:  t0 := 0
                  t1 := 0
                  goto 12
              10: y = 2
                  goto 0
              12: x = 3
                  goto 0
              14: end
        "#]],
    );
}

#[test]
fn options_on_variables_of_the_process_touch_no_memory() {
    check(
        "byte x; active proctype P() { byte i; do :: i < 3 -> x = i; i++ :: else -> break od }",
        expect![[r#"
          shared x = 0
        thread P
          0:  if i < 3 goto 2
              goto 3
          2:  goto 4
          3:  goto 7
          4:  x = i
              i := u8((i + 1))
              goto 0
          7:  end
    "#]],
    );
}

#[test]
fn a_choice_without_guards_is_a_step() {
    check(
        "byte x; active proctype P() { if :: x = 1 :: x = 2 fi }",
        expect![[r#"
          shared x = 0
        thread P
              [] when 1 goto 1, when 1 goto 3
          1:  x = 1
              goto 5
          3:  x = 2
              goto 5
          5:  end
    "#]],
    );
}

#[test]
fn atomic_holds_others_back_from_its_second_statement_on() {
    check(
        "byte x, y; active proctype P() { atomic { x = 1; (y == 1); x = 2 }; y = 2 }",
        expect![[r#"
          shared x = 0
          shared y = 0
        thread P
              x = 1
              + await t0 = y until t0 == 1
              + t0 := 0
              + x = 2
              y = 2
    "#]],
    );
}

#[test]
fn a_loop_in_atomic_does_not_give_way_when_it_begins_again() {
    check(
        "byte x; active proctype P() { atomic { do :: x < 3 -> x = x + 1 :: else -> break od } }",
        expect![[r#"
          shared x = 0
        thread P
              [t0 = x] when t0 < 3 goto 1, when !(t0 < 3) goto 3
          1:  t0 := 0
              + goto 5
          3:  t0 := 0
              goto 12
          5:  + [t0 = x] when 1 do x = t0 + 1 goto 6
          6:  + t0 := 0
              + [t0 = x] when t0 < 3 goto 8, when !(t0 < 3) goto 10
          8:  + t0 := 0
              + goto 5
          10: + t0 := 0
              goto 12
          12: end
    "#]],
    );
}

#[test]
fn a_d_step_takes_the_first_option_and_must_not_wait() {
    check(
        "byte x, y; active proctype P() { d_step { x = 1; if :: y == 1 -> x = 2 :: y < 2 -> x = 3 fi } }",
        expect![[r#"
              shared x = 0
              shared y = 0
            thread P
                  x = 1
                  + [t0 = y] when t0 == 1 goto 2, when !(t0 == 1) && (t0 < 2) goto 4, when !((t0 == 1) || (!(t0 == 1) && (t0 < 2))) goto 6
              2:  + t0 := 0
                  + goto 9
              4:  + t0 := 0
                  + goto 11
              6:  + t0 := 0
                  + assert 0 "a statement inside `d_step` waits"
                  goto 12
              9:  + x = 2
                  goto 12
              11: + x = 3
              12: end
        "#]],
    );
}

#[test]
fn processes_are_started_with_their_arguments() {
    check(
        "byte x; proctype P(byte i; bit b) { x = i + b } init { byte n; atomic { for (n : 1 .. 2) { run P(n, 1) } } }",
        expect![[r#"
              shared x = 0
            thread init
                  n := 1
                  spawn P[0]
                  + n := u8((n + 1))
                  + spawn P[1]
                  + n := u8((n + 1))
            thread P[0] (spawned)
                  x = 2
            thread P[1] (spawned)
                  x = 3
        "#]],
    );
}

#[test]
fn a_name_of_the_process_that_never_changes_is_a_constant() {
    check(
        "byte a[2]; active [2] proctype P() { byte me = _pid; byte other = 1 - me; a[me] = a[other] }",
        expect![[r#"
              shared a[0] = 0
              shared a[1] = 0
            thread P[0]
                  [t0 = a[1]] when 1 do a[0] = t0 goto 1
              1:  t0 := 0
            thread P[1]
                  [t0 = a[0]] when 1 do a[1] = t0 goto 1
              1:  t0 := 0
        "#]],
    );
}

#[test]
fn an_end_label_is_a_place_to_rest() {
    check(
        "byte x; active proctype P() { end: do :: x == 1 -> x = 2 od }",
        expect![[r#"
          shared x = 0
        thread P
          0:  * await t0 = x until t0 == 1
              t0 := 0
              x = 2
              goto 0
    "#]],
    );
}

#[test]
fn extensions_are_operations() {
    check(
        "byte x; active proctype P() { byte r; store(x, 1); load(x, 1); fence; sync; r = xchg(x, 2); r = cas(x, 2, 3) }",
        expect![[r#"
              shared x = 0
            thread P
                  x = 1
                  await t1 = x until t1 == 1
                  t1 := 0
                  fence
                  sync
                  t1 = exchange(x, 2)
                  r := t1
                  t1 := 0
                  t1 = compare_exchange(x, 2, 3)
                  r := t1 == 2
                  t1 := 0
        "#]],
    );
}

#[test]
fn a_cas_without_a_place_for_its_result_waits_until_it_succeeds() {
    check(
        "bit lock; active proctype P() { cas(lock, 0, 1); if :: cas(lock, 1, 0) :: else fi }",
        expect![[r#"
          shared lock = 0
        thread P
          0:  await t0 = lock until t0 == 0
              t0 := 0
              t0 = compare_exchange(lock, 0, 1)
              if t0 == 0 goto 6
              t0 := 0
              goto 0
          6:  t0 := 0
          7:  [t0 = lock] when t0 == 1 goto 8, when !(t0 == 1) goto 15
          8:  t0 := 0
              t0 = compare_exchange(lock, 1, 0)
              if t0 == 1 goto 13
              t0 := 0
              goto 7
          13: t0 := 0
              goto 17
          15: t0 := 0
              goto 17
          17: end
    "#]],
    );
}

#[test]
fn a_name_of_the_model_goes_before_an_extension() {
    check(
        "byte sync; inline store(a, b) { a = b + b } active proctype P() { sync = 1; store(sync, 3) }",
        expect![[r#"
              shared sync = 0
            thread P
                  sync = 1
                  sync = 6
        "#]],
    );
}

#[test]
fn macros_inlines_and_constants_are_replaced() {
    check(
        "#define N 2\n#define twice(v) (v * N)\nmtype = { red, green };\ninline set(a, b) { a = twice(b) }\nbyte x;\n\
         #ifdef M\nbyte nothing\n#endif\nactive proctype P() { set(x, 3); x = (N == 2 -> red : green) }",
        expect![[r#"
              shared x = 0
            thread P
                  x = 6
                  x = 2
        "#]],
    );
}

#[test]
fn values_wrap_at_the_width_of_their_type() {
    check(
        "bit b; unsigned u : 5; short s; active proctype P() { byte l; b = s; u = s + 1; l = s; s = l * 300 }",
        expect![[r#"
              shared b = 0
              shared u = 0
              shared s = 0
            thread P
                  [t1 = s] when 1 do b = t1 & 1 goto 1
              1:  t1 := 0
                  [t1 = s] when 1 do u = (t1 + 1) & 31 goto 3
              3:  t1 := 0
                  t1 = s
                  l := u8(t1)
                  t1 := 0
                  s = l * 300
        "#]],
    );
}

#[test]
fn an_index_that_is_shared_reads_the_whole_array() {
    check(
        "byte a[2], i; active proctype P() { byte r; r = a[i]; a[i] = 1; (i < 2 && a[i] == 0) }",
        expect![[r#"
              shared a[0] = 0
              shared a[1] = 0
              shared i = 0
            thread P
                  await t1 = i, t2 = a[0], t3 = a[1] until 1
                  assert !!(t1 <u 2) "an index is past the end of its array"
                  r := (t1 == 0) ? t2 : t3
                  t1 := 0
                  t2 := 0
                  t3 := 0
                  [t1 = i] when 1 do a[t1] = 1 goto 7
              7:  t1 := 0
                  await t1 = i, t2 = a[0], t3 = a[1] until ((t1 < 2) && !(t1 <u 2)) || ((t1 < 2) && (((t1 == 0) ? t2 : t3) == 0))
                  assert !((t1 < 2) && !(t1 <u 2)) "an index is past the end of its array"
                  t1 := 0
                  t2 := 0
                  t3 := 0
        "#]],
    );
}

#[test]
fn arrays_of_a_process_are_registers() {
    check(
        "byte x; active proctype P() { byte a[2] = 7; byte i; i = x; a[i] = 1; x = a[1 - i] }",
        expect![[r#"
          shared x = 0
        thread P
              a[0] := 7
              a[1] := 7
              t3 = x
              i := t3
              t3 := 0
              assert i <u 2 "an index is past the end of its array"
              t3 := i
              t4 := 1
              a[0] := (t3 == 0) ? t4 : a[0]
              a[1] := (t3 == 1) ? t4 : a[1]
              t3 := 0
              t4 := 0
              assert !!((1 - i) <u 2) "an index is past the end of its array"
              x = ((1 - i) == 0) ? a[0] : a[1]
    "#]],
    );
}

#[test]
fn a_loop_that_does_nothing_has_a_step_to_count() {
    check(
        "byte x; active proctype P() { x = 1; do :: true od }",
        expect![[r#"
          shared x = 0
        thread P
              x = 1
          1:  t0 = choose below 1
              t0 := 0
              goto 1
    "#]],
    );
}

#[test]
fn split_makes_each_access_a_step() {
    let settings = Settings { split: true, ..Settings::default() };
    check_with(
        &settings,
        "byte x, y; active proctype P() { x = x + y; (x == 1 && y == 1); if :: x == 1 :: y == 1 fi }",
        expect![[r#"
              shared x = 0
              shared y = 0
            thread P
                  t0 = x
                  t1 = y
                  x = t0 + t1
                  t0 := 0
                  t1 := 0
              5:  t0 = x
                  t1 = y
                  if (t0 == 1) && (t1 == 1) goto 14
                  await t2 = x, t3 = y until (t2 != t0) || (t3 != t1)
                  t0 := 0
                  t1 := 0
                  t2 := 0
                  t3 := 0
                  goto 5
              14: t0 := 0
                  t1 := 0
              16: t0 = x
                  t1 = y
                  if (t0 == 1) || (t1 == 1) goto 25
                  await t2 = x, t3 = y until (t2 != t0) || (t3 != t1)
                  t0 := 0
                  t1 := 0
                  t2 := 0
                  t3 := 0
                  goto 16
              25: if (t0 == 1) && !(t1 == 1) goto 28
                  if (t1 == 1) && !(t0 == 1) goto 31
                  [] when t0 == 1 goto 28, when t1 == 1 goto 31
              28: t0 := 0
                  t1 := 0
                  goto 34
              31: t0 := 0
                  t1 := 0
                  goto 34
              34: end
        "#]],
    );
}

#[test]
fn a_label_that_must_not_be_reached_is_an_assertion() {
    let settings = Settings { labels: vec!["P@bad".to_owned()], ..Settings::default() };
    check_with(
        &settings,
        "byte x; active proctype P() { (x == 1); bad: x = 2 }",
        expect![[r#"
          shared x = 0
        thread P
              await t0 = x until t0 == 1
              t0 := 0
              assert 0 "the label `bad` is reached"
              x = 2
    "#]],
    );
}
