//! RC11: an execution is a graph, and there is no order in which its events happen but program order and reads-from.
//!
//! Happens-before does not depend on coherence, so each event keeps its prefix, and each write what an acquire that reads
//! from it synchronizes with. Coherence then says which writes a read may read from and which places a write may take:
//! the newest ones, back to the first that happens-before it or was read by something that does. Only the SC axiom is
//! left to be checked, and only where an event comes before others; see `psc.rs`.
//!
//! Definition: [RC11, Def. 1], with the release sequences of C++20; `docs/theory/rc11.md`.

mod psc;

use teetotal_memory::Access;
use teetotal_program::{Loc, OnFailure, Op, Order, ThreadId};

use super::super::answer::Answer;
use super::super::bits::Bits;
use super::super::graph::{Graph, NONE, Node, Role, Slot};
use super::{Consistency, NewRead, ReadKind};

/// The rules of RC11.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rc11;

/// What is kept with an event.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Prefix<const N: usize> {
    /// What comes directly before it in program order, reads-from, spawn and join.
    before: Bits<N>,
    /// What happens-before it.
    hb: Bits<N>,
    /// Of a write: what an acquire that reads from it synchronizes with, and what happens-before that.
    released: Bits<N>,
}

/// What a thread has seen.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Seen<const N: usize> {
    /// Its newest event, or the one that spawned it.
    last: Bits<N>,
    /// What happens-before its next event.
    hb: Bits<N>,
    /// What reads that do not acquire have read, and no acquire fence has taken up.
    read: Bits<N>,
    /// What its newest release fence releases with every later store.
    fenced: Bits<N>,
    /// What it neither reads older values than nor writes before, since memory is fair: all that was done when it last went on because no
    /// other thread could. It orders nothing else.
    fresh: Bits<N>,
}

impl<const N: usize> Seen<N> {
    /// After an event.
    fn after(mut self, slot: Slot) -> Self {
        self.last = Bits::one(slot);
        self.hb.insert(slot);
        self
    }
}

impl Consistency for Rc11 {
    type Label<const N: usize> = Prefix<N>;
    type View<const N: usize> = Seen<N>;
    type Index = ();

    const READS_HAPPEN_BEFORE_OVERWRITERS: bool = false;

    #[inline]
    fn failed_exchange_is_load(self) -> bool {
        true
    }

    #[inline]
    fn access<const N: usize>(_: &Seen<N>, loc: Option<Loc>, order: Order) -> Access {
        Access { loc, order, epoch: 0 }
    }

    /// A failed compare-exchange has its failure ordering; a lock acquires and an unlock releases at least.
    #[inline]
    fn order_of_read(op: Op, order: Order, answer: Answer) -> Order {
        match (op, answer) {
            (Op::Rmw { on_failure: OnFailure::Load(order), .. }, Answer::Load(_)) => order,
            (Op::Lock { .. }, _) => at_least(order, Order::Acquire),
            (Op::Unlock { .. }, _) => at_least(order, Order::Release),
            _ => order,
        }
    }

    #[inline]
    fn view_after_spawn<const N: usize>(graph: &Graph<Self, N>, spawn: Slot) -> Seen<N> {
        let hb = graph.node(spawn).label.hb;
        Seen { hb, ..Seen::default() }.after(spawn)
    }

    #[inline]
    fn sources<const N: usize>(
        graph: &Graph<Self, N>,
        _: ThreadId,
        view: &Seen<N>,
        access: Access,
        may_update: bool,
        mut each: impl FnMut(Slot, bool),
    ) {
        let loc = access.loc.map_or(usize::MAX, Loc::index);
        newest_writes(graph, loc, view.hb | view.fresh, |write| each(write, may_update));
    }

    #[inline]
    fn coherence_places<const N: usize>(graph: &Graph<Self, N>, write: &Node<Self, N>, each: impl FnMut(Slot)) {
        newest_writes(graph, write.loc(), write.label.hb | write.view.fresh, each);
    }

    #[inline]
    fn coherence_places_of_revisit<const N: usize>(
        graph: &Graph<Self, N>,
        write: &Node<Self, N>,
        read: &NewRead,
        each: impl FnMut(Slot),
    ) {
        let reader = graph.view(read.thread);
        let before = write.label.hb | write.view.fresh | reader.hb | reader.fresh;
        newest_writes(graph, write.loc(), before, each);
    }

    #[inline]
    fn is_consistent<const N: usize>(graph: &Graph<Self, N>, slot: Slot) -> bool {
        psc::is_acyclic_through(graph, slot)
    }

    #[inline]
    fn label_read<const N: usize>(
        graph: &Graph<Self, N>,
        slot: Slot,
        view: &Seen<N>,
        source: Slot,
        kind: ReadKind,
    ) -> (Prefix<N>, Seen<N>) {
        if kind == ReadKind::Retried {
            return (Prefix { before: view.last, hb: view.hb, released: Bits::EMPTY }, *view);
        }
        let (mut before, mut view) = (view.last, *view);
        if source != NONE {
            before.insert(source);
            let released = graph.node(source).label.released;
            if graph.node(slot).access.order.acquires() {
                view.hb |= released;
            } else {
                view.read |= released;
            }
        }
        (Prefix { before, hb: view.hb, released: Bits::EMPTY }, view.after(slot))
    }

