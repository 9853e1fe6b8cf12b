//! Snark: a deque as a doubly linked list, by compare-exchanges of two locations at once.

use super::{field, pointer, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::Type;
use teetotal_program::ir::{Address, Array, Builder, Program, ThreadBuilder};
use teetotal_program::{Loc, Reg};

/// One thread works at the right end and one at the left: each puts `rounds` numbers in and takes one out after each.
///
/// It is the published algorithm, which is known to be wrong even under SC. A compare-exchange of two locations is made
/// of loads and stores under one lock, as no machine has it.
#[must_use]
pub fn snark(rounds: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("snark", rounds));
    let n_nodes = 2 * rounds + 1;
    let dummy: Vec<u64> = (0..n_nodes).map(|node| if node == 0 { pointer(0) } else { 0 }).collect();
    let links = ["left", "right"].map(|name| p.array_as(name, Type::U64, &dummy));
    let value = p.array("v", n_nodes);
    let hats = ["left_hat", "right_hat"].map(|name| p.shared(name, pointer(0)));
    let lock = p.shared("dcas", 0);
    for (side, name) in ["P0", "P1"].into_iter().enumerate() {
        let end = End {
            own: links[1 - side],
            other: links[side],
            own_hat: hats[1 - side],
            other_hat: hats[side],
            value,
            lock,
            variant,
        };
        p.thread(name, |t| {
            for round in 0..rounds {
                end.push(t, 1 + 2 * round + side as u32);
                end.pop(t);
            }
        });
    }
    finish(p)
}

/// One end of the deque.
#[derive(Clone, Copy)]
struct End {
    /// Links towards this end, and towards the other.
    own: Array,
    other: Array,
    own_hat: Loc,
    other_hat: Loc,
    value: Array,
    lock: Loc,
    variant: Variant,
}

/// A location, what it should hold, and what it is to hold.
type Exchange = (Address, Reg, Reg);

impl End {
    fn push(self, t: &mut ThreadBuilder<'_>, node: u32) {
        let End { own, other, own_hat, other_hat, variant, .. } = self;
        let [new, hat, link, far] = temporaries(t);
        t.set(new, pointer(node));
        t.store(own.element(node), pointer(0));
        t.store(self.value.element(node), u64::from(node));
        t.repeat(|t, labels| {
            fetch(t, hat, own_hat);
            fetch(t, link, field(own, hat));
            t.when_else(
                link.eq(hat),
                |t| {
                    t.store(other.element(node), pointer(0));
                    fetch(t, far, other_hat);
                    variant.fence(t);
                    let done = self.exchange(t, (own_hat.into(), hat, new), (other_hat.into(), far, new));
                    t.branch(done, labels.exit);
                },
                |t| {
                    t.store(other.element(node), hat);
                    variant.fence(t);
                    let done = self.exchange(t, (own_hat.into(), hat, new), (field(own, hat), link, new));
                    t.branch(done, labels.exit);
                },
            );
        });
    }

    fn pop(self, t: &mut ThreadBuilder<'_>) {
        let End { own, other, own_hat, other_hat, value, .. } = self;
        let [dummy, hat, far, link, taken] = temporaries(t);
        t.set(dummy, pointer(0));
        t.repeat(|t, labels| {
            fetch(t, hat, own_hat);
            fetch(t, far, other_hat);
            fetch(t, link, field(own, hat));
            t.branch(link.eq(hat), labels.exit);
            t.when_else(
                hat.eq(far),
                |t| {
                    let done = self.exchange(t, (own_hat.into(), hat, dummy), (other_hat.into(), far, dummy));
                    t.when(done, |t| {
                        fetch(t, taken, field(value, hat));
                        t.jump(labels.exit);
                    });
                },
                |t| {
                    fetch(t, link, field(other, hat));
                    let done = self.exchange(t, (own_hat.into(), hat, link), (field(other, hat), link, hat));
                    t.when(done, |t| {
                        fetch(t, taken, field(value, hat));
                        t.store(field(own, hat), pointer(0));
                        t.store(field(value, hat), 0);
                        t.jump(labels.exit);
                    });
                },
            );
        });
    }

    /// Writes both locations if both hold what they should; gives whether they did.
    fn exchange(self, t: &mut ThreadBuilder<'_>, first: Exchange, second: Exchange) -> Reg {
        let [a, b, done] = temporaries(t);
        t.set(done, 0);
        t.lock(self.lock);
        fetch(t, a, first.0.clone());
        fetch(t, b, second.0.clone());
        t.when(a.eq(first.1).and(b.eq(second.1)), |t| {
            t.store(first.0, first.2);
            t.store(second.0, second.2);
            t.set(done, 1);
        });
        t.unlock(self.lock);
        done
    }
}
