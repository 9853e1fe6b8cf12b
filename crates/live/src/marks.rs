//! States that a model must reach, declared by `reachable!`.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::complaint::Place;
use crate::runtime::{current, is_active};

/// A state that has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    pub name: String,
    /// The place of its declaration, if known.
    pub place: Option<Place>,
    /// Whether an execution reached it.
    pub is_reached: bool,
}

/// The states that executions declared, by their names.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<BTreeMap<String, (Option<Place>, bool)>>);

impl Marks {
    /// Declares that the state `name` must be reached.
    pub(crate) fn ask_for(&self, name: &str, place: Option<Place>) {
        self.locked().entry(name.to_owned()).or_insert((place, false));
    }

    /// Records that the state `name` was reached.
    pub(crate) fn reach(&self, name: &str) {
        self.locked().entry(name.to_owned()).or_insert((None, true)).1 = true;
    }

    /// Returns every declared state.
    pub(crate) fn all(&self) -> Vec<Mark> {
        let mark = |(name, (place, is_reached)): (&String, &(Option<Place>, bool))| Mark {
            name: name.clone(),
            place: place.clone(),
            is_reached: *is_reached,
        };
        self.locked().iter().map(mark).collect()
    }

    fn note(&self, name: &str, place: &'static Location<'static>, is_reached: bool) {
        let mut marks = self.locked();
        match marks.get_mut(name) {
            Some((known, reached)) => {
                known.get_or_insert_with(|| place.into());
                *reached |= is_reached;
            }
            None => drop(marks.insert(name.to_owned(), (Some(place.into()), is_reached))),
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, (Option<Place>, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Declares the state `name` in the current thread, and whether it is reached. Has no effect outside of a model.
#[track_caller]
pub fn reachable(name: &str, is_reached: bool) {
    if !is_active() {
        return;
    }
    let place = Location::caller();
    current(|execution| {
        // Code that runs outside of the search does not count.
        if !execution.is_over.get() {
            execution.ledger.marks().note(name, place, is_reached);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(marks: &Marks) -> Vec<(String, bool)> {
        marks.all().into_iter().map(|mark| (mark.name, mark.is_reached)).collect()
    }

    #[test]
    fn a_state_that_was_reached_once_stays_reached() {
        let marks = Marks::default();
        for is_reached in [false, true, false] {
            marks.note("a", Location::caller(), is_reached);
            marks.note("b", Location::caller(), false);
        }
        marks.ask_for("a", None);
        assert_eq!(reached(&marks), [("a".to_owned(), true), ("b".to_owned(), false)]);
    }

    #[test]
    fn a_state_has_the_place_where_it_was_first_asked_for() {
        let marks = Marks::default();
        marks.reach("a");
        assert_eq!(marks.all()[0].place, None);
        let first = Location::caller();
        marks.note("a", first, false);
        marks.note("a", Location::caller(), false);
        assert_eq!(marks.all()[0].place, Some(first.into()));
        assert_eq!(reached(&marks), [("a".to_owned(), true)]);
    }
}
