//! Calls into the library, and the own state of a thread at such a call.
//!
//! At such a call the own state of a thread is in the callee-saved registers and in the frames of its stack. [`call`]
//! saves those registers in the frame from which it is called, so the own state is one piece of memory: two equal
//! pieces are two equal states. The frames of the library below are not part of it, and are filled with zeros after the
//! call if loops are known: a later frame has slots that are not written yet, and leftovers of the library must not
//! decide whether two states are equal.

use std::mem::{ManuallyDrop, MaybeUninit};

use crate::runtime::{current_unguarded, enter_call, leave_call};

/// Where the own state of a stopped thread begins in its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The address of the frame from which the library was called; 0 where that is not known.
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

    /// Returns whether it is known.
    pub(crate) fn is_known(self) -> bool {
        self.low != 0
    }

    /// Returns the lowest address of the own state.
    pub(crate) fn low(self) -> usize {
        self.low
    }
}

/// What is called, the registers with which it is, and where its result goes.
#[repr(C)]
struct Slot<F, R> {
    registers: [usize; switch::REGISTERS],
    f: ManuallyDrop<F>,
    result: MaybeUninit<R>,
}

/// Runs `f` as a call into the library.
///
/// Calls may be nested; the innermost one counts.
#[inline(always)]
pub(crate) fn call<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    let Some(execution) = current_unguarded() else { return f() };
    // All of it is set, since it is part of the caller's state.
    let registers = [0; switch::REGISTERS];
    let mut slot = Slot { registers, f: ManuallyDrop::new(f), result: MaybeUninit::zeroed() };
    let (address, run) = ((&raw mut slot).cast(), run::<F, R> as Run);
    // SAFETY: the slot is of the type that `run` expects, and begins with the registers.
    unsafe {
        if execution.heads.is_empty() {
            switch::save_and_run(address, run);
        } else {
            switch::save_run_and_clear(address, run);
        }
    }
    // SAFETY: `run` has written it, or it has unwound.
    unsafe { slot.result.assume_init() }
}

/// What is called with a slot and the address of the frame from which it is called.
type Run = unsafe extern "C-unwind" fn(slot: *mut (), low: usize);

/// The number of stack words that the library usually uses in a call.
const CALL_WORDS: usize = if cfg!(debug_assertions) { 768 } else { 256 };

unsafe extern "C-unwind" fn run<F, R>(slot: *mut (), low: usize)
where
    F: FnOnce() -> R,
{
    /// Ends the call, also when it unwinds.
    struct Leave(Frame);
    impl Drop for Leave {
        #[inline(always)]
        fn drop(&mut self) {
            leave_call(self.0);
        }
    }
    // SAFETY: upheld by the caller.
    let slot = unsafe { &mut *slot.cast::<Slot<F, R>>() };
    let _leave = Leave(enter_call(Frame { low }));
    // SAFETY: it is taken once.
    slot.result.write(unsafe { ManuallyDrop::take(&mut slot.f) }());
}

#[cfg(all(unix, target_arch = "x86_64"))]
mod switch {
    use super::{CALL_WORDS, Run};

    /// The number of callee-saved registers.
    pub(super) const REGISTERS: usize = 6;

    /// Saves the registers and jumps to `run`, which returns to the caller: the processor mispredicts each return after
    /// a switch of stacks.
    ///
    /// # Safety
    /// As for a call of `run` with this slot, which begins with the registers.
    #[unsafe(naked)]
    pub(super) unsafe extern "C-unwind" fn save_and_run(slot: *mut (), run: Run) {
        std::arch::naked_asm!(
            "mov [rdi], rbp",
            "mov [rdi + 8], rbx",
            "mov [rdi + 16], r12",
            "mov [rdi + 24], r13",
            "mov [rdi + 32], r14",
            "mov [rdi + 40], r15",
            "mov rax, rsi",
            "mov rsi, rsp",
            "jmp rax",
        )
    }

