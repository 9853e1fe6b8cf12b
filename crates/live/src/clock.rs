//! Vector clocks: what a thread knows of the others.

/// For each thread how many of its steps are known.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    pub(crate) fn get(&self, thread: usize) -> u32 {
        self.0.get(thread).copied().unwrap_or(0)
    }

    /// Takes note of a step of `thread`.
    pub(crate) fn tick(&mut self, thread: usize) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] += 1;
    }

    /// Takes over what `other` knows.
    pub(crate) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(own, &other)| *own = (*own).max(other));
    }

    /// Sets how many steps of `thread` are known.
    pub(crate) fn set(&mut self, thread: usize, steps: u32) {
        if self.0.len() <= thread {
            self.0.resize(thread + 1, 0);
        }
        self.0[thread] = steps;
    }

    /// Whether everything that `other` knows is known.
    pub(crate) fn includes(&self, other: &Clock) -> bool {
        other.0.iter().enumerate().all(|(thread, &steps)| steps <= self.get(thread))
    }
}
