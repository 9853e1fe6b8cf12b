//! What can be asked of a model in the middle of an execution.

use std::panic::Location;

use teetotal_program::{Loc, ThreadId, Value};

use super::{Live, State};
use crate::complaint::{Complaint, Place};
use crate::identity::Key;
use crate::loops::Deed;
use crate::request::{WaitsFor, What};
use crate::script::RecordedOp;

impl Live {
    /// Where `thread` stands in the source.
    #[must_use]
    pub fn source_place(&self, thread: ThreadId) -> Option<&'static Location<'static>> {
        self.threads.get(thread.index())?.place
    }

    /// What `thread` did wrong.
    #[must_use]
    pub fn complaint(&self, thread: ThreadId) -> Option<&Complaint> {
        match &self.threads.get(thread.index())?.state {
            State::Failed(_, complaint) => Some(complaint),
            _ => None,
        }
    }

    /// What `thread` has panicked with so far, and where; it may have caught it, or wait for a scope to end.
    #[must_use]
    pub fn panics(&self, thread: ThreadId) -> Vec<(String, Option<Place>)> {
        self.execution.panics_in(thread)
    }

    /// Where the operations of `thread` stand in the source, if that is recorded.
    #[must_use]
    pub fn places(&self, thread: ThreadId) -> &[&'static Location<'static>] {
        self.threads.get(thread.index()).map_or(&[], |own| &own.places)
    }

    /// What `thread` has done, if places are recorded.
    #[must_use]
    pub fn done(&self, thread: ThreadId) -> &[RecordedOp] {
        self.threads.get(thread.index()).map_or(&[], |own| &own.done)
    }

    /// What `thread` waits for, if it does and that is known.
    #[must_use]
    pub fn waits_for(&self, thread: ThreadId) -> Option<WaitsFor> {
        self.request(thread)?.what.waits_for()
    }

    /// Whether `thread` waits with a limit on the time, so that it is not blocked forever.
    #[must_use]
    pub fn is_timed(&self, thread: ThreadId) -> bool {
        let what = self.request(thread).map(|request| &request.what);
        matches!(what, Some(What::Await { timed: true, .. } | What::Lock { timed: true, .. }))
    }

    /// A number for what all threads have read so far, and from where.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let numbers = self.threads.iter().map(|own| own.fingerprint.number(own.performed));
        numbers.fold(0, u64::wrapping_add)
    }

    /// What the last iteration of `thread` read, if that is a failed await.
    pub(crate) fn failed_reads(&self, thread: ThreadId) -> Vec<(Loc, Value)> {
        let locations = &self.memory.borrow().locations;
        let at = |(key, value): (Key, Value)| Some((locations.get(key.index()).copied().flatten()?, value));
        self.threads[thread.index()].loops.failed_reads(thread).filter_map(at).collect()
    }

    /// Where the last iteration of `thread` wrote another value for a while, if that is a failed await.
    pub(crate) fn failed_writes(&self, thread: ThreadId) -> Vec<Loc> {
        let locations = &self.memory.borrow().locations;
        let written = self.threads[thread.index()].loops.failed_deeds().filter_map(|deed| match *deed {
            Deed::Update { key, old, new, .. } if old != new => locations.get(key.index()).copied().flatten(),
            _ => None,
        });
        written.collect()
    }
}

/// Whether places are in the standard library, as far as that was asked of late: to compare paths takes longer than the
/// rest of what is done for an operation.
#[derive(Debug, Default)]
pub(super) struct PlacesOfStd([(usize, bool); PlacesOfStd::MOST]);

impl PlacesOfStd {
    /// A power of two.
    const MOST: usize = 16;

    /// Whether `place` is in the standard library.
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

/// Whether a place is in the standard library, as that of a destructor is which the compiler calls.
#[cold]
fn is_of_std(place: &Location<'_>) -> bool {
    let file = place.file();
    file.starts_with("/")
        && ["/library/core/", "/library/alloc/", "/library/std/"].iter().any(|library| file.contains(library))
}
