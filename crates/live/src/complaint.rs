//! Errors of threads under the checker.

use std::fmt;
use std::panic::Location;

use teetotal_program::ThreadId;

use crate::heap::MemoryFault;
use crate::identity::Key;

/// The error with which a thread failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Complaint {
    /// A panic with this text.
    Panic { text: String, place: Option<Place> },
    /// A data race.
    Race(Race),
    /// A memory error.
    Memory(Box<MemoryFault>),
}

/// A place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl From<&Location<'_>> for Place {
    fn from(place: &Location<'_>) -> Self {
        Place { file: place.file().to_owned(), line: place.line(), column: place.column() }
    }
}

/// An access to a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub thread: ThreadId,
    pub(crate) time: u32,
    /// The number of operations that the thread had performed before; an atomic access is the next one.
    pub after: u32,
    pub place: &'static Location<'static>,
    pub kind: Kind,
}

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    pub is_write: bool,
    pub is_atomic: bool,
    /// Whether it creates the cell, or moves it to its place.
    pub is_creation: bool,
    /// Whether the constructor of the cell records it.
    pub is_construction: bool,
}

impl Kind {
    pub(crate) const READ: Kind =
        Kind { is_write: false, is_atomic: false, is_creation: false, is_construction: false };
    pub(crate) const WRITE: Kind = Kind { is_write: true, ..Kind::READ };
    pub(crate) const CREATION: Kind = Kind { is_creation: true, ..Kind::WRITE };
    pub(crate) const CONSTRUCTION: Kind = Kind { is_construction: true, ..Kind::CREATION };
    pub(crate) const ATOMIC_READ: Kind = Kind { is_atomic: true, ..Kind::READ };
    pub(crate) const ATOMIC_WRITE: Kind = Kind { is_atomic: true, ..Kind::WRITE };

    pub(crate) fn conflicts(self, other: Kind) -> bool {
        (self.is_write || other.is_write) && !(self.is_atomic && other.is_atomic)
    }

    /// Returns the verb for the access.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match (self.is_atomic, self.is_write) {
            _ if self.is_construction => "creates it",
            (false, false) => "reads",
            (false, true) => "writes",
            (true, false) => "reads atomically",
            (true, true) => "writes atomically",
        }
    }
}

/// A data race: two accesses that happens-before does not order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    pub first: Access,
    pub second: Access,
    /// The cell.
    pub(crate) key: Key,
}
