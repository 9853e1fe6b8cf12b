//! Threads whose writes are hardly read: many executions, of which few differ in what they read.

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::thread;

/// Threads say in one place how far they are, and somebody looks at it at the end.
pub(super) fn report_progress(threads: usize, stores: usize) {
    let progress = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..threads)
        .map(|number| {
            let progress = Arc::clone(&progress);
            thread::spawn(move || (1..=stores).for_each(|done| progress.store(10 * number + done, Relaxed)))
        })
        .collect();
    workers.into_iter().for_each(|worker| drop(worker.join()));
    assert_eq!(progress.load(Relaxed) % 10, stores);
}
