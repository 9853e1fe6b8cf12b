//! One thread appends a text to another while a second thread empties the latter.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// Each call holds its lock, but the length that is asked for first may be old; `StringBuf` of [MCR, Table 2].
#[must_use]
pub fn string_buffer() -> Program {
    let mut p = Builder::new("string-buffer");
    let [first_lock, first] = [p.shared("lock1", 0), p.shared("length1", 3)];
    let [second_lock, second] = [p.shared("lock2", 0), p.shared("length2", 2)];
    p.thread("appends", |t| {
        let [length, seen] = [t.temporary(), t.temporary()];
        t.lock(first_lock);
        t.lock(second_lock);
        fetch(t, length, second);
        t.unlock(second_lock);
        t.lock(second_lock);
        fetch(t, seen, second);
        t.assert(seen.ge(length), "the text has become shorter");
        t.unlock(second_lock);
        fetch(t, seen, first);
        t.store(first, seen.plus(length));
        t.unlock(first_lock);
    });
    p.thread("deletes", |t| {
        let [length, seen] = [t.temporary(), t.temporary()];
        t.lock(first_lock);
        fetch(t, length, first);
        t.unlock(first_lock);
        t.lock(first_lock);
        fetch(t, seen, first);
        t.assert(seen.ge(length), "the text has become shorter");
        t.store(first, seen.minus(length));
        t.unlock(first_lock);
    });
    finish(p)
}
