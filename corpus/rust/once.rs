//! A value that the first of two threads makes, as a `OnceLock` does.

use teetotal::hint;
use teetotal::sync::OnceLock;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "by hand", verdicts: HOLDS, run: || by_hand(Release, Acquire) },
    Case { variant: "ready without release", verdicts: everywhere("data race"), run: || by_hand(Relaxed, Acquire) },
    Case { variant: "seen without acquire", verdicts: everywhere("data race"), run: || by_hand(Release, Relaxed) },
    Case {
        variant: "looked at before it is made",
        verdicts: everywhere("main panicked: assertion `left == right` failed: made"),
        run: without_exchange,
    },
    Case { variant: "of the library", verdicts: HOLDS, run: of_the_library },
];

/// The state is 0 at first, 1 while the value is made, and then 2.
fn by_hand(ready: Ordering, see: Ordering) {
    both((AtomicUsize::new(0), Shared::new(0)), move |(state, value), _| {
        if state.load(see) != 2 {
            if state.compare_exchange(0, 1, Relaxed, Relaxed).is_ok() {
                value.set(5);
                state.store(2, ready);
            } else {
                while state.load(see) != 2 {
                    hint::spin_loop();
                }
            }
        }
        assert_eq!(value.get(), 5);
    });
}

/// Both may find that nobody has made it.
fn without_exchange() {
    let made = both((AtomicUsize::new(0), AtomicUsize::new(0)), |(state, made), _| {
        if state.load(Acquire) == 0 {
            made.fetch_add(1, Relaxed);
            state.store(2, Release);
        }
    });
    assert_eq!(made.1.load(Relaxed), 1, "made twice");
}

fn of_the_library() {
    let made = both((OnceLock::new(), AtomicUsize::new(0)), |(value, made), _| {
        let value = value.get_or_init(|| {
            made.fetch_add(1, Relaxed);
            5
        });
        assert_eq!(*value, 5);
    });
    assert_eq!(made.1.load(Relaxed), 1, "made twice");
}
