//! What a thread under the checker did wrong.

use std::panic::Location;

use teetotal_program::ThreadId;

/// What went wrong in a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// It panicked with this text.
    Panic { text: String, place: Option<Place> },
    /// It accessed data at the same time as another thread.
    Race(Race),
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl From<&Location<'_>> for Place {
    fn from(place: &Location<'_>) -> Self {
        Place { file: place.file().to_owned(), line: place.line(), column: place.column() }
    }
}

/// An access to data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub thread: ThreadId,
    pub(crate) time: u32,
    pub place: &'static Location<'static>,
    pub is_write: bool,
}

/// Two accesses that nothing orders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    pub first: Access,
    pub second: Access,
}
