//! What reads, and fences over all buffers, demand of an order.

use rustc_hash::{FxHashMap, FxHashSet};
use teetotal_memory::{EventId, EventKind};

use super::acyclic::Acyclic;
use super::engine::{Engine, Meaning, Next};
use super::literal::Literal;
use crate::order::candidates::{Open, OpenRead, Part, Writer, has, set};
use crate::order::layout::Layout;

/// The reads of a question, and the variables that stand for what they demand.
pub(super) struct Reads<'r> {
    layout: &'r Layout<'r>,
    part: &'r Part,
    open: &'r Open,
    /// For each open read with several writers the variable of the first; those of the others follow.
    choices: Vec<Option<usize>>,
    /// For each pair of moments, the smaller first, the variable that it comes before the other.
    pairs: FxHashMap<(usize, usize), usize>,
    /// The reads and writers, by their numbers, and what of fences, whose demands were written down.
    written: FxHashSet<(usize, usize)>,
    fences: FxHashSet<Wrong>,
    /// For each open read its writers as bits: of the number of each moment plus one, or of 0 for the first value.
    writers: Vec<Vec<u64>>,
    /// For each read of the layout its number among the open ones.
    numbers: Vec<usize>,
    /// Who wrote last, kept to save allocations.
    last: Vec<Writer>,
}

/// That, unless an assumption is dropped, one moment comes before another; or another pair does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Wrong {
    assumed: Option<Literal>,
    /// Nothing if it is wrong in any case.
    pairs: [Option<(usize, usize)>; 2],
}

/// Where something goes wrong.
enum Place {
    /// A read, by its number among the open ones.
    Read(usize),
    /// A fence over all buffers.
    Fence(usize),
}

impl<'r> Reads<'r> {
    pub(super) fn new(layout: &'r Layout<'r>, part: &'r Part, open: &'r Open) -> Self {
        let mut numbers = vec![usize::MAX; layout.reads.len()];
        open.reads.iter().enumerate().for_each(|(number, read)| numbers[read.read] = number);
        Reads {
            layout,
            part,
            open,
            choices: vec![None; open.reads.len()],
            pairs: FxHashMap::default(),
            written: FxHashSet::default(),
            fences: FxHashSet::default(),
            writers: open.reads.iter().map(|read| bits_of(&read.writers, layout.len())).collect(),
            numbers,
            last: Vec::new(),
        }
    }

    /// Demands that each read takes its value from one of its writers.
    pub(super) fn demand_writers(&mut self, engine: &mut Engine<'_>) {
        for (number, read) in self.open.reads.iter().enumerate().filter(|(_, read)| read.writers.len() > 1) {
            let meaning = Meaning::Choice(self.layout.reads[read.read].moment);
            let choices: Vec<usize> = read.writers.iter().map(|_| engine.variable(meaning)).collect();
            self.choices[number] = choices.first().copied();
            engine.demand(choices.into_iter().map(|choice| Literal::new(choice, true)).collect());
        }
    }

    /// What to do about something that goes wrong in the order of the engine.
    pub(super) fn next(&mut self, engine: &mut Engine<'_>) -> Next {
        let wrong = match self.find_wrong(engine) {
            Some(Place::Fence(fence)) => {
                let wrong = self.at_fence(fence, &engine.order);
                if let Some(new) = wrong.iter().find(|wrong| !self.fences.contains(wrong)) {
                    self.fences.insert(*new);
                    return Next::Demand(vec![self.clause(new, engine)]);
                }
                wrong
            }
            Some(Place::Read(number)) => {
                let writer = match self.chosen_writer(number, engine) {
                    Ok(writer) => writer,
                    Err(choice) => return Next::Decide(choice),
                };
                let demands = self.demands(number, writer);
                if self.written.insert((number, writer)) {
                    return Next::Demand(demands.iter().map(|demand| self.clause(demand, engine)).collect());
                }
                let is_before = |pair: Option<(usize, usize)>| {
                    pair.is_some_and(|(first, second)| engine.order.is_before(first, second))
                };
                demands.into_iter().filter(|demand| !demand.pairs.into_iter().any(is_before)).collect()
            }
            None => return Next::Done,
        };
        let clauses: Vec<Vec<Literal>> = wrong.iter().map(|wrong| self.clause(wrong, engine)).collect();
        let free = clauses.iter().flatten().copied().filter(|literal| engine.truth(*literal).is_none());
        let best = free.max_by(|a, b| {
            let of = |literal: &Literal| engine.activity.of(literal.variable());
            of(a).total_cmp(&of(b)).then(b.index().cmp(&a.index()))
        });
        // Where no literal is free the values break the clauses too, and that was not noticed.
        best.map_or_else(|| Next::Demand(clauses), Next::Decide)
    }

