//! Addresses are the same in every run of a prefix, whatever else allocates.

use std::collections::{BTreeMap, HashMap};

use teetotal::alloc::Checked;
use teetotal::model::Builder;
use teetotal::sync::Arc;
use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// Two threads that each do `work`, whose operations depend on the addresses of their boxes.
fn executions(work: fn(usize) -> usize) -> u64 {
    let report = Builder::new().explore(move || {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|index| {
                let x = Arc::clone(&x);
                thread::spawn(move || {
                    let seen = work(index);
                    let cell = Box::new(AtomicUsize::new(seen));
                    // So many operations as the address has bits there.
                    let address = &raw const *cell as usize;
                    let bits = ((address >> 4 ^ address >> 6 ^ address >> 8) & 3) + seen % 2;
                    for _ in 0..bits {
                        x.fetch_add(1, Relaxed);
                    }
                    cell.load(Relaxed)
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("it ends");
        }
    });
    assert_eq!(report.failure.map(|violation| violation.to_string()), None);
    assert!(report.coverage.is_complete(), "{:?}", report.coverage);
    report.executions
}

#[test]
fn maps_do_not_change_them() {
    let work = |index| {
        let mut map = HashMap::new();
        map.extend((0..20).map(|n| (format!("{n}"), n)));
        let tree: BTreeMap<usize, usize> = map.values().map(|&n| (n, index)).collect();
        tree.len()
    };
    assert_eq!(executions(work), executions(work));
}

#[test]
fn lazies_of_std_do_not_change_them() {
    let work = |index: usize| {
        let path = std::env::var("PATH").unwrap_or_default();
        let here = std::env::current_dir().map_or(0, |path| path.as_os_str().len());
        let name = std::thread::current().name().map_or(0, str::len);
        path.len() + here + name + index
    };
    assert_eq!(executions(work), executions(work));
}

#[test]
fn vectors_that_grow_do_not_change_them() {
    let work = |index: usize| {
        let mut list = Vec::new();
        (0..100 * (index + 1)).for_each(|n| list.push(n));
        list.len()
    };
    assert_eq!(executions(work), executions(work));
}

#[test]
#[expect(clippy::print_stdout, reason = "what a test prints is captured")]
fn what_is_printed_does_not_change_them() {
    // What a test prints is captured in memory that grows now and then.
    let work = |index: usize| {
        (0..10).for_each(|line| println!("line {line} of the thread with the index {index}"));
        index
    };
    let first = executions(work);
    (0..3).for_each(|_| assert_eq!(executions(work), first));
}

#[test]
fn other_models_do_not_change_them() {
    let run = || executions(|index| std::hint::black_box(vec![index; 10]).iter().sum());
    let first = run();
    let others: Vec<_> = (0..4).map(|_| std::thread::spawn(run)).collect();
    others.into_iter().for_each(|other| assert_eq!(other.join().expect("it ends"), first));
}
