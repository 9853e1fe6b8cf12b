//! The models of store buffers: SC, where stores do not wait, TSO and PSO.
//!
//! An event *happens* once: a store when it reaches memory, anything else when it is performed. Each event has a label
//! with what comes directly before that moment in every execution with the graph. A graph is an execution of the model
//! exactly when this order has no cycle; see `docs/theory/dpor.md`.
//!
//! A new event has no successor in its thread, so it closes a cycle only if what comes before it already comes after the
//! write that would follow it in coherence. Its possible sources and places are therefore the newest ones of coherence,
//! back to the first write that comes before it or is of its own thread. So every graph that is built is consistent.

mod closure;
mod overtaking;

use teetotal_memory::{Access, BufferRules, ModelId};
use teetotal_program::{Loc, Op, Order, ThreadId};

use super::super::bits::Bits;
use super::super::graph::{Graph, NONE, Node, Role, Slot};
use super::{Consistency, NewRead, ReadKind};

/// The rules of a model of store buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoreBuffers {
    has_buffers: bool,
    failed_exchange_is_load: bool,
    /// Whether a store stays before a later event of its thread that accesses memory at once, or is a store.
    keeps_order: fn(Access, Access) -> bool,
}

impl StoreBuffers {
    /// Those of `model`.
    pub(crate) fn of(model: ModelId) -> Self {
        let BufferRules { has_buffers, failure_is_load, keeps_order, .. } = *model.rules();
        StoreBuffers { has_buffers, failed_exchange_is_load: failure_is_load, keeps_order }
    }

    /// What of the stores in `pending` must be in memory before an access.
    #[inline]
    fn held_back<const N: usize>(graph: &Graph<Self, N>, pending: Bits<N>, access: Access) -> Bits<N> {
        let mut held_back = Bits::EMPTY;
        for store in pending.iter() {
            if (graph.rules.keeps_order)(graph.node(store).access, access) {
                held_back.insert(store);
            }
        }
        held_back
    }
}

/// When an event happens.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Moment<const N: usize> {
    /// What comes directly before it.
    order: Bits<N>,
    /// What comes before it, and itself, as it was when it was added; see `closure.rs`.
    reach: Bits<N>,
}

/// How far a thread has come.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Progress<const N: usize> {
    /// Events that happen before anything that the thread does later.
    floor: Bits<N>,
    /// Stores that may still be in the buffer.
    pending: Bits<N>,
    /// How many store-store barriers the thread has passed.
    epoch: u32,
}

/// Pairs of an event and an older one that it comes before, the newest last.
pub(crate) type Late = Vec<(Slot, Slot)>;

impl Consistency for StoreBuffers {
    type Label<const N: usize> = Moment<N>;
    type View<const N: usize> = Progress<N>;
    type Index = Late;

    const READS_HAPPEN_BEFORE_OVERWRITERS: bool = true;

    #[inline]
    fn failed_exchange_is_load(self) -> bool {
        self.failed_exchange_is_load
    }

    #[inline]
    fn access<const N: usize>(view: &Progress<N>, loc: Option<Loc>, order: Order) -> Access {
        Access { loc, order, epoch: view.epoch }
    }

    #[inline]
    fn view_after_spawn<const N: usize>(_: &Graph<Self, N>, spawn: Slot) -> Progress<N> {
        Progress { floor: Bits::one(spawn), ..Progress::default() }
    }

    #[inline]
    fn sources<const N: usize>(
        graph: &Graph<Self, N>,
        thread: ThreadId,
        view: &Progress<N>,
        access: Access,
        mut may_update: bool,
        mut each: impl FnMut(Slot, bool),
    ) {
        let floor = view.floor;
        let held_back = if may_update { Self::held_back(graph, view.pending, access) } else { Bits::EMPTY };
        let mut before_update = Before::new(graph, floor | held_back);
        let loc = access.loc.map_or(usize::MAX, Loc::index);
        graph.newest_writes(loc, Some(thread), floor, |write| {
            each(write, may_update);
            may_update = may_update && write != NONE && !before_update.has(write);
        });
    }

