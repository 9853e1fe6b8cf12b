//! Classic concurrent algorithms in Rust, right and wrong, each with its verdict under every model.

#![allow(unsafe_code, reason = "what is checked is unsafe code")]

mod locks;
mod mutual_exclusion;
mod queues;
mod stack;

use teetotal::ModelId;
use teetotal::model::Builder;

const SC: ModelId = ModelId::Sc;
const TSO: ModelId = ModelId::Tso;
const PSO: ModelId = ModelId::Pso;

/// Demands that `f` goes wrong under `wrong` in a way that begins with `how`, and under no other model.
fn verdicts<F>(wrong: &[ModelId], how: &str, f: F)
where
    F: Fn() + Clone + Send + Sync + 'static,
{
    for model in [SC, TSO, PSO] {
        let mut builder = Builder::new();
        builder.model = model;
        let report = builder.explore(f.clone());
        match report.failure {
            Some(text) => {
                assert!(wrong.contains(&model), "under {model:?}: {text}");
                assert!(text.starts_with(how), "under {model:?}: {text}");
            }
            None => {
                assert!(!wrong.contains(&model), "nothing is wrong under {model:?}");
                assert!(report.coverage.is_complete(), "under {model:?}: {:?}", report.coverage);
            }
        }
    }
}

/// Demands that `f` is right under every model.
fn is_right<F>(f: F)
where
    F: Fn() + Clone + Send + Sync + 'static,
{
    verdicts(&[], "", f);
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
