//! Coarse languages have all contents of the exact ones, are finitely many, and lose little that matters.

use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_engine::Limits;
use teetotal_generate::{Shape, generate, looped};
use teetotal_memory::models::{Pso, Tso};
use teetotal_memory::{Model, ModelId};
use teetotal_program::ir::{Builder, Program};
use teetotal_program::{Loc, Order};
use teetotal_symbolic::automaton::{Language, Letter};
use teetotal_symbolic::buffer_language::{Buffers, Effect};
use teetotal_symbolic::coarse::Grain;
use teetotal_symbolic::compare::{Bounds, Compared, compare_coarse};

const LOCATIONS: [Loc; 2] = [Loc(0), Loc(1)];

const GRAINS: [Grain; 4] = [grain(1, 1, false), grain(1, 2, false), grain(2, 3, false), grain(1, 1, true)];

const fn grain(to_each: usize, of_all: usize, apart: bool) -> Grain {
    Grain { to_each, of_all, apart }
}

fn letters<M: Model>(buffers: &mut Buffers<M>) -> Vec<Letter> {
    let stores = LOCATIONS.into_iter().flat_map(|loc| (0..2).map(move |value| (loc, value)));
    stores.map(|(loc, value)| buffers.alphabet.letter(loc, value, Order::Plain)).collect()
}

/// A few words of different lengths, other ones for each seed.
fn some_words(letters: &[Letter], seed: usize) -> Vec<Vec<Letter>> {
    let letter = |position: usize| letters[(seed / (position + 1) + position * seed) % letters.len()];
    (0..4).map(|length| (0..length).map(|position| letter(position + length)).collect()).collect()
}

fn union_of<M: Model>(buffers: &mut Buffers<M>, words: &[Vec<Letter>]) -> Language {
    words.iter().fold(Language::EMPTY, |all, word| {
        let word = buffers.automata.word(word);
        buffers.automata.union(all, word)
    })
}

#[test]
fn a_coarser_language_has_all_words_and_the_same_newest_stores() {
    let mut buffers = Buffers::<Tso>::default();
    let letters = letters(&mut buffers);
    for seed in 0..300 {
        let words = some_words(&letters, seed);
        let exact = union_of(&mut buffers, &words);
        for grain in GRAINS {
            let coarser = buffers.coarsen(exact, grain);
            assert!(buffers.automata.includes(coarser, exact), "{grain:?}, {words:?}");
            assert_eq!(buffers.coarsen(coarser, grain), coarser, "{grain:?}, {words:?}");
            for loc in LOCATIONS {
                let values = |parts: &[(Option<u64>, Language)]| parts.iter().map(|part| part.0).collect::<Vec<_>>();
                let (before, after) = (buffers.newest(exact, loc), buffers.newest(coarser, loc));
                assert_eq!(values(&before), values(&after), "{grain:?}, {words:?}, {loc:?}");
            }
        }
    }
}

/// Under PSO the stores to one location keep their order, and those to another one are of no account.
#[test]
fn locations_apart_keep_the_order_of_each() {
    let mut buffers = Buffers::<Pso>::default();
    let letters = letters(&mut buffers);
    let (x0, x1, y0) = (letters[0], letters[1], letters[2]);
    let exact = buffers.automata.word(&[x0, y0, x1]);
    let coarser = buffers.coarsen(exact, grain(1, 1, true));
    assert_eq!(coarser, buffers.automata.word(&[x0, x1, y0]));
    assert_eq!(buffers.coarsen(exact, grain(1, 1, false)), exact);
}

/// Whatever is appended in a loop, the contents are all there after a few turns.
#[test]
fn a_loop_comes_to_an_end() {
    let mut buffers = Buffers::<Tso>::default();
    let letters = letters(&mut buffers);
    for turn in [vec![0], vec![0, 1], vec![0, 2, 1, 3], vec![0, 0, 1, 2, 2]] {
        for grain in GRAINS {
            let mut all = Language::EPSILON;
            let mut turns = 0;
            loop {
                let longer = turn.iter().fold(all, |l, &letter| buffers.apply(Effect::Append(letters[letter]), l));
                let joined = buffers.automata.union(all, longer);
                let joined = buffers.coarsen(joined, grain);
                if joined == all {
                    break;
                }
                all = joined;
                turns += 1;
                assert!(turns <= 8, "{turn:?}, {grain:?}");
            }
        }
    }
}

#[test]
fn coarse_searches_reach_all_that_the_machine_reaches() {
    const BOUNDS: Bounds = Bounds { buffer: 3, states: 400, symbolic: 600 };
    let shapes = [Shape::litmus, Shape::full];
    let programs = (2_000..2_060).filter_map(|seed| looped(&generate(seed, &shapes[seed as usize % 2]())).ok());
    let (mut equal, mut unknown) = (0, 0);
    for program in programs {
        let program = Arc::new(program);
        for result in [compare_coarse::<Tso>(&program, BOUNDS), compare_coarse::<Pso>(&program, BOUNDS)] {
            match result {
                Ok(Compared::Equal) => equal += 1,
                Ok(_) => unknown += 1,
                Err(difference) => panic!("{difference}\n{program}"),
            }
        }
    }
    assert!(equal > 20, "{equal} equal, {unknown} too large");
}

/// Two loops, one in the other, that both store: their turns are no union of words, each repeated.
fn nested_loops() -> Program {
    let mut p = Builder::new("nested-loops");
    let [x, y] = [p.shared("x", 0), p.shared("y", 0)];
    p.thread("writer", |t| {
        t.repeat(|t, _| {
            t.repeat(|t, labels| {
                let more = t.choose("more", 2);
                t.store(x, more);
                t.branch(more.eq(0), labels.exit);
            });
            let seen = t.read(y);
            t.store(y, seen.ne(1));
        });
    });
    p.thread("reader", |t| {
        t.repeat(|t, _| {
            let seen = t.read(x);
            t.assert(seen.lt(2), "there are two values");
        });
    });
    p.build().expect("it is well formed")
}

#[test]
fn what_acceleration_does_not_understand_is_proved_all_the_same() {
    let program = Arc::new(nested_loops());
    for model in [ModelId::Tso, ModelId::Pso] {
        let options = Options { search: SearchId::Symbolic, stop_at_first: true, ..Options::new(model) };
        let outcome = check(&program, &options, &|| None).expect("it can be checked");
        assert!(outcome.coverage.is_complete() && outcome.violations.is_empty(), "{:?}", outcome.coverage);
    }
}

/// With a bound on buffers it is to be known what the bound left out, so nothing coarse is asked.
#[test]
fn a_limit_on_buffers_is_still_a_limit() {
    let program = Arc::new(nested_loops());
    let limits = Limits { buffer: Some(2), ..Limits::default() };
    let options = Options { search: SearchId::Symbolic, limits, ..Options::new(ModelId::Tso) };
    let outcome = check(&program, &options, &|| None).expect("it can be checked");
    assert!(!outcome.coverage.is_complete() && outcome.stats.coarse == 0, "{:?}", outcome.coverage);
}
