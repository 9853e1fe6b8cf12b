//! Faults in the symbolic search.

use super::Mutant;

/// Faults in the symbolic search.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "symbolic: a store passes any other",
        file: "crates/explore/src/symbolic/alphabet.rs",
        original: "!M::keeps_order(write(Some(older.loc), Order::Plain), write(Some(newer.loc), order))",
        replacement: "newer.loc != older.loc || order == Order::SeqCst",
    },
    Mutant {
        name: "symbolic: a load takes the oldest store",
        file: "crates/explore/src/symbolic/buffer_language.rs",
        original: "2 * to + now.unwrap_or(before)",
        replacement: "2 * to + if wanted.is_some() && before == 1 { 1 } else { now.unwrap_or(before) }",
    },
    Mutant {
        name: "symbolic: a state covers another if one buffer does",
        file: "crates/explore/src/symbolic/stored.rs",
        original: "whole.iter().zip(part).all(|(&whole",
        replacement: "whole.iter().zip(part).any(|(&whole",
    },
    Mutant {
        name: "symbolic: an acceleration is not checked",
        file: "crates/explore/src/symbolic/accelerate.rs",
        original: "if world.buffers.automata.includes(explained, grown) { Grown::To(grown) } else { Grown::Unknown }",
        replacement: "if explained != Language::EMPTY { Grown::To(grown) } else { Grown::Unknown }",
    },
    Mutant {
        name: "symbolic: a cycle of one thread forgets that it drains",
        file: "crates/explore/src/symbolic/local.rs",
        original: "if taken.drains {",
        replacement: "if taken.drains && taken.seen.len() > 9 {",
    },
    Mutant {
        name: "symbolic: a barrier at the front stays",
        file: "crates/explore/src/symbolic/buffer_language.rs",
        original: "nfa.silent(2 * state, 2 * to);",
        replacement: "nfa.edge(2 * state, letter, 2 * to);",
    },
    Mutant {
        name: "symbolic: a thread goes alone although others read what it writes",
        file: "crates/explore/src/symbolic/reduction.rs",
        original: "access.written.meets(future.loads.union(at_once))",
        replacement: "access.written.meets(at_once)",
    },
    Mutant {
        name: "symbolic: a coarser language forgets where words end",
        file: "crates/explore/src/symbolic/coarse.rs",
        original: "coarser.accepting[from as usize] |= dfa.is_accepting(state);",
        replacement: "coarser.accepting[from as usize] = dfa.is_accepting(state);",
    },
    Mutant {
        name: "symbolic: a coarse search lets only the oldest store leave",
        file: "crates/explore/src/symbolic/buffer_language.rs",
        original: "dfa.add_passed_to(&mut nfa, |read| self.alphabet.may_pass(letter, read))",
        replacement: "dfa.add_passed_to(&mut nfa, |read| self.alphabet.may_pass(read, read))",
    },
    Mutant {
        name: "symbolic: a coarse search is believed whatever it finds",
        file: "crates/explore/src/collector.rs",
        original: "other.findings.iter().all(is_known)",
        replacement: "other.findings.iter().all(|found| is_known(found) || found.executions > 0)",
    },
];
