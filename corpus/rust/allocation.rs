//! Blocks that are found free and then marked, each with the lock.
//!
//! [MCR, the benchmark Allocation]

use teetotal::sync::Mutex;

use super::{Case, HOLDS, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "found and marked at once", verdicts: HOLDS, run: || allocate(true) },
    Case {
        variant: "found, then marked",
        verdicts: everywhere("main panicked: marked twice"),
        run: || allocate(false),
    },
];

fn allocate(at_once: bool) {
    let marks = both(Mutex::new([0; 2]), move |blocks, _| {
        let free = |marks: &[u32; 2]| marks.iter().position(|&mark| mark == 0);
        let mut own = blocks.lock().expect("nobody panics");
        let found = free(&own);
        if !at_once {
            drop(own);
            own = blocks.lock().expect("nobody panics");
        }
        if let Some(block) = found {
            own[block] += 1;
        }
    });
    assert!(marks.lock().expect("nobody panics").iter().all(|&mark| mark <= 1), "marked twice");
}
