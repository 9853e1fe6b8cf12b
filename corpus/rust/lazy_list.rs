//! A sorted list with a lock for each node, from which one thread removes what another inserts after.
//!
//! [S. Heller et al., A lazy concurrent list-based set algorithm, 2005]
//!
//! A thread that has found its place without locks must look again when it holds them: the node may have been removed.

use teetotal::sync::Mutex;
use teetotal::sync::atomic::Ordering::{Acquire, Release};
use teetotal::sync::atomic::{AtomicBool, AtomicUsize};

use super::{Case, HOLDS, both, everywhere};

const LOST: &str = "main panicked: 3 is lost";

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || list(true) },
    Case { variant: "places not looked at again", verdicts: everywhere(LOST), run: || list(false) },
];

/// A node is called by its key: 1 is the first, 2 is removed, 3 is inserted, 4 is the last.
struct List {
    locks: [Mutex<()>; 5],
    next: [AtomicUsize; 5],
    is_removed: [AtomicBool; 5],
}

fn list(looks_again: bool) {
    let next = [0, 2, 4, 0, 0].map(AtomicUsize::new);
    let list = List { locks: [(); 5].map(Mutex::new), next, is_removed: [const { AtomicBool::new(false) }; 5] };
    let list = both(list, move |list, me| if me == 1 { list.remove(2) } else { list.insert(3, looks_again) });
    assert!(list.has(3), "3 is lost");
    assert!(!list.has(2), "2 is still there");
}

impl List {
    /// The last node before `key`.
    fn before(&self, key: usize) -> usize {
        let mut node = 1;
        loop {
            let next = self.next[node].load(Acquire);
            if next >= key {
                return node;
            }
            node = next;
        }
    }

    fn has(&self, key: usize) -> bool {
        self.next[self.before(key)].load(Acquire) == key && !self.is_removed[key].load(Acquire)
    }

    fn insert(&self, key: usize, looks_again: bool) {
        loop {
            let before = self.before(key);
            let own = self.locks[before].lock().expect("nobody panics");
            let after = self.next[before].load(Acquire);
            if looks_again && (self.is_removed[before].load(Acquire) || after < key) {
                drop(own);
                continue;
            }
            self.next[key].store(after, Release);
            self.next[before].store(key, Release);
            return;
        }
    }

    fn remove(&self, key: usize) {
        // Nobody removes the node before it here.
        let before = self.before(key);
        let _first = self.locks[before].lock().expect("nobody panics");
        let _second = self.locks[key].lock().expect("nobody panics");
        self.is_removed[key].store(true, Release);
        self.next[before].store(self.next[key].load(Acquire), Release);
    }
}
