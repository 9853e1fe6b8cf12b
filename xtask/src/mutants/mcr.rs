//! The faults of maximal causality reduction.

use super::Mutant;

/// All of them.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "a history does not tell what was read",
        item: "mcr::Histories::child",
        original: "if node.answer == answer {",
        replacement: "if true {",
    },
    Mutant {
        name: "what an operation finds is not looked at",
        item: "mcr::Automata::outcome",
        original: "if outcome.key == key {",
        replacement: "if true {",
    },
    Mutant {
        name: "what is observed at the end is forgotten",
        item: "mcr::Automata::live",
        original: "fold(self.seen_set, |set, index|",
        replacement: "fold(LocSet::default(), |set, index|",
    },
    Mutant {
        name: "classes that end with other memory are one",
        item: "mcr::Automata::class_of",
        original: "if !self.seen_at_end[index] && ",
        replacement: "if ",
    },
    Mutant {
        name: "a thread that was started stays where it was",
        item: "mcr::Automata::take_if_known",
        original: "next[child.index()] = settled.local;",
        replacement: "next[child.index()] = row[child.index()];",
    },
    Mutant {
        name: "a stretch without a switch never ends",
        item: "mcr::Automata::let_others_go_on",
        original: "if !can_go_on {",
        replacement: "if false {",
    },
    Mutant {
        name: "a store joins a buffer that is to be drained first",
        item: "mcr::Automata::is_silent",
        original: "M::BUFFERS && !buffer.is_draining() && !self.is_full(buffer),",
        replacement: "M::BUFFERS,",
    },
    Mutant {
        name: "a write that changes nothing is none, whoever writes",
        item: "mcr::Reduction::look_ahead",
        original: "if changes || is_shared() { set }",
        replacement: "if changes { set }",
    },
    Mutant {
        name: "a read does not mind later writes",
        item: "mcr::reduction::conflict",
        original: "access.conflicts(future.reads, future.writes())",
        replacement: "access.written.meets(future.reads.union(future.writes()))",
    },
    Mutant {
        name: "a thread in the set does not bring those that may still store",
        item: "mcr::Reduction::conflicts",
        original: "access.conflicts(future.reads, future.writes_at_once.union(future.stores))",
        replacement: "access.conflicts(future.reads, future.writes_at_once)",
    },
    Mutant {
        name: "pending stores do not come into the set",
        item: "mcr::Reduction::conflicts",
        original: "let pending = touched.intersection(future.pending);",
        replacement: "let pending = touched.intersection(LocSet::default());",
    },
    Mutant {
        name: "a store that cannot leave does not bring what it waits for",
        item: "mcr::Reduction::buffer",
        original: "let is_held = wanted.meets(state.automata.local(state.row, index).held);",
        replacement: "let is_held = false;",
    },
    Mutant {
        name: "a thread that waits does not bring its own stores",
        item: "mcr::Reduction::needed_by_thread",
        original: "by_others | self.buffer(state, index, LocSet::ALL)",
        replacement: "by_others",
    },
    Mutant {
        name: "only the holder frees a lock, whoever else writes it",
        item: "mcr::Reduction::holder",
        original: "(holder < self.futures.len() && self.others(index as u32).all(by_locking)).then_some(holder)",
        replacement: "(holder < self.futures.len() || self.others(index as u32).all(by_locking)).then_some(holder)",
    },
    Mutant {
        name: "a load of the own pending store minds no other thread",
        item: "mcr::local::look",
        original: "if buffer.newest(loc).is_some() => (Look::Nothing, LocSet::of(loc)),",
        replacement: "if buffer.newest(loc).is_some() => (Look::Nothing, LocSet::default()),",
    },
];
