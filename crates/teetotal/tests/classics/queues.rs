//! Queues.

use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::fence;
use teetotal::thread;

use crate::{PSO, SC, Shared, TSO, is_right, verdicts};

/// One producer and one consumer of a ring with two places.
fn ring(tail: Ordering, head: Ordering) -> impl Fn() + Clone + Send + Sync + 'static {
    struct Ring {
        places: [Shared<usize>; 2],
        head: AtomicUsize,
        tail: AtomicUsize,
    }
    move || {
        let ring = Arc::new(Ring {
            places: [Shared::new(0), Shared::new(0)],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        });
        let other = Arc::clone(&ring);
        let producer = thread::spawn(move || {
            for value in 1..=3 {
                let next = other.tail.load(Relaxed);
                if next - other.head.load(Acquire) < 2 {
                    other.places[next % 2].set(value);
                    other.tail.store(next + 1, tail);
                }
            }
        });
        let mut last = 0;
        for _ in 0..3 {
            let next = ring.head.load(Relaxed);
            if next < ring.tail.load(Acquire) {
                let value = ring.places[next % 2].get();
                assert!(value > last, "{value} came after {last}");
                last = value;
                ring.head.store(next + 1, head);
            }
        }
        producer.join().expect("it ends");
    }
}

#[test]
fn a_ring_needs_release_on_both_ends() {
    is_right(ring(Release, Release));
    verdicts(&[SC, TSO, PSO], "data race", ring(Relaxed, Release));
    verdicts(&[SC, TSO, PSO], "data race", ring(Release, Relaxed));
}

/// A work-stealing queue with one element, which its owner takes and a thief steals.
fn steal(fenced: bool) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        // The element is at 0; `top` is the next to steal, `bottom` one past the last.
        let queue = Arc::new((AtomicUsize::new(0), AtomicUsize::new(1)));
        let other = Arc::clone(&queue);
        let thief = thread::spawn(move || {
            let top = other.0.load(Acquire);
            if fenced {
                fence(SeqCst);
            }
            let bottom = other.1.load(Acquire);
            top < bottom && other.0.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok()
        });
        let bottom = queue.1.load(Relaxed) - 1;
        queue.1.store(bottom, Relaxed);
        if fenced {
            fence(SeqCst);
        }
        let top = queue.0.load(Relaxed);
        let took = match top.cmp(&bottom) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal => {
                let won = queue.0.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
                queue.1.store(bottom + 1, Relaxed);
                won
            }
            std::cmp::Ordering::Greater => {
                queue.1.store(bottom + 1, Relaxed);
                false
            }
        };
        let stole = thief.join().expect("it ends");
        assert!(took != stole, "the element was taken {} times", u32::from(took) + u32::from(stole));
    }
}

#[test]
fn one_element_is_taken_or_stolen() {
    is_right(steal(true));
    // The last element is fought for by a compare-exchange, so that it takes two of them to go wrong.
    is_right(steal(false));
}

/// The owner takes two elements while a thief steals twice: the fence keeps the second take from seeing an old top.
fn steal_two(fenced: bool) -> impl Fn() + Clone + Send + Sync + 'static {
    move || {
        let queue = Arc::new((AtomicUsize::new(0), AtomicUsize::new(2)));
        let other = Arc::clone(&queue);
        let thief = thread::spawn(move || {
            let mut stolen = 0;
            for _ in 0..2 {
                let top = other.0.load(Acquire);
                if fenced {
                    fence(SeqCst);
                }
                let bottom = other.1.load(Acquire);
                if top < bottom && other.0.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok() {
                    stolen += 1;
                }
            }
            stolen
        });
        let bottom = queue.1.load(Relaxed) - 1;
        queue.1.store(bottom, Relaxed);
        if fenced {
            fence(SeqCst);
        }
        let top = queue.0.load(Relaxed);
        let mut taken = 0;
        if top < bottom {
            taken = 1;
        } else {
            if top == bottom && queue.0.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok() {
                taken = 1;
            }
            queue.1.store(bottom + 1, Relaxed);
        }
        let stolen = thief.join().expect("it ends");
        assert!(taken + stolen <= 2, "an element was taken twice");
    }
}

#[test]
fn a_work_stealing_queue_needs_a_fence() {
    is_right(steal_two(true));
    verdicts(&[TSO, PSO], "main panicked: an element was taken twice", steal_two(false));
}
