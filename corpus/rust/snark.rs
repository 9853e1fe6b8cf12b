//! The deque Snark: a list linked both ways, of which each end is moved together with a link, by an exchange of two words.
//!
//! [D. L. Detlefs, C. H. Flood, A. T. Garthwaite, P. A. Martin, N. N. Shavit and G. L. Steele, 2000], and the first of
//! the two faults found by [S. Doherty et al., 2004]: whoever pops on the right may take a node that was popped on the
//! left in the meantime for the sign of an empty deque. Memory is sequentially consistent here, as it was meant to be.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::SeqCst;

use super::{Case, HOLDS, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "looks at the end again", verdicts: HOLDS, run: || pop_while_it_moves(true) },
    Case {
        variant: "as published",
        verdicts: everywhere("main panicked: it was never empty"),
        run: || pop_while_it_moves(false),
    },
];

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

use Side::{Left, Right};

/// The place of a word: one of the ends, or a link of a node.
#[derive(Clone, Copy)]
enum Word {
    End(Side),
    Link(Side, usize),
}

use Word::{End, Link};

/// The node that stands for none: it is linked with itself.
const NONE: usize = 0;

/// Both ends, and the links of three nodes, in one number, so that two words can be exchanged at once.
struct Memory(AtomicUsize);

impl Word {
    /// Where its two bits are.
    fn shift(self) -> usize {
        match self {
            End(side) => 2 * side as usize,
            Link(side, node) => 4 + 4 * node + 2 * side as usize,
        }
    }

    fn of(self, memory: usize) -> usize {
        memory >> self.shift() & 3
    }

    fn set(self, memory: usize, node: usize) -> usize {
        memory & !(3 << self.shift()) | node << self.shift()
    }
}

impl Memory {
    fn load(&self, word: Word) -> usize {
        word.of(self.0.load(SeqCst))
    }

    fn store(&self, word: Word, node: usize) {
        let _ = self.0.fetch_update(SeqCst, SeqCst, |memory| Some(word.set(memory, node)));
    }

    /// Writes two words if both are as expected.
    fn exchange(&self, [a, b]: [Word; 2], old: [usize; 2], new: [usize; 2]) -> bool {
        let exchanged = |memory| {
            let is_as_expected = [a.of(memory), b.of(memory)] == old;
            is_as_expected.then(|| b.set(a.set(memory, new[0]), new[1]))
        };
        self.0.fetch_update(SeqCst, SeqCst, exchanged).is_ok()
    }

    /// Pushes a new node, whose links are those to none.
    fn push_right(&self, node: usize) {
        loop {
            let end = self.load(End(Right));
            let beyond = self.load(Link(Right, end));
            let (words, old) = if beyond == end {
                self.store(Link(Left, node), NONE);
                ([End(Right), End(Left)], [end, self.load(End(Left))])
            } else {
                self.store(Link(Left, node), end);
                ([End(Right), Link(Right, end)], [end, beyond])
            };
            if self.exchange(words, old, [node; 2]) {
                return;
            }
        }
    }

    fn pop(&self, [here, there]: [Side; 2], looks_again: bool) -> Option<usize> {
        loop {
            let (end, other_end) = (self.load(End(here)), self.load(End(there)));
            if self.load(Link(here, end)) == end {
                if looks_again && self.load(End(here)) != end {
                    continue;
                }
                return None;
            }
            if end == other_end {
                if self.exchange([End(here), End(there)], [end, end], [NONE; 2]) {
                    return Some(end);
                }
                continue;
            }
            let next = self.load(Link(there, end));
            if self.exchange([End(here), Link(there, end)], [end, next], [next, end]) {
                self.store(Link(here, end), NONE);
                return Some(end);
            }
        }
    }
}

/// One thread pops on the right while the other pushes there and pops on the left, so that one node at least is there.
fn pop_while_it_moves(looks_again: bool) {
    let memory = Memory(AtomicUsize::new(NONE));
    memory.push_right(1);
    both(memory, move |memory, me| {
        if me == 1 {
            memory.push_right(2);
            let _ = memory.pop([Left, Right], looks_again);
        } else {
            assert!(memory.pop([Right, Left], looks_again).is_some(), "it was never empty");
        }
    });
}
