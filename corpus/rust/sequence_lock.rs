//! A sequence lock: a writer of two words, and a reader that wants them to fit together.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use teetotal::sync::atomic::fence;

use super::{Case, HOLDS, both, under_pso};

const TORN: &str = "main panicked: assertion `left == right` failed: torn";

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || sequence_lock(true, Release) },
    Case { variant: "no fence at the beginning", verdicts: under_pso(TORN), run: || sequence_lock(false, Release) },
    Case { variant: "no release at the end", verdicts: under_pso(TORN), run: || sequence_lock(true, Relaxed) },
];

fn sequence_lock(fenced: bool, end: Ordering) {
    both([const { AtomicUsize::new(0) }; 3], move |lock, me| {
        if me == 1 {
            lock[0].store(1, Relaxed);
            if fenced {
                fence(Release);
            }
            lock[1].store(1, Relaxed);
            lock[2].store(1, Relaxed);
            lock[0].store(2, end);
            return;
        }
        let before = lock[0].load(Acquire);
        let words = (lock[1].load(Relaxed), lock[2].load(Relaxed));
        fence(Acquire);
        if before % 2 == 0 && lock[0].load(Relaxed) == before {
            assert_eq!(words.0, words.1, "torn");
        }
    });
}
