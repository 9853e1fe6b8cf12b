//! A player that a thread takes away for a moment while another asks for it.
//!
//! [MCR, the benchmark PingPong]

use teetotal::sync::Mutex;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;

use super::{Case, HOLDS, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "with a lock", verdicts: HOLDS, run: || play(true) },
    Case { variant: "without", verdicts: everywhere("T1 panicked: nobody plays"), run: || play(false) },
];

fn play(locked: bool) {
    // 0 is nobody.
    both((Mutex::new(()), AtomicUsize::new(7)), move |(lock, player), me| {
        let own = locked.then(|| lock.lock().expect("nobody panics"));
        if me == 0 {
            let taken = player.load(Relaxed);
            player.store(0, Relaxed);
            player.store(taken, Relaxed);
        } else {
            assert!(player.load(Relaxed) != 0, "nobody plays");
        }
        drop(own);
    });
}
