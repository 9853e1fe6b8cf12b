//! Sets of events as bits.

/// A set of the events of one graph.
#[derive(Clone, Debug, Default)]
pub(super) struct EventSet(Vec<u64>);

impl EventSet {
    pub(super) fn insert(&mut self, event: usize) {
        if self.0.len() <= event / 64 {
            self.0.resize(event / 64 + 1, 0);
        }
        self.0[event / 64] |= 1 << (event % 64);
    }

    pub(super) fn has(&self, event: usize) -> bool {
        self.0.get(event / 64).is_some_and(|word| word & 1 << (event % 64) != 0)
    }

    pub(super) fn add_all(&mut self, other: &EventSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    /// Whether some event other than `except` is in both.
    pub(super) fn meets(&self, other: &EventSet, except: usize) -> bool {
        self.iter().any(|event| event != except && other.has(event))
    }

    /// The events in it, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |word: u64| {
            std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1))).take_while(|rest| *rest != 0)
        };
        self.0
            .iter()
            .enumerate()
            .flat_map(move |(at, &word)| bits(word).map(move |rest| 64 * at + rest.trailing_zeros() as usize))
    }
}
