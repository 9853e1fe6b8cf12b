//! Where blocks of a model are.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize as Real, Ordering::Relaxed};

use teetotal_live::alloc::Checked;
use teetotal_live::sync::atomic::AtomicUsize;
use teetotal_live::{Ledger, Live, Setup};
use teetotal_program::{Status, Subject, ThreadId};

#[global_allocator]
static ALLOCATOR: Checked = Checked;

#[test]
fn the_first_execution_has_the_addresses_of_all_others() {
    static SEEN: [Real; 4] = [const { Real::new(0) }; 4];
    static COUNT: Real = Real::new(0);
    let body = || {
        let block = Box::new(AtomicUsize::new(0));
        SEEN[COUNT.fetch_add(1, Relaxed)].store(&raw const *block as usize, Relaxed);
        block.store(1, Relaxed);
    };
    let mut live = Live::new(Arc::new(body), &Ledger::default(), Setup::default());
    for _ in 1..SEEN.len() {
        live.resume(ThreadId(0), &[]);
        assert_eq!(live.status(ThreadId(0)), Status::Finished);
        live.restart();
    }
    let first = SEEN[0].load(Relaxed);
    assert!(SEEN.iter().all(|seen| seen.load(Relaxed) == first), "{SEEN:x?}");
}
