//! Why a trace is not allowed.

use std::error::Error;
use std::fmt;

use teetotal_memory::EventId;

/// What is wrong with a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// An event is none that any model could perform.
    Malformed { event: EventId, what: &'static str },
    /// An axiom of the model does not hold.
    Cyclic {
        axiom: Axiom,
        /// Each comes before the next, and the last before the first.
        events: Vec<EventId>,
    },
    /// However stores are placed before or after the global fences, some store is pending at one of them.
    PendingAtGlobalFence { fences: Vec<EventId> },
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed { event, what } => write!(formatter, "event {} {what}", event.0),
            Rejection::Cyclic { axiom, events } => write!(formatter, "{axiom} has the cycle {}", Cycle(events)),
            Rejection::PendingAtGlobalFence { fences } => write!(
                formatter,
                "no order of memory has all buffers empty at each of the global fences {}",
                List(fences)
            ),
        }
    }
}

impl Error for Rejection {}

/// What has to be free of cycles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Axiom {
    /// `po ∪ rf ∪ co ∪ fr`, for sequential consistency.
    HappensBefore,
    /// The same without program order from a store to a load, for TSO.
    RelaxedHappensBefore,
    /// The same with only what PSO keeps of program order.
    GlobalOrder,
    /// Program order and communication on one location.
    Coherence,
    /// What comes between the halves of a read-modify-write: `fr ; co`, for RC11.
    Atomicity,
    /// What sequentially consistent events have to respect: `psc`, for RC11.
    PartialSc,
    /// `sb ∪ rf`, for RC11.
    NoThinAir,
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Axiom::HappensBefore => "happens-before",
            Axiom::RelaxedHappensBefore => "relaxed happens-before",
            Axiom::GlobalOrder => "the global order",
            Axiom::Coherence => "the order of one location",
            Axiom::Atomicity => "a read-modify-write and what comes between its halves",
            Axiom::PartialSc => "the partial order of SeqCst events (psc)",
            Axiom::NoThinAir => "program order with reads-from",
        })
    }
}

/// `3 → 5 → 3`.
struct Cycle<'e>(&'e [EventId]);

impl fmt::Display for Cycle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|event| write!(f, "{} → ", event.0))?;
        self.0.first().map_or(Ok(()), |first| write!(f, "{}", first.0))
    }
}

/// `3, 5`.
struct List<'e>(&'e [EventId]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(|event| event.0.to_string()).collect();
        f.write_str(&numbers.join(", "))
    }
}
