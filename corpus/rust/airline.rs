//! An airline that sells one seat too many if it looks before it sells.
//!
//! [MCR, the benchmark Airline]

use teetotal::sync::Mutex;
use teetotal::sync::atomic::AtomicBool;
use teetotal::sync::atomic::Ordering::{Acquire, Release};

use super::{Case, HOLDS, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "looked at with the lock", verdicts: HOLDS, run: || sell(true) },
    Case { variant: "looked at without", verdicts: everywhere("main panicked: oversold"), run: || sell(false) },
];

fn sell(locked: bool) {
    const SEATS: usize = 1;
    let airline = both((AtomicBool::new(false), Mutex::new(0)), move |(is_full, sold), _| {
        if !locked && is_full.load(Acquire) {
            return;
        }
        let mut sold = sold.lock().expect("nobody panics");
        if !locked || *sold < SEATS {
            *sold += 1;
        }
        if *sold >= SEATS {
            is_full.store(true, Release);
        }
    });
    assert!(*airline.1.lock().expect("nobody panics") <= SEATS, "oversold");
}
