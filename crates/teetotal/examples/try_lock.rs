use teetotal::sync::atomic::AtomicBool;
use teetotal::sync::atomic::Ordering::{Acquire, Release};
use teetotal::thread;

static LEFT: AtomicBool = AtomicBool::new(false);
static RIGHT: AtomicBool = AtomicBool::new(false);

/// Each of two threads says that it wants to enter, and enters if the other has not said so.
fn main() {
    teetotal::model(|| {
        let right = thread::spawn(|| {
            RIGHT.store(true, Release);
            !LEFT.load(Acquire)
        });
        LEFT.store(true, Release);
        let left = !RIGHT.load(Acquire);
        let right = right.join().unwrap();
        assert!(!(left && right), "both entered");
    });
}
