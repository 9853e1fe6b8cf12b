//! Names of threads, shared locations, registers and values.

use std::fmt;

/// A value in memory or in a register, already wrapped to the type it was written with.
pub type Value = u64;

/// A thread, counted from 0 in the order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u16);

/// A shared location: one cell that is read and written whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Loc(pub u32);

/// A register: private to its thread, counted from 0 in each thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u16);

impl ThreadId {
    /// The position of this thread in tables with one entry for each thread.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The thread at `index` of such a table.
    #[must_use]
    pub fn at(index: usize) -> Self {
        ThreadId(u16::try_from(index).expect("a subject has at most 65,536 threads"))
    }

    /// The value that a lock held by this thread has in memory; a free lock is 0.
    #[must_use]
    pub fn as_holder(self) -> Value {
        Value::from(self.0) + 1
    }
}

impl Loc {
    /// The position of this location in tables with one entry for each location.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The location at `index` of such a table.
    #[must_use]
    pub fn at(index: usize) -> Self {
        Loc(u32::try_from(index).expect("a subject has at most 2^32 locations"))
    }
}

impl Reg {
    /// The position of this register in its thread.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