    /// Saves the registers and calls `run`, then fills the stack below with zeros.
    ///
    /// # Safety
    /// As for a call of `run` with this slot, which begins with the registers.
    #[unsafe(naked)]
    pub(super) unsafe extern "C-unwind" fn save_run_and_clear(slot: *mut (), run: Run) {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "mov [rdi], rbp",
            "mov [rdi + 8], rbx",
            "mov [rdi + 16], r12",
            "mov [rdi + 24], r13",
            "mov [rdi + 32], r14",
            "mov [rdi + 40], r15",
            "mov rax, rsi",
            "mov rsi, rsp",
            "sub rsp, 8",
            ".cfi_adjust_cfa_offset 8",
            "call rax",
            "add rsp, 8",
            ".cfi_adjust_cfa_offset -8",
            "mov ecx, {words}",
            "lea rdi, [rsp - 8*{words}]",
            "xor eax, eax",
            "rep stosq",
            "ret",
            ".cfi_endproc",
            words = const CALL_WORDS,
        )
    }
}

#[cfg(all(unix, target_arch = "aarch64"))]
mod switch {
    use super::{CALL_WORDS, Run};

    /// The number of callee-saved registers, and the return address.
    pub(super) const REGISTERS: usize = 20;

    /// Saves the registers and jumps to `run`, which returns to the caller.
    ///
    /// # Safety
    /// As for a call of `run` with this slot, which begins with the registers.
    #[unsafe(naked)]
    pub(super) unsafe extern "C-unwind" fn save_and_run(slot: *mut (), run: Run) {
        std::arch::naked_asm!(
            "stp x19, x20, [x0, #0]",
            "stp x21, x22, [x0, #16]",
            "stp x23, x24, [x0, #32]",
            "stp x25, x26, [x0, #48]",
            "stp x27, x28, [x0, #64]",
            "stp x29, x30, [x0, #80]",
            "stp d8, d9, [x0, #96]",
            "stp d10, d11, [x0, #112]",
            "stp d12, d13, [x0, #128]",
            "stp d14, d15, [x0, #144]",
            "mov x9, x1",
            "mov x1, sp",
            "br x9",
        )
    }

    /// Saves the registers and calls `run`, then fills the stack below with zeros.
    ///
    /// # Safety
    /// As for a call of `run` with this slot, which begins with the registers.
    #[unsafe(naked)]
    pub(super) unsafe extern "C-unwind" fn save_run_and_clear(slot: *mut (), run: Run) {
        std::arch::naked_asm!(
            ".cfi_startproc",
            "stp x19, x20, [x0, #0]",
            "stp x21, x22, [x0, #16]",
            "stp x23, x24, [x0, #32]",
            "stp x25, x26, [x0, #48]",
            "stp x27, x28, [x0, #64]",
            "stp x29, x30, [x0, #80]",
            "stp d8, d9, [x0, #96]",
            "stp d10, d11, [x0, #112]",
            "stp d12, d13, [x0, #128]",
            "stp d14, d15, [x0, #144]",
            "mov x9, x1",
            "mov x1, sp",
            "stp x29, x30, [sp, #-16]!",
            ".cfi_adjust_cfa_offset 16",
            ".cfi_rel_offset x29, 0",
            ".cfi_rel_offset x30, 8",
            "blr x9",
            "ldp x29, x30, [sp], #16",
            ".cfi_adjust_cfa_offset -16",
            ".cfi_restore x29",
            ".cfi_restore x30",
            "mov x9, sp",
            "mov x10, #{words}",
            "2: str xzr, [x9, #-8]!",
            "subs x10, x10, #1",
            "b.ne 2b",
            "ret",
            ".cfi_endproc",
            words = const CALL_WORDS,
        )
    }
}

/// On other systems the own state of a thread is unknown, so no iteration is recognized as repeated.
#[cfg(not(all(unix, any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod switch {
    use super::Run;

    /// None is known.
    pub(super) const REGISTERS: usize = 0;

    pub(super) unsafe extern "C-unwind" fn save_and_run(slot: *mut (), run: Run) {
        // SAFETY: upheld by the caller.
        unsafe { run(slot, 0) };
    }

    pub(super) use save_and_run as save_run_and_clear;
}
