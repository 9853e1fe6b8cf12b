//! Rust code under the checker.
//!
//! [`model`] runs a closure that starts threads and uses the look-alikes of [`crate::sync`], [`crate::thread`] and
//! [`crate::cell`], once for every execution of the memory model that differs in what is read or in the order of writes.

use std::borrow::Cow;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use teetotal_explore::{Coverage, Limits, Stats};
use teetotal_frontends::traces::Format;
use teetotal_live::{Fairness, Ledger, Live, Mend, Setup};
use teetotal_memory::ModelId;

mod between;
mod caveat;
mod checkpoint;
mod choice;
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
mod search;
mod source_text;
mod storyboard;
mod violation;
mod watchdog;
mod watchman;

#[doc(hidden)]
pub use teetotal_live::reachable as reached;
#[doc(inline)]
pub use teetotal_live::{Backend, Mark, Place, Standing};

pub use caveat::Caveat;
use caveat::{caveats, coverage_of};
pub use choice::SearchKind;
use failure::Failing;
pub use robustness::NotRobust;
use search::{Found, Outcome, Search};
pub use violation::{Violation, ViolationKind};

/// Runs `f` once for every execution under PSO, which has every execution of SC and TSO too.
///
/// # Panics
/// If an execution panics, deadlocks or has a data race, with the execution. If the search is incomplete for a reason
/// that was not chosen, or if `f` uses nothing that is checked: see [`Builder::allow_incomplete`].
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

/// How to run a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Builder {
    /// The memory model.
    pub model: ModelId,
    /// At most this many executions.
    pub max_permutations: Option<usize>,
    /// At most this long.
    pub max_duration: Option<Duration>,
    /// At most this many operations in one execution.
    pub max_branches: usize,
    /// At most this many preemptions in one execution, if there are too many executions to run all.
    ///
    /// A preemption is a switch to another thread although the one that runs can go on. Ways that need more are left out,
    /// with what would be found only by going back from there.
    pub preemption_bound: Option<usize>,
    /// Which executions are run.
    pub search: SearchKind,
    /// How many processor cores to use.
    pub jobs: usize,
    /// How many bytes the stack of a thread has.
    pub stack_size: usize,
    /// What threads run on.
    pub backend: Backend,
    /// States of [`reachable!`](crate::reachable) that some execution must be in, if all are run.
    pub must_reach: Vec<String>,
    /// How often in an execution a weak compare-exchange may fail, or a `park` or a wait for a `Condvar` or a future may
    /// end, for no reason: once unless set, since a loop that tries again would have no end otherwise.
    pub spurious: usize,
    /// How often in an execution an allocation may be given the address of a freed block: once unless set.
    ///
    /// It needs [`alloc::Checked`](crate::alloc::Checked) as the global allocator. Without it addresses are those of the
    /// system's allocator, and reuse is not searched.
    pub reuse: usize,
    /// Whether a block that another thread may know of and that is not freed when an execution ends is a leak, with
    /// [`alloc::Checked`](crate::alloc::Checked) as the global allocator.
    ///
    /// `Arc`s, [`alloc::alloc`](crate::alloc::alloc) and [`alloc::Track`](crate::alloc::Track) are checked in any case.
    pub leaks: bool,
    /// Whether plain accesses are seen, those to memory without any type of this crate, with
    /// [`alloc::Checked`](crate::alloc::Checked) as the global allocator: they are unless this is set to `false`.
    ///
    /// They are seen by page faults, which a debugger stops at and system calls do not survive.
    pub plain_accesses: bool,
    /// How many iterations a loop has before its thread runs on only if no other thread can, where they are not seen
    /// to repeat; by default 4 for loops that change something and yield, and more for others.
    ///
    /// Where the bound leaves out executions the search is incomplete, and [`Report::caveats`] names the loops. One that
    /// is set is chosen, so that the model passes within it.
    pub fairness_bound: Option<u32>,
    /// Whether a search that is incomplete passes, and a model in which nothing is checked.
    ///
    /// Otherwise [`Builder::check`] fails where it cannot say that a model holds, except for bounds that were set:
    /// `max_permutations`, `max_duration`, `preemption_bound`, `fairness_bound`, `leave_out_unrepeatable`.
    pub allow_incomplete: bool,
    /// Whether the search goes on where the code does something else when it is run again, and passes without what it
    /// missed there. Otherwise such a model fails.
    ///
    /// There are many such places in a model whose threads share something that is not of this crate.
    pub leave_out_unrepeatable: bool,
    /// The file in which the search is kept, so that it goes on there when the same test is run again.
    pub checkpoint_file: Option<PathBuf>,
    /// After how many executions the search is kept.
    pub checkpoint_interval: usize,
    /// There for loom's users: any number of threads is possible.
    pub max_threads: usize,
    /// There for loom's users: everything is explored.
    pub expect_explicit_explore: bool,
    /// There for loom's users: places in the source are always known.
    pub location: bool,
    /// Says on standard error each second how many executions were run, and about how many there are.
    pub log: bool,
    /// Asks whether every execution of the memory model is one of sequential consistency; see
    /// [`Builder::check_robustness`].
    pub robustness: bool,
    /// The folder that executions of sequential consistency are written to, if they are to be.
    pub record: Option<PathBuf>,
    /// How they are written.
    pub record_format: Format,
    /// Whether it was the environment that asked for robustness.
    robustness_by_environment: bool,
    /// Whether models pass that loom lets pass, with a line on standard error.
    passes_like_loom: bool,
    /// What is stronger than the source says.
    mend: Mend,
    /// The same, and Ctrl-C ends the search with what is known then; a second Ctrl-C ends the process.
    pub progress: bool,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

