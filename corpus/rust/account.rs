//! Two accounts between which two threads transfer money in both directions.
//!
//! [MCR, the benchmark Account]

use teetotal::sync::Mutex;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;

use super::{Case, HOLDS, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "locked in one order", verdicts: HOLDS, run: || transfer(true) },
    Case { variant: "locked as they come", verdicts: everywhere("deadlock"), run: || transfer(false) },
    Case { variant: "deposits with the lock", verdicts: HOLDS, run: || deposit(true) },
    Case {
        variant: "deposits without",
        verdicts: everywhere("main panicked: assertion `left == right` failed: money is lost"),
        run: || deposit(false),
    },
];

fn transfer(in_order: bool) {
    let accounts = both([Mutex::new(10), Mutex::new(10)], move |accounts, me| {
        let (first, second) = if in_order { (0, 1) } else { (me, 1 - me) };
        let mut first = accounts[first].lock().expect("nobody panics");
        let mut second = accounts[second].lock().expect("nobody panics");
        let (from, to) = if in_order && me == 1 { (&mut second, &mut first) } else { (&mut first, &mut second) };
        **from -= 1;
        **to += 1;
    });
    let amounts = [0, 1].map(|account| *accounts[account].lock().expect("nobody panics"));
    assert_eq!(amounts, [10, 10]);
}

/// One thread deposits, the other withdraws with the lock.
fn deposit(locked: bool) {
    let account = both((Mutex::new(()), AtomicUsize::new(10)), move |(lock, amount), me| {
        let own = (locked || me == 1).then(|| lock.lock().expect("nobody panics"));
        let before = amount.load(Relaxed);
        amount.store(if me == 0 { before + 1 } else { before - 1 }, Relaxed);
        drop(own);
    });
    assert_eq!(account.1.load(Relaxed), 10, "money is lost");
}
