//! Faults in the symbolic search.

use super::Mutant;

/// Faults in the symbolic search.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "symbolic: a store passes any other",
        item: "symbolic::Alphabet::may_pass",
        original: "!M::keeps_order(write(Some(older.loc), Order::Plain), write(Some(newer.loc), order))",
        replacement: "newer.loc != older.loc || order == Order::SeqCst",
    },
    Mutant {
        name: "symbolic: a load takes the oldest store",
        item: "symbolic::Buffers::with_newest",
        original: "2 * to + now.unwrap_or(before)",
        replacement: "2 * to + if wanted.is_some() && before == 1 { 1 } else { now.unwrap_or(before) }",
    },
    Mutant {
        name: "symbolic: a state covers another if one buffer does",
        item: "symbolic::stored::covers",
        original: "whole.iter().zip(part).all(|(&whole",
        replacement: "whole.iter().zip(part).any(|(&whole",
    },
    Mutant {
        name: "symbolic: an acceleration is not checked",
        item: "symbolic::Cycles::attempt",
        original: "if world.buffers.automata.includes(explained, grown) { Grown::To(grown) } else { Grown::Unknown }",
        replacement: "if explained != Language::EMPTY { Grown::To(grown) } else { Grown::Unknown }",
    },
    Mutant {
        name: "symbolic: a cycle of one thread forgets that it drains",
        item: "symbolic::local::local_effects",
        original: "if taken.drains {",
        replacement: "if taken.drains && taken.seen.len() > 9 {",
    },
    Mutant {
        name: "symbolic: a barrier at the front stays",
        item: "symbolic::Buffers::normalize",
        original: "nfa.silent(2 * state, 2 * to);",
        replacement: "nfa.edge(2 * state, letter, 2 * to);",
    },
    Mutant {
        name: "symbolic: a thread goes alone although others read what it writes",
        item: "symbolic::reduction::conflicts",
        original: "access.conflicts(future.reads(), future.writes())",
        replacement: "access.conflicts(future.updates.union(future.locks), future.writes())",
    },
    Mutant {
        name: "symbolic: a coarser language forgets where words end",
        item: "symbolic::Coarsening::of",
        original: "coarser.accepting[from as usize] |= dfa.is_accepting(state);",
        replacement: "coarser.accepting[from as usize] = dfa.is_accepting(state);",
    },
    Mutant {
        name: "symbolic: a coarse search lets only the oldest store leave",
        item: "symbolic::Buffers::leave",
        original: "dfa.add_passed_to(&mut nfa, |read| self.alphabet.may_pass(letter, read))",
        replacement: "dfa.add_passed_to(&mut nfa, |read| self.alphabet.may_pass(read, read))",
    },
];
