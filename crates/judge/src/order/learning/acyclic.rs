//! An order of moments to which edges are added and taken back, and that says which edges close a cycle.
//!
//! The moments stand in a row in which everything comes after what must come before it. An edge that agrees with the row
//! costs nothing; for another, what comes after its end is moved behind its beginning. [PEARCE-KELLY], in one direction.

use super::literal::Literal;
use crate::axiomatic::PartialOrder;
use crate::order::candidates::{clear, has, set};

pub(super) struct Acyclic<'o> {
    /// What must come before what in any case.
    must: &'o PartialOrder,
    /// The moments in a row, and where in it each is.
    row: Vec<usize>,
    places: Vec<usize>,
    /// For each moment the edges to it, and for what each was added.
    edges: Vec<Vec<(usize, Literal)>>,
    /// The ends of the edges in the order in which they were added.
    added: Vec<usize>,
    /// The moments that come after the end of an edge, and why each does; both are kept to save allocations.
    later: Vec<u64>,
    reasons: Vec<Reason>,
}

/// Why a moment comes after another.
#[derive(Clone, Copy)]
struct Reason {
    earlier: usize,
    /// The edge between them, or nothing where it must be so.
    edge: Option<Literal>,
}

impl<'o> Acyclic<'o> {
    /// With the moments in a row that agrees with what must be.
    pub(super) fn new(must: &'o PartialOrder, row: Vec<usize>, n_moments: usize) -> Self {
        let mut places = vec![usize::MAX; n_moments];
        row.iter().enumerate().for_each(|(place, &moment)| places[moment] = place);
        Acyclic {
            must,
            row,
            places,
            edges: vec![Vec::new(); n_moments],
            added: Vec::new(),
            later: vec![0; n_moments.div_ceil(64).max(1)],
            reasons: vec![Reason { earlier: 0, edge: None }; n_moments],
        }
    }

    /// The moments in an order that has all edges.
    pub(super) fn row(&self) -> &[usize] {
        &self.row
    }

    /// Whether one comes before the other in that order.
    #[inline]
    pub(super) fn is_before(&self, first: usize, second: usize) -> bool {
        self.places[first] < self.places[second]
    }

    /// Puts `first` before `second`; gives the edges between `second` and `first` if there is a way.
    pub(super) fn add(&mut self, first: usize, second: usize, literal: Literal) -> Result<(), Vec<Literal>> {
        if !self.is_before(first, second) {
            self.make_way(first, second)?;
        }
        self.edges[second].push((first, literal));
        self.added.push(second);
        Ok(())
    }

    /// Takes the last edge back.
    pub(super) fn take_back(&mut self) {
        if let Some(end) = self.added.pop() {
            self.edges[end].pop();
        }
    }

    /// Moves `second` and what comes after it behind `first`.
    fn make_way(&mut self, first: usize, second: usize) -> Result<(), Vec<Literal>> {
        let (from, to) = (self.places[second], self.places[first]);
        let (mut kept, mut moved) = (Vec::with_capacity(to - from + 1), vec![second]);
        set(&mut self.later, second);
        for place in from + 1..=to {
            let moment = self.row[place];
            match self.comes_later(second, moment) {
                Some(reason) => {
                    self.reasons[moment] = reason;
                    set(&mut self.later, moment);
                    moved.push(moment);
                }
                None => kept.push(moment),
            }
        }
        let is_cycle = has(&self.later, first);
        moved.iter().for_each(|&moment| clear(&mut self.later, moment));
        if is_cycle {
            return Err(self.way(second, first));
        }
        for (place, moment) in (from..).zip(kept.into_iter().chain(moved)) {
            self.row[place] = moment;
            self.places[moment] = place;
        }
        Ok(())
    }

    /// Why `moment` comes after `second`, if what is known to come after that says so.
    fn comes_later(&self, second: usize, moment: usize) -> Option<Reason> {
        if self.must.precedes(second, moment) {
            return Some(Reason { earlier: second, edge: None });
        }
        if let Some(&(earlier, literal)) = self.edges[moment].iter().find(|(earlier, _)| has(&self.later, *earlier)) {
            return Some(Reason { earlier, edge: Some(literal) });
        }
        let both = self.must.before(moment).iter().zip(&self.later).map(|(before, later)| before & later);
        let (word, bits) = both.enumerate().find(|(_, bits)| *bits != 0)?;
        Some(Reason { earlier: 64 * word + bits.trailing_zeros() as usize, edge: None })
    }

    /// The edges on the way from one moment to another.
    fn way(&self, from: usize, to: usize) -> Vec<Literal> {
        let (mut edges, mut at) = (Vec::new(), to);
        while at != from {
            let Reason { earlier, edge } = self.reasons[at];
            edges.extend(edge);
            at = earlier;
        }
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_closes_a_cycle_is_refused_with_the_way_back() {
        let mut must = PartialOrder::new(6);
        assert!(must.add(1, 2));
        let mut order = Acyclic::new(&must, (0..6).collect(), 6);
        let name = |number| Literal::new(number, true);
        assert_eq!(order.add(4, 1, name(0)), Ok(()), "against the row");
        assert!(order.is_before(4, 1) && order.is_before(1, 2));
        assert_eq!(order.add(2, 0, name(1)), Ok(()));
        assert_eq!(order.add(0, 4, name(2)), Err(vec![name(1), name(0)]), "4 < 1 < 2 < 0");
        order.take_back();
        assert_eq!(order.add(0, 4, name(2)), Ok(()), "2 < 0 was taken back");
        assert_eq!(order.row().len(), 6);
    }
}
