//! The search over frontiers: which operations were performed, which stores reached memory, and who wrote last.
//!
//! Moments are put in order one after the other. A moment is possible once everything is over that must come before it,
//! and if its reads find what they are to return: an own pending store, or who wrote last. Two ways that lead to the same
//! frontier with the same last writers go on alike, so each is tried once. [RF-TSO] for fixed writers; we differ in
//! two ways:
//! 1. A read may have several writers left, so that no choice among them has to be made before.
//! 2. What must come before what is closed under the rules, and a write does not come while somebody still has to read
//!    what it overwrites, so that hardly a step is taken in vain.

use rustc_hash::FxHashSet;
use teetotal_memory::{EventId, EventKind};

use super::candidates::{Open, Part, Writer, clear, has, set};
use super::layout::Layout;
use super::memory::LastWriters;
use crate::axiomatic::Axioms;

/// What came of a search.
pub(super) enum Found {
    /// The moments in their order.
    Order(Vec<usize>),
    Nothing,
    /// So many frontiers were tried as the budget allows.
    OutOfBudget,
}

/// Puts the moments of a part in order, trying at most `budget` frontiers, which it takes off it.
pub(super) fn search(layout: &Layout<'_>, part: &Part, open: &Open, budget: &mut u64) -> Found {
    Frontier::new(layout, part, open).run(budget)
}

struct Frontier<'f> {
    layout: &'f Layout<'f>,
    part: &'f Part,
    open: &'f Open,
    /// For each read of the layout, its number among the open ones.
    open_read: Vec<u32>,
    /// Moments that come one after the other in any case: of one thread, its operations, and its stores to one location.
    chains: Vec<Vec<usize>>,
    /// How many of each chain are over.
    positions: Vec<u32>,
    over: Vec<u64>,
    memory: LastWriters,
    done: Vec<usize>,
    /// The next moment of each chain at each level, with the chain.
    heads: Vec<(usize, usize)>,
    levels: Vec<Level>,
    /// The frontiers from which there is no way on. A frontier cannot come again on a way that it is on.
    vain: FxHashSet<Vec<u32>>,
    /// Kept to save allocations.
    key: Vec<u32>,
}

/// The stretch of moments that may come next at a frontier.
struct Level {
    first: usize,
    /// Which is tried next.
    next: usize,
    /// Who wrote last before the one that is tried.
    overwritten: Option<Writer>,
}

impl<'f> Frontier<'f> {
    fn new(layout: &'f Layout<'f>, part: &'f Part, open: &'f Open) -> Self {
        let chains = chains(layout, part);
        let mut open_read = vec![u32::MAX; layout.reads.len()];
        (0..).zip(&open.reads).for_each(|(number, read)| open_read[read.read] = number);
        Frontier {
            layout,
            part,
            open,
            open_read,
            positions: vec![0; chains.len()],
            chains,
            over: vec![0; part.moments.len()],
            memory: LastWriters::new(layout, open),
            done: Vec::new(),
            heads: Vec::new(),
            levels: Vec::new(),
            vain: FxHashSet::default(),
            key: Vec::new(),
        }
    }

    fn run(mut self, budget: &mut u64) -> Found {
        let n_moments: usize = self.chains.iter().map(Vec::len).sum();
        self.enter();
        loop {
            if self.done.len() == n_moments {
                return Found::Order(self.done);
            }
            let Some(level) = self.levels.last_mut() else { return Found::Nothing };
            let Some(&(moment, chain)) = self.heads.get(level.next) else {
                self.leave();
                continue;
            };
            level.next += 1;
            if !self.is_possible(moment) {
                continue;
            }
            let overwritten = self.take(moment, chain);
            if self.is_vain() {
                self.take_back(moment, chain, overwritten);
                continue;
            }
            if *budget == 0 {
                return Found::OutOfBudget;
            }
            *budget -= 1;
            self.levels.last_mut().expect("it was tried at a level").overwritten = overwritten;
            self.enter();
        }
    }

    /// Finds what may come next, the earliest in the trace first; whether it is possible is asked when it is tried.
    fn enter(&mut self) {
        let first = self.heads.len();
        for chain in 0..self.chains.len() {
            if let Some(&moment) = self.chains[chain].get(self.positions[chain] as usize) {
                self.heads.push((moment, chain));
            }
        }
        self.heads[first..].sort_unstable_by_key(|&(moment, _)| (self.layout.rank[moment], moment));
        self.levels.push(Level { first, next: first, overwritten: None });
    }

    /// Leaves a frontier from which everything was tried.
    fn leave(&mut self) {
        self.find_key();
        self.vain.insert(self.key.clone());
        let left = self.levels.pop();
        self.heads.truncate(left.map_or(0, |level| level.first));
        if let Some(level) = self.levels.last_mut() {
            let overwritten = level.overwritten.take();
            let (moment, chain) = self.heads[level.next - 1];
            self.take_back(moment, chain, overwritten);
        }
    }

