//! The count of references of an `Arc`: the last of three owners frees what all have read.

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use teetotal::sync::atomic::fence;
use teetotal::thread;

use super::{Case, HOLDS, Shared, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || count(Release, true) },
    Case { variant: "given up without release", verdicts: everywhere("data race"), run: || count(Relaxed, true) },
    Case { variant: "freed without acquire", verdicts: everywhere("data race"), run: || count(Release, false) },
];

fn count(give_up: Ordering, acquires: bool) {
    let counted = Arc::new((AtomicUsize::new(3), Shared::new(7)));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                assert_eq!(counted.1.get(), 7);
                if counted.0.fetch_sub(1, give_up) == 1 {
                    if acquires {
                        fence(Acquire);
                    }
                    counted.1.set(0);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    assert_eq!(counted.1.get(), 0);
}
