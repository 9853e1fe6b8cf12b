//! Everything that comes before a node.
//!
//! In large graphs each node keeps what came before it when it was added. What is added later comes before an older node
//! only where a read does not read from the newest write, or a write does not become the newest; these few pairs are
//! kept apart.

use super::StoreBuffers;
use crate::bits::Bits;
use crate::graph::{Graph, Slot};

impl<const N: usize> Graph<StoreBuffers, N> {
    /// Whether nodes keep what comes before them; small graphs are searched faster than that.
    const KEEPS_REACH: bool = N >= 4;

    /// Everything that comes before one of `start`, and these.
    #[inline]
    pub(super) fn closure(&self, start: Bits<N>) -> Bits<N> {
        if Self::KEEPS_REACH {
            return self.with_late(start.iter().fold(start, |seen, slot| seen | self.node(slot).label.reach));
        }
        let mut seen = start;
        let mut rest = start;
        while let Some(slot) = rest.pop() {
            seen.add_new(&self.node(slot).label.order, &mut rest);
        }
        seen
    }

    /// Adds what came later, and comes before something in `seen`.
    fn with_late(&self, mut seen: Bits<N>) -> Bits<N> {
        loop {
            let mut changes = false;
            for &(earlier, later) in &self.index {
                if seen.has(later) && !seen.has(earlier) {
                    seen |= self.node(earlier).label.reach;
                    seen.insert(earlier);
                    changes = true;
                }
            }
            if !changes {
                return seen;
            }
        }
    }

    /// Keeps what comes before `slot`, which has just been added.
    pub(super) fn keep_reach(&mut self, slot: Slot) {
        if Self::KEEPS_REACH {
            let mut reach = self.closure(self.node(slot).label.order);
            reach.insert(slot);
            self.node_mut(slot).label.reach = reach;
        }
    }

    /// Finds anew what comes before each of `nodes`, which are all that there are.
    pub(super) fn find_reach(&mut self, nodes: Bits<N>) {
        self.index.clear();
        if !Self::KEEPS_REACH {
            return;
        }
        let mut done = Bits::EMPTY;
        let mut waiting: Vec<Slot> = Vec::new();
        for first in nodes.iter() {
            waiting.push(first);
            while let Some(&slot) = waiting.last() {
                if done.has(slot) {
                    waiting.pop();
                    continue;
                }
                let order = self.node(slot).label.order;
                let missing = order & !done;
                if missing == Bits::EMPTY {
                    waiting.pop();
                    let reach =
                        order.iter().fold(Bits::one(slot), |reach, earlier| reach | self.node(earlier).label.reach);
                    self.node_mut(slot).label.reach = reach;
                    done.insert(slot);
                } else {
                    waiting.extend(missing.iter());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use teetotal_generate::{Shape, generate};
    use teetotal_memory::{BUFFER_MODELS, ModelId};
    use teetotal_program::ir::{Interpreter, Program};

    use super::*;
    use crate::unsupported;
    use crate::walk::{Reached, Walk};

    fn check<const N: usize>(graph: &Graph<StoreBuffers, N>) {
        for slot in graph.alive().iter() {
            let mut seen = Bits::one(slot);
            let mut rest = seen;
            while let Some(slot) = rest.pop() {
                seen.add_new(&graph.node(slot).label.order, &mut rest);
            }
            assert_eq!(graph.closure(Bits::one(slot)), seen, "before {slot}, with {:?}", graph.index);
        }
    }

    fn walk(model: ModelId, program: &Arc<Program>) -> u32 {
        let mut walk = Walk::<_, _, 4>::new(Interpreter::new(Arc::clone(program)), StoreBuffers::of(model));
        let (mut reached, mut n_graphs) = (Reached::Extended, 0);
        while n_graphs < 500 {
            reached = match reached {
                Reached::Extended => walk.descend(),
                _ => match walk.next(0) {
                    Some(reached) => reached,
                    None => break,
                },
            };
            // A revisit without a place leaves a read that is in no thread.
            if reached != Reached::Inconsistent {
                check(&walk.graph);
            }
            n_graphs += 1;
        }
        n_graphs
    }

    #[test]
    fn what_is_kept_is_what_comes_before() {
        let mut n_graphs = 0;
        for seed in 0..400 {
            let program = Arc::new(generate(seed, &Shape::full()));
            if unsupported(&program).is_none() {
                n_graphs += BUFFER_MODELS.iter().map(|info| walk(info.id, &program)).sum::<u32>();
            }
        }
        assert!(n_graphs > 20_000, "only {n_graphs} graphs");
    }
}
