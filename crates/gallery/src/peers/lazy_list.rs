//! The lazy list as a set: changes lock two nodes, and looking a key up takes no lock.

use super::{SetThreads, field, pointer, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::Type;
use teetotal_program::ir::{Array, Builder, Label, Program, ThreadBuilder};
use teetotal_program::{Reg, Value};

/// Adders of the keys 2, 3, …, readers that look for the largest of them, removers of the same keys.
/// From `lazylist.c`.
///
/// As in the source, an operation that had to start over twice is discarded.
/// A plain store publishes a node to readers without a lock; without fences it is wrong under PSO.
#[must_use]
pub fn lazy_list(threads: SetThreads, variant: Variant) -> Program {
    let SetThreads { adders, readers, removers } = threads;
    let mut p = Builder::new(&variant.name("lazy-list", format_args!("{adders}-{readers}-{removers}")));
    let [mut keys, mut links] = [vec![0; adders as usize + 2], vec![0; adders as usize + 2]];
    (keys[0], keys[1], links[0]) = (-100_i64 as Value, 100, pointer(1));
    let key = p.array_as("key", Type::I64, &keys);
    let next = p.array_as("next", Type::I64, &links);
    let marked = p.array("marked", adders + 2);
    let lock = p.array("l", adders + 2);
    let list = List { key, next, marked, lock, variant };
    for i in 0..adders {
        p.thread(&format!("adder{i}"), |t| list.add(t, i + 2));
    }
    for i in 0..readers {
        p.thread(&format!("reader{i}"), |t| list.contains(t, u64::from(adders) + 1));
    }
    for i in 0..removers {
        p.thread(&format!("remover{i}"), |t| list.remove(t, u64::from(i) + 2));
    }
    finish(p)
}

/// Node 0 is the head, node 1 the tail.
#[derive(Clone, Copy)]
struct List {
    key: Array,
    next: Array,
    marked: Array,
    lock: Array,
    variant: Variant,
}

/// Where a key belongs: pointers to the nodes before and after it, and a scratch register.
#[derive(Clone, Copy)]
struct Spot {
    before: Reg,
    after: Reg,
    seen: Reg,
}

impl List {
    /// Tries twice to change the list at the spot of `key`, with both nodes locked and found to be neighbors.
    fn change(self, t: &mut ThreadBuilder<'_>, key: u64, mut change: impl FnMut(&mut ThreadBuilder<'_>, Spot)) {
        let [before, after, seen] = temporaries(t);
        let spot = Spot { before, after, seen };
        let end = t.label();
        for _ in 0..2 {
            let invalid = t.label();
            self.locate(t, key, spot);
            t.lock(field(self.lock, before));
            t.lock(field(self.lock, after));
            self.validate(t, spot, invalid);
            change(t, spot);
            self.unlock(t, spot);
            t.jump(end);
            t.place(invalid);
            self.unlock(t, spot);
        }
        t.assume(0);
        t.place(end);
    }

    fn unlock(self, t: &mut ThreadBuilder<'_>, spot: Spot) {
        t.unlock(field(self.lock, spot.after));
        t.unlock(field(self.lock, spot.before));
    }

    fn locate(self, t: &mut ThreadBuilder<'_>, key: u64, spot: Spot) {
        let Spot { before, after, seen } = spot;
        t.set(before, pointer(0));
        fetch(t, after, self.next.element(0));
        t.repeat(|t, labels| {
            fetch(t, seen, field(self.key, after));
            t.branch(seen.ge(key), labels.exit);
            t.set(before, after);
            fetch(t, after, field(self.next, after));
        });
    }

    /// Goes to `invalid` unless both nodes are in the list, one after the other.
    fn validate(self, t: &mut ThreadBuilder<'_>, spot: Spot, invalid: Label) {
        for node in [spot.before, spot.after] {
            fetch(t, spot.seen, field(self.marked, node));
            t.branch(spot.seen, invalid);
        }
        fetch(t, spot.seen, field(self.next, spot.before));
        t.branch(spot.seen.ne(spot.after), invalid);
    }

    /// Adds the key that has the number of its node.
    fn add(self, t: &mut ThreadBuilder<'_>, node: u32) {
        let key = u64::from(node);
        self.change(t, key, |t, Spot { before, after, seen }| {
            fetch(t, seen, field(self.key, after));
            t.when(seen.ne(key), |t| {
                t.store(self.key.element(node), key);
                t.store(self.marked.element(node), 0);
                t.store(self.next.element(node), after);
                self.variant.fence(t);
                t.store(field(self.next, before), pointer(node));
            });
        });
    }

    fn remove(self, t: &mut ThreadBuilder<'_>, key: u64) {
        self.change(t, key, |t, Spot { before, after, seen }| {
            fetch(t, seen, field(self.key, after));
            t.when(seen.eq(key), |t| {
                t.store(field(self.marked, after), 1);
                self.variant.fence(t);
                fetch(t, seen, field(self.next, after));
                t.store(field(self.next, before), seen);
            });
        });
    }

    fn contains(self, t: &mut ThreadBuilder<'_>, key: u64) {
        let [node, seen] = temporaries(t);
        let end = t.label();
        fetch(t, node, self.next.element(0));
        self.variant.fence(t);
        t.repeat(|t, labels| {
            t.branch(node.eq(0), labels.exit);
            fetch(t, seen, field(self.key, node));
            t.branch(seen.ge(key), labels.exit);
            fetch(t, node, field(self.next, node));
            self.variant.fence(t);
        });
        self.variant.assert(t, node.ne(0), "the list ends before its tail");
        t.branch(node.eq(0), end);
        let found = t.load("found", field(self.key, node));
        t.branch(found.ne(key), end);
        t.load("marked", field(self.marked, node));
        t.place(end);
    }
}
