//! Which variable to decide next: the one that took part in conflicts most, and most lately. [CHAFF]

/// Variables in a heap, the most active on top; equal ones by number.
#[derive(Default)]
pub(super) struct Activity {
    scores: Vec<f64>,
    heap: Vec<usize>,
    /// Where in the heap each variable is.
    places: Vec<Option<usize>>,
    increment: f64,
}

/// How much more a conflict counts than the one before.
const GROWTH: f64 = 1.0 / 0.95;

/// Scores are made smaller before they get larger than this.
const LARGE: f64 = 1e100;

impl Activity {
    /// Adds the next variable.
    pub(super) fn add(&mut self) {
        if self.scores.is_empty() {
            self.increment = 1.0;
        }
        self.scores.push(0.0);
        self.places.push(None);
        self.put_back(self.scores.len() - 1);
    }

    /// A variable takes part in a conflict.
    pub(super) fn bump(&mut self, variable: usize) {
        self.scores[variable] += self.increment;
        if self.scores[variable] > LARGE {
            self.scores.iter_mut().for_each(|score| *score /= LARGE);
            self.increment /= LARGE;
        }
        if let Some(place) = self.places[variable] {
            self.rise(place);
        }
    }

    /// A conflict is over.
    pub(super) fn age(&mut self) {
        self.increment *= GROWTH;
    }

    /// Takes the most active variable out.
    pub(super) fn take(&mut self) -> Option<usize> {
        let top = *self.heap.first()?;
        let last = self.heap.pop()?;
        self.places[top] = None;
        if last != top {
            self.heap[0] = last;
            self.places[last] = Some(0);
            self.sink(0);
        }
        Some(top)
    }

    /// Puts a variable back, if it is not there.
    pub(super) fn put_back(&mut self, variable: usize) {
        if self.places[variable].is_none() {
            self.places[variable] = Some(self.heap.len());
            self.heap.push(variable);
            self.rise(self.heap.len() - 1);
        }
    }

    fn is_above(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.scores[first], self.scores[second]);
        a > b || a >= b && first < second
    }

    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_above(self.heap[place], self.heap[parent]) {
                return;
            }
            self.swap(place, parent);
            place = parent;
        }
    }

    fn sink(&mut self, mut place: usize) {
        loop {
            let children = [2 * place + 1, 2 * place + 2].into_iter().filter(|&child| child < self.heap.len());
            let best = children.reduce(|a, b| if self.is_above(self.heap[b], self.heap[a]) { b } else { a });
            let Some(child) = best.filter(|&child| self.is_above(self.heap[child], self.heap[place])) else { return };
            self.swap(place, child);
            place = child;
        }
    }

    fn swap(&mut self, first: usize, second: usize) {
        self.heap.swap(first, second);
        self.places[self.heap[first]] = Some(first);
        self.places[self.heap[second]] = Some(second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_active_variable_comes_first_and_equal_ones_by_number() {
        let mut activity = Activity::default();
        (0..6).for_each(|_| activity.add());
        activity.bump(4);
        activity.age();
        activity.bump(2);
        let order: Vec<usize> = std::iter::from_fn(|| activity.take()).collect();
        assert_eq!(order, [2, 4, 0, 1, 3, 5]);
        activity.put_back(5);
        activity.put_back(4);
        activity.put_back(5);
        assert_eq!([activity.take(), activity.take(), activity.take()], [Some(4), Some(5), None]);
    }
}
