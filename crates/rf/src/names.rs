//! What threads are called in every execution, whatever their numbers are in it.

use rustc_hash::FxHashMap;

/// What a thread is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Name(u32);

impl Name {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of threads: a thread is called by who started it, and by which of its operations.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: FxHashMap<(Option<Name>, u32), Name>,
}

impl Names {
    /// The thread that the operation `index` of `parent` starts, or the first thread with this number if nobody does.
    pub(super) fn of(&mut self, parent: Option<Name>, index: u32) -> Name {
        let next = Name(self.known.len() as u32);
        *self.known.entry((parent, index)).or_insert(next)
    }
}
