//! The first impression.

use crate::{check_file, run, teetotal};

#[test]
fn the_demo_shows_which_outcome_appears_where() {
    check_file("demo", 0, "demo");
}

#[test]
fn the_demo_fits_on_a_screen() {
    let lines = run(&mut teetotal("demo")).stdout.lines().count();
    assert!(lines <= 45, "{lines} lines");
}

#[test]
fn the_demo_can_be_drawn_in_ascii() {
    let ran = run(&mut teetotal("demo --ascii"));
    assert!(ran.stdout.is_ascii(), "{}", ran.stdout);
}
