//! The relations of a trace: program order, reads-from, coherence, from-read, happens-before.
//!
//! Definition: [SOBER, §2], [BURNIM, Def. 2 and 3]. `hb = po ∪ rf ∪ co ∪ fr`; a trace is sequentially consistent exactly
//! when `hb` has no cycle [BURNIM, Prop. 1].

use teetotal_program::Loc;

use crate::event::{EventId, EventKind, Source};
use crate::trace::Trace;

/// A binary relation on the events of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    n: usize,
    /// How many words one row takes.
    stride: usize,
    rows: Vec<u64>,
}

impl Relation {
    /// The empty relation on `n` events.
    #[must_use]
    pub fn empty(n: usize) -> Self {
        let stride = n.div_ceil(64);
        Relation { n, stride, rows: vec![0; n * stride] }
    }

    /// How many events it is on.
    #[must_use]
    pub fn n_events(&self) -> usize {
        self.n
    }

    /// Relates `from` to `to`.
    pub fn add(&mut self, from: EventId, to: EventId) {
        self.rows[from.index() * self.stride + to.index() / 64] |= 1 << (to.index() % 64);
    }

    #[must_use]
    pub fn has(&self, from: EventId, to: EventId) -> bool {
        self.rows[from.index() * self.stride + to.index() / 64] & 1 << (to.index() % 64) != 0
    }

    /// Adds every pair of `other`.
    pub fn add_all(&mut self, other: &Relation) {
        self.rows.iter_mut().zip(&other.rows).for_each(|(row, other)| *row |= other);
    }

    /// Every pair, in order.
    pub fn pairs(&self) -> impl Iterator<Item = (EventId, EventId)> + '_ {
        let events = (0..self.n).map(EventId::at);
        events.flat_map(move |from| {
            (0..self.n).map(EventId::at).filter(move |&to| self.has(from, to)).map(move |to| (from, to))
        })
    }

    /// The transitive closure.
    #[must_use]
    pub fn closure(&self) -> Relation {
        let mut closed = self.clone();
        let stride = self.stride;
        for middle in 0..self.n {
            let row: Vec<u64> = closed.rows[middle * stride..(middle + 1) * stride].to_vec();
            for from in 0..self.n {
                if closed.has(EventId::at(from), EventId::at(middle)) {
                    closed.rows[from * stride..(from + 1) * stride].iter_mut().zip(&row).for_each(|(a, b)| *a |= b);
                }
            }
        }
        closed
    }

    /// A cycle, if there is one: its events in order, each related to the next and the last to the first.
    #[must_use]
    pub fn cycle(&self) -> Option<Vec<EventId>> {
        // 0: not seen, 1: on the path, 2: done.
        let mut color = vec![0_u8; self.n];
        for start in 0..self.n {
            if color[start] != 0 {
                continue;
            }
            color[start] = 1;
            let mut path = vec![(start, 0)];
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                let successor = (*next..self.n).find(|&to| self.has(EventId::at(at), EventId::at(to)));
                let Some(to) = successor else {
                    color[at] = 2;
                    path.pop();
                    continue;
                };
                *next = to + 1;
                match color[to] {
                    0 => {
                        color[to] = 1;
                        path.push((to, 0));
                    }
                    1 => {
                        let from = path.iter().position(|&(event, _)| event == to).expect("it is on the path");
                        return Some(path[from..].iter().map(|&(event, _)| EventId::at(event)).collect());
                    }
                    _ => {}
                }
            }
        }
        None
    }

    #[must_use]
    pub fn is_acyclic(&self) -> bool {
        self.cycle().is_none()
    }
}

/// Program order (`po`): the events of each thread in the order of issue, and what a spawn and a join add to it.
///
/// A spawn comes before everything of the thread it starts, a join after everything of the thread it waits for. A spawn
/// of a thread that runs already starts nothing.
#[must_use]
pub fn program_order(trace: &Trace) -> Relation {
    let mut po = Relation::empty(trace.events().len());
    for (a, first) in trace.ids() {
        for (b, second) in trace.ids() {
            let same_thread = first.thread == second.thread && first.index < second.index;
            let spawned = first.kind == EventKind::Spawn(second.thread) && first.step < second.step;
            let joined = second.kind == EventKind::Join(first.thread);
            if same_thread || spawned || joined {
                po.add(a, b);
            }
        }
    }
    po
}

/// Reads-from (`rf`): from the write to each read that returned its value. [BURNIM, Def. 2, clause 1]
#[must_use]
pub fn reads_from(trace: &Trace) -> Relation {
    let mut rf = Relation::empty(trace.events().len());
    for (id, event) in trace.ids() {
        if let Some(Source::Write(write)) = event.source {
            rf.add(write, id);
        }
    }
    rf
}

