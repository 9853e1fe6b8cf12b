//! Faulting accesses of a model: beyond the end of a stack, to a closed block, or through a pointer from a freed block.

/// Installs the handler that reports stack overflows of threads of a model, on systems that support it.
pub(crate) fn watch() {
    #[cfg(unix)]
    unix::watch();
}

#[cfg(unix)]
mod retry;

/// Whether the code that made an access can continue after a report.
pub(crate) const CAN_RETURN: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

#[cfg(unix)]
mod unix {
    use std::sync::{Once, OnceLock};

    use super::retry;
    use crate::plain::{Failed, on_fault};
    use crate::runtime::overflowed;

    /// The signals of an access to unmapped memory.
    const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

    /// The previous handlers.
    static BEFORE: [OnceLock<libc::sigaction>; 2] = [OnceLock::new(), OnceLock::new()];

    pub(super) fn watch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
                // SAFETY: `sigaction` reads and writes what it is given, and all zeros are a value of it.
                unsafe {
                    let mut old: libc::sigaction = std::mem::zeroed();
                    if libc::sigaction(signal, std::ptr::null(), &mut old) != 0 {
                        continue;
                    }
                    let _ = before.set(old);
                    let mut new: libc::sigaction = std::mem::zeroed();
                    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = handle;
                    new.sa_sigaction = handler as libc::sighandler_t;
                    // The standard library gives each of its threads another stack for this.
                    new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                    libc::sigaction(signal, &new, std::ptr::null_mut());
                }
            }
        });
    }

    extern "C" fn handle(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system gives a pointer to what happened.
        let address = unsafe { (*info).si_addr() } as usize;
        if let Some((thread, bytes)) = overflowed(address) {
            say(thread, bytes);
            // SAFETY: it ends the process.
            unsafe { libc::abort() };
        }
        // SAFETY: the system gives the context of the thread that made the access.
        if unsafe { retry::is_asked_for(address) && retry::resume(context) } {
            return;
        }
        match on_fault(address) {
            Failed::Again => return,
            // SAFETY: as above.
            Failed::Explained if unsafe { retry::explain_later(context) } => return,
            Failed::Explained | Failed::Unknown => {}
        }
        let before = SIGNALS.iter().position(|&own| own == signal).and_then(|at| BEFORE[at].get());
        // SAFETY: the previous handler is called as it was installed; without one the default action is restored, and
        // the access is retried.
        unsafe {
            match before {
                Some(old) if old.sa_sigaction != libc::SIG_DFL && old.sa_sigaction != libc::SIG_IGN => {
                    if old.sa_flags & libc::SA_SIGINFO != 0 {
                        let old: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                            std::mem::transmute(old.sa_sigaction);
                        old(signal, info, context);
                    } else {
                        let old: extern "C" fn(libc::c_int) = std::mem::transmute(old.sa_sigaction);
                        old(signal);
                    }
                }
                _ => {
                    libc::signal(signal, libc::SIG_DFL);
                }
            }
        }
    }

    /// Writes the message without allocating, which a signal handler must not do.
    fn say(thread: usize, bytes: usize) {
        let (mut first, mut second) = ([0; 20], [0; 20]);
        let parts: [&[u8]; 6] = [
            b"\nteetotal: thread ",
            digits(thread, &mut first),
            b" of a model needs more stack than the ",
            digits(bytes, &mut second),
            b" bytes that it has\nhelp: is there an endless recursion? If not, set TEETOTAL_STACK or ",
            b"`Builder::stack_size`\n",
        ];
        for part in parts {
            // SAFETY: the bytes are there to be read.
            unsafe { libc::write(2, part.as_ptr().cast(), part.len()) };
        }
    }

    /// Formats a number.
    fn digits(mut number: usize, buffer: &mut [u8; 20]) -> &[u8] {
        let mut at = buffer.len();
        loop {
            at -= 1;
            buffer[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 || at == 0 {
                return &buffer[at..];
            }
        }
    }
}
