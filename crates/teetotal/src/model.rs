//! Checking Rust code.
//!
//! [`model`] runs a closure that starts threads and uses the types of [`crate::sync`], [`crate::thread`] and
//! [`crate::cell`], once forevery execution of the memory model that differs in what is read or in the order of writes.

use std::borrow::Cow;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use teetotal_engine::SearchId;
use teetotal_engine::search::Takes;
use teetotal_engine::{Coverage, Limits, Stats};
use teetotal_live::{Fairness, Ledger, Live, Mend, Setup};
use teetotal_memory::{BUFFER_MODELS, Family, ModelId};
use teetotal_traces::Format;

mod between;
mod caveat;
mod checkpoint;
mod conclusion;
mod environment;
mod failure;
mod memory;
mod perform;
mod problem;
mod reachable;
mod relevant;
mod replay;
mod robustness;
mod rust_searches;
mod search;
mod source_text;
mod storyboard;
mod strengthen;
mod violation;
mod watchdog;
mod watchman;

#[doc(hidden)]
pub use teetotal_live::reachable as reached;
#[doc(inline)]
pub use teetotal_live::{Backend, Mark, Place, PlainAccesses, Standing};

pub use caveat::Caveat;
use caveat::{caveats, coverage_of};
use failure::Failing;
pub use robustness::NotRobust;
use search::{Found, ModelSearch, Outcome};
pub use violation::{Violation, ViolationKind};

/// Runs `f` once for every execution under RC11, the model of Rust without load buffering, which allows every execution
/// of SC, TSO and PSO.
///
/// # Panics
/// If an execution panics, deadlocks, has a data race or leaks; the message shows the execution. Also if the search is
/// incomplete for a reason that was not chosen, or if `f` uses nothing that is checked: see
/// [`Builder::allow_incomplete`].
///
/// ```
/// use teetotal::sync::Arc;
/// use teetotal::sync::atomic::{AtomicUsize, Ordering};
/// use teetotal::thread;
///
/// teetotal::model(|| {
///     let n = Arc::new(AtomicUsize::new(0));
///     let adds: Vec<_> = (0..2)
///         .map(|_| {
///             let n = n.clone();
///             thread::spawn(move || n.fetch_add(1, Ordering::Relaxed))
///         })
///         .collect();
///     for add in adds {
///         add.join().unwrap();
///     }
///     assert_eq!(n.load(Ordering::Relaxed), 2);
/// });
/// ```
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}

