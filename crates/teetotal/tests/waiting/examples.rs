//! The smallest programs that the model and the machine once differed on.

use teetotal::sync::atomic::Ordering;

use crate::compare::agrees;
use crate::program::{Change, Hint, Statement};

/// An update that keeps the value waits for no lock: it may see what another loop restores.
#[test]
fn a_loop_that_updates_sees_what_another_loop_restores() {
    use Statement::{BreakIf, Keep, Load, Loop, Store, Swap};
    let sets = Swap(0, 1, 1, Ordering::SeqCst);
    let restores = Swap(0, 1, 0, Ordering::SeqCst);
    agrees(&vec![
        vec![Loop(None, vec![Keep(2, 1), BreakIf(2, 1)]), Store(2, 2, Ordering::Relaxed)],
        vec![Loop(None, vec![Load(2, 2, Ordering::SeqCst), BreakIf(2, 2), sets, restores])],
    ]);
}

/// The second thread overwrites what it read, and is overwritten by the next iteration.
#[test]
fn an_iteration_that_stores_counts() {
    use Statement::{BreakIf, Load, Loop, Store};
    let stores = vec![Store(0, 1, Ordering::SeqCst), Load(0, 1, Ordering::SeqCst), BreakIf(0, 1)];
    let overwrites = vec![Load(0, 0, Ordering::SeqCst), Store(0, 2, Ordering::SeqCst), Store(1, 1, Ordering::SeqCst)];
    agrees(&vec![vec![Loop(None, stores)], overwrites]);
}

/// The second thread comes between the updates of one iteration, and then sees those of the next.
#[test]
fn an_iteration_that_restores_over_another_thread_counts() {
    use Statement::{BreakIf, Load, Loop, Store, Swap};
    let (sets, restores) = (Swap(0, 0, 1, Ordering::SeqCst), Swap(0, 0, 0, Ordering::SeqCst));
    let body = vec![sets, restores, Load(1, 1, Ordering::SeqCst), BreakIf(1, 1)];
    let comes_between = Swap(0, 0, 2, Ordering::SeqCst);
    let (first, second) = (Load(1, 0, Ordering::SeqCst), Load(2, 0, Ordering::SeqCst));
    agrees(&vec![vec![Loop(None, body)], vec![comes_between, first, second, Store(1, 1, Ordering::SeqCst)]]);
}

/// Both loops run forever, and the first sees now and then that the second holds the lock.
#[test]
fn a_loop_that_tries_a_lock_sees_a_loop_that_takes_it() {
    let locked = |tries| Statement::Locked { tries, register: 0, change: Change::No };
    let tries = Statement::Loop(None, vec![locked(true), Statement::Hint(Hint::Spin)]);
    let takes = vec![Statement::Loop(None, vec![locked(false)])];
    agrees(&vec![vec![tries.clone()], takes.clone()]);
    let nested = Statement::Loop(Some(2), vec![Statement::Load(2, 1, Ordering::Acquire), tries]);
    agrees(&vec![vec![nested], takes]);
}

/// In a release build a slot of the stack that is not used decided whether the second thread was seen to loop.
#[test]
fn a_loop_after_stores_is_told_as_a_livelock() {
    use Statement::{BreakIf, Hint, Keep, Load, Loop, Store};
    let reads = vec![Load(0, 0, Ordering::Relaxed), Hint(crate::program::Hint::Spin)];
    agrees(&vec![
        vec![Loop(None, vec![Keep(2, 2), BreakIf(2, 1)])],
        vec![Store(2, 1, Ordering::SeqCst), Store(2, 2, Ordering::Release), Loop(None, reads)],
    ]);
}

/// The first thread is cut short with a store in its buffer, runs on to its end, and must not see an older value.
#[test]
fn an_execution_that_is_cut_short_runs_on_with_its_pending_stores() {
    use Statement::{BreakIf, Exchange, Load, Loop, Store, Swap};
    let (swaps, stores) = (Swap(1, 1, 1, Ordering::SeqCst), Store(1, 2, Ordering::SeqCst));
    let inner = Loop(None, vec![Load(2, 0, Ordering::Acquire), BreakIf(2, 1), swaps, stores]);
    let outer = Loop(None, vec![Exchange(0, 0, 0, 2), inner, BreakIf(0, 0)]);
    agrees(&vec![vec![outer], vec![], vec![Store(0, 1, Ordering::SeqCst)]]);
}

/// The second thread leaves the data behind the lock as it was, but the first one sees it changed in between.
#[test]
fn data_that_is_changed_and_restored_behind_a_lock_is_seen() {
    use Statement::{BreakIf, Loop};
    let locked = |register, change| Statement::Locked { tries: false, register, change };
    let waits = vec![Loop(None, vec![locked(2, Change::No), BreakIf(2, 1)]), locked(0, Change::Set(2))];
    let changes = vec![locked(0, Change::Set(0)), BreakIf(0, 2), locked(2, Change::Count(2))];
    agrees(&vec![waits, vec![Loop(None, changes)]]);
}

/// Two stores of one value: that the value is there at the end does not say that the loop has read the last of them.
#[test]
fn a_loop_that_restores_is_a_livelock_whichever_of_equal_stores_it_reads() {
    use Statement::{BreakIf, Exchange, Keep, Load, Loop, Store};
    let restores = vec![Exchange(0, 2, 0, 2), BreakIf(0, 0), Keep(0, 0), Statement::Hint(Hint::Spin)];
    let looks = vec![Loop(None, restores), Load(2, 0, Ordering::Acquire), BreakIf(2, 2)];
    agrees(&vec![vec![Loop(None, looks)], vec![Store(0, 2, Ordering::SeqCst)], vec![Store(0, 2, Ordering::Relaxed)]]);
}
