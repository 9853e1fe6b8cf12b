//! The surroundings of a thread: memory that it may write without an operation, besides its own stack.
//!
//! These are the stacks of the other threads of the model (a scoped thread writes into the frames of its parent),
//! values that belong to the execution, the statics of the program, and thread-locals. The heap is included only with
//! the checked allocator.

use std::ops::Range;
use std::rc::Rc;

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use crate::{generation, pulse};

/// A few bytes that were changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Word {
    pub(crate) address: usize,
    /// What was there before, in its lower bytes.
    before: u64,
    n_bytes: u8,
}

impl Word {
    /// Returns whether there is what was there before.
    pub(crate) fn is_as_before(&self) -> bool {
        // SAFETY: the copied memory stays in place as long as the execution lasts.
        unsafe { read(self.address, self.n_bytes.into()) == self.before }
    }
}

/// A copy of the surroundings of a thread, made before it runs.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pieces: Vec<Range<usize>>,
    copy: Vec<u8>,
    /// Whether they are being compared, and whether statics are included.
    pub(crate) watches: Watches,
}

/// What is compared while a thread runs: each value includes those before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Watches {
    #[default]
    Nothing,
    /// The stacks of other threads, and values of the execution.
    Stacks,
    /// The statics and thread-locals of the program too.
    Everything,
}

impl Surroundings {
    /// Resets everything.
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.copy.clear();
    }

    /// Copies a piece of memory.
    ///
    /// # Safety
    /// It can be read until [`Surroundings::changes`] was called.
    pub(crate) unsafe fn add(&mut self, piece: Range<usize>) {
        let start = self.copy.len();
        self.copy.reserve(piece.len());
        // SAFETY: upheld by the caller, and there is room for it.
        unsafe {
            std::ptr::copy_nonoverlapping(piece.start as *const u8, self.copy.as_mut_ptr().add(start), piece.len());
            self.copy.set_len(start + piece.len());
        }
        self.pieces.push(piece);
    }

    /// Returns the words that differ from their copies.
    pub(crate) fn changes(&self) -> impl Iterator<Item = Word> + '_ {
        let mut start = 0;
        let changed = self.pieces.iter().filter_map(move |piece| {
            let copy = &self.copy[start..start + piece.len()];
            start += piece.len();
            // SAFETY: the caller of `add` says that it can be read.
            let now = unsafe { std::slice::from_raw_parts(piece.start as *const u8, piece.len()) };
            (now != copy).then(|| words(piece).zip(copy.chunks(size_of::<u64>())))
        });
        changed.flatten().filter_map(|((address, n_bytes), copy)| {
            let before = copy.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            // SAFETY: as above.
            let now = unsafe { read(address, n_bytes) };
            (now != before).then_some(Word { address, before, n_bytes: n_bytes as u8 })
        })
    }
}

/// Returns the words of a piece of memory, each with its number of bytes.
fn words(piece: &Range<usize>) -> impl Iterator<Item = (usize, usize)> + use<> {
    let end = piece.end;
    piece.clone().step_by(size_of::<u64>()).map(move |address| (address, (end - address).min(size_of::<u64>())))
}

/// Reads up to eight bytes.
///
/// # Safety
/// They are there to be read. Another OS thread may write to them at the same time, so that any of them may be read.
pub(crate) unsafe fn read(address: usize, n_bytes: usize) -> u64 {
    // SAFETY: upheld by the caller.
    let byte = |index: usize| unsafe { ((address + index) as *const u8).read_volatile() };
    (0..n_bytes).fold(0, |word, index| word | u64::from(byte(index)) << (8 * index))
}

/// The statics of the program, and the thread-locals of the current OS thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) statics: Vec<Range<usize>>,
    pub(crate) locals: Option<Range<usize>>,
}

impl Program {
    /// Returns whether it was found where statics are.
    pub(crate) fn knows_statics(&self) -> bool {
        !self.statics.is_empty()
    }

    /// Returns whether a static or a thread-local is at `address`.
    pub(crate) fn has(&self, address: usize) -> bool {
        self.statics.iter().chain(&self.locals).any(|range| range.contains(&address))
    }

    /// Returns the statics, found once for each OS thread.
    pub(crate) fn here() -> Rc<Self> {
        thread_local!(static HERE: Rc<Program> = Rc::new(Program::find()));
        HERE.with(Rc::clone)
    }