    /// A read that finds nothing that it may read, or a fence that finds a buffer that is not empty: of all, the one that
    /// took part in conflicts most, and else the first.
    fn find_wrong(&mut self, engine: &Engine<'_>) -> Option<Place> {
        let order = &engine.order;
        self.last.clear();
        self.last.resize(self.layout.locations.len(), None);
        let mut found: Option<(Place, f64)> = None;
        let mut note = |place, moment| {
            let activity = engine.moments.of(moment);
            if found.as_ref().is_none_or(|(_, most)| activity > *most) {
                found = Some((place, activity));
            }
        };
        for &moment in order.row() {
            for read in self.layout.reads_at[moment].clone() {
                let number = self.numbers[read as usize];
                if !self.is_content(number, order) {
                    note(Place::Read(number), moment);
                }
            }
            if let Some(write) = self.layout.writes[moment] {
                self.last[write.loc.index()] = Some(moment);
            }
            let is_fence = self.layout.placed[moment].event.kind == EventKind::GlobalFence;
            if is_fence && !self.at_fence(moment, order).is_empty() {
                note(Place::Fence(moment), moment);
            }
        }
        found.map(|(place, _)| place)
    }

    /// Whether a read, before which others wrote last, finds a write that it may read.
    fn is_content(&self, number: usize, order: &Acyclic<'_>) -> bool {
        let read = &self.layout.reads[self.open.reads[number].read];
        let pending = read.own.filter(|&own| order.is_before(read.moment, own));
        has(&self.writers[number], bit_of(pending.or(self.last[read.loc.index()])))
    }

    /// The writer that was chosen for a read, by its number among those that are left; or else one to choose.
    fn chosen_writer(&self, number: usize, engine: &Engine<'_>) -> Result<usize, Literal> {
        let open = &self.open.reads[number];
        let choice = |writer: usize| self.choice(number, writer);
        let is_chosen = |&writer: &usize| choice(writer).is_none_or(|literal| engine.truth(literal) == Some(true));
        if let Some(writer) = (0..open.writers.len()).find(is_chosen) {
            return Ok(writer);
        }
        let usual = self.usual(open);
        let free = (0..open.writers.len()).filter_map(|writer| Some((writer, choice(writer)?)));
        let free = free.filter(|(_, literal)| engine.truth(*literal).is_none());
        let best = free.max_by(|(a, of_a), (b, of_b)| {
            let of = |literal: &Literal| engine.activity.of(literal.variable());
            of(of_a).total_cmp(&of(of_b)).then((*a == usual).cmp(&(*b == usual))).then(b.cmp(a))
        });
        let (_, best) = best.expect("one of the writers is demanded");
        Err(best)
    }

    /// The writer of the trace, or else the last one that came before the read in it.
    fn usual(&self, open: &OpenRead) -> usize {
        let read = &self.layout.reads[open.read];
        let source = self.layout.trace.event(read.event).source.map(|source| self.layout.writer(source));
        let rank = |writer: &Writer| writer.map_or(0, |moment| self.layout.rank[moment] + 1);
        let is_before = |writer: &Writer| rank(writer) <= self.layout.rank[read.moment];
        let known = source.and_then(|source| open.writers.iter().position(|writer| *writer == source));
        let writers = open.writers.iter().enumerate();
        let last = writers.filter(|(_, writer)| is_before(writer)).max_by_key(|(_, writer)| rank(writer));
        known.or(last.map(|(number, _)| number)).unwrap_or(0)
    }

