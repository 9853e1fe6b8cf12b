//! From any finite automaton to the minimal one.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::{Dfa, Letter};

/// An automaton in the making: with choices, and with moves that read nothing.
#[derive(Clone, Debug, Default)]
pub struct Nfa {
    accepting: Vec<bool>,
    starts: Vec<u32>,
    edges: Vec<(u32, Letter, u32)>,
    silent: Vec<(u32, u32)>,
}

impl Nfa {
    /// Adds a state.
    pub fn state(&mut self, accepting: bool) -> u32 {
        self.accepting.push(accepting);
        self.accepting.len() as u32 - 1
    }

    /// How many states there are.
    #[must_use]
    pub fn n_states(&self) -> u32 {
        self.accepting.len() as u32
    }

    /// Lets words begin in `state`.
    pub fn start(&mut self, state: u32) {
        self.starts.push(state);
    }

    /// Lets `letter` lead from one state to another.
    pub fn edge(&mut self, from: u32, letter: Letter, to: u32) {
        self.edges.push((from, letter, to));
    }

    /// Lets nothing lead from one state to another.
    pub fn silent(&mut self, from: u32, to: u32) {
        self.silent.push((from, to));
    }

    /// The minimal automaton of the same language.
    pub(super) fn minimal(&self) -> Dfa {
        let mut draft = self.determinize();
        draft.trim();
        let (n_classes, class) = draft.classes();
        draft.number(n_classes, &class)
    }

    /// Sets of states as bits, by subset construction.
    fn determinize(&self) -> Draft {
        let n = self.accepting.len();
        let blocks = n.div_ceil(64);
        let closure = self.closures(blocks);
        let mut by_state: Vec<Vec<(Letter, u32)>> = vec![Vec::new(); n];
        self.edges.iter().for_each(|&(from, letter, to)| by_state[from as usize].push((letter, to)));
        let mut start = vec![0_u64; blocks];
        for &state in &self.starts {
            unite(&mut start, &closure[state as usize]);
        }

        let mut draft = Draft::default();
        let mut known: HashMap<Vec<u64>, u32, FxBuildHasher> = HashMap::default();
        let mut sets = vec![start.clone()];
        known.insert(start, 0);
        let mut letters: Vec<(Letter, u32)> = Vec::new();
        let mut at = 0;
        while at < sets.len() {
            letters.clear();
            let members = members(&sets[at]);
            draft.accepting.push(members.clone().any(|s| self.accepting[s]));
            members.for_each(|s| letters.extend_from_slice(&by_state[s]));
            letters.sort_unstable();
            let mut edges = Vec::new();
            for run in letters.chunk_by(|a, b| a.0 == b.0) {
                let mut target = vec![0_u64; blocks];
                for &(_, to) in run {
                    unite(&mut target, &closure[to as usize]);
                }
                let next = *known.entry(target).or_insert_with_key(|target| {
                    sets.push(target.clone());
                    sets.len() as u32 - 1
                });
                edges.push((run[0].0, next));
            }
            draft.edges.push(edges);
            at += 1;
        }
        draft
    }

    /// For each state, the states that nothing leads to from it, itself among them.
    fn closures(&self, blocks: usize) -> Vec<Vec<u64>> {
        let n = self.accepting.len();
        let mut closure: Vec<Vec<u64>> = (0..n)
            .map(|s| {
                let mut set = vec![0; blocks];
                set[s / 64] |= 1 << (s % 64);
                set
            })
            .collect();
        let mut changed = !self.silent.is_empty();
        while changed {
            changed = false;
            for &(from, to) in &self.silent {
                let reached = closure[to as usize].clone();
                changed |= unite(&mut closure[from as usize], &reached);
            }
        }
        closure
    }
}

/// Adds a set of bits to another; gives whether that changed it.
fn unite(set: &mut [u64], other: &[u64]) -> bool {
    let mut changed = false;
    for (bits, more) in set.iter_mut().zip(other) {
        changed |= *more & !*bits != 0;
        *bits |= more;
    }
    changed
}

fn members(set: &[u64]) -> impl Iterator<Item = usize> + Clone + '_ {
    set.iter().enumerate().flat_map(|(block, &bits)| {
        (0..64).filter(move |bit| bits & 1 << bit != 0).map(move |bit| block * 64 + bit)
    })
}

/// A deterministic automaton that may still have states that are of no use, or equal to others. It begins in state 0.
#[derive(Default)]
struct Draft {
    accepting: Vec<bool>,
    /// By letter, ascending.
    edges: Vec<Vec<(Letter, u32)>>,
}

impl Draft {
    /// Removes edges to states from which nothing is accepted.
    fn trim(&mut self) {
        let mut useful = self.accepting.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for state in (0..useful.len()).rev() {
                if !useful[state] && self.edges[state].iter().any(|&(_, to)| useful[to as usize]) {
                    useful[state] = true;
                    changed = true;
                }
            }
        }
        if useful.iter().all(|&u| u) {
            return;
        }
        for edges in &mut self.edges {
            edges.retain(|&(_, to)| useful[to as usize]);
        }
    }

    /// The class of each state: states of one class accept the same words. Moore's refinement.
    fn classes(&self) -> (usize, Vec<u32>) {
        let mut class: Vec<u32> = self.accepting.iter().map(|&a| u32::from(a)).collect();
        let mut n_classes = 0;
        let mut signature = Vec::new();
        let mut known: HashMap<Vec<u32>, u32, FxBuildHasher> = HashMap::default();
        loop {
            known.clear();
            let mut refined = Vec::with_capacity(class.len());
            for (state, edges) in self.edges.iter().enumerate() {
                signature.clear();
                signature.push(class[state]);
                signature.extend(edges.iter().flat_map(|&(letter, to)| [letter.0, class[to as usize]]));
                let next = known.len() as u32;
                refined.push(match known.get(&signature) {
                    Some(&number) => number,
                    None => {
                        known.insert(signature.clone(), next);
                        next
                    }
                });
            }
            class = refined;
            if known.len() == n_classes {
                return (n_classes, class);
            }
            n_classes = known.len();
        }
    }

    /// One state for each class, numbered in breadth-first order from the first.
    fn number(&self, n_classes: usize, class: &[u32]) -> Dfa {
        if !self.accepting[0] && self.edges[0].is_empty() {
            return Dfa { accepting: Box::new([]), first: Box::new([0]), edges: Box::new([]) };
        }
        const NONE: u32 = u32::MAX;
        let mut number = vec![NONE; n_classes];
        let mut order = vec![0];
        number[class[0] as usize] = 0;
        let (mut accepting, mut first, mut all_edges) = (Vec::new(), vec![0], Vec::new());
        let mut at = 0;
        while at < order.len() {
            let state: usize = order[at];
            accepting.push(self.accepting[state]);
            for &(letter, to) in &self.edges[state] {
                let class_number = &mut number[class[to as usize] as usize];
                if *class_number == NONE {
                    *class_number = order.len() as u32;
                    order.push(to as usize);
                }
                all_edges.push((letter, *class_number));
            }
            first.push(all_edges.len() as u32);
            at += 1;
        }
        Dfa { accepting: accepting.into(), first: first.into(), edges: all_edges.into() }
    }
}
