//! Ctrl-C as a request to stop.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Makes the first Ctrl-C a request to stop; the second one ends the process as usual.
///
/// Has no effect if there is another handler, or on systems without signals.
pub fn listen() {
    #[cfg(unix)]
    unix::listen();
}

/// Returns whether the user has requested a stop.
#[must_use]
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

#[cfg(unix)]
mod unix {
    use std::sync::Once;
    use std::sync::atomic::Ordering;

    use super::REQUESTED;

    extern "C" fn request(_: libc::c_int) {
        REQUESTED.store(true, Ordering::Relaxed);
    }

    pub(super) fn listen() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: `sigaction` only reads and writes what it is given, all zeros are a value of it, and the handler
            // does nothing but store to an atomic.
            unsafe {
                let mut old: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(libc::SIGINT, std::ptr::null(), &mut old) != 0 || old.sa_sigaction != libc::SIG_DFL {
                    return;
                }
                let mut new: libc::sigaction = std::mem::zeroed();
                new.sa_sigaction = request as extern "C" fn(libc::c_int) as libc::sighandler_t;
                // After the first one the default action is restored.
                new.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
                libc::sigaction(libc::SIGINT, &new, std::ptr::null_mut());
            }
        });
    }
}