/// Settings for the check of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// The memory model, RC11 by default.
    ///
    /// Robustness is a question about store buffers: [`Builder::check_robustness`] asks it of PSO unless this is a model
    /// of store buffers.
    pub model: ModelId,
    /// The maximum number of executions.
    pub max_permutations: Option<usize>,
    /// The maximum duration of the search.
    pub max_duration: Option<Duration>,
    /// The maximum number of operations in one execution.
    pub max_branches: usize,
    /// The maximum number of preemptions in one execution, applied once there are too many executions to run all.
    ///
    /// A preemption is a switch to another thread although the current one could continue. Executions that need more
    /// are left out, and so are those that the search reaches only by revisits from them.
    pub preemption_bound: Option<usize>,
    /// The search, which decides which executions are run.
    pub search: SearchId,
    /// The number of processor cores to use.
    pub jobs: usize,
    /// The size of the stack of each thread, in bytes.
    pub stack_size: usize,
    /// Whether threads are coroutines or OS threads.
    pub backend: Backend,
    /// Marks of [`reachable!`](crate::reachable) that some execution must reach, if the search is complete.
    pub must_reach: Vec<String>,
    /// The maximum number of spurious failures and wake-ups in one execution, 1 by default.
    ///
    /// They occur in weak compare-exchanges, in `park`, and in waits for a `Condvar` or a future. Without a bound, a
    /// retry loop would have endless executions.
    pub spurious: usize,
    /// How often in one execution an allocation may return the address of a freed block, 1 by default.
    ///
    /// It needs [`alloc::Checked`](crate::alloc::Checked) as the global allocator. Otherwise addresses are those of the
    /// system's allocator, and reuse is not searched.
    pub reuse: usize,
    /// Whether a block that another thread may know of and that is not freed when an execution ends is a leak.
    ///
    /// It needs [`alloc::Checked`](crate::alloc::Checked) as the global allocator. `Arc`s,
    /// [`alloc::alloc`](crate::alloc::alloc) and [`alloc::Track`](crate::alloc::Track) are checked in any case.
    pub leaks: bool,
    /// In which executions plain accesses are observed, that is, accesses to memory without a type of this crate.
    ///
    /// All executions by default, and a sample for [`Builder::like_loom`]. It needs
    /// [`alloc::Checked`](crate::alloc::Checked) as the global allocator.
    pub plain_accesses: PlainAccesses,
    /// The number of iterations after which the thread of a loop runs only if no other thread can.
    ///
    /// It applies to loops whose iterations do not repeat themselves; by default it is 4 for loops that write and
    /// yield, and more for others. If it leaves out executions the search is incomplete, and [`Report::caveats`] names
    /// the loops; a model passes within a bound that was set.
    pub fairness_bound: Option<u32>,
    /// Whether a model passes if its search is incomplete, or if it uses nothing that is checked.
    ///
    /// Otherwise [`Builder::check`] fails if it cannot say that the model holds, except for bounds that were set:
    /// `max_permutations`, `max_duration`, `preemption_bound`, `fairness_bound`, `leave_out_unrepeatable`.
    pub allow_incomplete: bool,
    /// Whether the search continues after a nondeterministic replay, and passes without the executions that it misses.
    ///
    /// Otherwise such a model fails. Replays are nondeterministic if threads share objects that are not of this crate.
    pub leave_out_unrepeatable: bool,
    /// The file in which the search is saved, and from which it resumes when the same test is run again.
    pub checkpoint_file: Option<PathBuf>,
    /// The number of executions between saves.
    pub checkpoint_interval: usize,
    /// Ignored; present for compatibility with loom. Any number of threads is possible.
    pub max_threads: usize,
    /// Ignored; present for compatibility with loom. Everything is explored.
    pub expect_explicit_explore: bool,
    /// Ignored; present for compatibility with loom. Places in the source are always known.
    pub location: bool,
    /// Prints to standard error, each second, how many executions were run and an estimate of how many there are.
    pub log: bool,
    /// Checks whether every execution of the memory model is sequentially consistent; see
    /// [`Builder::check_robustness`].
    pub robustness: bool,
    /// The folder to which sequentially consistent executions are written.
    pub record: Option<PathBuf>,
    /// The format in which [`Builder::record`] writes executions.
    pub record_format: Format,
    /// Whether the environment requested the robustness check.
    robustness_by_environment: bool,
    /// Whether a model passes if it would pass in loom, with a line on standard error.
    passes_like_loom: bool,
    /// Operations and fences that are stronger than in the source.
    mend: Mend,
    /// Prints progress as [`Builder::log`] does, and lets Ctrl-C end the search; a second Ctrl-C ends the process.
    pub progress: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// The memory model.
    pub model: ModelId,
    /// The number of executions that were run.
    pub executions: u64,
    /// Whether the search was complete, within what [`Report::caveats`] names.
    pub coverage: Coverage,
    /// What was left out or assumed.
    pub caveats: Vec<Caveat>,
    /// Whether the model used anything that is checked, apart from starting and joining threads.
    pub has_operations: bool,
    /// The search that was used; never `Auto`.
    pub search: SearchId,
    /// The reason for choosing this search, as a clause that follows "since".
    pub search_reason: Cow<'static, str>,
    /// Statistics of the search.
    pub stats: Stats,
    /// The violation, with the execution that shows it.
    pub failure: Option<Violation>,
    /// The pairs of places at which the model is not robust, if robustness was checked.
    pub not_robust: Vec<NotRobust>,
    /// The marks of [`reachable!`](crate::reachable), and whether an execution reached them; empty if robustness was
    /// checked.
    pub reachable: Vec<Mark>,
    /// The positions of the threads in an execution that was too long or whose replay diverged.
    pub standing: Vec<Standing>,
    /// The number of executions that were discarded with unfinished threads, because these were blocked forever or
    /// diverged in a replay. What the threads own is leaked.
    pub discarded: usize,
    /// The number of bytes that the discarded executions have leaked, as far as the checked allocator knows. A search
    /// that leaks too much stops.
    pub leaked: usize,
}