    #[inline]
    fn coherence_places<const N: usize>(graph: &Graph<Self, N>, write: &Node<Self, N>, each: impl FnMut(Slot)) {
        graph.newest_writes(write.loc(), None, write.label.order, each);
    }

    #[inline]
    fn coherence_places_of_revisit<const N: usize>(
        graph: &Graph<Self, N>,
        write: &Node<Self, N>,
        read: &NewRead,
        each: impl FnMut(Slot),
    ) {
        let stop = write.label.order | before_read(graph, &graph.view(read.thread), read.access, read.kind);
        graph.newest_writes(write.loc(), Some(read.thread), stop, each);
    }

    #[inline]
    fn label_read<const N: usize>(
        graph: &Graph<Self, N>,
        slot: Slot,
        view: &Progress<N>,
        source: Slot,
        kind: ReadKind,
    ) -> (Moment<N>, Progress<N>) {
        let node = graph.node(slot);
        let mut order = view.floor;
        let mut pending = view.pending;
        if kind == ReadKind::Update {
            let held_back = Self::held_back(graph, pending, node.access);
            order |= held_back;
            pending &= !held_back;
        }
        if source != NONE && kind != ReadKind::Retried && graph.node(source).thread != node.thread {
            order.insert(source);
        }
        let floor = if kind == ReadKind::Retried { view.floor } else { Bits::one(slot) };
        (Moment { order, reach: Bits::EMPTY }, Progress { floor, pending, epoch: view.epoch })
    }

    #[inline]
    fn label_write<const N: usize>(graph: &Graph<Self, N>, view: &Progress<N>, write: &Node<Self, N>) -> Moment<N> {
        let order = match write.role {
            Role::UpdateWrite => Bits::one(graph.events(write.thread).last),
            _ => view.floor | Self::held_back(graph, view.pending, write.access),
        };
        Moment { order, reach: Bits::EMPTY }
    }

    #[inline]
    fn view_after_write<const N: usize>(graph: &Graph<Self, N>, slot: Slot, mut view: Progress<N>) -> Progress<N> {
        let write = graph.node(slot);
        if !graph.rules.has_buffers || write.role == Role::UpdateWrite {
            view.floor = Bits::one(slot);
            return view;
        }
        // Whatever waits for a store would wait for a later one like it, which waits for it in turn.
        let passed = view.pending.iter().find(|&store| graph.node(store).access.is_like(write.access));
        passed.into_iter().for_each(|store| view.pending.remove(store));
        view.pending.insert(slot);
        if write.access.order == Order::SeqCst {
            view.floor |= std::mem::replace(&mut view.pending, Bits::EMPTY);
        }
        view
    }

    fn label_other<const N: usize>(
        graph: &Graph<Self, N>,
        slot: Slot,
        view: &Progress<N>,
        op: Op,
        after: Bits<N>,
    ) -> (Moment<N>, Progress<N>) {
        let held_back = match op {
            Op::Fence { order: Order::SeqCst } => view.pending,
            Op::Join { order, .. } if !order.releases() => Bits::EMPTY,
            Op::Spawn { .. } | Op::Join { .. } => Self::held_back(graph, view.pending, graph.node(slot).access),
            _ => Bits::EMPTY,
        };
        let mut order = view.floor | held_back | after;
        if let Op::Join { thread: child, .. } = op {
            let Progress { floor, pending, .. } = graph.view(child);
            order |= floor | pending;
        }
        let passes_barrier = matches!(op, Op::Fence { order: Order::Release | Order::AcqRel });
        let after = Progress {
            floor: Bits::one(slot),
            pending: view.pending & !held_back,
            epoch: view.epoch + u32::from(passes_barrier),
        };
        (Moment { order, reach: Bits::EMPTY }, after)
    }

    #[inline]
    fn place_after<const N: usize>(graph: &mut Graph<Self, N>, write: Slot, previous: Slot) {
        let readers = graph.readers_of(write, previous);
        let order = &mut graph.node_mut(write).label.order;
        *order |= readers;
        if previous != NONE {
            order.insert(previous);
        }
        // A read-modify-write reads from its predecessor, but does not come before itself.
        order.remove(write);
    }

