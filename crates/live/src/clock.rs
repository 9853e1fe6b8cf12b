//! Vector clocks: what a thread knows of the others.

/// So many threads are known without memory of its own.
const FEW: usize = 8;

/// For each thread how many of its steps are known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Clock {
    few: [u32; FEW],
    /// Of the threads after these.
    more: Vec<u32>,
}

impl Clock {
    pub(crate) fn get(&self, thread: usize) -> u32 {
        match self.few.get(thread) {
            Some(&steps) => steps,
            None => self.more.get(thread - FEW).copied().unwrap_or(0),
        }
    }

    fn get_mut(&mut self, thread: usize) -> &mut u32 {
        if thread < FEW {
            return &mut self.few[thread];
        }
        if self.more.len() <= thread - FEW {
            self.more.resize(thread - FEW + 1, 0);
        }
        &mut self.more[thread - FEW]
    }

    /// Takes note of a step of `thread`.
    pub(crate) fn tick(&mut self, thread: usize) {
        *self.get_mut(thread) += 1;
    }

    /// Takes over what `other` knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        self.few.iter_mut().zip(&other.few).for_each(|(own, &other)| *own = (*own).max(other));
        if !other.more.is_empty() {
            self.join_more(other);
        }
    }

    #[cold]
    fn join_more(&mut self, other: &Clock) {
        if self.more.len() < other.more.len() {
            self.more.resize(other.more.len(), 0);
        }
        self.more.iter_mut().zip(&other.more).for_each(|(own, &other)| *own = (*own).max(other));
    }

    /// Sets how many steps of `thread` are known.
    pub(crate) fn set(&mut self, thread: usize, steps: u32) {
        *self.get_mut(thread) = steps;
    }

    fn includes_more(&self, other: &Clock) -> bool {
        let own = self.more.iter().copied().chain(std::iter::repeat(0));
        own.zip(&other.more).all(|(own, &other)| other <= own)
    }

    /// Whether everything that `other` knows is known.
    pub(crate) fn includes(&self, other: &Clock) -> bool {
        let knows = |(own, other): (&u32, &u32)| other <= own;
        // Without a branch for each, since hardly any is not known.
        let knows_few = self.few.iter().zip(&other.few).fold(true, |all, pair| all & knows(pair));
        knows_few && (other.more.is_empty() || self.includes_more(other))
    }
}