/// Coherence (`co`): the order in which the writes to each location reach memory. [BURNIM, Def. 2, clause 2]
#[must_use]
pub fn coherence(trace: &Trace) -> Relation {
    let mut co = Relation::empty(trace.events().len());
    for loc in 0..trace.n_locations() {
        let writes = trace.coherence(Loc::at(loc));
        for (position, &first) in writes.iter().enumerate() {
            writes[position + 1..].iter().for_each(|&second| co.add(first, second));
        }
    }
    co
}

/// From-read (`fr`): from each read to every write that comes after the one it returned. [BURNIM, Def. 2, clause 3]
///
/// We differ in one way:
/// 1. A read-modify-write is not before itself, as the clause read literally would have it.
#[must_use]
pub fn from_read(trace: &Trace) -> Relation {
    let mut fr = Relation::empty(trace.events().len());
    for loc in 0..trace.n_locations() {
        let loc = Loc::at(loc);
        let writes = trace.coherence(loc);
        for (read, event) in trace.ids().filter(|(_, e)| e.loc == Some(loc)) {
            let later = match event.source {
                None => continue,
                Some(Source::Initial) => 0,
                Some(Source::Write(write)) => {
                    1 + writes.iter().position(|&w| w == write).expect("a source is a write to the location")
                }
            };
            writes[later..].iter().filter(|&&write| write != read).for_each(|&write| fr.add(read, write));
        }
    }
    fr
}

/// Happens-before (`hb`): all four together. [BURNIM, Def. 3]
#[must_use]
pub fn happens_before(trace: &Trace) -> Relation {
    let mut hb = program_order(trace);
    hb.add_all(&reads_from(trace));
    hb.add_all(&coherence(trace));
    hb.add_all(&from_read(trace));
    hb
}

/// Whether the trace is one of sequential consistency. [BURNIM, Def. 1 and Prop. 1]
#[must_use]
pub fn is_sequentially_consistent(trace: &Trace) -> bool {
    happens_before(trace).is_acyclic()
}

#[cfg(test)]
mod tests {
    use teetotal_generate::Rng;

    use super::*;

    fn relation(n: usize, pairs: &[(u32, u32)]) -> Relation {
        let mut relation = Relation::empty(n);
        pairs.iter().for_each(|&(from, to)| relation.add(EventId(from), EventId(to)));
        relation
    }

    /// A relation on more events than fit into one word, and on fewer.
    fn any(seed: u64) -> Relation {
        let mut rng = Rng::new(seed);
        let n = rng.pick(&[3, 10, 64, 65, 100]);
        let pairs: Vec<(u32, u32)> = (0..n).map(|_| (rng.below(n) as u32, rng.below(n) as u32)).collect();
        relation(n, &pairs[..rng.below(n)])
    }

    /// What can be reached from `from` in at least one step.
    fn reached(relation: &Relation, from: EventId) -> Vec<bool> {
        let mut reached = vec![false; relation.n_events()];
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            for (_, to) in relation.pairs().filter(|pair| pair.0 == at) {
                if !std::mem::replace(&mut reached[to.index()], true) {
                    todo.push(to);
                }
            }
        }
        reached
    }

    #[test]
    fn pairs_are_those_that_were_added() {
        let pairs = [(0, 69), (3, 3), (69, 0)];
        let ids = pairs.map(|(from, to)| (EventId(from), EventId(to)));
        assert_eq!(relation(70, &pairs).pairs().collect::<Vec<_>>(), ids);
        assert!(!relation(70, &pairs).has(EventId(0), EventId(5)), "events 64 apart are different");
    }

    #[test]
    fn the_closure_relates_what_can_be_reached() {
        for seed in 0..60 {
            let relation = any(seed);
            let closure = relation.closure();
            for from in (0..relation.n_events()).map(EventId::at) {
                let reached = reached(&relation, from);
                let is_right = (0..).map(EventId::at).zip(reached).all(|(to, is)| closure.has(from, to) == is);
                assert!(is_right, "seed {seed}: from {from:?}");
            }
        }
    }

    #[test]
    fn a_cycle_is_found_exactly_where_an_event_reaches_itself() {
        let mut n_cyclic = 0;
        for seed in 0..100 {
            let relation = any(seed);
            let closure = relation.closure();
            let is_cyclic = (0..relation.n_events()).map(EventId::at).any(|event| closure.has(event, event));
            assert_eq!(relation.is_acyclic(), !is_cyclic, "seed {seed}");
            if let Some(cycle) = relation.cycle() {
                let next = cycle.iter().cycle().skip(1);
                assert!(cycle.iter().zip(next).all(|(&a, &b)| relation.has(a, b)), "seed {seed}: {cycle:?}");
            }
            n_cyclic += u32::from(is_cyclic);
        }
        assert!((10..90).contains(&n_cyclic), "{n_cyclic} of 100 relations have a cycle");
    }
}
