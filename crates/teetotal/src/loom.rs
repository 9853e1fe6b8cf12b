//! What loom offers to guide its search, for models that were written for it.

/// In loom, searches what comes after. Everything is searched here.
pub fn explore() {}

/// In loom, does not search what comes after. Everything is searched here.
pub fn stop_exploring() {}

/// In loom, does not search the rest of the execution. Everything is searched here.
pub fn skip_branch() {}

/// How many threads a model may have: there is no limit.
pub const MAX_THREADS: usize = usize::MAX;
