//! Data behind a flag that a read-modify-write sets: a release fence before it publishes what came before.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use teetotal::sync::atomic::fence;

use super::{Case, HOLDS, Shared, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "with a fence", verdicts: HOLDS, run: || by_update(true) },
    Case { variant: "without", verdicts: everywhere("data race"), run: || by_update(false) },
    Case { variant: "by a release store", verdicts: HOLDS, run: || by_store(true) },
    Case { variant: "by a relaxed store", verdicts: everywhere("data race"), run: || by_store(false) },
];

fn by_update(fenced: bool) {
    both((Shared::new(0), AtomicUsize::new(0)), move |(data, flag), me| {
        if me == 1 {
            data.set(1);
            if fenced {
                fence(Release);
            }
            flag.fetch_add(1, Relaxed);
        } else if flag.fetch_add(0, AcqRel) == 1 {
            assert_eq!(data.get(), 1);
        }
    });
}

fn by_store(releases: bool) {
    both((Shared::new(0), AtomicUsize::new(0)), move |(data, flag), me| {
        if me == 1 {
            data.set(1);
            flag.store(1, if releases { Release } else { Relaxed });
        } else if flag.load(Acquire) == 1 {
            assert_eq!(data.get(), 1);
        }
    });
}