/// What a search of a model found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The model that was searched under.
    pub model: ModelId,
    /// How many executions were run.
    pub executions: u64,
    /// Whether these are all, within what [`Report::caveats`] names.
    pub coverage: Coverage,
    /// What was left out or taken for granted.
    pub caveats: Vec<Caveat>,
    /// Whether the model used anything that is checked, threads that start and end aside.
    pub has_operations: bool,
    /// The search that was taken; never `Auto`.
    pub search: SearchKind,
    /// Why it was, in words that go on from "`dpor` was taken, since".
    pub search_reason: Cow<'static, str>,
    /// What the search did.
    pub stats: Stats,
    /// What is wrong, with the execution that shows it.
    pub failure: Option<Violation>,
    /// The pairs of places at which the model is not robust, if that was asked for.
    pub not_robust: Vec<NotRobust>,
    /// The states of [`reachable!`](crate::reachable), and whether an execution was in them; none where robustness was
    /// asked for.
    pub reachable: Vec<Mark>,
    /// Where the threads stood in an execution that was too long or could not be run again.
    pub standing: Vec<Standing>,
    /// How many executions were left with threads in the middle, since these are blocked forever or did something else
    /// when they were run again. Their stacks were discarded, and what they own is leaked.
    pub discarded: usize,
    /// How many bytes these own, as far as the checked allocator knows. A search that leaks too much ends.
    pub leaked: usize,
}

impl Builder {
    /// Every execution under PSO, unless the environment says otherwise.
    ///
    /// # Panics
    /// If an environment variable of ours or of loom's has a value that means nothing.
    #[must_use]
    #[track_caller]
    pub fn new() -> Self {
        let mut builder = Builder::unless_set();
        environment::apply(&mut builder);
        builder
    }

    /// As [`Builder::new`], with the habits of loom: nothing fails spuriously, and a model passes where the search was
    /// incomplete or nothing was checked; a line on standard error says so.
    ///
    /// # Panics
    /// If an environment variable of ours or of loom's has a value that means nothing.
    #[must_use]
    #[track_caller]
    pub fn like_loom() -> Self {
        let (leave_out_unrepeatable, passes_like_loom) = (true, true);
        let mut builder =
            Builder { spurious: 0, reuse: 0, leave_out_unrepeatable, passes_like_loom, ..Builder::unless_set() };
        environment::apply(&mut builder);
        builder
    }

    /// What holds where neither the code nor the environment says anything.
    fn unless_set() -> Self {
        Builder {
            model: ModelId::Pso,
            max_permutations: None,
            max_duration: None,
            max_branches: 1_000,
            preemption_bound: None,
            search: SearchKind::Auto,
            jobs: 1,
            stack_size: teetotal_live::STACK_SIZE,
            backend: Backend::default(),
            must_reach: Vec::new(),
            spurious: 1,
            reuse: 1,
            leaks: false,
            plain_accesses: true,
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

    /// How far a search may go.
    fn limits(&self) -> Limits {
        Limits {
            executions: self.max_permutations.map(|n| n as u64),
            steps: Some(self.max_branches as u64),
            leaves_out_unrepeatable: self.leave_out_unrepeatable,
            ..Limits::default()
        }
    }

    /// Sets the file in which the search is kept.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Self {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs the executions of `f`.
    ///
    /// # Panics
    /// If one of them fails; if the search is incomplete for a reason that was not chosen, or nothing was checked, unless
    /// [`Builder::allow_incomplete`] is set.
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

    /// Runs the executions of `f` and says what is wrong with the first that something is wrong with.
    #[track_caller]
    pub fn explore<F>(&self, f: F) -> Report
    where
        F: Fn() + Sync + Send + 'static,
    {
        self.search(&(Arc::new(f) as teetotal_live::Model), Location::caller())
    }

    /// Checks that every execution of `f` under the memory model is one of sequential consistency, and that those are
    /// right: then all are.
    ///
    /// Only executions of sequential consistency are searched.
    ///
    /// # Panics
    /// If one of these is wrong; or if the memory model has others, with the store and the access that it comes from,
    /// where a fence or a stronger ordering would go and whether that was seen to help, and such an execution.
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

    /// The model at its beginning.
    fn live(&self, body: &teetotal_live::Model, ledger: &Ledger) -> Live {
        let Builder { stack_size, spurious, reuse, backend, leaks, plain_accesses, .. } = *self;
        // Where few preemptions are wanted, so are few iterations of loops that yield.
        let fairness = match (self.fairness_bound, self.preemption_bound) {
            (Some(bound), _) => Fairness::of(bound),
            (None, Some(_)) => Fairness { hinted: 1, ..Fairness::DEFAULT },
            (None, None) => Fairness::DEFAULT,
        };
        // What the allocator does is no part of the question.
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
        let Outcome { found, choice } = self.model.visit(Search::new(self, body, &ledger));
        let Found { stats, coverage, wrong } = found;
        let coverage = coverage_of(coverage, &stats, &ledger);
        let reachable = ledger.marked();
        // What fails is run again, which may tell the ledger something else.
        let caveats = caveats(self, &ledger);
        let failure = match wrong {
            Some(wrong) => {
                let executions = stats.executions;
                let search = choice.kind;
                let failing = Failing { builder: self, body, wrong: &wrong, ledger: &ledger, executions, search };
                Some(self.model.visit(failing))
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
            search: choice.kind,
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
