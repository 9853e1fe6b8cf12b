//! The call into the library: what a thread holds of its own when its code stops.
//!
//! Everything that a thread may still use of its own is, at that call, in the registers that a called function must
//! preserve and in the frames of its stack. [`call`] puts those registers just below the frames, so that the own state
//! of a thread is one piece of memory: two equal pieces are two equal states. What is below, the frames of the library,
//! is not part of it, and is filled with zeros after the call where loops are known: a later frame has slots that are not
//! written yet, and what the library leaves there must not decide whether two states are equal.

use std::mem::{ManuallyDrop, MaybeUninit};

use crate::runtime::{enter_call, is_in_model, knows_loops, leave_call};

/// Where the own state of a thread begins that has stopped, in its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The address of the saved registers; 0 where they are not known.
    low: usize,
}

impl Default for Frame {
    fn default() -> Self {
        Frame::UNKNOWN
    }
}

impl Frame {
    /// Of a thread that has not stopped yet, or on a processor whose registers are not known.
    pub(crate) const UNKNOWN: Frame = Frame { low: 0 };

    /// Whether it is known.
    pub(crate) fn is_known(self) -> bool {
        self.low != 0
    }

    /// The lowest address of the own state.
    pub(crate) fn low(self) -> usize {
        self.low
    }
}

/// What is called, and where its result goes.
struct Slot<F, R> {
    f: ManuallyDrop<F>,
    result: MaybeUninit<R>,
}

/// Runs `f` as a call into the library.
///
/// Calls may be nested; the innermost is the one that counts.
#[inline(always)]
pub(crate) fn call<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    if !is_in_model() {
        return f();
    }
    // All of it is set, since it is part of the caller's state.
    let mut slot = Slot { f: ManuallyDrop::new(f), result: MaybeUninit::zeroed() };
    // SAFETY: the slot is of the type that `run` expects.
    unsafe { switch::save_and_run((&raw mut slot).cast(), run::<F, R>) };
    // SAFETY: `run` has written it, or it has unwound.
    unsafe { slot.result.assume_init() }
}

/// What is called with a slot and the address at which the registers are saved that a function must preserve.
///
/// Returns how many words below these registers are to be filled with zeros.
type Run = unsafe extern "C-unwind" fn(slot: *mut (), low: usize) -> usize;

/// So many words of the stack the library uses in a call, hardly ever more.
const CALL_WORDS: usize = if cfg!(debug_assertions) { 768 } else { 256 };

unsafe extern "C-unwind" fn run<F, R>(slot: *mut (), low: usize) -> usize
where
    F: FnOnce() -> R,
{
    /// Ends the call, also when it unwinds.
    struct Leave(Frame);
    impl Drop for Leave {
        fn drop(&mut self) {
            leave_call(self.0);
        }
    }
    // SAFETY: the caller's.
    let slot = unsafe { &mut *slot.cast::<Slot<F, R>>() };
    let leave = Leave(enter_call(Frame { low }));
    // SAFETY: it is taken once.
    let result = unsafe { ManuallyDrop::take(&mut slot.f) }();
    drop(leave);
    slot.result.write(result);
    if knows_loops() { CALL_WORDS } else { 0 }
}

#[cfg(all(unix, target_arch = "x86_64"))]
mod switch {
    use super::Run;

    /// Saves the registers, calls `run`, and fills with zeros what it says.
    ///
    /// # Safety
    /// As for a call of `run` with this slot.
    #[unsafe(naked)]
    pub(super) unsafe extern "C-unwind" fn save_and_run(slot: *mut (), run: Run) {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "push rbp",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset rbp, 0",
            "push rbx",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset rbx, 0",
            "push r12",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset r12, 0",
            "push r13",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset r13, 0",
            "push r14",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset r14, 0",
            "push r15",
            ".cfi_adjust_cfa_offset 8",
            ".cfi_rel_offset r15, 0",
            "mov rax, rsi",
            "mov rsi, rsp",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call rax",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            // To begin with `rep` takes a while, even if there is nothing to fill.
            "test rax, rax",
            "jz 2f",
            "mov rcx, rax",
            "neg rax",
            "lea rdi, [rsp + 8*rax]",
            "xor eax, eax",
            "rep stosq",
            "2:",
            "pop r15",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore r15",
            "pop r14",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore r14",
            "pop r13",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore r13",
            "pop r12",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore r12",
            "pop rbx",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore rbx",
            "pop rbp",
            ".cfi_adjust_cfa_offset -8",
            ".cfi_restore rbp",
            "ret",
            ".cfi_endproc",
        )
    }
}

#[cfg(all(unix, target_arch = "aarch64"))]
mod switch {
    use super::Run;

    /// Saves the registers, calls `run`, and fills with zeros what it says.
    ///
    /// # Safety
    /// As for a call of `run` with this slot.
    #[unsafe(naked)]
    pub(super) unsafe extern "C-unwind" fn save_and_run(slot: *mut (), run: Run) {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "sub sp, sp, #160",
            ".cfi_adjust_cfa_offset 160",
            "stp d8, d9, [sp, #0]",
            "stp d10, d11, [sp, #16]",
            "stp d12, d13, [sp, #32]",
            "stp d14, d15, [sp, #48]",
            "stp x19, x20, [sp, #64]",
            "stp x21, x22, [sp, #80]",
            "stp x23, x24, [sp, #96]",
            "stp x25, x26, [sp, #112]",
            "stp x27, x28, [sp, #128]",
            "stp x29, x30, [sp, #144]",
            ".cfi_rel_offset d8, 0",
            ".cfi_rel_offset d9, 8",
            ".cfi_rel_offset d10, 16",
            ".cfi_rel_offset d11, 24",
            ".cfi_rel_offset d12, 32",
            ".cfi_rel_offset d13, 40",
            ".cfi_rel_offset d14, 48",
            ".cfi_rel_offset d15, 56",
            ".cfi_rel_offset x19, 64",
            ".cfi_rel_offset x20, 72",
            ".cfi_rel_offset x21, 80",
            ".cfi_rel_offset x22, 88",
            ".cfi_rel_offset x23, 96",
            ".cfi_rel_offset x24, 104",
            ".cfi_rel_offset x25, 112",
            ".cfi_rel_offset x26, 120",
            ".cfi_rel_offset x27, 128",
            ".cfi_rel_offset x28, 136",
            ".cfi_rel_offset x29, 144",
            ".cfi_rel_offset x30, 152",
            "mov x9, x1",
            "mov x1, sp",
            "blr x9",
            "mov x9, sp",
            "2: cbz x0, 3f",
            "str xzr, [x9, #-8]!",
            "sub x0, x0, #1",
            "b 2b",
            "3:",
            "ldp d8, d9, [sp, #0]",
            "ldp d10, d11, [sp, #16]",
            "ldp d12, d13, [sp, #32]",
            "ldp d14, d15, [sp, #48]",
            "ldp x19, x20, [sp, #64]",
            "ldp x21, x22, [sp, #80]",
            "ldp x23, x24, [sp, #96]",
            "ldp x25, x26, [sp, #112]",
            "ldp x27, x28, [sp, #128]",
            "ldp x29, x30, [sp, #144]",
            "add sp, sp, #160",
            ".cfi_adjust_cfa_offset -160",
            "ret",
            ".cfi_endproc",
        )
    }
}

/// Elsewhere the own state of a thread is not known, so that no iteration is seen to repeat.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod switch {
    use super::Run;

    pub(super) unsafe extern "C-unwind" fn save_and_run(slot: *mut (), run: Run) {
        // SAFETY: the caller's.
        unsafe { run(slot, 0) };
    }
}