impl Builder {
    /// Returns the default settings, every execution under RC11, with changes from the environment.
    ///
    /// # Panics
    /// If an environment variable of this crate or of loom has an invalid value.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        let mut builder = Builder::unless_set();
        environment::apply(&mut builder);
        builder
    }

    /// Returns the defaults of loom, with changes from the environment.
    ///
    /// Unlike with [`Builder::new`], nothing fails spuriously, and a model passes if the search was incomplete or
    /// nothing was checked; a line on standard error says so.
    ///
    /// # Panics
    /// If an environment variable of this crate or of loom has an invalid value.
    #[must_use]
    #[track_caller]
    pub fn like_loom() -> Self {
        let (leave_out_unrepeatable, passes_like_loom) = (true, true);
        let plain_accesses = PlainAccesses::Sampled;
        let mut builder = Builder {
            spurious: 0,
            reuse: 0,
            plain_accesses,
            leave_out_unrepeatable,
            passes_like_loom,
            ..Builder::unless_set()
        };
        environment::apply(&mut builder);
        builder
    }

    /// Returns the defaults, without the environment.
    fn unless_set() -> Self {
        Builder {
            model: ModelId::Rc11,
            max_permutations: None,
            max_duration: None,
            max_branches: 1_000,
            preemption_bound: None,
            search: SearchId::Auto,
            jobs: 1,
            stack_size: teetotal_live::STACK_SIZE,
            backend: Backend::default(),
            must_reach: Vec::new(),
            spurious: 1,
            reuse: 1,
            leaks: false,
            plain_accesses: PlainAccesses::All,
            fairness_bound: None,
            allow_incomplete: false,
            leave_out_unrepeatable: false,
            checkpoint_file: None,
            checkpoint_interval: 20_000,
            max_threads: usize::MAX,
            expect_explicit_explore: false,
            location: true,
            log: false,
            robustness: false,
            record: None,
            record_format: Format::Own,
            robustness_by_environment: false,
            passes_like_loom: false,
            mend: Mend::default(),
            progress: false,
        }
    }

    /// Returns the limits of the search.
    fn limits(&self) -> Limits {
        Limits {
            executions: self.max_permutations.map(|n| n as u64),
            steps: Some(self.max_branches as u64),
            leaves_out_unrepeatable: self.leave_out_unrepeatable,
            ..Limits::default()
        }
    }

    /// Sets the file in which the search is saved.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Checks every execution of `f` and returns what the search did.
    ///
    /// # Panics
    /// If an execution fails. Also if the search is incomplete for a reason that was not chosen or nothing was checked,
    /// unless [`Builder::allow_incomplete`] is set.
    #[track_caller]
    pub fn check<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        let body: teetotal_live::Model = Arc::new(f);
        if let Some(token) = environment::replayed() {
            return replay::replay(self, &body, &token);
        }
        let report = self.search(&body, Location::caller());
        conclusion::conclude(self, &report);
        report
    }

    /// Checks every execution of `f` and returns the result, with the first failure if there is one.
    #[track_caller]
    pub fn explore<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.search(&(Arc::new(f) as teetotal_live::Model), Location::caller())
    }

    /// Checks that every execution of `f` under the memory model is sequentially consistent and correct.
    ///
    /// Only sequentially consistent executions are searched.
    ///
    /// # Panics
    /// If one of these fails, or if the memory model has other executions. The message then shows one of them, the
    /// store and the access that are reordered, where a fence or a stronger ordering belongs, and whether it was
    /// confirmed to help.
    ///
    /// ```
    /// use teetotal::model::Builder;
    /// use teetotal::sync::Arc;
    /// use teetotal::sync::atomic::{AtomicBool, Ordering, fence};
    /// use teetotal::{ModelId, thread};
    ///
    /// let mut builder = Builder::new();
    /// builder.model = ModelId::Tso;
    /// builder.check_robustness(|| {
    ///     let wants = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    ///     let enters = |wants: &[AtomicBool; 2], me: usize| {
    ///         wants[me].store(true, Ordering::Relaxed);
    ///         fence(Ordering::SeqCst);
    ///         !wants[1 - me].load(Ordering::Relaxed)
    ///     };
    ///     let others = wants.clone();
    ///     let other = thread::spawn(move || enters(&others, 1));
    ///     let first = enters(&wants, 0);
    ///     assert!(!(first && other.join().unwrap()));
    /// });
    /// ```
    #[track_caller]
    pub fn check_robustness<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        Builder { robustness: true, ..self.clone() }.check(f)
    }

    /// Returns the model in its initial state.
    fn live(&self, body: &teetotal_live::Model, ledger: &Ledger) -> Live {
        let Builder { stack_size, spurious, reuse, backend, leaks, plain_accesses, .. } = *self;
        // A preemption bound also lowers the bound on loops that yield.
        let fairness = match (self.fairness_bound, self.preemption_bound) {
            (Some(bound), _) => Fairness::of(bound),
            (None, Some(_)) => Fairness { hinted: 1, ..Fairness::DEFAULT },
            (None, None) => Fairness::DEFAULT,
        };
        // Operations of the allocator are not part of the robustness check.
        let reuse = if self.robustness { 0 } else { reuse };
        let (keeps_failed_reads, trusts_frees) = (self.robustness, self.passes_like_loom);
        let setup = Setup {
            stack_size,
            spurious,
            reuse,
            leaks,
            plain_accesses,
            fairness,
            keeps_failed_reads,
            backend,
            trusts_frees,
        };
        Live::new(Arc::clone(body), ledger, setup).mended(&self.mend)
    }

    #[track_caller]
    fn search(&self, body: &teetotal_live::Model, place: &'static Location<'static>) -> Report {
        assert!(
            !teetotal_live::is_in_model(),
            "a model is run inside of a model\nhelp: call what the inner model runs, or take it out of the outer one"
        );
        if self.robustness && matches!(self.model.info().family, Family::Graphs) {
            let weakest = BUFFER_MODELS.last().expect("there are models of store buffers").id;
            return Builder { model: weakest, ..self.clone() }.search(body, place);
        }
        let info = self.search.info();
        for takes in [info.rust, info.takes(self.model)] {
            if let Takes::No(reason) = takes {
                panic!("the search `{}` {reason}", self.search);
            }
        }
        watchdog::start();
        if let Some(folder) = &self.record
            && let Err(error) = robustness::record(self, body, folder, self.record_format)
        {
            panic!("executions cannot be written to `{}`: {error}", folder.display());
        }
        if self.robustness {
            return robustness::decide(self, body);
        }
        let ledger = Ledger::default();
        reachable::ask_for(&ledger, place);
        self.must_reach.iter().for_each(|name| ledger.ask_for(name, None));
        let Outcome { found, choice } = ModelSearch::new(self, body, &ledger).run();
        let Found { stats, coverage, wrong } = found;
        let coverage = coverage_of(coverage, &stats, &ledger);
        let reachable = ledger.marked();
        // A failure is replayed, which may add to the ledger.
        let caveats = caveats(self, &ledger);
        let failure = match wrong {
            Some(wrong) => {
                let executions = stats.executions;
                let search = choice.search;
                let failing = Failing { builder: self, body, wrong: &wrong, ledger: &ledger, executions, search };
                Some(failing.shown())
            }
            None if coverage.is_complete() => reachable::unreached(&reachable, self.model, &stats),
            None => failure::misused(&ledger, self.model),
        };
        Report {
            model: self.model,
            executions: stats.executions,
            coverage,
            caveats,
            has_operations: ledger.has_operations(),
            search: choice.search,
            search_reason: choice.reason,
            stats,
            failure,
            not_robust: Vec::new(),
            reachable,
            standing: ledger.standing(),
            discarded: ledger.discarded(),
            leaked: ledger.leaked_bytes(),
        }
    }
}
