//! Families of small programs, each complete up to a permutation of its threads and of its two locations.
//!
//! Every store and exchange writes a value of its own, so that what a read returns says where it came from.

use std::ops::RangeInclusive;

use teetotal_program::Order;
use teetotal_program::ir::{Builder, Program, Update};

use self::Operation::{Exchange, Fence, Load, Store};

/// Two threads of one to three operations, all kinds: 40,002 programs. `update` is the ordering of exchanges.
pub fn e1(update: Order) -> impl Iterator<Item = Program> {
    family(symmetric(2, 1..=3, &ALL), update)
}

/// Three threads of one or two operations, all kinds: 15,457 programs.
pub fn e2(update: Order) -> impl Iterator<Item = Program> {
    family(symmetric(3, 1..=2, &ALL), update)
}

/// A thread of four loads and stores and one of one to three: 10,752 programs.
pub fn e3() -> impl Iterator<Item = Program> {
    let threads = vec![sequences(4..=4, &LOADS_AND_STORES), sequences(1..=3, &LOADS_AND_STORES)];
    let shapes = product(threads).into_iter().filter(|shape| *shape <= shape.iter().map(swapped).collect::<Vec<_>>());
    family(shapes, Order::SeqCst)
}

/// Two threads of one to three operations without fences: 16,770 programs.
pub fn two_threads_without_fences() -> impl Iterator<Item = Program> {
    family(symmetric(2, 1..=3, &ALL[..6]), Order::SeqCst)
}

/// Three threads of one or two operations without fences.
pub fn three_threads_without_fences() -> impl Iterator<Item = Program> {
    family(symmetric(3, 1..=2, &ALL[..6]), Order::SeqCst)
}

/// An operation on location 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Operation {
    Store(usize),
    Load(usize),
    Exchange(usize),
    Fence,
}

const ALL: [Operation; 7] = [Store(0), Store(1), Load(0), Load(1), Exchange(0), Exchange(1), Fence];
const LOADS_AND_STORES: [Operation; 4] = [Store(0), Store(1), Load(0), Load(1)];

type Sequence = Vec<Operation>;

/// Every sequence of these lengths.
fn sequences(lengths: RangeInclusive<usize>, alphabet: &[Operation]) -> Vec<Sequence> {
    lengths.flat_map(|length| product(vec![alphabet.to_vec(); length])).collect()
}

/// Every choice of one from each.
fn product<T: Clone>(sets: Vec<Vec<T>>) -> Vec<Vec<T>> {
    sets.iter().fold(vec![Vec::new()], |chosen, set| {
        let extend = |prefix: Vec<T>| set.iter().map(move |one| prefix.iter().chain([one]).cloned().collect());
        chosen.into_iter().flat_map(extend).collect()
    })
}

/// One of each class of `n_threads` sequences that differ by the order of threads and the names of locations.
fn symmetric(
    n_threads: usize,
    lengths: RangeInclusive<usize>,
    alphabet: &[Operation],
) -> impl Iterator<Item = Vec<Sequence>> + use<> {
    let shapes = product(vec![sequences(lengths, alphabet); n_threads]);
    shapes.into_iter().filter(|shape| {
        let mut other: Vec<Sequence> = shape.iter().map(swapped).collect();
        other.sort_unstable();
        shape.is_sorted() && *shape <= other
    })
}

/// The same with the locations swapped.
fn swapped(sequence: &Sequence) -> Sequence {
    let swap = |operation: &Operation| match *operation {
        Store(loc) => Store(1 - loc),
        Load(loc) => Load(1 - loc),
        Exchange(loc) => Exchange(1 - loc),
        Fence => Fence,
    };
    sequence.iter().map(swap).collect()
}

fn family(shapes: impl Iterator<Item = Vec<Sequence>>, update: Order) -> impl Iterator<Item = Program> {
    shapes.map(move |shape| program(&shape, update))
}

fn program(shape: &[Sequence], update: Order) -> Program {
    let mut p = Builder::new("family");
    let locations = [p.shared("x", 0), p.shared("y", 0)];
    let mut next = 0;
    for (thread, sequence) in shape.iter().enumerate() {
        p.thread(&format!("P{thread}"), |t| {
            for (index, operation) in sequence.iter().enumerate() {
                next += 1;
                let register = format!("r{index}");
                match *operation {
                    Store(loc) => t.store(locations[loc], next),
                    Load(loc) => _ = t.load(&register, locations[loc]),
                    Exchange(loc) => _ = t.rmw(&register, locations[loc], Update::Exchange(next.into()), update),
                    Fence => t.fence(),
                }
            }
        });
    }
    p.build().expect("a family has well-formed programs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_the_size_that_the_reference_says() {
        assert_eq!(e1(Order::SeqCst).count(), 40_002);
        assert_eq!(e2(Order::SeqCst).count(), 15_457);
        assert_eq!(e3().count(), 10_752);
        assert_eq!(two_threads_without_fences().count(), 16_770);
    }
}
