//! Interrupts code at a faulting access, calls [`explain`], and retries the access.
//!
//! A signal handler runs on a small stack and may do little. So it saves the registers and makes the thread continue at
//! [`enter`], which runs on the thread's own stack. If [`explain`] returns, an access to an address that is always
//! closed invokes the handler again, which restores the registers.

use std::cell::UnsafeCell;

use crate::heap::resume_address;
use crate::plain::explain;

/// The saved registers.
struct Kept {
    is_there: bool,
    registers: Registers,
    /// What is beside the general registers.
    more: Vec<u8>,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
type Registers = [i64; 23];
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
type Registers = ();

thread_local! {
    static KEPT: UnsafeCell<Kept> = const {
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        let registers = [0; 23];
        #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
        let registers = ();
        UnsafeCell::new(Kept { is_there: false, registers, more: Vec::new() })
    };
}

/// Runs `f` with the saved state of this OS thread.
fn with_kept<R>(f: impl FnOnce(&mut Kept) -> R) -> R {
    // SAFETY: `f` is of this file, and does not come back here.
    KEPT.with(|kept| f(unsafe { &mut *kept.get() }))
}

/// Returns whether an access to `address` requests a retry of the failed access.
pub(super) fn is_asked_for(address: usize) -> bool {
    address == resume_address() && with_kept(|kept| kept.is_there)
}

/// Arranges a call of [`explain`] when the handler returns; returns whether that is possible.
///
/// # Safety
/// The context must be the one that the handler was called with.
pub(super) unsafe fn explain_later(context: *mut libc::c_void) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        // SAFETY: upheld by the caller.
        let context = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext };
        with_kept(|kept| {
            kept.is_there = true;
            kept.registers = context.gregs;
            kept.more.clear();
            // SAFETY: the system puts it there.
            kept.more.extend_from_slice(unsafe { more(context) });
        });
        let registers = &mut context.gregs;
        let stack = registers[libc::REG_RSP as usize] - RED_ZONE - size_of::<u64>() as i64;
        // As after a call by the instruction that made the access: unwinding looks just before this address.
        // SAFETY: the code has nothing of its own there.
        unsafe { (stack as *mut i64).write(registers[libc::REG_RIP as usize] + 1) };
        registers[libc::REG_RSP as usize] = stack;
        registers[libc::REG_RIP as usize] = enter as *const () as i64;
        true
    }
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    {
        extern "C" fn explain_and_abort() -> ! {
            explain();
            std::process::abort()
        }
        // SAFETY: upheld by the caller.
        let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext };
        // As after a call by the instruction that made the access.
        registers.regs[30] = registers.pc + 4;
        registers.pc = explain_and_abort as *const () as u64;
        true
    }
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = context;
        false
    }
}

/// Restores the registers; returns whether it did.
///
/// # Safety
/// The context must be the one that the handler was called with.
pub(super) unsafe fn resume(context: *mut libc::c_void) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        // SAFETY: upheld by the caller.
        let context = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext };
        with_kept(|kept| {
            kept.is_there = false;
            context.gregs = kept.registers;
            // SAFETY: the system puts it there, as much of it as before.
            let now = unsafe { more(context) };
            let n_bytes = now.len().min(kept.more.len());
            now[..n_bytes].copy_from_slice(&kept.more[..n_bytes]);
        });
        true
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = context;
        false
    }
}

/// The size of the red zone below the stack pointer.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const RED_ZONE: i64 = 128;

/// Returns the registers of a context beside the general ones.
///
/// # Safety
/// The context is one that the system made.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
unsafe fn more(context: &mut libc::mcontext_t) -> &mut [u8] {
    /// The registers that every processor has.
    const LEGACY: usize = 512;
    /// Where in them the system says how many bytes there are, and the mark that it has said so.
    const SAID: usize = 464;
    const MARK: u32 = 0x4650_5853;
    let start = context.fpregs.cast::<u8>();
    // SAFETY: this many bytes are always there.
    let legacy = unsafe { std::slice::from_raw_parts(start, LEGACY) };
    let word = |at: usize| u32::from_ne_bytes([legacy[at], legacy[at + 1], legacy[at + 2], legacy[at + 3]]);
    let n_bytes = if word(SAID) == MARK { (word(SAID + 4) as usize).max(LEGACY) } else { LEGACY };
    // SAFETY: the system says that there are this many.
    unsafe { std::slice::from_raw_parts_mut(start, n_bytes) }
}

/// Calls [`explain`] with an aligned stack, and requests the retry of the access.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[unsafe(naked)]
extern "C" fn enter() -> ! {
    extern "C" fn call() -> usize {
        explain();
        resume_address()
    }
    std::arch::naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa rsp, 136",
        ".cfi_offset 16, -136",
        "push rbp",
        ".cfi_def_cfa_offset 144",
        ".cfi_offset rbp, -144",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "and rsp, -16",
        "cld",
        "call {call}",
        "mov rax, [rax]",
        "ud2",
        ".cfi_endproc",
        call = sym call,
    )
}
