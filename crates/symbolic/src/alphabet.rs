//! The letters of buffer languages: pending stores, and the barriers between them.

use std::marker::PhantomData;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use teetotal_memory::{Access, Model};
use teetotal_program::{Loc, Order, Value};

use super::automaton::Letter;

/// A store-store barrier between two stores, or after the newest one.
pub const BARRIER: Letter = Letter(0);

/// A letter that stands for no store and holds back none, for arguments about what stands before a word.
pub const SENTINEL: Letter = Letter(1);

/// The number of the first letter that is a store.
const FIRST: u32 = 2;

/// A pending store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Store {
    pub loc: Loc,
    pub value: Value,
    /// It may not leave before any earlier store. Never set where the model makes no difference.
    pub release: bool,
}

/// Stores as letters, numbered in the order in which they are first met.
#[derive(Debug)]
pub struct Alphabet<M> {
    stores: Vec<Store>,
    numbers: HashMap<Store, Letter, FxBuildHasher>,
    model: PhantomData<M>,
}

impl<M> Default for Alphabet<M> {
    fn default() -> Self {
        Alphabet { stores: Vec::new(), numbers: HashMap::default(), model: PhantomData }
    }
}

impl<M: Model> Alphabet<M> {
    /// The letter of a store of this order.
    pub fn letter(&mut self, loc: Loc, value: Value, order: Order) -> Letter {
        let store = Store { loc, value, release: M::BARRIERS && order.releases() };
        *self.numbers.entry(store).or_insert_with(|| {
            self.stores.push(store);
            Letter(FIRST + self.stores.len() as u32 - 1)
        })
    }

    /// The letter of a store that was met before.
    #[must_use]
    pub fn known(&self, store: Store) -> Option<Letter> {
        self.numbers.get(&store).copied()
    }

    /// The store that a letter is, if it is one.
    #[must_use]
    pub fn store(&self, letter: Letter) -> Option<Store> {
        self.stores.get(letter.0.checked_sub(FIRST)? as usize).copied()
    }

    /// Whether `newer` may reach memory while `older` still waits.
    #[must_use]
    pub fn may_pass(&self, newer: Letter, older: Letter) -> bool {
        match (self.store(newer), self.store(older)) {
            (Some(newer), Some(older)) => {
                let order = if newer.release { Order::Release } else { Order::Plain };
                !M::keeps_order(write(Some(older.loc), Order::Plain), write(Some(newer.loc), order))
            }
            (Some(_), None) => older == SENTINEL,
            (None, _) => false,
        }
    }

    /// Whether an access to memory at once may be performed while `older` still waits.
    ///
    /// It is ordered after a store as a later store would be; see `memory::dependence`.
    #[must_use]
    pub fn may_update_past(&self, loc: Option<Loc>, order: Order, older: Letter) -> bool {
        self.store(older).is_some_and(|older| !M::keeps_order(write(Some(older.loc), Order::Plain), write(loc, order)))
    }
}

/// A write of which only the location and the order matter.
fn write(loc: Option<Loc>, order: Order) -> Access {
    Access { loc, order, epoch: 0 }
}
