//! Caveats: what a result about a model depends on.

use std::fmt;

use teetotal_engine::{Coverage, Stats, StopReason};
use teetotal_live::{Ledger, Place};

use super::Builder;

/// Something that was left out or assumed: the result holds only within it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Caveat {
    /// Executions were left out in which compare-exchanges and waits fail or end spuriously more often than this.
    Spurious(usize),
    /// The fairness bound: executions were left out in which the loop at this place has more iterations than this while
    /// another thread could run.
    Fairness {
        /// Where the loop is.
        place: Place,
        /// The maximum number of iterations.
        bound: u32,
    },
    /// Executions were left out in which allocations reuse freed blocks more often than this.
    Reuse(usize),
    /// Some memory of the model came from the system and was not checked, although the checked allocator is installed:
    /// there were too many threads, too much memory in one of them, or too many models at once.
    UncheckedMemory,
    /// Plain accesses were observed in some executions only: [`PlainAccesses::Sampled`](super::PlainAccesses::Sampled).
    SampledAccesses,
    /// The free of a block was assumed to come after the access at this place, although nothing that is checked orders
    /// them; a type of the standard library may.
    FreeAfter {
        /// Where the access is.
        place: Place,
    },
    /// Iterations of the loop at this place were assumed to change nothing on the heap, which is not compared.
    HeapOfLoop {
        /// Where the loop is.
        place: Place,
    },
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caveat::Spurious(0) => f.write_str("no spurious failure or wake-up was searched"),
            Caveat::Spurious(1) => f.write_str("at most 1 spurious failure or wake-up in an execution"),
            Caveat::Spurious(n) => write!(f, "at most {n} spurious failures and wake-ups in an execution"),
            Caveat::Fairness { place, bound } => {
                write!(f, "the loop at {place} continued after {bound} iterations only if no other thread could run")
            }
            Caveat::Reuse(0) => f.write_str("no freed block was reused"),
            Caveat::Reuse(n) => write!(f, "at most {n} allocations in an execution reused a freed block"),
            Caveat::UncheckedMemory => f.write_str(
                "some memory was not checked: what exceeds 64 threads of a model, 1 GiB in a thread or 64 models at once comes \
                 from the system",
            ),
            Caveat::SampledAccesses => f.write_str(
                "plain accesses were observed in the first 1,000 executions and in one of 64 after that (see all with \
                 `TEETOTAL_PLAIN_ACCESSES=all`)",
            ),
            Caveat::FreeAfter { place } => {
                write!(f, "assuming that a block is freed after the access at {place}, which nothing that is checked orders")
            }
            Caveat::HeapOfLoop { place } => write!(f, "assuming that the loop at {place} keeps no state on the heap"),
        }
    }
}

/// Returns what the result of a search depends on.
pub(super) fn caveats(builder: &Builder, ledger: &Ledger) -> Vec<Caveat> {
    let mut caveats = Vec::new();
    if ledger.is_spurious_bound_met() {
        caveats.push(Caveat::Spurious(builder.spurious));
    }
    if ledger.is_reuse_bound_met() {
        caveats.push(Caveat::Reuse(builder.reuse));
    }
    if ledger.has_unchecked_memory() {
        caveats.push(Caveat::UncheckedMemory);
    }
    if ledger.has_sampled_accesses() {
        caveats.push(Caveat::SampledAccesses);
    }
    caveats.extend(ledger.bounded_loops().into_iter().map(|(place, bound)| Caveat::Fairness { place, bound }));
    caveats.extend(ledger.trusted_accesses().into_iter().map(|place| Caveat::FreeAfter { place }));
    caveats.extend(ledger.assumed_loops().into_iter().map(|place| Caveat::HeapOfLoop { place }));
    caveats
}

/// Returns the coverage of a search, given what else it left out.
pub(super) fn coverage_of(coverage: Coverage, stats: &Stats, ledger: &Ledger) -> Coverage {
    let coverage = match coverage {
        Coverage::Complete if !ledger.bounded_loops().is_empty() => Coverage::Stopped(StopReason::Turns),
        // Every model has an execution; a search that shows none has lost it.
        Coverage::Complete if stats.executions == 0 => Coverage::Stopped(StopReason::Undecided),
        coverage => coverage,
    };
    coverage.with_divergences(stats)
}
