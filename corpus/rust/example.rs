//! A writer announces a pair of numbers by a flag, round after round, and takes the announcement back.
//!
//! [MCR, the benchmark Example], of which the figure is lost; what is asserted is our own.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use super::{Case, HOLDS, both, everywhere, under_pso};

const TORN: &str = "main panicked: the pair is torn";

pub(super) const CASES: &[Case] = &[
    Case { variant: "one round, released", verdicts: HOLDS, run: || announce(1, Release) },
    Case { variant: "one round, relaxed", verdicts: under_pso(TORN), run: || announce(1, Relaxed) },
    Case { variant: "two rounds", verdicts: everywhere(TORN), run: || announce(2, Release) },
];

fn announce(rounds: usize, order: Ordering) {
    let shared: [AtomicUsize; 3] = Default::default();
    both(shared, move |[x, y, flag], me| {
        for _ in 0..rounds {
            if me == 1 {
                for (to, value) in [(flag, 0), (x, 0), (y, 0), (x, 2), (y, 3)] {
                    to.store(value, Relaxed);
                }
                flag.store(1, order);
            } else if flag.load(Acquire) == 1 {
                assert!(x.load(Relaxed) + 1 == y.load(Relaxed), "the pair is torn");
            }
        }
    });
}
