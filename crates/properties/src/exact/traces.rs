//! Traces of the programs of the peers: as many as Nidhugg and GenMC explore.
//!
//! They are counted twice, by the search over states and by dynamic partial-order reduction.

use teetotal_gallery::*;

use super::Row;
use super::count::Count::{DiscardedExecutions, DiscardedTraces, Executions, Traces};
use super::count::{Known, OPEN, known, ours, under_each};

/// Without fences and assertions, and with the executions that would wait discarded, as Nidhugg counts.
const ALL: Variant = Variant { fenced: false, asserts: false, waiting: Waiting::Assume };

pub(super) fn rows() -> Vec<Row> {
    let twice = |by_states, by_dpor, build: fn() -> _, known: [Known; 3]| {
        let mut rows = under_each(by_states, build, known);
        rows.extend(under_each(by_dpor, build, known.map(Known::quick)));
        rows
    };
    let of = |build, known| twice(Traces, Executions, build, known);
    let discarded = |build, known| twice(DiscardedTraces, DiscardedExecutions, build, known);
    let mut rows = vec![
        of(|| n_writers(4), [ours(24), ours(24), ours(24)]),
        of(|| message_passing_rounds(3, ALL), [known(931), known(931), known(8_000)]),
        of(|| message_passing_rounds(4, ALL), [known(14_545), known(14_545), ours(343_000).large()]),
        of(|| dekker_try(1, ALL), [ours(7), known(11), ours(15)]),
        of(|| dekker_try(2, ALL), [ours(107), known(346), ours(834)]),
        of(|| dekker_try(3, ALL), [known(1_833), known(15_247), known(69_141).large()]),
        of(|| dekker_loop(2, ALL), [known(71), known(1_007), known(9_582).large()]),
        discarded(|| dekker_loop(2, ALL), [known(170), OPEN, OPEN]),
        of(|| peterson_loop(2, ALL), [known(48), known(1_510), known(7_020).large()]),
        discarded(|| peterson_loop(2, ALL), [known(88), OPEN, OPEN]),
        of(|| lamport_loop(2, ALL), [known(16), known(52), known(240)]),
        of(|| bakery_loop(2, ALL), [known(9), known(28), known(128)]),
        of(|| michael_scott(2, 1, Swap::Instruction, ALL), [known(188), known(188), known(188)]),
        of(|| fibonacci(3, ALL), [known(141), known(175), known(175)]),
        of(|| fibonacci(4, ALL), [known(1_107), known(1_764), known(1_764)]),
        of(|| fibonacci(5, ALL), [known(8_953), known(19_404), known(19_404)]),
        of(|| readers(8), [known(256), known(256), known(256)]),
        of(|| last_zero(9), [known(1_536), known(1_536).large(), known(1_536).large()]),
        under_each(Executions, || indexer(12), [known(8); 3]),
        under_each(Executions, || indexer(15), [known(4_096); 3]),
        under_each(Executions, || dekker_try(4, ALL), [OPEN, ours(812_642).large(), OPEN]),
    ];
    for n in 2..=6 {
        let buffered = known(1 << n);
        for count in [Traces, Executions] {
            rows.push(under_each(count, || store_buffering_sum(n, ALL), [known((1 << n) - 1), buffered, buffered]));
        }
    }
    rows.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_the_peers_have_the_traces_that_the_peers_explore() {
        super::super::check_quick(rows());
    }
}
