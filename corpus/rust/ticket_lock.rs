//! A ticket lock around an increment.

use teetotal::hint;
use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use teetotal::thread;

use super::{Case, HOLDS, Shared, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right, two threads", verdicts: HOLDS, run: || ticket_lock(2, Release) },
    Case { variant: "right, three threads", verdicts: HOLDS, run: || ticket_lock(3, Release) },
    Case { variant: "freed without release", verdicts: everywhere("data race"), run: || ticket_lock(2, Relaxed) },
];

fn ticket_lock(n: usize, free: Ordering) {
    let lock = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), Shared::new(0)));
    let threads: Vec<_> = (0..n)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                let ticket = lock.0.fetch_add(1, Relaxed);
                while lock.1.load(Acquire) != ticket {
                    hint::spin_loop();
                }
                lock.2.set(lock.2.get() + 1);
                lock.1.store(ticket + 1, free);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    assert_eq!(lock.2.get(), n);
}
