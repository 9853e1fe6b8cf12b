//! Harris's non-blocking list as a set: the low bit of a link marks the node as removed.

use super::swap::{Exchange, Swapper};
use super::{SetThreads, Swap, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::Type;
use teetotal_program::ir::{Address, Array, Builder, Expr, Label, Program, ThreadBuilder};
use teetotal_program::{Reg, Value};

/// Adders of the keys 2, 3, …, readers that look for the largest of them, removers of the same keys. From `harris.c`.
///
/// As in the source, an operation that had to start over twice is discarded.
/// With [`Swap::Spinlock`] and without fences updates get lost under PSO, which the assertion does not see.
#[must_use]
pub fn harris(threads: SetThreads, swap: Swap, variant: Variant) -> Program {
    let SetThreads { adders, readers, removers } = threads;
    let mut p = Builder::new(
        &variant.name(swap.name("harris", "harris-spinlock"), format_args!("{adders}-{readers}-{removers}")),
    );
    let [mut keys, mut links] = [vec![0; adders as usize + 2], vec![0; adders as usize + 2]];
    (keys[0], keys[1], links[0]) = (-100_i64 as Value, 100, link(1));
    let key = p.array_as("key", Type::I64, &keys);
    let next = p.array_as("next", Type::I64, &links);
    let swapper = Swapper::new(&mut p, swap, variant);
    let list = List { key, next, swapper, variant };
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

/// The link to a node: twice its pointer, so that there is room for the mark.
fn link(node: u32) -> Value {
    2 * super::pointer(node)
}

/// A field of the node that an unmarked link leads to.
fn field(fields: Array, link: Reg) -> Address {
    fields.at(link.shifted_right(1).minus(1))
}

fn unmarked(link: Reg) -> Expr {
    link.bit_and(-2)
}

/// Node 0 is the head, node 1 the tail.
#[derive(Clone, Copy)]
struct List {
    key: Array,
    next: Array,
    swapper: Swapper,
    variant: Variant,
}

/// Where a key belongs: the links to the nodes before and after it, and a scratch register.
#[derive(Clone, Copy)]
struct Spot {
    before: Reg,
    after: Reg,
    seen: Reg,
}

impl Spot {
    fn new(t: &mut ThreadBuilder<'_>) -> Self {
        let [before, after, seen] = temporaries(t);
        Spot { before, after, seen }
    }
}

impl List {
    /// Finds the spot of `key`, unlinking marked nodes on the way; goes to `retry` where that fails.
    fn search(self, t: &mut ThreadBuilder<'_>, key: u64, spot: Spot, retry: Label) {
        let Spot { before, after, seen } = spot;
        let found = t.temporary();
        t.set(before, link(0));
        fetch(t, seen, self.next.element(0));
        self.variant.fence(t);
        t.set(after, unmarked(seen));
        t.repeat(|t, labels| {
            t.when(after.eq(0), |t| {
                self.variant.assert(t, 0, "the list ends before its tail");
                t.jump(retry);
            });
            fetch(t, seen, field(self.next, after));
            self.variant.fence(t);
            t.when(seen.bit_and(1), |t| {
                let exchange = Exchange { at: field(self.next, before), expected: after.into(), new: unmarked(seen) };
                let unlinked = self.swapper.perform(t, exchange);
                t.branch(unlinked.negated(), retry);
                t.set(after, unmarked(seen));
                t.jump(labels.start);
            });
            fetch(t, found, field(self.key, after));
            t.branch(found.ge(key), labels.exit);
            t.set(before, after);
            t.set(after, unmarked(seen));
        });
    }

    /// Tries `attempt` twice; it goes to the first label to start over and to the second at the end.
    fn twice(t: &mut ThreadBuilder<'_>, mut attempt: impl FnMut(&mut ThreadBuilder<'_>, Label, Label)) {
        let end = t.label();
        for _ in 0..2 {
            let retry = t.label();
            attempt(t, retry, end);
            t.place(retry);
        }
        t.assume(0);
        t.place(end);
    }

    /// Adds the key that has the number of its node.
    fn add(self, t: &mut ThreadBuilder<'_>, node: u32) {
        let (key, spot) = (u64::from(node), Spot::new(t));
        Self::twice(t, |t, retry, end| {
            self.search(t, key, spot, retry);
            fetch(t, spot.seen, field(self.key, spot.after));
            t.branch(spot.seen.eq(key), end);
            t.store(self.key.element(node), key);
            t.store(self.next.element(node), spot.after);
            self.variant.fence(t);
            let at = field(self.next, spot.before);
            let linked = self.swapper.perform(t, Exchange { at, expected: spot.after.into(), new: link(node).into() });
            t.branch(linked, end);
        });
    }

    fn remove(self, t: &mut ThreadBuilder<'_>, key: u64) {
        let spot = Spot::new(t);
        let Spot { before, after, seen } = spot;
        Self::twice(t, |t, retry, end| {
            self.search(t, key, spot, retry);
            fetch(t, seen, field(self.key, after));
            t.branch(seen.ne(key), end);
            fetch(t, seen, field(self.next, after));
            t.branch(seen.bit_and(1), retry);
            let mark = Exchange { at: field(self.next, after), expected: seen.into(), new: seen.bit_or(1) };
            let marked = self.swapper.perform(t, mark);
            t.branch(marked.negated(), retry);
            let unlink = Exchange { at: field(self.next, before), expected: after.into(), new: seen.into() };
            self.swapper.perform(t, unlink);
            t.jump(end);
        });
    }

    fn contains(self, t: &mut ThreadBuilder<'_>, key: u64) {
        let (spot, failed) = (Spot::new(t), t.label());
        self.search(t, key, spot, failed);
        t.load("found", field(self.key, spot.after));
        t.place(failed);
    }
}
