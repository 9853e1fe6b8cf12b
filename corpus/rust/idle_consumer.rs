//! A consumer that says that it idles before it waits for work, and a producer that wakes it only then.
//!
//! [SOBER, Fig. 4]
//!
//! Both store to one flag and load the other; if both stores are late, nobody wakes the consumer.

use teetotal::sync::atomic::Ordering::{Relaxed, SeqCst};
use teetotal::sync::atomic::{AtomicBool, fence};
use teetotal::sync::{Condvar, Mutex};

use super::{Case, HOLDS, both, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "with fences", verdicts: HOLDS, run: || idle(true) },
    Case { variant: "without", verdicts: under_buffers("deadlock: main is blocked forever"), run: || idle(false) },
];

struct Shared {
    lock: Mutex<()>,
    pulse: Condvar,
    is_idle: AtomicBool,
    has_work: AtomicBool,
}

fn idle(fenced: bool) {
    let (is_idle, has_work) = (AtomicBool::new(false), AtomicBool::new(false));
    let order = move || {
        if fenced {
            fence(SeqCst);
        }
    };
    both(Shared { lock: Mutex::new(()), pulse: Condvar::new(), is_idle, has_work }, move |shared, me| {
        if me == 1 {
            shared.has_work.store(true, Relaxed);
            order();
            if shared.is_idle.load(Relaxed) {
                let _own = shared.lock.lock().expect("nobody panics");
                shared.pulse.notify_one();
            }
            return;
        }
        let mut own = shared.lock.lock().expect("nobody panics");
        shared.is_idle.store(true, Relaxed);
        order();
        if !shared.has_work.load(Relaxed) {
            own = shared.pulse.wait(own).expect("nobody panics");
        }
        shared.is_idle.store(false, Relaxed);
        drop(own);
    });
}
