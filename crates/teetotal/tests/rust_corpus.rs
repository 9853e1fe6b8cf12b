//! The programs in `corpus/rust`, right and wrong, each with its verdict under every model.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use teetotal::ModelId;
use teetotal::model::{Builder, SearchId};
use teetotal::sync::Arc;
use teetotal::thread;

/// One way to write a program, and what is to be found.
struct Case {
    variant: &'static str,
    /// How the failure begins under SC, TSO and PSO, if there is one.
    verdicts: [Option<&'static str>; 3],
    run: fn(),
}

/// Nothing is wrong under any model.
const HOLDS: [Option<&'static str>; 3] = [None; 3];

/// The same failure is found under every model.
const fn everywhere(how: &'static str) -> [Option<&'static str>; 3] {
    [Some(how); 3]
}

/// It takes store buffers to go wrong.
const fn under_buffers(how: &'static str) -> [Option<&'static str>; 3] {
    [None, Some(how), Some(how)]
}

/// It takes stores that pass each other to go wrong.
const fn under_pso(how: &'static str) -> [Option<&'static str>; 3] {
    [None, None, Some(how)]
}

/// Runs `f` with `shared` as thread 1 and as this thread, which is 0; gives it back when both have ended.
fn both<T: Send + Sync + 'static>(shared: T, f: impl Fn(&T, usize) + Copy + Send + 'static) -> Arc<T> {
    let shared = Arc::new(shared);
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || f(&other, 1));
    f(&shared, 0);
    thread.join().expect("it ends");
    shared
}

/// Data that threads share as they say they may.
struct Shared<T>(teetotal::cell::UnsafeCell<T>);

// SAFETY: whether that is so is what is checked.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Copy> Shared<T> {
    fn new(value: T) -> Self {
        Shared(teetotal::cell::UnsafeCell::new(value))
    }

    fn get(&self) -> T {
        // SAFETY: the checker says if it is not.
        self.0.with(|data| unsafe { *data })
    }

    fn set(&self, value: T) {
        // SAFETY: the checker says if it is not.
        self.0.with_mut(|data| unsafe { *data = value });
    }
}

/// Demands the verdicts of these cases.
fn check(cases: &[Case], search: SearchId) {
    for Case { variant, verdicts, run } in cases {
        for (model, expected) in [ModelId::Sc, ModelId::Tso, ModelId::Pso].into_iter().zip(verdicts) {
            let mut builder = Builder::new();
            builder.model = model;
            builder.search = search;
            let report = builder.explore(*run);
            match (report.failure, expected) {
                (None, None) => assert!(report.coverage.is_complete(), "{variant}, {model:?}: {:?}", report.coverage),
                (Some(text), Some(how)) => assert!(text.starts_with(how), "{variant}, {model:?}: {text}"),
                (Some(text), None) => panic!("{variant} must hold under {model:?}: {text}"),
                (None, Some(how)) => panic!("{variant} must fail under {model:?}: {how}"),
            }
        }
    }
}

/// A module and a test for each file.
macro_rules! programs {
    ($($name:ident $file:literal)*) => {
        $(
            #[path = $file]
            mod $name;
        )*

        /// Their names.
        const PROGRAMS: &[&str] = &[$(stringify!($name)),*];

        mod tests {
            $(
                #[test]
                fn $name() {
                    super::check(super::$name::CASES, super::SearchId::Auto);
                }
            )*
        }

        mod by_annotations {
            $(
                #[test]
                fn $name() {
                    super::check(super::$name::CASES, super::SearchId::ReadsFrom);
                }
            )*
        }
    };
}

programs! {
    account "../../../corpus/rust/account.rs"
    airline "../../../corpus/rust/airline.rs"
    allocation "../../../corpus/rust/allocation.rs"
    bakery "../../../corpus/rust/bakery.rs"
    chase_lev "../../../corpus/rust/chase_lev.rs"
    counter "../../../corpus/rust/counter.rs"
    dekker "../../../corpus/rust/dekker.rs"
    example "../../../corpus/rust/example.rs"
    harris_list "../../../corpus/rust/harris_list.rs"
    idle_consumer "../../../corpus/rust/idle_consumer.rs"
    lamport_fast "../../../corpus/rust/lamport_fast.rs"
    lazy_list "../../../corpus/rust/lazy_list.rs"
    michael_scott "../../../corpus/rust/michael_scott.rs"
    once "../../../corpus/rust/once.rs"
    peterson "../../../corpus/rust/peterson.rs"
    ping_pong "../../../corpus/rust/ping_pong.rs"
    publication "../../../corpus/rust/publication.rs"
    reference_count "../../../corpus/rust/reference_count.rs"
    ring "../../../corpus/rust/ring.rs"
    rv_example "../../../corpus/rust/rv_example.rs"
    sequence_lock "../../../corpus/rust/sequence_lock.rs"
    snark "../../../corpus/rust/snark.rs"
    spin_then_park "../../../corpus/rust/spin_then_park.rs"
    stack_unsafe "../../../corpus/rust/stack_unsafe.rs"
    string_buffer "../../../corpus/rust/string_buffer.rs"
    take_queue "../../../corpus/rust/take_queue.rs"
    ticket_lock "../../../corpus/rust/ticket_lock.rs"
    treiber "../../../corpus/rust/treiber.rs"
    two_lock_queue "../../../corpus/rust/two_lock_queue.rs"
}

#[test]
fn every_file_of_the_folder_is_checked() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/rust");
    let files = std::fs::read_dir(folder).expect("there is a folder");
    for file in files {
        let path = file.expect("it can be listed").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it has a name").to_owned();
        assert!(PROGRAMS.contains(&name.as_str()), "{} is not checked", path.display());
    }
}
