//! The types of `lazy_static!`.

pub use teetotal::lazy_static::lenient::Lazy;
pub use teetotal::lazy_static::{AccessError, panicking, yield_now};

/// Declares lazily initialized statics like the crate `lazy_static`, with a fresh value for each execution of a model.
#[macro_export]
macro_rules! lazy_static {
    ($($(#[$attribute:meta])* $vis:vis static ref $name:ident: $t:ty = $init:expr;)*) => {
        $($crate::__lazy_static!($crate, $(#[$attribute])* $vis $name, $t, $init);)*
    };
}