    /// The literal that a read takes its value from one of several writers.
    fn choice(&self, number: usize, writer: usize) -> Option<Literal> {
        self.choices[number].map(|first| Literal::new(first + writer, true))
    }

    /// What a read that takes its value from one of its writers demands of the order, and what is not so in any case.
    fn demands(&self, number: usize, writer: usize) -> Vec<Wrong> {
        let assumed = self.choice(number, writer);
        let read = &self.layout.reads[self.open.reads[number].read];
        let writer = self.open.reads[number].writers[writer];
        let must = |first: usize, second: usize| self.open.order.precedes(first, second);
        let foreign = writer.filter(|&writer| !self.layout.is_own(writer, read));
        let comes = foreign.filter(|&writer| !must(writer, read.moment));
        let comes = comes.map(|writer| Wrong { assumed, pairs: [Some((writer, read.moment)), None] });
        let mut demands: Vec<Wrong> = comes.into_iter().collect();
        let others = self.layout.locations[read.loc.index()].writes.iter().copied();
        let others = others.filter(|&other| has(&self.part.moments, other) && other != read.moment);
        for other in others.filter(|&other| Some(other) != writer) {
            let is_own = self.layout.is_own(other, read);
            let early = writer.map(|writer| (other, writer));
            let late = (!is_own).then_some((read.moment, other));
            if ![early, late].into_iter().flatten().any(|(first, second)| must(first, second)) {
                demands.push(Wrong { assumed, pairs: [early, late] });
            }
        }
        demands
    }

    /// The stores that are still pending at a fence over all buffers, though their threads have gone further.
    fn at_fence(&self, fence: usize, order: &Acyclic<'_>) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for (events, &count) in self.layout.threads.iter().zip(&self.part.counts) {
            let events = &events[..count];
            let moment = |id: &EventId| self.layout.moment(*id);
            let is_over = |id: &EventId| moment(id) == fence || order.is_before(moment(id), fence);
            let Some(last) = events.iter().rposition(is_over) else { continue };
            let step = |id: &EventId| self.layout.trace.event(*id).step;
            let together = events.iter().take_while(|id| step(id) <= step(&events[last]));
            for late in together.filter(|id| !is_over(id)) {
                let retreat = Some((fence, moment(&events[last]))).filter(|(fence, last)| fence != last);
                wrong.push(Wrong { assumed: None, pairs: [Some((moment(late), fence)), retreat] });
            }
        }
        wrong
    }

    /// That it does not go wrong so.
    fn clause(&mut self, wrong: &Wrong, engine: &mut Engine<'_>) -> Vec<Literal> {
        let mut clause: Vec<Literal> = wrong.assumed.map(Literal::opposite).into_iter().collect();
        for (first, second) in wrong.pairs.into_iter().flatten() {
            if first != second && !self.open.order.precedes(second, first) {
                clause.push(self.before(first, second, engine));
            }
        }
        clause
    }

    /// The literal that one moment comes before another.
    fn before(&mut self, first: usize, second: usize, engine: &mut Engine<'_>) -> Literal {
        let (small, large) = (first.min(second), first.max(second));
        let variable =
            *self.pairs.entry((small, large)).or_insert_with(|| engine.variable(Meaning::Before(small, large)));
        Literal::new(variable, first == small)
    }
}

fn bit_of(writer: Writer) -> usize {
    writer.map_or(0, |moment| moment + 1)
}

/// Writers as bits, among so many moments.
fn bits_of(writers: &[Writer], n_moments: usize) -> Vec<u64> {
    let mut bits = vec![0; (n_moments + 1).div_ceil(64)];
    writers.iter().for_each(|&writer| set(&mut bits, bit_of(writer)));
    bits
}
