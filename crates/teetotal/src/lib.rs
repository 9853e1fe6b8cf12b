//! A model checker for concurrent Rust code under weak memory.
//!
//! An ordinary test of concurrent code runs one of its many executions. [`model()`] runs every execution that a memory
//! model allows and fails with the first failing one. Here `READY` may become visible before `DATA`, because its store
//! is not a release:
//!
//! ```should_panic
//! use teetotal::sync::atomic::{AtomicBool, AtomicU32, Ordering::{Acquire, Relaxed}};
//! use teetotal::thread;
//!
//! static DATA: AtomicU32 = AtomicU32::new(0);
//! static READY: AtomicBool = AtomicBool::new(false);
//!
//! teetotal::model(|| {
//!     let writer = thread::spawn(|| {
//!         DATA.store(7, Relaxed);
//!         READY.store(true, Relaxed);
//!     });
//!     if READY.load(Acquire) {
//!         assert_eq!(DATA.load(Relaxed), 7);
//!     }
//!     writer.join().unwrap();
//! });
//! ```
//!
//! The failure shows the execution as a table, with a column for each thread, the contents of store buffers, and the
//! write that each read takes its value from. Its last line replays the execution.
//!
//! # What is found
//!
//! Panics, deadlocks, livelocks, data races and leaks. With [`alloc::Checked`] as the global allocator of a test also
//! use after free, double free, values that are published before they are initialized, and ABA.
//!
//! # What a passing test means
//!
//! Every execution under the memory model was run. The default is RC11, the model of Rust and C without load buffering,
//! which allows every execution of partial store order (PSO), total store order (TSO, as on x86) and sequential
//! consistency (SC). [`model::Builder`] selects another model and sets bounds; a search that is incomplete for a reason
//! that was not chosen fails.
//!
//! Rust also allows load buffering, loads that take effect after later stores, which RC11 does not have: what only such
//! executions do is not seen.
//!
//! Loops that wait, with a hint such as [`hint::spin_loop`] or without, are searched exactly. The code must be
//! deterministic apart from the schedule.
//!
//! # Where to go next
//!
//! - [`shim`] is the standard library in normal builds, and these types under `--cfg teetotal`.
//! - [`reachable!`] checks that some execution reaches a state.
//! - [`model::Builder::check_robustness`] checks whether store buffers can be observed, and suggests fences.
//! - [`model::Builder::explore`] returns a [`model::Report`] instead of panicking.
//!
//! # Programs
//!
//! With the feature `programs`, small programs can be written with the [`Builder`], checked with [`check`], and
//! reported with a [`Report`]:
//!
//! ```
//! use std::sync::Arc;
//! use teetotal::{Builder, Condition, Detail, Formula, ModelId, Options, Report, Verdict};
//!
//! // Store buffering: each thread writes one location and reads the other.
//! let mut p = Builder::new("SB");
//! let x = p.shared("x", 0);
//! let y = p.shared("y", 0);
//! let p0 = p.thread("P0", |t| {
//!     t.store(x, 1);
//!     t.load("r0", y);
//! });
//! let p1 = p.thread("P1", |t| {
//!     t.store(y, 1);
//!     t.load("r1", x);
//! });
//! let r0 = p.register(p0, "r0").expect("loaded above");
//! let r1 = p.register(p1, "r1").expect("loaded above");
//!
//! // Requires that no execution lets both threads read 0.
//! let both = Formula::And(vec![Formula::equal(r0, 0), Formula::equal(r1, 0)]);
//! p.condition(Condition::NotExists(both));
//! let program = Arc::new(p.build()?);
//!
//! let sc = Options::new(ModelId::Sc);
//! let outcome = teetotal::check(&program, &sc)?;
//! assert_eq!(Verdict::of(&program, &sc, &outcome), Verdict::Holds);
//!
//! let tso = Options::new(ModelId::Tso);
//! let outcome = teetotal::check(&program, &tso)?;
//! let report = Report { program: &program, options: &tso, outcome: &outcome };
//! assert_eq!(report.verdict(), Verdict::Violated);
//! let text = report.render(Detail::Brief, teetotal::Drawing::default());
//! assert!(text.starts_with("SB: violated under tso"));
//! assert!(text.contains("P1 read x = 0 at step"));
//!
//! // Replays the execution from its token.
//! let token = outcome.violations[0].token.to_string().parse()?;
//! assert_eq!(teetotal::replay(&program, &token)?.trace, outcome.violations[0].trace);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A search explores every execution of the named model, or reports why it stopped: see [`Coverage`].

#![warn(missing_docs)]

#[cfg(feature = "programs")]
pub mod exit;
mod loom;
pub mod model;
#[cfg(feature = "programs")]
mod monitor;
pub mod parts;
#[cfg(feature = "programs")]
mod programs;
#[cfg(feature = "programs")]
mod record;
pub mod shim;

pub use teetotal_engine::Coverage;
pub use teetotal_engine::LimitError;
pub use teetotal_engine::Limits;
pub use teetotal_engine::SEARCHES;
pub use teetotal_engine::SearchId;
pub use teetotal_engine::SearchInfo;
pub use teetotal_engine::Stats;
pub use teetotal_engine::StopReason;
pub use teetotal_engine::Token;
pub use teetotal_engine::TokenError;
pub use teetotal_engine::search::Takes;
#[doc(inline)]
pub use teetotal_judge::{Ending, Extent, Finding, Level, MONITORS, MonitorId, MonitorInfo, Preserves};
#[doc(inline)]
pub use teetotal_memory::{BUFFER_MODELS, MODELS, ModelId, ModelInfo, Trace};
#[doc(inline)]
pub use teetotal_program::{Loc, Order, Reg, Source, Span, ThreadId, Type, Value, Width};
#[doc(inline)]
pub use teetotal_traces as traces;

#[doc(inline)]
pub use teetotal_engine::driver::Progress;
pub use teetotal_engine::driver::Signal;

#[doc(inline)]
pub use loom::{MAX_THREADS, explore, skip_branch, stop_exploring};
#[doc(inline)]
pub use model::model;
#[cfg(feature = "programs")]
#[doc(inline)]
pub use programs::*;
#[doc(hidden)]
pub use teetotal_live::{__lazy_static, recorded};
#[doc(inline)]
pub use teetotal_live::{alloc, cell, future, hint, lazy_static, sync, thread, thread_local};

/// Polled during a search for a reason to stop: a closure, or a [`Signal`] that also receives the progress.
pub type StopSignal<'a> = teetotal_engine::driver::StopSignal<'a>;
