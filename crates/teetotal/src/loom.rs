//! Functions that guide loom's search, for models written for loom.

/// No effect: every execution is searched. In loom, starts exploration from here on.
pub fn explore() {}

/// No effect: every execution is searched. In loom, stops exploration from here on.
pub fn stop_exploring() {}

/// No effect: every execution is searched. In loom, skips the rest of the branch.
pub fn skip_branch() {}

/// The maximum number of threads in a model; there is no limit.
pub const MAX_THREADS: usize = usize::MAX;
