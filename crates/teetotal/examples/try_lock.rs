use teetotal::sync::atomic::AtomicBool;
use teetotal::sync::atomic::Ordering::{Acquire, Release};
use teetotal::thread;

static LEFT: AtomicBool = AtomicBool::new(false);
static RIGHT: AtomicBool = AtomicBool::new(false);

/// Two threads announce themselves; each enters unless it sees that the other has.
fn main() {
    teetotal::model(|| {
        let right = thread::spawn(|| {
            RIGHT.store(true, Release);
            !LEFT.load(Acquire)
        });
        LEFT.store(true, Release);
        let left = !RIGHT.load(Acquire);
        let right = right.join().expect("it does not panic");
        assert!(!(left && right), "both entered");
    });
}
