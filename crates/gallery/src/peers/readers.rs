//! One writer and many readers of one location.

use crate::variant::finish;
use teetotal_program::ir::{Builder, Program};

/// `n` readers; there are 2^n traces under every model. From `readers.c`.
#[must_use]
pub fn readers(n: u32) -> Program {
    let mut p = Builder::new(&format!("readers-{n}"));
    let x = p.shared("x", 0);
    p.thread("writer", |t| t.store(x, 42));
    for i in 1..=n {
        p.thread(&format!("reader{i}"), |t| {
            t.load("r", x);
        });
    }
    finish(p)
}
