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

    /// The minimal automaton of the same language, and how much there was to do.
    pub(super) fn minimal(&self) -> (Dfa, u64) {
        let mut draft = self.determinize();
        draft.trim();
        let (n_classes, class) = draft.classes();
        let n_parts = self.accepting.len() + self.edges.len() + self.silent.len() + draft.accepting.len();
        (draft.number(n_classes, &class), n_parts as u64)
    }

    /// By subset construction.
    fn determinize(&self) -> Draft {
        let mut subsets = Subsets::new(self);
        let mut draft = Draft::default();
        subsets.number(self.starts.iter().copied());
        let mut letters: Vec<(Letter, u32)> = Vec::new();
        let mut at = 0;
        while at < subsets.all.len() {
            letters.clear();
            let members = &subsets.all[at];
            draft.accepting.push(members.iter().any(|&state| self.accepting[state as usize]));
            members.iter().for_each(|&state| letters.extend_from_slice(subsets.edges_of(state)));
            if members.len() > 1 {
                letters.sort_unstable();
                letters.dedup();
            }
            let runs = letters.chunk_by(|a, b| a.0 == b.0);
            draft.edges.push(runs.map(|run| (run[0].0, subsets.number(run.iter().map(|&(_, to)| to)))).collect());
            at += 1;
        }
        draft
    }
}

/// The sets of states of an automaton in which it may be after some word.
struct Subsets {
    all: Vec<Box<[u32]>>,
    known: HashMap<Box<[u32]>, u32, FxBuildHasher>,
    /// The edges, by where they begin and then by letter, and where those of each state begin.
    edges: Vec<(Letter, u32)>,
    first: Vec<u32>,
    /// Moves that read nothing, by where they begin.
    silent: Vec<(u32, u32)>,
    /// Which states are in the set that is being made, by the number of that set.
    mark: Vec<u32>,
    turn: u32,
}

impl Subsets {
    fn new(nfa: &Nfa) -> Self {
        let mut sorted = nfa.edges.clone();
        sorted.sort_unstable();
        let mut first = vec![0; nfa.accepting.len() + 1];
        sorted.iter().for_each(|&(from, ..)| first[from as usize + 1] += 1);
        (0..nfa.accepting.len()).for_each(|state| first[state + 1] += first[state]);
        let mut silent = nfa.silent.clone();
        silent.sort_unstable();
        Subsets {
            all: Vec::new(),
            known: HashMap::default(),
            edges: sorted.into_iter().map(|(_, letter, to)| (letter, to)).collect(),
            first,
            silent,
            mark: vec![0; nfa.accepting.len()],
            turn: 0,
        }
    }

    fn edges_of(&self, state: u32) -> &[(Letter, u32)] {
        &self.edges[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }

    /// The number of the set of `states` and of what nothing leads to from them.
    fn number(&mut self, states: impl Iterator<Item = u32>) -> u32 {
        self.turn += 1;
        let mut set: Vec<u32> = Vec::new();
        for state in states {
            if std::mem::replace(&mut self.mark[state as usize], self.turn) != self.turn {
                set.push(state);
            }
        }
        let mut at = 0;
        while at < set.len() && !self.silent.is_empty() {
            let state = set[at];
            let begin = self.silent.partition_point(|&(from, _)| from < state);
            for &(_, to) in self.silent[begin..].iter().take_while(|&&(from, _)| from == state) {
                if std::mem::replace(&mut self.mark[to as usize], self.turn) != self.turn {
                    set.push(to);
                }
            }
            at += 1;
        }
        set.sort_unstable();
        let next = self.all.len() as u32;
        let set: Box<[u32]> = set.into();
        match self.known.get(&set) {
            Some(&known) => known,
            None => {
                self.all.push(set.clone());
                self.known.insert(set, next);
                next
            }
        }
    }
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
