//! Value states, reads-from states and final states of the gallery.

use teetotal_gallery::*;

use super::Row;
use super::count::Count::{Classes, FinalStates, ReadsFromStates, ValueStates};
use super::count::{Known, OPEN, known, ours, under_each};

pub(super) fn rows() -> Vec<Row> {
    [value_states(), reads_from_states(), final_states()].into_iter().flatten().flatten().collect()
}

fn value_states() -> Vec<Vec<Row>> {
    let of = |build: fn() -> _, known: [Known; 3]| {
        let by_mcr = known.map(Known::quick);
        under_each(ValueStates, build, known).into_iter().chain(under_each(Classes, build, by_mcr)).collect()
    };
    vec![
        of(store_buffering, [known(3), known(4), known(4)]),
        of(store_forwarding, [known(3), known(4), known(4)]),
        of(n6, [known(3), known(3), known(4)]),
        of(write_order, [known(2), known(2), known(3)]),
        of(|| example(1), [known(2), known(2), known(10)]),
        of(|| example(2), [known(52), known(52), known(188)]),
        of(|| example(3), [known(1_016), known(1_016), known(2_728)]),
        of(|| example(4), [known(17_680), known(17_680), known(38_384).large()]),
        of(peterson, [known(36), known(36), known(36)]),
        of(dekker, [known(84), known(86), known(154)]),
        of(bakery, [known(194), known(496), known(624)]),
        of(lamport, [known(121), known(123), ours(311)]),
        of(rv_example, [known(107), known(107), known(137)]),
        of(|| counter(2), [known(19), known(19), known(19)]),
        of(|| counter(3), [known(140), known(140), known(140)]),
    ]
}

fn reads_from_states() -> Vec<Vec<Row>> {
    let of = |build: fn() -> _, known| under_each(ReadsFromStates, build, known);
    vec![
        of(store_buffering, [known(3), known(4), known(4)]),
        of(store_forwarding, [known(3), known(4), known(4)]),
        of(n6, [known(3), known(3), known(4)]),
        of(write_order, [known(2), known(2), known(3)]),
        of(|| example(1), [known(3), known(3), known(38)]),
        of(|| example(2), [known(105), known(105), ours(13_848)]),
        of(|| example(3), [known(4_395), known(4_395), OPEN]),
        of(peterson, [known(39), known(46), known(46)]),
        of(dekker, [known(227), known(230), known(444)]),
        of(bakery, [known(221), known(669), known(1_140)]),
        of(lamport, [known(477), known(540), ours(2_648)]),
        of(rv_example, [known(600), known(612), known(868)]),
        of(|| dekker_try(3, Variant::PLAIN.unchecked()), [OPEN, known(9_294), known(28_868).large()]),
        of(|| counter(2), [known(19), known(19), known(19)]),
        of(|| counter(3), [known(141), known(141), known(141)]),
    ]
}

fn final_states() -> Vec<Vec<Row>> {
    let of = |build: &dyn Fn() -> _, known| under_each(FinalStates, build, known);
    let two_adders = SetThreads { adders: 2, readers: 1, removers: 0 };
    let mut rows = vec![
        of(&|| increments(3), [ours(16), ours(16), ours(16)]),
        of(&|| iriw(2), [ours(15), ours(15), ours(15)]),
        of(&two_by_ten, [ours(1_783), ours(4_862), ours(6_575)]),
        of(&|| harris(two_adders, Swap::Spinlock, Variant::PLAIN), [ours(2), ours(2), ours(6)]),
        of(&|| harris(two_adders, Swap::Spinlock, Variant::FENCED), [ours(2), ours(2), ours(2)]),
        of(&|| michael_scott(2, 1, Swap::Spinlock, Variant::PLAIN), [ours(4), ours(4), ours(20)]),
    ];
    for n in 2..=5 {
        let outcomes = 2 * n as usize * (n as usize + 1).pow(n - 2);
        rows.push(of(&|| write_read(n), [known(outcomes), known(outcomes), ours(outcomes)]));
    }
    for n in 2..=6 {
        let buffered = known(1 << n);
        rows.push(of(&|| store_buffering_ring(n), [known((1 << n) - 1), buffered, buffered]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gallery_has_the_known_states() {
        super::super::check_quick(rows());
    }
}
