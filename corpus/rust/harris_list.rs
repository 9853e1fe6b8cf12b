//! A sorted list without locks, from which one thread removes what another inserts after.
//!
//! [T. L. Harris, 2001]
//!
//! A node is marked in its own link before it is taken out, so that nothing can be linked to it any more.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{Case, HOLDS, both, everywhere};

const LOST: &str = "main panicked: 3 is lost";

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || list(true) },
    Case { variant: "taken out without a mark", verdicts: everywhere(LOST), run: || list(false) },
];

/// The bit of a link that says that its node is removed.
const MARK: usize = 8;

/// The link of each node, which is called by its key: 1 is the first, 2 is removed, 3 is inserted, 4 is the last.
type List = [AtomicUsize; 5];

fn list(marks: bool) {
    let list: List = [0, 2, 4, 0, 0].map(AtomicUsize::new);
    let list = both(list, move |list, me| if me == 1 { remove(list, marks) } else { insert(list) });
    let mut node = 1;
    let mut keys = Vec::new();
    while node != 0 {
        let link = list[node].load(Acquire);
        if link & MARK == 0 {
            keys.push(node);
        }
        node = link & !MARK;
    }
    assert!(keys.contains(&3), "3 is lost");
}

/// Inserts 3, which comes after 2, or after 1 where 2 is removed.
fn insert(list: &List) {
    loop {
        let first = list[1].load(Acquire);
        let before = if first == 2 { 2 } else { 1 };
        let after = list[before].load(Acquire);
        if after & MARK != 0 {
            // It is being removed: help with that.
            let _ = list[1].compare_exchange(2, after & !MARK, AcqRel, Relaxed);
            continue;
        }
        list[3].store(after, Relaxed);
        if list[before].compare_exchange(after, 3, Release, Relaxed).is_ok() {
            return;
        }
    }
}

/// Removes 2, which comes after 1.
fn remove(list: &List, marks: bool) {
    let mut after = list[2].load(Acquire);
    if marks {
        while let Err(now) = list[2].compare_exchange(after, after | MARK, AcqRel, Acquire) {
            after = now;
        }
    }
    let _ = list[1].compare_exchange(2, after, AcqRel, Relaxed);
}
