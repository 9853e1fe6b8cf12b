//! The programs in `corpus/memory`, which free what they allocate, right and wrong, each with its verdict under every model.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

use teetotal::ModelId;
use teetotal::alloc::Checked;
use teetotal::model::{Builder, SearchId};
use teetotal::sync::Arc;
use teetotal::thread;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

/// One way to write a program, and what is to be found.
struct Case {
    variant: &'static str,
    /// How the failure begins under SC, TSO and PSO, if there is one.
    verdicts: [Option<&'static str>; 3],
    run: fn(),
}

/// Nothing is wrong under any model.
const HOLDS: [Option<&'static str>; 3] = [None; 3];

/// The same error is found under every model.
const fn everywhere(how: &'static str) -> [Option<&'static str>; 3] {
    [Some(how); 3]
}

/// It takes store buffers to go wrong.
const fn under_buffers(how: &'static str) -> [Option<&'static str>; 3] {
    [None, Some(how), Some(how)]
}

/// Runs `f` with `shared` as thread 1 and as this thread, which is 0; returns it when both have ended.
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
unsafe impl<T> Send for Shared<T> {}
// SAFETY: the same.
unsafe impl<T> Sync for Shared<T> {}

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
    let mut wrong = Vec::new();
    for Case { variant, verdicts, run } in cases {
        for (model, expected) in [ModelId::Sc, ModelId::Tso, ModelId::Pso].into_iter().zip(verdicts) {
            let mut builder = Builder::new();
            builder.model = model;
            builder.search = search;
            let report = builder.explore(*run);
            match (report.failure, expected) {
                (None, None) if report.coverage.is_complete() => {}
                (Some(text), Some(how)) if text.starts_with(how) => {}
                (None, _) => wrong.push(format!("{variant}, {model:?}: {:?}, not {expected:?}", report.coverage)),
                (Some(text), _) => wrong.push(format!("{variant}, {model:?}: not {expected:?}, but {text}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
    arc_counts "../../../corpus/memory/arc_counts.rs"
    epochs "../../../corpus/memory/epochs.rs"
    hazard_pointers "../../../corpus/memory/hazard_pointers.rs"
    intrusive_list "../../../corpus/memory/intrusive_list.rs"
    michael_scott_freed "../../../corpus/memory/michael_scott_freed.rs"
    slab "../../../corpus/memory/slab.rs"
    treiber_freed "../../../corpus/memory/treiber_freed.rs"
}

#[test]
fn every_file_of_the_folder_is_checked() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/memory");
    let files = std::fs::read_dir(folder).expect("there is a folder");
    for file in files {
        let path = file.expect("it can be listed").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("it has a name").to_owned();
        assert!(PROGRAMS.contains(&name.as_str()), "{} is not checked", path.display());
    }
}
