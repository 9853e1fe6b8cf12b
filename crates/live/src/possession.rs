//! What must be given back before an execution ends.

use std::panic::Location;

use crate::complaint::Place;
use crate::runtime::note_taken;

/// Things that code under the checker owns.
#[derive(Debug, Default)]
pub(crate) struct Possessions {
    list: Vec<Possession>,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Possession {
    what: &'static str,
    place: &'static Location<'static>,
    /// Where it is in memory, if it is known by that.
    address: usize,
    is_there: bool,
}

/// Something that was not given back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leak {
    /// What it is.
    pub what: &'static str,
    /// Where it was made, if that is known.
    pub place: Option<Place>,
}

impl Possessions {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    /// Takes note of something new; gives its number.
    pub(crate) fn add(&mut self, what: &'static str, place: &'static Location<'static>, address: usize) -> usize {
        note_taken(address, 1);
        self.list.push(Possession { what, place, address, is_there: true });
        self.list.len() - 1
    }

    /// The thing with this number is given back.
    pub(crate) fn remove(&mut self, number: usize) {
        if let Some(possession) = self.list.get_mut(number) {
            possession.is_there = false;
            note_taken(possession.address, -1);
        }
    }

    /// What is of this kind at `address`, if anything is.
    pub(crate) fn find(&self, what: &'static str, address: usize) -> Option<usize> {
        self.list.iter().rposition(|own| own.is_there && own.address == address && own.what == what)
    }

    /// What is still there.
    pub(crate) fn leaks(&self) -> Vec<Leak> {
        let there = self.list.iter().filter(|own| own.is_there);
        there.map(|own| Leak { what: own.what, place: Some(own.place.into()) }).collect()
    }
}