    #[inline]
    fn label_write<const N: usize>(graph: &Graph<Self, N>, view: &Seen<N>, write: &Node<Self, N>) -> Prefix<N> {
        let mut released = if write.access.order.releases() { view.hb } else { view.fenced };
        if write.role == Role::UpdateWrite {
            // It continues the release sequence of what it reads from.
            let source = graph.node(graph.events(write.thread).last).source;
            if source != NONE {
                released |= graph.node(source).label.released;
            }
        }
        Prefix { before: view.last, hb: view.hb, released }
    }

    #[inline]
    fn view_after_write<const N: usize>(_: &Graph<Self, N>, slot: Slot, view: Seen<N>) -> Seen<N> {
        view.after(slot)
    }

    fn label_other<const N: usize>(
        graph: &Graph<Self, N>,
        slot: Slot,
        view: &Seen<N>,
        op: Op,
        after: Bits<N>,
    ) -> (Prefix<N>, Seen<N>) {
        let mut view = *view;
        let mut before = view.last | after;
        view.fresh |= after;
        if let Op::Join { thread: child, .. } = op {
            let ended = graph.view(child);
            before |= ended.last;
            view.hb |= ended.hb;
        }
        let fence = if let Op::Fence { order } = op { Some(order) } else { None };
        if fence.is_some_and(Order::acquires) {
            view.hb |= std::mem::replace(&mut view.read, Bits::EMPTY);
        }
        let hb = view.hb;
        let mut view = view.after(slot);
        if fence.is_some_and(Order::releases) {
            view.fenced = view.hb;
        }
        (Prefix { before, hb, released: Bits::EMPTY }, view)
    }

    #[inline]
    fn place_after<const N: usize>(_: &mut Graph<Self, N>, _: Slot, _: Slot) {}

    #[inline]
    fn insert_before<const N: usize>(_: &mut Graph<Self, N>, _: Slot, _: Slot) {}

    #[inline]
    fn remove_before<const N: usize>(_: &mut Graph<Self, N>, _: Slot, _: Slot) {}

    #[inline]
    fn added<const N: usize>(graph: &mut Graph<Self, N>, slot: Slot) {
        let node = graph.node_mut(slot);
        if node.role.is_write() && node.access.order.releases() {
            node.label.released.insert(slot);
        }
    }

    #[inline]
    fn restrict_label<const N: usize>(_: &mut Prefix<N>, _: Bits<N>) {}

    #[inline]
    fn restricted<const N: usize>(_: &mut Graph<Self, N>, _: Bits<N>) {}

    #[inline]
    fn is_buffered<const N: usize>(_: &Graph<Self, N>, _: Role) -> bool {
        false
    }

    #[inline]
    fn happens_after<const N: usize>(label: &Prefix<N>) -> &Bits<N> {
        &label.before
    }

    #[inline]
    fn performed_after<const N: usize>(view: &Seen<N>) -> &Bits<N> {
        &view.last
    }

    fn read_would_happen_after<const N: usize>(graph: &Graph<Self, N>, read: &NewRead, source: Slot) -> Bits<N> {
        let mut before = graph.view(read.thread).last;
        if source != NONE {
            before.insert(source);
        }
        before
    }

    /// Of a read or write how many writes, of those that have happened, follow its source or itself in coherence.
    fn alternative<const N: usize>(graph: &Graph<Self, N>, slot: Slot, happened: &Bits<N>) -> u32 {
        let node = graph.node(slot);
        let place = match node.role {
            Role::Choice(chosen) => return chosen,
            Role::Read => node.source,
            Role::UpdateWrite => graph.node(node.before).source,
            Role::Store => slot,
            _ => return 0,
        };
        let mut followers = 0;
        let mut write = graph.follower(place, node.loc());
        while write != NONE {
            followers += u32::from(happened.has(write));
            write = graph.node(write).co_after;
        }
        followers
    }
}

/// The ordering of an operation that has at least `least`, acquire or release, whatever its source says.
fn at_least(order: Order, least: Order) -> Order {
    match order {
        Order::Plain | Order::Relaxed => least,
        Order::Acquire | Order::Release if order != least => Order::AcqRel,
        order => order,
    }
}

/// Calls `each` with the writes to `loc` from the newest in coherence back to the first that is in `hb` or was read by
/// something in it, the initial one last.
#[inline]
fn newest_writes<const N: usize>(graph: &Graph<Rc11, N>, loc: usize, hb: Bits<N>, mut each: impl FnMut(Slot)) {
    let mut write = graph.location(loc).newest;
    loop {
        each(write);
        if write == NONE || hb.has(write) || graph.readers(write, loc).meets(&hb) {
            return;
        }
        write = graph.node(write).co_before;
    }
}
