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