    #[inline]
    fn insert_before<const N: usize>(graph: &mut Graph<Self, N>, slot: Slot, overwriter: Slot) {
        graph.node_mut(overwriter).label.order.insert(slot);
        graph.index.push((slot, overwriter));
    }

    #[inline]
    fn remove_before<const N: usize>(graph: &mut Graph<Self, N>, slot: Slot, overwriter: Slot) {
        graph.node_mut(overwriter).label.order.remove(slot);
        let newest = graph.index.pop();
        debug_assert!(newest.is_some_and(|(earlier, _)| earlier == slot), "what was added last is removed first");
    }

    #[inline]
    fn added<const N: usize>(graph: &mut Graph<Self, N>, slot: Slot) {
        graph.keep_reach(slot);
    }

    #[inline]
    fn restrict_label<const N: usize>(label: &mut Moment<N>, kept: Bits<N>) {
        label.order &= kept;
    }

    #[inline]
    fn restricted<const N: usize>(graph: &mut Graph<Self, N>, kept: Bits<N>) {
        graph.find_reach(kept);
    }

    #[inline]
    fn is_buffered<const N: usize>(graph: &Graph<Self, N>, role: Role) -> bool {
        graph.rules.has_buffers && role == Role::Store
    }

    #[inline]
    fn happens_after<const N: usize>(label: &Moment<N>) -> &Bits<N> {
        &label.order
    }

    #[inline]
    fn performed_after<const N: usize>(view: &Progress<N>) -> &Bits<N> {
        &view.floor
    }

    fn read_would_happen_after<const N: usize>(graph: &Graph<Self, N>, read: &NewRead, source: Slot) -> Bits<N> {
        let mut order = before_read(graph, &graph.view(read.thread), read.access, read.kind);
        if source != NONE && graph.node(source).thread != read.thread {
            order.insert(source);
        }
        order
    }

    fn overtakings<const N: usize>(
        graph: &Graph<Self, N>,
        model: ModelId,
        each: impl FnMut(&Node<Self, N>, &Node<Self, N>),
    ) {
        let weaker = StoreBuffers::of(model);
        if graph.rules.tells_overtakings() && weaker.has_buffers {
            graph.overtakings(weaker, each);
        }
    }

    fn tells_overtakings(self) -> bool {
        !self.has_buffers
    }
}

/// What a read comes after, its source aside.
#[inline]
fn before_read<const N: usize>(
    graph: &Graph<StoreBuffers, N>,
    view: &Progress<N>,
    access: Access,
    kind: ReadKind,
) -> Bits<N> {
    match kind {
        ReadKind::Update => view.floor | StoreBuffers::held_back(graph, view.pending, access),
        ReadKind::Load | ReadKind::Retried => view.floor,
    }
}

impl<const N: usize> Graph<StoreBuffers, N> {
    /// Calls `each` with the writes to `loc` from the newest in coherence back to the first that is of `thread` or comes
    /// before one of `start`, the initial one last.
    fn newest_writes(&self, loc: usize, thread: Option<ThreadId>, start: Bits<N>, mut each: impl FnMut(Slot)) {
        let mut before = Before::new(self, start);
        let mut write = self.location(loc).newest;
        loop {
            each(write);
            if write == NONE || thread == Some(self.node(write).thread) || before.has(write) {
                return;
            }
            write = self.node(write).co_before;
        }
    }
}

/// What comes before some events, found when it is first asked for.
struct Before<'g, const N: usize> {
    graph: &'g Graph<StoreBuffers, N>,
    bits: Bits<N>,
    is_closed: bool,
}

impl<'g, const N: usize> Before<'g, N> {
    fn new(graph: &'g Graph<StoreBuffers, N>, start: Bits<N>) -> Self {
        Before { graph, bits: start, is_closed: false }
    }

    /// Whether `slot` is one of the events or comes before one.
    fn has(&mut self, slot: Slot) -> bool {
        if !self.is_closed {
            if self.bits.has(slot) {
                return true;
            }
            self.bits = self.graph.closure(self.bits);
            self.is_closed = true;
        }
        self.bits.has(slot)
    }
}
