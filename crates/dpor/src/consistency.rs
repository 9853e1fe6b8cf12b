//! What the graph search asks of a memory model: where an event may be added, and whether the graph is then consistent.
//!
//! The search knows program order, reads-from, coherence and the porf-prefix of each event, which are the same for every
//! model. What a model keeps beside these is opaque to it: a [`Consistency::Label`] with each event and a
//! [`Consistency::View`] of each thread. See `docs/design/consistency.md`.

mod rc11;
mod store_buffers;

use std::fmt::Debug;

use teetotal_memory::{Access, Family, ModelId};
use teetotal_program::{Loc, Op, Order, ThreadId};

use super::answer::Answer;
use super::bits::Bits;
use super::graph::{Graph, Node, Role, Slot};

pub(crate) use self::rc11::Rc11;
pub(crate) use self::store_buffers::StoreBuffers;

/// Evaluates an expression with the rules of a model, whatever their type.
macro_rules! with_rules {
    ($model:expr, $rules:ident => $value:expr) => {
        match $crate::consistency::rules_of($model) {
            $crate::consistency::Rules::Buffers($rules) => $value,
            $crate::consistency::Rules::Rc11($rules) => $value,
        }
    };
}
pub(crate) use with_rules;

/// The rules of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rules {
    Buffers(StoreBuffers),
    Rc11(Rc11),
}

/// Those of `model`.
pub(crate) fn rules_of(model: ModelId) -> Rules {
    match model.info().family {
        Family::Buffers(_) => Rules::Buffers(StoreBuffers::of(model)),
        Family::Graphs => Rules::Rc11(Rc11),
    }
}