    /// Looks where they are; on systems that do not tell there are none.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn find() -> Self {
        let mut program = Program::default();
        // SAFETY: the function is given the pointer that is passed here, and is called before this returns.
        unsafe { libc::dl_iterate_phdr(Some(linux::note), (&raw mut program).cast()) };
        for hole in own_statics() {
            program.statics = program.statics.iter().flat_map(|range| without(range.clone(), &hole)).collect();
        }
        program
    }

    /// Looks where they are; on systems that do not tell there are none.
    #[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
    fn find() -> Self {
        Program::default()
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod linux {

    use super::{Program, without};

    /// Records the first object, which is the program itself.
    pub(super) extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        program: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the system passes what it says, and `find` a pointer to a program.
        let (info, program) = unsafe { (&*info, &mut *program.cast::<Program>()) };
        // SAFETY: this many headers are there.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let range = |header: &libc::Elf64_Phdr| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            start..start + header.p_memsz as usize
        };
        let read_only = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO).map(range);
        for header in headers {
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
                let hole = read_only.clone().unwrap_or_default();
                program.statics.extend(without(range(header), &hole));
            }
            if header.p_type == libc::PT_TLS && !info.dlpi_tls_data.is_null() {
                let start = info.dlpi_tls_data as usize;
                program.locals = Some(start..start + header.p_memsz as usize);
            }
        }
        1
    }
}

/// Returns the parts of a range that are not in another one.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn without(whole: Range<usize>, hole: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
    let (start, end) = (hole.start.clamp(whole.start, whole.end), hole.end.clamp(whole.start, whole.end));
    [whole.start..start, end.max(start)..whole.end].into_iter().filter(|part| !part.is_empty())
}

/// Statics of the checker that models in other threads of the process write to all the time.
///
/// No code of a model writes there, so a change says nothing of what its thread did.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn own_statics() -> impl Iterator<Item = Range<usize>> {
    generation::places().into_iter().chain([pulse::place()])
}

/// Returns the address range of a static.
pub(crate) fn place_of<T>(value: &'static T) -> Range<usize> {
    let start = std::ptr::from_ref(value) as usize;
    start..start + size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    fn the_statics_of_the_checker_are_left_out() {
        use std::sync::atomic::AtomicU64;

        let program = Program::here();
        let mut own = own_statics().flat_map(|range| [range.start, range.end - 1]);
        assert!(own.all(|address| !program.has(address)));
        static OTHER: AtomicU64 = AtomicU64::new(3);
        assert!(program.has(place_of(&OTHER).start));
        let left = |hole: Range<usize>| without(10..20, &hole).map(|part| (part.start, part.end)).collect::<Vec<_>>();
        assert_eq!(left(12..15), [(10, 12), (15, 20)]);
        assert_eq!(left(0..12), [(12, 20)]);
        assert_eq!((left(0..0), left(30..40)), (vec![(10, 20)], vec![(10, 20)]));
        assert_eq!(left(0..40), []);
    }

    #[test]
    fn a_byte_that_is_changed_is_seen_until_it_is_restored() {
        let mut bytes = [7_u8; 21];
        let start = bytes.as_mut_ptr() as usize;
        let mut surroundings = Surroundings::default();
        // SAFETY: the array is there.
        unsafe { surroundings.add(start..start + bytes.len()) };
        assert_eq!(surroundings.changes().count(), 0);
        std::hint::black_box(&mut bytes)[20] = 8;
        let changed: Vec<Word> = surroundings.changes().collect();
        assert_eq!(changed.len(), 1);
        assert!(!changed[0].is_as_before());
        std::hint::black_box(&mut bytes)[20] = 7;
        assert!(changed[0].is_as_before());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn statics_and_thread_locals_of_the_program_are_found() {
        use std::cell::Cell;
        use std::sync::atomic::AtomicU64;
        static STATIC: AtomicU64 = AtomicU64::new(3);
        thread_local!(static LOCAL: Cell<u64> = const { Cell::new(3) });
        let program = Program::find();
        let address = std::ptr::from_ref(&STATIC) as usize;
        assert!(program.statics.iter().any(|range| range.contains(&address)));
        let address = LOCAL.with(|local| std::ptr::from_ref(local) as usize);
        assert!(program.locals.is_some_and(|range| range.contains(&address)));
    }
}
