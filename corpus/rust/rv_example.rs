//! Two variables of which a thread tests a combination that only some interleavings have.
//!
//! [MCR, the benchmark RVExample]

use teetotal::sync::Arc;
use teetotal::sync::Mutex;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::thread;

use super::{Case, HOLDS, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "as published", verdicts: everywhere("T2 panicked: y is 3"), run: || run(false) },
    Case { variant: "every test with the lock", verdicts: HOLDS, run: || run(true) },
];

type Shared = (Mutex<()>, AtomicUsize, AtomicUsize);

fn run(locked: bool) {
    let shared: Arc<Shared> = Arc::new((Mutex::new(()), AtomicUsize::new(0), AtomicUsize::new(0)));
    let workers: [fn(&Shared, bool); 2] = [reset_and_add, test];
    let threads = workers.map(|work| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || work(&shared, locked))
    });
    for _ in 0..2 {
        let _own = shared.0.lock().expect("nobody panics");
        shared.1.store(1, Relaxed);
        shared.2.store(1, Relaxed);
    }
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
}

/// Sets `x` back, and adds to `y` if somebody has set `x` since; with the lock nobody has.
fn reset_and_add((lock, x, y): &Shared, locked: bool) {
    for _ in 0..2 {
        let own = lock.lock().expect("nobody panics");
        x.store(0, Relaxed);
        let own = locked.then_some(own);
        if x.load(Relaxed) > 0 {
            y.store(y.load(Relaxed) + 1, Relaxed);
            x.store(2, Relaxed);
        }
        drop(own);
    }
}

fn test((lock, x, y): &Shared, locked: bool) {
    for _ in 0..2 {
        let own = locked.then(|| lock.lock().expect("nobody panics"));
        if x.load(Relaxed) > 1 {
            assert!(y.load(Relaxed) != 3, "y is 3");
            y.store(2, Relaxed);
        }
        drop(own);
    }
}
