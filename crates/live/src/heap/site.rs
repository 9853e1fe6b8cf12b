//! The places in the source where blocks are allocated and freed.
//!
//! The allocator does not know its caller, and a backtrace takes longer than an allocation. So places are determined
//! only in replays.

use std::backtrace::Backtrace;

use crate::complaint::Place;

/// The number of an allocation or a free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Site(u32);

impl Site {
    pub(super) const UNKNOWN: Site = Site(u32::MAX);
}

/// Where allocations and frees took place, if that is recorded.
#[derive(Debug, Default)]
pub(super) struct Sites {
    is_recorded: bool,
    traces: Vec<Backtrace>,
}

impl Sites {
    pub(super) fn record(&mut self) {
        self.is_recorded = true;
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    pub(super) fn clear(&mut self) {
        self.traces.clear();
    }

    /// Records the place of the current thread.
    #[inline]
    pub(super) fn add(&mut self) -> Site {
        if !self.is_recorded || is_in_backtrace() {
            return Site::UNKNOWN;
        }
        self.traces.push(Backtrace::force_capture());
        Site(self.traces.len() as u32 - 1)
    }

    /// Returns the place in the user's source.
    pub(super) fn place(&self, site: Site) -> Option<Place> {
        let trace = self.traces.get(site.0 as usize)?;
        place_in(&trace.to_string())
    }
}

/// Returns whether the current thread is making or printing a backtrace, which the standard library does under a lock.
#[cfg(target_os = "linux")]
fn is_in_backtrace() -> bool {
    use std::ffi::{c_int, c_void};
    use std::fmt::{Debug, Display, Formatter, Result};

    unsafe extern "C-unwind" {
        fn _Unwind_Backtrace(
            step: extern "C-unwind" fn(*mut c_void, *mut c_void) -> c_int,
            found: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(frame: *mut c_void) -> usize;
        fn _Unwind_FindEnclosingFunction(address: *mut c_void) -> *mut c_void;
    }

    extern "C-unwind" fn step(frame: *mut c_void, found: *mut c_void) -> c_int {
        type Print = fn(&Backtrace, &mut Formatter<'_>) -> Result;
        let makes = [Backtrace::capture as fn() -> Backtrace, Backtrace::force_capture].map(|make| make as usize);
        let prints = [<Backtrace as Display>::fmt as Print, <Backtrace as Debug>::fmt].map(|print| print as usize);
        // SAFETY: the unwinder passes a frame, and the flag that it was given.
        unsafe {
            let function =
                _Unwind_FindEnclosingFunction(_Unwind_GetIP(frame).saturating_sub(1) as *mut c_void) as usize;
            let is_one = makes.iter().chain(&prints).any(|&other| other == function);
            *found.cast::<bool>() |= is_one;
            c_int::from(is_one)
        }
    }

    let mut found = false;
    // SAFETY: the function goes through the frames, and passes the flag.
    unsafe { _Unwind_Backtrace(step, (&raw mut found).cast()) };
    found
}

/// Returns whether the current thread drops the last reference of an `Arc` of the standard library, as far as symbols
/// tell.
pub(crate) fn is_in_std_arc() -> bool {
    // The last call of a function may leave no frame of it, and a name may be without its path.
    let names =
        ["drop_in_place<alloc::sync::Arc<", "alloc::sync::Arc<T,A> as core::ops::drop::Drop>::drop", "drop_slow"];
    let is_of_arc = |line: &str| names.iter().any(|name| line.contains(name)) && !line.contains("alloc::rc::");
    !is_in_backtrace() && Backtrace::force_capture().to_string().lines().any(is_of_arc)
}

/// On other systems this is unknown.
#[cfg(not(target_os = "linux"))]
fn is_in_backtrace() -> bool {
    false
}

/// Returns the first place in a backtrace that is neither in this crate, in its coroutines, nor in the standard
/// library.
///
/// Each frame is a line `N: function`, and a line `at file:line:column` where the source is known. The name of a
/// function that was inlined may be without its path, so that its file decides too.
fn place_in(trace: &str) -> Option<Place> {
    let own_files = file!().trim_end_matches("heap/site.rs");
    let mut is_own = true;
    for line in trace.lines().map(str::trim_start) {
        let Some(place) = line.strip_prefix("at ") else {
            let function = line.split_once(": ").map_or(line, |(_, function)| function);
            let function = function.trim_start_matches(['<', '&']);
            let of_rust = ["core::", "alloc::", "std::", "__r", "_R", "rust_"];
            let of_crates = ["teetotal_live::", "corosensei::"];
            is_own = of_rust.iter().chain(&of_crates).any(|name| function.starts_with(name));
            continue;
        };
        let of_others = ["/rustc/", "/library/alloc/", "/library/core/", "/library/std/", "/corosensei-"];
        if is_own || place.contains(own_files) || of_others.iter().any(|folder| place.contains(folder)) {
            continue;
        }
        let mut parts = place.rsplitn(3, ':');
        let (column, line) = (parts.next()?.trim().parse().ok()?, parts.next()?.parse().ok()?);
        return Some(Place { file: relative(parts.next()?), line, column });
    }
    None
}

/// Returns the name of a file as in `Location`: relative to the directory in which the program was built, if it is
/// below.
fn relative(file: &str) -> String {
    let file = file.strip_prefix("./").unwrap_or(file);
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| {
        let ancestors = here.ancestors().take(4).filter(|folder| folder.parent().is_some());
        ancestors.filter_map(|root| std::path::Path::new(file).strip_prefix(root).ok()).next()
    });
    below.map_or_else(|| file.to_owned(), |below| below.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_the_library_are_passed_over() {
        let trace = "   0: std::backtrace::Backtrace::force_capture\n             at /rustc/abc/library/std/src/backtrace.rs:1:2\n   \
                     1: teetotal_live::heap::Heap::allocate\n             at /x/crates/live/src/heap.rs:3:4\n   \
                     2: alloc::boxed::Box<T>::new\n             at /rustc/abc/library/alloc/src/boxed.rs:5:6\n   \
                     3: stack::push\n             at /elsewhere/tests/stack.rs:17:20\n";
        let place = place_in(trace).expect("there is a frame of the user");
        assert_eq!((place.file.as_str(), place.line, place.column), ("/elsewhere/tests/stack.rs", 17, 20));
    }

    #[test]
    fn what_the_end_of_a_thread_frees_is_freed_nowhere_in_the_source() {
        let trace = "   0: teetotal_live::local::drop_locals\n             at /x/crates/live/src/local.rs:3:4\n   \
                     1: corosensei::coroutine::on_stack\n             at /x/corosensei-0.3.4/src/coroutine.rs:5:6\n   \
                     2: f\n             at /x/corosensei-0.3.4/src/unwind.rs:7:8\n";
        assert_eq!(place_in(trace), None);
    }

    #[test]
    fn inlined_frames_are_known_by_their_files() {
        let own = format!("/there/{}", file!());
        let trace = format!(
            "   0: add\n             at {own}:3:4\n   1: dealloc\n             at {own}:5:6\n   \
             2: __rust_dealloc\n             at /elsewhere/tests/stack.rs:9:19\n   \
             3: drop<u32>\n             at /rustc/abc/library/alloc/src/boxed.rs:5:6\n   \
             4: {{closure#0}}\n             at /elsewhere/tests/stack.rs:136:17\n"
        );
        let place = place_in(&trace).expect("there is a frame of the user");
        assert_eq!((place.file.as_str(), place.line, place.column), ("/elsewhere/tests/stack.rs", 136, 17));
    }
}
