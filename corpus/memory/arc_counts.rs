//! The counts of an `Arc` written by hand: the last owner frees what all have read.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::fence;
use teetotal::thread;

use super::{Case, HOLDS, Shared, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || share(RIGHT) },
    Case {
        variant: "given up without release",
        verdicts: everywhere("use after free"),
        run: || share(Counts { give_up: Relaxed, ..RIGHT }),
    },
    Case {
        variant: "freed without acquire",
        verdicts: everywhere("use after free"),
        run: || share(Counts { acquires: false, ..RIGHT }),
    },
    Case { variant: "cloned by a load and a store", verdicts: everywhere("use after free"), run: clone_by_a_store },
    Case { variant: "unique by an acquiring load", verdicts: HOLDS, run: || change(Acquire) },
    Case { variant: "unique by a relaxed load", verdicts: everywhere("data race"), run: || change(Relaxed) },
    Case { variant: "upgraded by an exchange", verdicts: HOLDS, run: || upgrade(true) },
    Case { variant: "upgraded by an increment", verdicts: everywhere("use after free"), run: || upgrade(false) },
];

#[derive(Clone, Copy)]
struct Counts {
    give_up: Ordering,
    acquires: bool,
}

const RIGHT: Counts = Counts { give_up: Release, acquires: true };

struct Inner {
    strong: AtomicUsize,
    value: Shared<usize>,
}

/// An owner, which frees the value if it is the last.
struct Counted(*mut Inner, Counts);

// SAFETY: this is what is checked.
unsafe impl Send for Counted {}

impl Counted {
    fn new(counts: Counts) -> Self {
        let inner = Inner { strong: AtomicUsize::new(1), value: Shared::new(7) };
        Counted(Box::into_raw(Box::new(inner)), counts)
    }

    fn inner(&self) -> &Inner {
        // SAFETY: it is there as long as there is an owner.
        unsafe { &*self.0 }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.inner().strong.fetch_add(1, Relaxed);
        Counted(self.0, self.1)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let (counts, strong) = (self.1, &self.inner().strong);
        if strong.fetch_sub(1, counts.give_up) == 1 {
            if counts.acquires {
                fence(Acquire);
            }
            // SAFETY: this was the last owner.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

/// Two threads have an owner each.
fn share(counts: Counts) {
    let own = Counted::new(counts);
    let other = own.clone();
    let thread = thread::spawn(move || {
        assert_eq!(other.inner().value.get(), 7);
    });
    assert_eq!(own.inner().value.get(), 7);
    drop(own);
    thread.join().expect("it ends");
}

/// Two threads clone at a time without an exchange, so that an owner is not counted.
fn clone_by_a_store() {
    let own = Counted::new(RIGHT);
    let other = own.clone();
    let clone = |owner: &Counted| {
        let strong = &owner.inner().strong;
        strong.store(strong.load(Relaxed) + 1, Relaxed);
        Counted(owner.0, owner.1)
    };
    let thread = thread::spawn(move || drop([clone(&other), other]));
    drop([clone(&own), own]);
    thread.join().expect("it ends");
}

/// An owner changes the value if it is the only one.
fn change(is_unique: Ordering) {
    let own = Counted::new(RIGHT);
    let other = own.clone();
    let thread = thread::spawn(move || {
        assert_eq!(other.inner().value.get(), 7);
    });
    if own.inner().strong.load(is_unique) == 1 {
        own.inner().value.set(8);
    }
    drop(own);
    thread.join().expect("it ends");
}

/// The memory stays as long as there is a weak owner, the value as long as there is a strong one.
struct Weakly {
    strong: AtomicUsize,
    weak: AtomicUsize,
    value: Shared<*mut Shared<usize>>,
}

/// One thread has a strong owner, the other a weak one, which it makes a strong one.
fn upgrade(is_exchanged: bool) {
    let value = Shared::new(Box::into_raw(Box::new(Shared::new(7))));
    let weakly = Weakly { strong: AtomicUsize::new(1), weak: AtomicUsize::new(2), value };
    let shared = Pointer(Box::into_raw(Box::new(weakly)));
    let other = shared;
    let thread = thread::spawn(move || {
        let other = other;
        // SAFETY: there is a weak owner.
        let inner = unsafe { &*other.0 };
        let mut strong = inner.strong.load(Relaxed);
        loop {
            if strong == 0 {
                break;
            }
            if !is_exchanged {
                inner.strong.fetch_add(1, Acquire);
            } else if let Err(now) = inner.strong.compare_exchange(strong, strong + 1, Acquire, Relaxed) {
                strong = now;
                continue;
            }
            // SAFETY: there is a strong owner.
            assert_eq!(unsafe { (*inner.value.get()).get() }, 7);
            other.give_up_strong();
            break;
        }
        other.give_up_weak();
    });
    shared.give_up_strong();
    shared.give_up_weak();
    thread.join().expect("it ends");
}

#[derive(Clone, Copy)]
struct Pointer(*mut Weakly);

// SAFETY: this is what is checked.
unsafe impl Send for Pointer {}

impl Pointer {
    fn give_up_strong(self) {
        // SAFETY: there is a weak owner.
        let inner = unsafe { &*self.0 };
        if inner.strong.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: this was the last strong owner.
            drop(unsafe { Box::from_raw(inner.value.get()) });
        }
    }

    fn give_up_weak(self) {
        // SAFETY: there is a weak owner.
        if unsafe { &*self.0 }.weak.fetch_sub(1, AcqRel) == 1 {
            // SAFETY: this was the last.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}
