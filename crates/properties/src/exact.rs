//! Counts that are known exactly: of states and traces of the gallery, and over families of small programs.
//!
//! A count is a [`Row`]; each file below gives rows of one kind, and one loop compares them all.

use std::time::Instant;

mod classes;
mod count;
mod families;
mod robustness;
mod states;
mod traces;

/// Something that is counted.
struct Row {
    /// What, of which program, under which model.
    what: String,
    /// The number or numbers that are known, as text.
    expected: String,
    /// Whether it takes less than about a second, so that it is counted in ordinary tests too.
    #[cfg_attr(not(test), expect(dead_code, reason = "outside tests all are counted"))]
    quick: bool,
    /// Counts with this many processor cores.
    count: Box<dyn Fn(usize) -> String>,
}

/// Compares all counts, with `jobs` processor cores; prints a line for each and gives how many are wrong.
pub fn report(jobs: usize) -> u64 {
    let started = Instant::now();
    let rows = [states::rows(), traces::rows(), classes::rows(), families::rows(), robustness::rows()];
    let rows = rows.into_iter().flatten();
    let (mut n_rows, mut n_wrong) = (0, 0);
    for row in rows {
        let began = Instant::now();
        let found = (row.count)(jobs);
        let Row { what, expected, .. } = row;
        let seconds = began.elapsed().as_secs_f64();
        n_rows += 1;
        if found == expected {
            println!("ok     {what}: {found} ({seconds:.2} s)");
        } else {
            n_wrong += 1;
            println!("WRONG  {what}: found {found}, expected {expected} ({seconds:.2} s)");
        }
    }
    println!("{n_rows} exact counts: {n_wrong} wrong ({:.0} s)", started.elapsed().as_secs_f64());
    n_wrong
}

/// Demands that the quick ones among `rows` are right.
#[cfg(test)]
fn check_quick(rows: Vec<Row>) {
    for row in rows.into_iter().filter(|row| row.quick) {
        assert_eq!((row.count)(1), row.expected, "{}", row.what);
    }
}
