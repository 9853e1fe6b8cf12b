//! A writer announces a pair of numbers by a flag, round after round, and takes the announcement back.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// `rounds` of writing and of reading; `Example` of [MCR, Table 3], whose N is `rounds`.
///
/// The figure of the paper is lost in the text we have. This is a reconstruction from its constraints, and it has
/// the number of executions that the paper gives for N = 1.
#[must_use]
pub fn example(rounds: u32) -> Program {
    with_reader(&format!("example-{rounds}"), rounds, |t, [first, second], [x, y]| {
        fetch(t, first, x);
        fetch(t, second, y);
    })
}

/// The same, where the pair that the reader finds is to be whole.
///
/// With one round it is under SC and TSO. With more, the reader may take its halves from different rounds.
#[must_use]
pub fn example_asserted(rounds: u32) -> Program {
    with_reader(&format!("example-{rounds}-asserted"), rounds, |t, _, _| {
        t.assert(0, "the pair is whole");
    })
}

/// `broken` is what the reader does when the pair is not whole.
fn with_reader(name: &str, rounds: u32, broken: impl Fn(&mut ThreadBuilder<'_>, [Reg; 2], [Loc; 2])) -> Program {
    let mut p = Builder::new(name);
    let [x, y, z] = [p.shared("x", 0), p.shared("y", 0), p.shared("z", 0)];
    p.thread("writer", |t| {
        for _ in 0..rounds {
            for (loc, value) in [(z, 0), (x, 0), (y, 0), (x, 2), (y, 3), (z, 1)] {
                t.store(loc, value);
            }
        }
    });
    p.thread("reader", |t| {
        let [first, second] = [t.temporary(), t.temporary()];
        for _ in 0..rounds {
            fetch(t, first, z);
            t.when(first.eq(1), |t| {
                fetch(t, first, x);
                fetch(t, second, y);
                t.when(first.plus(1).ne(second), |t| broken(t, [first, second], [x, y]));
            });
        }
    });
    finish(p)
}
