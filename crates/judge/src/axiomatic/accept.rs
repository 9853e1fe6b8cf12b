//! Whether a model allows a trace.

use teetotal_memory::relations::Relation;
use teetotal_memory::{Event, ModelId, Trace};
use teetotal_program::{Loc, Order, Value};

use crate::axiomatic::axioms::Axioms;
use crate::axiomatic::facts::Facts;
use crate::axiomatic::rc11;
use crate::axiomatic::rejection::Rejection;
use crate::axiomatic::well_formed::{Locks, is_well_formed};

/// Whether `model` allows `trace`, and if not, why not.
///
/// Only program order, reads-from, coherence, values and the grouping of reads into awaits count, not the steps.
/// `initial` says what a location holds before anything is written to it. A trace with pending stores is judged as if
/// its buffers drained at its end, in the order of [`Trace::coherence`].
pub fn accepts(model: ModelId, trace: &Trace, initial: impl Fn(Loc) -> Value) -> Result<(), Rejection> {
    is_well_formed(trace, initial, Locks::Held)?;
    judge(model, trace)
}

/// Whether `model` allows a `trace` of real code, and if not, why not.
///
/// Locks of real code may be of other kinds than those that one thread holds, such as one for several readers: what they
/// read and write is up to the code, as it is for every other read-modify-write.
pub fn accepts_code(model: ModelId, trace: &Trace, initial: impl Fn(Loc) -> Value) -> Result<(), Rejection> {
    is_well_formed(trace, initial, Locks::OfCode)?;
    judge(model, trace)
}

/// Whether RC11 allows a `trace` of a machine, in which each event has the ordering `order_of` it.
///
/// A machine of another model may give an event another ordering than its source has.
pub fn accepts_in_rc11(trace: &Trace, order_of: &dyn Fn(&Event) -> Order) -> Result<(), Rejection> {
    rc11::judge(trace, order_of)
}

fn judge(model: ModelId, trace: &Trace) -> Result<(), Rejection> {
    (Axioms::of(model).judge)(&Facts::new(model, trace))
}

/// The order in which a model lets the events of `trace` happen: when a store reaches memory, when anything else is
/// performed. It has a cycle where the model does not allow the trace.
#[must_use]
pub fn order_of_moments(model: ModelId, trace: &Trace) -> Relation {
    Facts::new(model, trace).order(Axioms::of(model).keeps)
}
