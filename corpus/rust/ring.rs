//! One producer and one consumer of a ring with two places.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || ring(Release, Release) },
    Case { variant: "relaxed tail", verdicts: everywhere("data race"), run: || ring(Relaxed, Release) },
    Case { variant: "relaxed head", verdicts: everywhere("data race"), run: || ring(Release, Relaxed) },
];

struct Ring {
    places: [Shared<usize>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}

fn ring(tail: Ordering, head: Ordering) {
    let places = [Shared::new(0), Shared::new(0)];
    both(Ring { places, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }, move |ring, me| {
        let mut last = 0;
        for value in 1..=3 {
            if me == 1 {
                let next = ring.tail.load(Relaxed);
                if next - ring.head.load(Acquire) < 2 {
                    ring.places[next % 2].set(value);
                    ring.tail.store(next + 1, tail);
                }
                continue;
            }
            let next = ring.head.load(Relaxed);
            if next < ring.tail.load(Acquire) {
                let value = ring.places[next % 2].get();
                assert!(value > last, "{value} came after {last}");
                last = value;
                ring.head.store(next + 1, head);
            }
        }
    });
}
