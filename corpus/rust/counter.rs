//! A counter that one thread counts up and another down.
//!
//! [MCR, the benchmark Counter]

use teetotal::sync::atomic::AtomicIsize;
use teetotal::sync::atomic::Ordering::Relaxed;

use super::{Case, HOLDS, both, everywhere};

const LOST: &str = "main panicked: assertion `left == right` failed: an update is lost";

pub(super) const CASES: &[Case] = &[
    Case { variant: "by read-modify-writes", verdicts: HOLDS, run: || count(true) },
    Case { variant: "by loads and stores", verdicts: everywhere(LOST), run: || count(false) },
];

fn count(atomically: bool) {
    let counter = both(AtomicIsize::new(0), move |counter, me| {
        let by = if me == 0 { 1 } else { -1 };
        for _ in 0..2 {
            if atomically {
                counter.fetch_add(by, Relaxed);
            } else {
                counter.store(counter.load(Relaxed) + by, Relaxed);
            }
        }
    });
    assert_eq!(counter.load(Relaxed), 0, "an update is lost");
}
