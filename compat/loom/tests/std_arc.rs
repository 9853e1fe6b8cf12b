//! What the counts of an `Arc` of the standard library order, which the checker does not see.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Condvar, Mutex};

#[test]
fn a_notification_need_not_come_before_the_last_reference() {
    loom::model(|| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&pair);
        loom::thread::spawn(move || {
            let mut is_set = other.0.lock().expect("nothing panics");
            while !*is_set {
                is_set = other.1.wait(is_set).expect("nothing panics");
            }
        });
        *pair.0.lock().expect("nothing panics") = true;
        pair.1.notify_one();
    });
}

#[test]
fn a_relaxed_counter_may_be_shared() {
    loom::model(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&counter);
        loom::thread::spawn(move || other.fetch_add(1, Ordering::Relaxed));
        counter.fetch_add(1, Ordering::Relaxed);
    });
}
