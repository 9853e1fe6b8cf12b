//! The leak tracker: what must be freed before an execution ends.

use std::panic::Location;

use crate::complaint::Place;
use crate::lifetimes::Told;
use crate::runtime::note_taken;

/// The objects that code under the checker owns.
#[derive(Debug, Default)]
pub(crate) struct Possessions {
    list: Vec<Possession>,
}

/// An owned object.
#[derive(Clone, Copy, Debug)]
struct Possession {
    what: &'static str,
    place: &'static Location<'static>,
    /// Its address, if it is identified by that.
    address: usize,
    is_there: bool,
    /// Its allocation and its free, if it is memory.
    told: Option<(Told, Option<Told>)>,
}

/// A leak: something that was not freed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leak {
    /// What was leaked.
    pub what: &'static str,
    /// The place of its creation, if known.
    pub place: Option<Place>,
}

impl Possessions {
    pub(crate) fn clear(&mut self) {
        self.list.clear();
    }

    /// Records a new object; returns its number.
    pub(crate) fn add(&mut self, what: &'static str, place: &'static Location<'static>, address: usize) -> usize {
        note_taken(address, 1);
        self.list.push(Possession { what, place, address, is_there: true, told: None });
        self.list.len() - 1
    }

    /// Records that the object with this number is freed.
    pub(crate) fn remove(&mut self, number: usize) {
        if let Some(possession) = self.list.get_mut(number) {
            possession.is_there = false;
            note_taken(possession.address, -1);
        }
    }

    /// Returns the object of this kind at `address`, if any.
    pub(crate) fn find(&self, what: &'static str, address: usize) -> Option<usize> {
        self.list.iter().rposition(|own| own.is_there && own.address == address && own.what == what)
    }

    /// Records allocated memory.
    pub(crate) fn allocate(&mut self, what: &'static str, allocated: Told, address: usize) {
        let number = self.add(what, allocated.place, address);
        self.list[number].told = Some((allocated, None));
    }

    /// Records that the memory with this number is freed.
    pub(crate) fn free(&mut self, number: usize, freed: Option<Told>) {
        self.remove(number);
        if let Some((_, end)) = self.list.get_mut(number).and_then(|own| own.told.as_mut()) {
            *end = freed;
        }
    }

    /// Returns the allocation and the free of the last object at `address`, if it is freed.
    pub(crate) fn freed(&self, what: &'static str, address: usize) -> Option<(Told, Told)> {
        let last = self.list.iter().rev().find(|own| own.address == address && own.what == what)?;
        let (allocated, freed) = last.told?;
        Some((allocated, freed.filter(|_| !last.is_there)?))
    }

    /// Returns the objects that are not freed.
    pub(crate) fn leaks(&self) -> Vec<Leak> {
        let there = self.list.iter().filter(|own| own.is_there);
        there.map(|own| Leak { what: own.what, place: Some(own.place.into()) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_back_is_a_leak() {
        let mut possessions = Possessions::default();
        let place = Location::caller();
        let one = possessions.add("one", place, 16);
        possessions.add("other", place, 32);
        possessions.remove(one);
        assert_eq!(possessions.leaks(), [Leak { what: "other", place: Some(place.into()) }]);
        possessions.clear();
        assert_eq!(possessions.leaks(), []);
    }

    #[test]
    fn a_thing_is_found_by_what_it_is_and_where() {
        let mut possessions = Possessions::default();
        let place = Location::caller();
        let old = possessions.add("one", place, 16);
        assert_eq!(possessions.find("one", 16), Some(old));
        assert_eq!((possessions.find("one", 32), possessions.find("other", 16)), (None, None));
        possessions.remove(old);
        assert_eq!(possessions.find("one", 16), None);
        let new = possessions.add("one", place, 16);
        assert_eq!(possessions.find("one", 16), Some(new), "the address has another owner now");
    }
}
