//! Queries about a model during an execution.

use std::panic::Location;

use teetotal_program::{Loc, ThreadId, Value};

use super::{Live, State};
use crate::complaint::{Complaint, Place};
use crate::identity::Key;
use crate::loops::Deed;
use crate::request::{WaitsFor, What};
use crate::script::RecordedOp;

impl Live {
    /// Returns the place of `thread` in the source.
    #[must_use]
    pub fn source_place(&self, thread: ThreadId) -> Option<&'static Location<'static>> {
        self.threads.get(thread.index())?.place
    }

    /// Returns the error of `thread`, if it failed.
    #[must_use]
    pub fn complaint(&self, thread: ThreadId) -> Option<&Complaint> {
        match &self.threads.get(thread.index())?.state {
            State::Failed(_, complaint) => Some(complaint),
            _ => None,
        }
    }

    /// Returns the panics of `thread` so far, with their places; it may have caught them.
    #[must_use]
    pub fn panics(&self, thread: ThreadId) -> Vec<(String, Option<Place>)> {
        self.execution.panics_in(thread)
    }

    /// Returns the places of the operations of `thread`, if recorded.
    #[must_use]
    pub fn places(&self, thread: ThreadId) -> &[&'static Location<'static>] {
        self.threads.get(thread.index()).map_or(&[], |own| &own.places)
    }

    /// Returns the operations of `thread`, if places are recorded.
    #[must_use]
    pub fn done(&self, thread: ThreadId) -> &[RecordedOp] {
        self.threads.get(thread.index()).map_or(&[], |own| &own.done)
    }

    /// Returns what `thread` waits for, if it waits and that is known.
    #[must_use]
    pub fn waits_for(&self, thread: ThreadId) -> Option<WaitsFor> {
        self.request(thread)?.what.waits_for()
    }

    /// Returns whether `thread` waits with a time-out, so that it is not blocked forever.
    #[must_use]
    pub fn is_timed(&self, thread: ThreadId) -> bool {
        let what = self.request(thread).map(|request| &request.what);
        matches!(what, Some(What::Await { timed: true, .. } | What::Lock { timed: true, .. }))
    }

    /// Returns a hash of what all threads have read so far, and from which writes.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let numbers = self.threads.iter().map(|own| own.fingerprint.number(own.performed));
        numbers.fold(0, u64::wrapping_add)
    }

    /// Returns what the last iteration of `thread` read, if it is a failed await.
    pub(crate) fn failed_reads(&self, thread: ThreadId) -> Vec<(Loc, Value)> {
        let locations = &self.memory.borrow().locations;
        let at = |(key, value): (Key, Value)| Some((locations.get(key.index()).copied().flatten()?, value));
        self.threads[thread.index()].loops.failed_reads(thread).filter_map(at).collect()
    }

    /// Returns the locations that the last iteration of `thread` changed temporarily, if it is a failed await.
    pub(crate) fn failed_writes(&self, thread: ThreadId) -> Vec<Loc> {
        let locations = &self.memory.borrow().locations;
        let written = self.threads[thread.index()].loops.failed_deeds().filter_map(|deed| match *deed {
            Deed::Update { key, old, new, .. } if old != new => locations.get(key.index()).copied().flatten(),
            _ => None,
        });
        written.collect()
    }
}

/// A cache of which places are in the standard library: comparing paths takes longer than all other work for an
/// operation.
#[derive(Debug, Default)]
pub(super) struct PlacesOfStd([(usize, bool); PlacesOfStd::MOST]);

impl PlacesOfStd {
    /// A power of two.
    const MOST: usize = 16;

    /// Returns whether `place` is in the standard library.
    #[inline]
    pub(super) fn has(&mut self, place: &'static Location<'static>) -> bool {
        let address = std::ptr::from_ref(place) as usize;
        let entry = &mut self.0[address / align_of::<Location<'static>>() % PlacesOfStd::MOST];
        if entry.0 != address {
            *entry = (address, is_of_std(place));
        }
        entry.1
    }
}

/// Returns whether a place is in the standard library, as that of a destructor is which the compiler calls.
#[cold]
fn is_of_std(place: &Location<'_>) -> bool {
    let file = place.file();
    file.starts_with("/")
        && ["/library/core/", "/library/alloc/", "/library/std/"].iter().any(|library| file.contains(library))
}