    /// Whether everything was tried from this frontier.
    fn is_vain(&mut self) -> bool {
        if self.vain.is_empty() {
            return false;
        }
        self.find_key();
        self.vain.contains(&self.key)
    }

    fn is_possible(&self, moment: usize) -> bool {
        let before = self.open.order.before(moment).iter().zip(&self.part.moments).zip(&self.over);
        let mut waits = before.map(|((before, part), over)| before & part & !over);
        if waits.any(|word| word != 0) {
            return false;
        }
        let reads = self.layout.reads_at[moment].clone();
        let finds = |number: u32| {
            let read = &self.layout.reads[number as usize];
            let forwarded = read.own.filter(|&own| !has(&self.over, own));
            let found = forwarded.or_else(|| self.memory.last(read.loc.index()));
            let writers = &self.open.reads[self.open_read[number as usize] as usize].writers;
            writers.binary_search(&found).is_ok()
        };
        reads.clone().all(finds) && self.may_overwrite(moment) && self.finds_buffers_empty(moment)
    }

    /// Whether nobody else still has to read what the write of this moment, if there is one, overwrites.
    fn may_overwrite(&self, moment: usize) -> bool {
        let Some(write) = self.layout.writes[moment] else { return true };
        let reads = self.layout.reads_at[moment].clone();
        let own = reads
            .filter(|&number| self.fixed(number) == Some((write.loc.index(), self.memory.last(write.loc.index()))));
        self.memory.readers_left(write.loc.index()) <= own.count() as u32
    }

    /// The location and the only writer left of a read.
    fn fixed(&self, number: u32) -> Option<(usize, Writer)> {
        let loc = self.layout.reads[number as usize].loc.index();
        match self.open.reads[self.open_read[number as usize] as usize].writers[..] {
            [writer] => Some((loc, writer)),
            _ => None,
        }
    }

    /// At a fence over all buffers, every store of a thread that has gone further is in memory.
    fn finds_buffers_empty(&self, moment: usize) -> bool {
        if self.layout.placed[moment].event.kind != EventKind::GlobalFence {
            return true;
        }
        self.layout.threads.iter().zip(&self.part.counts).all(|(events, &count)| {
            let is_over = |id: &EventId| has(&self.over, self.layout.moment(*id));
            let events = &events[..count];
            let Some(last) = events.iter().rposition(is_over) else { return true };
            // What is performed in one step is performed together.
            let step = |id: EventId| self.layout.trace.event(id).step;
            events.iter().take_while(|&&id| step(id) <= step(events[last])).all(is_over)
        })
    }

    fn take(&mut self, moment: usize, chain: usize) -> Option<Writer> {
        self.positions[chain] += 1;
        set(&mut self.over, moment);
        self.done.push(moment);
        for number in self.layout.reads_at[moment].clone() {
            if let Some((loc, writer)) = self.fixed(number) {
                self.memory.has_read(loc, writer);
            }
        }
        self.layout.writes[moment].map(|write| self.memory.write(write.loc.index(), moment))
    }

    fn take_back(&mut self, moment: usize, chain: usize, overwritten: Option<Writer>) {
        if let (Some(write), Some(writer)) = (self.layout.writes[moment], overwritten) {
            self.memory.restore(write.loc.index(), writer);
        }
        for number in self.layout.reads_at[moment].clone() {
            if let Some((loc, writer)) = self.fixed(number) {
                self.memory.reads_again(loc, writer);
            }
        }
        self.done.pop();
        clear(&mut self.over, moment);
        self.positions[chain] -= 1;
    }

    /// What tells this frontier from others.
    fn find_key(&mut self) {
        let last = (0..self.layout.locations.len()).map(|loc| self.memory.last(loc));
        let last = last.map(|writer| writer.map_or(u32::MAX, |moment| moment as u32));
        self.key.clear();
        self.key.extend_from_slice(&self.positions);
        self.key.extend(last);
    }
}

/// The moments of a part in chains.
fn chains(layout: &Layout<'_>, part: &Part) -> Vec<Vec<usize>> {
    let stores_wait = Axioms::of(layout.model).stores_wait;
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for (thread, &count) in part.counts.iter().enumerate() {
        let mut operations: Vec<usize> = Vec::new();
        let mut stores: Vec<Vec<usize>> = vec![Vec::new(); layout.locations.len()];
        for event in &layout.threads[thread][..count] {
            let placed = &layout.placed[event.index()];
            let waits = !placed.is_immediate() && stores_wait;
            match placed.event.loc.filter(|_| waits) {
                Some(loc) => stores[loc.index()].push(placed.moment),
                None if operations.last() != Some(&placed.moment) => operations.push(placed.moment),
                None => {}
            }
        }
        chains.push(operations);
        chains.extend(stores);
    }
    chains.retain(|chain| !chain.is_empty());
    chains
}
