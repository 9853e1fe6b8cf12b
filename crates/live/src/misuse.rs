//! Misuse of objects that do not belong to the execution that uses them.

use std::fmt;

use crate::heap::Checked;

/// Why an object cannot be used in an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misuse {
    /// It was created outside of the execution, and is not a static.
    Captured,
    /// It is a static that was changed by code that is not part of a model.
    StaticChanged,
    /// It is at this address, in memory that was freed.
    Freed(usize),
    /// It was at this address, in memory that was freed and is now used for something else.
    Reused(usize),
}

/// A note on what else an object that seems to be captured may be, without the checked allocator.
const OR_FREED: &str = "\nhelp: or it is in memory that was freed: with `teetotal::alloc::Checked` as the global \
    allocator, a use after free is reported as such";

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_unknown = matches!(self, Misuse::Captured) && !Checked::is_installed();
        self.describe(f)?;
        if is_unknown { f.write_str(OR_FREED) } else { Ok(()) }
    }
}

impl Misuse {
    fn describe(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Misuse::Captured => {
                "an object that was created outside of this execution was used, so its state would survive from one \
                 execution to the next\n\
                 help: create it inside the closure that is given to `model`, or make it a static: a static of a type of \
                 `teetotal` is fresh in every execution\n\
                 help: objects kept in a `std::thread_local!`, a `std::sync::OnceLock` or a static of another crate \
                 survive too"
            }
            Misuse::Freed(_) | Misuse::Reused(_) => "an object was used in memory that was freed",
            Misuse::StaticChanged => {
                "a static was changed outside of a model, so executions would not begin with its initial value\n\
                 help: change it inside the closure that is given to `model`; every execution has a fresh copy"
            }
        })
    }
}