/// The consistency of execution graphs under a model.
///
/// A model must be acyclic in porf and extensible: reading from the coherence-maximal write, and becoming it, are always
/// among the alternatives of an event. Events are added at the ends of threads and removed in the opposite order.
pub(crate) trait Consistency: Copy + Debug + Send + Sync + 'static {
    /// What is kept with an event.
    type Label<const N: usize>: Copy + Debug + Default;

    /// What is kept of a thread after an event of it; by default at its beginning.
    type View<const N: usize>: Copy + Debug + Default;

    /// What is kept of a graph beside its events.
    type Index: Clone + Debug + Default;

    /// Whether what overwrites the source of a read happens after the read.
    const READS_HAPPEN_BEFORE_OVERWRITERS: bool;

    /// Whether a compare-exchange that fails, and is a load in its source, is one.
    fn failed_exchange_is_load(self) -> bool;

    /// The ordering of the read of an operation that has `order` in its source, if this becomes of it.
    #[inline]
    fn order_of_read(_op: Op, order: Order, _answer: Answer) -> Order {
        order
    }

    /// An access of a thread with this view.
    fn access<const N: usize>(view: &Self::View<N>, loc: Option<Loc>, order: Order) -> Access;

    /// The view of a thread at its beginning that `spawn` has started.
    fn view_after_spawn<const N: usize>(graph: &Graph<Self, N>, spawn: Slot) -> Self::View<N>;

    /// Calls `each` with the writes that a read of `thread`, which has this view, may read from, the coherence-maximal
    /// one first, and with whether it may do so as a read-modify-write too. Atomicity is the affair of the search.
    fn sources<const N: usize>(
        graph: &Graph<Self, N>,
        thread: ThreadId,
        view: &Self::View<N>,
        access: Access,
        may_update: bool,
        each: impl FnMut(Slot, bool),
    );

    /// Calls `each` with the writes directly after which `write`, about to be added, may be placed in coherence, the
    /// coherence-maximal one first.
    fn coherence_places<const N: usize>(graph: &Graph<Self, N>, write: &Node<Self, N>, each: impl FnMut(Slot));

    /// Calls `each` with those of the [`Consistency::coherence_places`] of `write` in which `read` may read from it.
    fn coherence_places_of_revisit<const N: usize>(
        graph: &Graph<Self, N>,
        write: &Node<Self, N>,
        read: &NewRead,
        each: impl FnMut(Slot),
    );

    /// Whether the graph is consistent, if it was so before `slot` was added; of a revisit it is asked for the write, and
    /// then for the read.
    fn is_consistent<const N: usize>(_graph: &Graph<Self, N>, _slot: Slot) -> bool {
        true
    }

    /// The label of a read at `slot`, the last of its thread, whose view before it was `view`; and the view after it.
    fn label_read<const N: usize>(
        graph: &Graph<Self, N>,
        slot: Slot,
        view: &Self::View<N>,
        source: Slot,
        kind: ReadKind,
    ) -> (Self::Label<N>, Self::View<N>);

    /// The label of `write`, which is about to be added to its thread.
    fn label_write<const N: usize>(
        graph: &Graph<Self, N>,
        view: &Self::View<N>,
        write: &Node<Self, N>,
    ) -> Self::Label<N>;

    /// The view of a thread after the write at `slot`, if it was `view` before.
    fn view_after_write<const N: usize>(graph: &Graph<Self, N>, slot: Slot, view: Self::View<N>) -> Self::View<N>;

    /// The label of an event at `slot` that accesses no location, and the view after it. It comes after all events in
    /// `after` too.
    fn label_other<const N: usize>(
        graph: &Graph<Self, N>,
        slot: Slot,
        view: &Self::View<N>,
        op: Op,
        after: Bits<N>,
    ) -> (Self::Label<N>, Self::View<N>);

    /// `write` comes directly after `previous` in coherence.
    fn place_after<const N: usize>(graph: &mut Graph<Self, N>, write: Slot, previous: Slot);

    /// `slot`, just added, comes before the older write `overwriter`: it reads from the write before that, or is it.
    fn insert_before<const N: usize>(graph: &mut Graph<Self, N>, slot: Slot, overwriter: Slot);

    /// Takes [`Consistency::insert_before`] back.
    fn remove_before<const N: usize>(graph: &mut Graph<Self, N>, slot: Slot, overwriter: Slot);

    /// `slot` has been added and is linked with the events that were there.
    fn added<const N: usize>(_graph: &mut Graph<Self, N>, _slot: Slot) {}

    /// Restricts a label to `kept`, a set of events with their porf-prefixes.
    fn restrict_label<const N: usize>(label: &mut Self::Label<N>, kept: Bits<N>);

    /// The graph has been restricted to `kept`: every label is restricted, and every write in its place.
    fn restricted<const N: usize>(graph: &mut Graph<Self, N>, kept: Bits<N>);

    /// Whether an event is performed first and reaches memory later.
    fn is_buffered<const N: usize>(graph: &Graph<Self, N>, role: Role) -> bool;

    /// What comes directly before an event in every sequence of steps: before a buffered one reaches memory, before any
    /// other is performed.
    fn happens_after<const N: usize>(label: &Self::Label<N>) -> &Bits<N>;

    /// What comes directly before a buffered event of a thread with this view is performed.
    fn performed_after<const N: usize>(view: &Self::View<N>) -> &Bits<N>;

    /// What would come directly before `read` if it read from `source`.
    fn read_would_happen_after<const N: usize>(graph: &Graph<Self, N>, read: &NewRead, source: Slot) -> Bits<N>;

    /// Which alternative of a step performs the event at `slot` after those that have `happened`.
    fn alternative<const N: usize>(graph: &Graph<Self, N>, slot: Slot, _happened: &Bits<N>) -> u32 {
        if let Role::Choice(chosen) = graph.node(slot).role { chosen } else { 0 }
    }

    /// Calls `each` with every access of the graph that could overtake a store under `model`, and with that store.
    fn overtakings<const N: usize>(
        _graph: &Graph<Self, N>,
        _model: ModelId,
        _each: impl FnMut(&Node<Self, N>, &Node<Self, N>),
    ) {
    }

    /// Whether [`Consistency::overtakings`] knows of any.
    fn tells_overtakings(self) -> bool {
        false
    }
}

/// A read that is not in the graph: the next of its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewRead {
    pub(crate) thread: ThreadId,
    pub(crate) access: Access,
    pub(crate) kind: ReadKind,
}

/// What becomes of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadKind {
    /// It is a load, or does not let its thread go on.
    Load,
    /// It accesses memory at once, whether it writes or not.
    Update,
    /// It is no event, and its thread tries again.
    Retried,
}
