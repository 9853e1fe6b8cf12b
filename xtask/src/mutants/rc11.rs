//! The mutants of RC11: its machine, its axioms and its graphs.

use super::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    // The machine.
    Mutant {
        name: "rc11: a read-modify-write ends the release sequence that it reads from",
        item: "memory::ExecutionGraph::access",
        original: "released.add_all(&read);",
        replacement: "",
    },
    Mutant {
        name: "rc11: every read acquires",
        item: "memory::ExecutionGraph::access",
        original: "if order.acquires() {",
        replacement: "if order.acquires() || true {",
    },
    Mutant {
        name: "rc11: every write releases",
        item: "memory::ExecutionGraph::access",
        original: "if order.releases() { &view.hb } else { &view.fenced }",
        replacement: "if order.releases() || true { &view.hb } else { &view.fenced }",
    },
    Mutant {
        name: "rc11: a release fence counts for no store",
        item: "memory::ExecutionGraph::other",
        original: "view.fenced = view.hb.clone();",
        replacement: "view.fenced = EventSet::default();",
    },
    Mutant {
        name: "rc11: an acquire fence takes up nothing",
        item: "memory::ExecutionGraph::other",
        original: "view.hb.add_all(&read);",
        replacement: "",
    },
    Mutant {
        name: "rc11: a join does not come after its thread",
        item: "memory::ExecutionGraph::other",
        original: "view.hb.add_all(&joined);",
        replacement: "",
    },
    Mutant {
        name: "rc11: an access may be older than what happens-before it",
        item: "memory::ExecutionGraph::floor",
        original: ".max().unwrap_or(0)",
        replacement: ".min().unwrap_or(0)",
    },
    Mutant {
        name: "rc11: a write comes between the halves of a read-modify-write",
        item: "memory::ExecutionGraph::is_updated",
        original: "self.events[write].reads",
        replacement: "false && self.events[write].reads",
    },
    Mutant {
        name: "rc11: the machine does not ask for the order of SeqCst events",
        item: "memory::ExecutionGraph::allows",
        original: "let is_consistent = self.is_psc_acyclic();",
        replacement: "let is_consistent = true;",
    },
    Mutant {
        name: "rc11: psc between fences without extended coherence",
        item: "memory::ExecutionGraph::psc_successors",
        original: "if self.is_fence(first) { self.eco(&later) }",
        replacement: "if false { self.eco(&later) }",
    },
    Mutant {
        name: "rc11: psc without happens-before after a fence",
        item: "memory::ExecutionGraph::psc_successors",
        original: "starts.add_all(&later);",
        replacement: "",
    },
    Mutant {
        name: "rc11: a failed exchange of the machine is relaxed",
        item: "memory::Machine::access_at",
        original: "(None, OnFailure::Load(order)) => access(EventKind::Load, order, true, None),",
        replacement: "(None, OnFailure::Load(_)) => access(EventKind::Load, Order::Relaxed, true, None),",
    },
    // The axioms.
    Mutant {
        name: "rc11: the axioms have no psc of fences",
        item: "judge::Execution::partial_sc",
        original: "union(&[&base, &fence])",
        replacement: "base",
    },
    // The graphs.
    Mutant {
        name: "rc11: a failed exchange of a graph is relaxed",
        item: "dpor::Rc11::order_of_read",
        original: "Answer::Load(_)) => order,",
        replacement: "Answer::Load(_)) => { let _ = order; Order::Relaxed }",
    },
    Mutant {
        name: "rc11: a graph ends release sequences at read-modify-writes",
        item: "dpor::Rc11::label_write",
        original: "released |= graph.node(source).label.released;",
        replacement: "",
    },
    Mutant {
        name: "rc11: a graph forgets what relaxed reads have read",
        item: "dpor::Rc11::label_read",
        original: "view.read |= released;",
        replacement: "",
    },
    Mutant {
        name: "rc11: a release fence of a graph counts for no store",
        item: "dpor::Rc11::label_other",
        original: "view.fenced = view.hb;",
        replacement: "",
    },
    Mutant {
        name: "rc11: a graph lets a read be older than another that happens-before it",
        item: "dpor::newest_writes",
        original: " || graph.readers(write, loc).meets(&hb)",
        replacement: "",
    },
    Mutant {
        name: "rc11: a revisited read may be older than what happens-before it",
        item: "dpor::Rc11::coherence_places_of_revisit",
        original: " | reader.hb | reader.fresh",
        replacement: "",
    },
    Mutant {
        name: "rc11: a graph has no psc between fences by extended coherence",
        item: "dpor::Relations::successors",
        original: " | self.eco(later)",
        replacement: "",
    },
    Mutant {
        name: "rc11: the steps of a graph do not say which old write is read",
        item: "dpor::Rc11::alternative",
        original: "followers += u32::from(happened.has(write));",
        replacement: "followers += u32::from(happened.has(write)) & 0;",
    },
];
