//! One vector clock: how much of each thread is known.

use teetotal_program::ThreadId;

/// So many threads are known without memory of its own.
const FEW: usize = 8;

/// For each thread how many of its steps are known; what counts as a step is up to the user.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clock {
    few: [u32; FEW],
    /// Of the threads after these.
    more: Vec<u32>,
}

impl Clock {
    /// How many steps of `thread` are known.
    #[inline]
    #[must_use]
    pub fn get(&self, thread: ThreadId) -> u32 {
        let thread = thread.index();
        match self.few.get(thread) {
            Some(&steps) => steps,
            None => self.more.get(thread - FEW).copied().unwrap_or(0),
        }
    }

    #[inline]
    fn get_mut(&mut self, thread: ThreadId) -> &mut u32 {
        let thread = thread.index();
        if thread < FEW {
            return &mut self.few[thread];
        }
        if self.more.len() <= thread - FEW {
            self.more.resize(thread - FEW + 1, 0);
        }
        &mut self.more[thread - FEW]
    }

    /// Takes note of a step of `thread`.
    #[inline]
    pub fn tick(&mut self, thread: ThreadId) {
        *self.get_mut(thread) += 1;
    }

    /// Sets how many steps of `thread` are known.
    #[inline]
    pub fn set(&mut self, thread: ThreadId, steps: u32) {
        *self.get_mut(thread) = steps;
    }

    /// Takes over what `other` knows.
    #[inline]
    pub fn join(&mut self, other: &Clock) {
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

    /// Whether everything that `other` knows is known.
    #[inline]
    #[must_use]
    pub fn includes(&self, other: &Clock) -> bool {
        let knows = |(own, other): (&u32, &u32)| other <= own;
        // Without a branch for each, since hardly any is not known.
        let knows_few = self.few.iter().zip(&other.few).fold(true, |all, pair| all & knows(pair));
        knows_few && (other.more.is_empty() || self.includes_more(other))
    }

    #[cold]
    fn includes_more(&self, other: &Clock) -> bool {
        let own = self.more.iter().copied().chain(std::iter::repeat(0));
        own.zip(&other.more).all(|(own, &other)| other <= own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_beyond_the_few_are_known_alike() {
        let mut one = Clock::default();
        let mut other = Clock::default();
        one.set(ThreadId(3), 2);
        other.set(ThreadId(20), 5);
        assert!(!one.includes(&other) && !other.includes(&one));
        one.join(&other);
        assert_eq!([3, 20, 21].map(|thread| one.get(ThreadId(thread))), [2, 5, 0]);
        assert!(one.includes(&other) && !other.includes(&one));
    }
}
