//! Workers fetch pages from a queue and remember which they have seen.

use crate::variant::{fetch, finish};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Builder, Program};

/// `workers` take `pages` from a queue under a lock, read `words` words of each, mark the page as seen and count it.
///
/// The count is kept without the lock, and so is the mark: two errors of a larger program, in place of `Weblech` of
/// [MCR, Table 2]. Most of what a worker does concerns nobody else.
#[must_use]
pub fn crawler(workers: u32, pages: u32, words: u32) -> Program {
    let mut p = Builder::new(&format!("crawler-{workers}-{pages}-{words}"));
    let [lock, next, count] = [p.shared("lock", 0), p.shared("next", 0), p.shared("count", 0)];
    let seen_pages = p.array("seen", pages);
    for i in 0..workers {
        let text = p.shared(&format!("text{i}"), 0);
        p.thread(&format!("worker{i}"), |t| {
            let [page, word, value] = [t.temporary(), t.temporary(), t.temporary()];
            t.repeat(|t, queue| {
                t.lock(lock);
                fetch(t, page, next);
                t.when(page.lt(u64::from(pages)), |t| t.store(next, page.plus(1)));
                t.unlock(lock);
                t.branch(page.ge(u64::from(pages)), queue.exit);
                t.set(word, 0);
                t.repeat(|t, reading| {
                    t.branch(word.ge(u64::from(words)), reading.exit);
                    t.store(text, word.plus(1));
                    fetch(t, word, text);
                });
                t.store(seen_pages.at(page), 1);
                fetch(t, value, count);
                t.store(count, value.plus(1));
            });
        });
    }
    p.observe([Term::Memory(count)]);
    finish(p)
}
