//! The states on the way in which a thread had just gone back in a loop.
//!
//! If one of them comes again then everything is as it was, and can go on so forever.

use rustc_hash::FxHashSet;

/// Such states, as numbers, with where on the way they are.
#[derive(Default)]
pub(super) struct Rounds {
    way: Vec<(u64, u64)>,
    places: FxHashSet<u64>,
}

impl Rounds {
    /// Adds the state after so many steps; not if it has been there before.
    pub(super) fn add(&mut self, depth: u64, place: u64) -> bool {
        let is_new = self.places.insert(place);
        if is_new {
            self.way.push((depth, place));
        }
        is_new
    }

    /// Goes back to where the way had so many steps.
    #[inline]
    pub(super) fn back_to(&mut self, depth: u64) {
        while let Some((_, place)) = self.way.pop_if(|(at, _)| *at > depth) {
            self.places.remove(&place);
        }
    }
}
