//! What the threads have read so far, as a tree.
//!
//! A thread is deterministic, so what it read decides where it is. An operation that reads nothing has one child.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;
use rustc_hash::FxHasher;
use teetotal_program::{ThreadId, Value};

/// A node of the tree: all that one thread has read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HistoryId(u32);

const NONE: u32 = u32::MAX;

/// So many ways to go on are kept in a row, the others in a table.
const FEW_CHILDREN: u32 = 8;

struct Node {
    /// The value by which it differs from its siblings.
    answer: Value,
    first_child: u32,
    next_sibling: u32,
    n_children: u32,
    /// Where the state of its thread is kept, if it is.
    words: u32,
}

/// The histories of all threads, each with the state of its thread.
pub(super) struct Histories {
    nodes: Vec<Node>,
    /// For a history with many ways to go on and a value read after it, the history that goes on with that.
    children: HashMap<(u32, Value), u32, BuildHasherDefault<FxHasher>>,
    words: Vec<Value>,
    /// How many words a state has.
    width: usize,
    /// The one history for each state of each thread, where only these count.
    places: HashMap<Vec<Value>, HistoryId, BuildHasherDefault<FxHasher>>,
}

impl Histories {
    pub(super) fn new(width: usize) -> Self {
        Histories {
            nodes: Vec::with_capacity(64),
            children: HashMap::default(),
            words: Vec::with_capacity(64 * width),
            width,
            places: HashMap::default(),
        }
    }

    /// The empty history of another thread.
    pub(super) fn root(&mut self) -> HistoryId {
        self.add()
    }

    /// The history that goes on with one more operation, which read `answers`.
    pub(super) fn extend(&mut self, history: HistoryId, answers: &[Value]) -> HistoryId {
        match answers {
            [] => self.child(history, 0),
            _ => answers.iter().fold(history, |at, &answer| self.child(at, answer)),
        }
    }

    /// What stands for all histories that bring `thread` into the state that `save` writes.
    pub(super) fn at_place(&mut self, thread: ThreadId, save: impl FnOnce(&mut [Value])) -> HistoryId {
        let mut key = vec![0; self.width + 1];
        key[self.width] = thread.0.into();
        save(&mut key[..self.width]);
        if let Some(&known) = self.places.get(&key) {
            return known;
        }
        let new = self.add();
        self.keep(new, |words| words.copy_from_slice(&key[..words.len()]));
        self.places.insert(key, new);
        new
    }

    /// The state of its thread, which was kept.
    pub(super) fn words(&self, history: HistoryId) -> &[Value] {
        let start = self.nodes[history.0 as usize].words as usize;
        &self.words[start..start + self.width]
    }

    /// Keeps the state of its thread, which `save` writes, unless it is kept already.
    pub(super) fn keep(&mut self, history: HistoryId, save: impl FnOnce(&mut [Value])) {
        let node = &mut self.nodes[history.0 as usize];
        if node.words == NONE {
            let start = self.words.len();
            node.words = number(start);
            self.words.resize(start + self.width, 0);
            save(&mut self.words[start..]);
        }
    }

    pub(super) fn hash_of(history: HistoryId) -> u64 {
        history.0.into()
    }

    /// How much memory it all takes.
    pub(super) fn memory(&self) -> usize {
        let places = self.places.capacity() * (self.width + 5) * size_of::<Value>();
        let children = self.children.capacity() * (size_of::<((u32, Value), u32)>() + 1);
        let nodes = self.nodes.capacity() * size_of::<Node>() + children;
        nodes + self.words.capacity() * size_of::<Value>() + places
    }

    fn child(&mut self, parent: HistoryId, answer: Value) -> HistoryId {
        let mut at = self.nodes[parent.0 as usize].first_child;
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.answer == answer {
                return HistoryId(at);
            }
            at = node.next_sibling;
        }
        let has_many = self.nodes[parent.0 as usize].n_children >= FEW_CHILDREN;
        if has_many && let Some(&known) = self.children.get(&(parent.0, answer)) {
            return HistoryId(known);
        }
        let new = self.add();
        self.nodes[new.0 as usize].answer = answer;
        let first = self.nodes[parent.0 as usize].first_child;
        let node = &mut self.nodes[parent.0 as usize];
        node.n_children += 1;
        if has_many {
            self.children.insert((parent.0, answer), new.0);
        } else {
            node.first_child = new.0;
            self.nodes[new.0 as usize].next_sibling = first;
        }
        new
    }

    fn add(&mut self) -> HistoryId {
        let id = number(self.nodes.len());
        self.nodes.push(Node { answer: 0, first_child: NONE, next_sibling: NONE, n_children: 0, words: NONE });
        HistoryId(id)
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("the limit on memory comes before 2^32 histories")
}
