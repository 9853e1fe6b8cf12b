//! Hazard pointers: a thread says which node it reads, and a node that a thread reads is not freed.
//!
//! [M. M. Michael, 2004]
//!
//! The pointer must be there before the node is known to be still in use, which takes a fence, and until the last
//! access or comparison.

use std::ptr;

use teetotal::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use teetotal::sync::atomic::{AtomicPtr, fence};

use super::{Case, HOLDS, Shared, both, everywhere, under_buffers};

pub(super) const CASES: &[Case] = &[
    Case { variant: "right", verdicts: HOLDS, run: || read(RIGHT) },
    Case {
        variant: "no fence after the hazard pointer",
        verdicts: under_buffers("use after free"),
        run: || read(Domain { fences: false, ..RIGHT }),
    },
    Case {
        variant: "not looked at again",
        verdicts: everywhere("use after free"),
        run: || read(Domain { looks_again: false, ..RIGHT }),
    },
    Case {
        variant: "cleared without release",
        verdicts: everywhere("use after free"),
        run: || read(Domain { clear: Relaxed, ..RIGHT }),
    },
    Case {
        variant: "hazard pointers read without acquire",
        verdicts: everywhere("use after free"),
        run: || read(Domain { scan: Relaxed, ..RIGHT }),
    },
    Case { variant: "freed without a look", verdicts: everywhere("use after free"), run: || read(Domain { scans: false, ..RIGHT }) },
    Case { variant: "a stack", verdicts: HOLDS, run: || pop(true) },
    Case {
        variant: "a stack that gives its hazard pointer up before it compares",
        verdicts: everywhere("use after free"),
        run: || pop(false),
    },
];

#[derive(Clone, Copy)]
struct Domain {
    /// Whether there is a fence between a hazard pointer and the second look.
    fences: bool,
    looks_again: bool,
    /// The ordering with which a hazard pointer is cleared.
    clear: Ordering,
    /// The ordering with which hazard pointers are read.
    scan: Ordering,
    /// Whether they are.
    scans: bool,
}

const RIGHT: Domain = Domain { fences: true, looks_again: true, clear: Release, scan: Acquire, scans: true };

struct Node {
    value: Shared<usize>,
    next: *mut Node,
}

fn node(value: usize, next: *mut Node) -> *mut Node {
    Box::into_raw(Box::new(Node { value: Shared::new(value), next }))
}

fn free(node: *mut Node) {
    // SAFETY: that no thread has it is what is checked.
    drop(unsafe { Box::from_raw(node) });
}

struct Cells {
    current: AtomicPtr<Node>,
    hazard: AtomicPtr<Node>,
    retired: AtomicPtr<Node>,
}

// SAFETY: nodes are freed when no thread has them, or else that is found.
unsafe impl Send for Cells {}
// SAFETY: the same.
unsafe impl Sync for Cells {}

impl Cells {
    fn new(first: *mut Node) -> Self {
        let none = || AtomicPtr::new(ptr::null_mut());
        Cells { current: AtomicPtr::new(first), hazard: none(), retired: none() }
    }

    /// Says that the current node is read, and returns it.
    fn protect(&self, domain: Domain) -> *mut Node {
        let mut node = self.current.load(Acquire);
        loop {
            self.hazard.store(node, Release);
            if domain.fences {
                fence(SeqCst);
            }
            if !domain.looks_again {
                return node;
            }
            match self.current.load(Acquire) {
                now if now == node => return node,
                now => node = now,
            }
        }
    }

    /// Frees a node that no thread finds any more as soon as none reads it.
    fn retire(&self, node: *mut Node, domain: Domain) {
        fence(SeqCst);
        if domain.scans && self.hazard.load(domain.scan) == node {
            self.retired.store(node, Relaxed);
        } else {
            free(node);
        }
    }

    /// Frees what is left when all threads have ended.
    fn clean_up(&self) {
        let retired = self.retired.load(Relaxed);
        if !retired.is_null() {
            free(retired);
        }
    }
}

/// One thread reads the current node while the other replaces it.
fn read(domain: Domain) {
    let cells = Cells::new(node(1, ptr::null_mut()));
    let cells = both(cells, move |cells, me| {
        if me == 1 {
            let node = cells.protect(domain);
            // SAFETY: it is protected.
            assert!(unsafe { (*node).value.get() } > 0);
            cells.hazard.store(ptr::null_mut(), domain.clear);
        } else {
            let old = cells.current.swap(node(2, ptr::null_mut()), AcqRel);
            cells.retire(old, domain);
        }
    });
    cells.clean_up();
    free(cells.current.load(Relaxed));
}

/// One thread pops a node, protected until the comparison or only until the node is read. The other pops two, frees
/// them, and pushes another, which may have the address of one of them.
fn pop(keeps: bool) {
    let cells = Cells::new(node(1, node(2, ptr::null_mut())));
    let (mine, popped) = (Shared::new(ptr::null_mut::<Node>()), Shared::new([0; 2]));
    let shared = both((cells, mine, popped), move |(cells, mine, popped), me| {
        if me == 1 {
            let two = [0; 2].map(|_| cells.pop_unprotected());
            cells.push(3);
            popped.set(two);
            return;
        }
        let head = cells.protect(RIGHT);
        if !head.is_null() {
            // SAFETY: it is protected.
            let next = unsafe { (*head).next };
            if !keeps {
                cells.hazard.store(ptr::null_mut(), Release);
            }
            if cells.current.compare_exchange(head, next, AcqRel, Acquire).is_ok() {
                mine.set(head);
            }
        }
        cells.hazard.store(ptr::null_mut(), Release);
    });
    let (cells, mine, popped) = &*shared;
    let mut left: Vec<*mut Node> = Vec::new();
    left.extend([mine.get()].into_iter().filter(|node| !node.is_null()));
    let mut node = cells.current.load(Relaxed);
    while !node.is_null() {
        left.push(node);
        // SAFETY: all threads have ended.
        node = unsafe { (*node).next };
    }
    // SAFETY: the same.
    let mut values: Vec<usize> = left.iter().map(|&node| unsafe { (*node).value.get() }).collect();
    values.extend(popped.get().into_iter().filter(|&value| value > 0));
    values.sort_unstable();
    assert!(values == [1, 2, 3], "an element is lost");
    left.into_iter().for_each(free);
    cells.clean_up();
}

impl Cells {
    /// Pops a node for the only thread that frees; returns its value, or 0.
    fn pop_unprotected(&self) -> usize {
        loop {
            let head = self.current.load(Acquire);
            if head.is_null() {
                return 0;
            }
            // SAFETY: no other thread frees.
            let (next, value) = unsafe { ((*head).next, (*head).value.get()) };
            if self.current.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                self.retire(head, RIGHT);
                return value;
            }
        }
    }

    fn push(&self, value: usize) {
        let new = node(value, ptr::null_mut());
        loop {
            let head = self.current.load(Acquire);
            // SAFETY: no other thread knows it.
            unsafe { (*new).next = head };
            if self.current.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                return;
            }
        }
    }
}
