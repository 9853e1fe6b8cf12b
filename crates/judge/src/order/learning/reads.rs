//! What reads, and fences over all buffers, demand of an order.

use rustc_hash::FxHashMap;
use teetotal_memory::{EventId, EventKind};

use super::engine::{Engine, Meaning};
use super::literal::Literal;
use crate::order::candidates::{Open, OpenRead, Part, Writer, has};
use crate::order::layout::{Layout, Read};

/// The reads of a question, and the variables that stand for what they demand.
pub(super) struct Reads<'r> {
    layout: &'r Layout<'r>,
    part: &'r Part,
    open: &'r Open,
    /// For each open read with several writers the variable of the first; those of the others follow.
    choices: Vec<Option<usize>>,
    /// For each pair of moments, the smaller first, the variable that it comes before the other.
    pairs: FxHashMap<(usize, usize), usize>,
    /// For each moment its place in the order that is looked at.
    places: Vec<usize>,
}

/// That, unless an assumption is dropped, one moment comes before another; or another pair does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wrong {
    assumed: Option<Literal>,
    /// Nothing if it is wrong in any case.
    pairs: [Option<(usize, usize)>; 2],
}

impl<'r> Reads<'r> {
    pub(super) fn new(layout: &'r Layout<'r>, part: &'r Part, open: &'r Open) -> Self {
        let choices = vec![None; open.reads.len()];
        Reads { layout, part, open, choices, pairs: FxHashMap::default(), places: vec![usize::MAX; layout.len()] }
    }

    /// Demands that each read takes its value from one of its writers.
    pub(super) fn demand_writers(&mut self, engine: &mut Engine<'_>) {
        for (number, read) in self.open.reads.iter().enumerate().filter(|(_, read)| read.writers.len() > 1) {
            let usual = self.usual(read);
            let choices: Vec<usize> = (0..read.writers.len())
                .map(|writer| engine.variable(Meaning::Choice { usual: writer == usual }))
                .collect();
            self.choices[number] = choices.first().copied();
            engine.demand(choices.into_iter().map(|choice| Literal::new(choice, true)).collect());
        }
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

    /// What goes wrong in the order of the engine.
    pub(super) fn find_wrong(&mut self, engine: &Engine<'_>) -> Vec<Wrong> {
        let row = engine.order.row();
        row.iter().enumerate().for_each(|(place, &moment)| self.places[moment] = place);
        let mut last: Vec<Writer> = vec![None; self.layout.locations.len()];
        let mut numbers = vec![u32::MAX; self.layout.reads.len()];
        (0..).zip(&self.open.reads).for_each(|(number, read)| numbers[read.read] = number);
        let mut wrong = Vec::new();
        for &moment in row {
            for read in self.layout.reads_at[moment].clone() {
                self.look_at_read(numbers[read as usize] as usize, &last, engine, &mut wrong);
            }
            if let Some(write) = self.layout.writes[moment] {
                last[write.loc.index()] = Some(moment);
            }
            if self.layout.placed[moment].event.kind == EventKind::GlobalFence {
                self.look_at_fence(moment, &mut wrong);
            }
        }
        wrong
    }

    fn is_before(&self, first: usize, second: usize) -> bool {
        self.places[first] < self.places[second]
    }

    /// Notes why a read, before which `last` wrote, does not find the writer that was chosen, if it finds none of its own.
    fn look_at_read(&self, number: usize, last: &[Writer], engine: &Engine<'_>, wrong: &mut Vec<Wrong>) {
        let open = &self.open.reads[number];
        let read = &self.layout.reads[open.read];
        let pending = read.own.filter(|&own| self.is_before(read.moment, own));
        let found = pending.or(last[read.loc.index()]);
        if open.writers.binary_search(&found).is_ok() {
            return;
        }
        let choice = |writer: usize| self.choices[number].map(|first| Literal::new(first + writer, true));
        let is_chosen = |&writer: &usize| choice(writer).is_none_or(|literal| engine.truth(literal) == Some(true));
        for writer in (0..open.writers.len()).filter(is_chosen) {
            self.explain(read, open.writers[writer], choice(writer), wrong);
        }
    }

    /// Notes what keeps a read from taking its value from `writer`.
    fn explain(&self, read: &Read, writer: Writer, assumed: Option<Literal>, wrong: &mut Vec<Wrong>) {
        if let Some(writer) = writer.filter(|&writer| !self.layout.is_own(writer, read))
            && !self.is_before(writer, read.moment)
        {
            wrong.push(Wrong { assumed, pairs: [Some((writer, read.moment)), None] });
            return;
        }
        let others = self.layout.locations[read.loc.index()].writes.iter().copied();
        let others = others.filter(|&other| has(&self.part.moments, other) && other != read.moment);
        for other in others.filter(|&other| Some(other) != writer) {
            let is_own = self.layout.is_own(other, read);
            let is_early = writer.is_some_and(|writer| self.is_before(other, writer));
            let is_late = !is_own && self.is_before(read.moment, other);
            if !is_early && !is_late {
                let early = writer.map(|writer| (other, writer));
                let late = (!is_own).then_some((read.moment, other));
                wrong.push(Wrong { assumed, pairs: [early, late] });
            }
        }
    }

    /// Notes the stores that are still pending at a fence over all buffers, though their threads have gone further.
    fn look_at_fence(&self, fence: usize, wrong: &mut Vec<Wrong>) {
        for (events, &count) in self.layout.threads.iter().zip(&self.part.counts) {
            let events = &events[..count];
            let moment = |id: &EventId| self.layout.moment(*id);
            let is_over = |id: &EventId| moment(id) == fence || self.is_before(moment(id), fence);
            let Some(last) = events.iter().rposition(is_over) else { continue };
            let step = |id: &EventId| self.layout.trace.event(*id).step;
            let together = events.iter().take_while(|id| step(id) <= step(&events[last]));
            for late in together.filter(|id| !is_over(id)) {
                let retreat = Some((fence, moment(&events[last]))).filter(|(fence, last)| fence != last);
                wrong.push(Wrong { assumed: None, pairs: [Some((moment(late), fence)), retreat] });
            }
        }
    }

    /// Demands that it does not go wrong so again.
    pub(super) fn demand(&mut self, wrong: Wrong, engine: &mut Engine<'_>) {
        let mut clause: Vec<Literal> = wrong.assumed.map(Literal::opposite).into_iter().collect();
        for (first, second) in wrong.pairs.into_iter().flatten() {
            if self.open.order.precedes(first, second) {
                return;
            }
            if first != second && !self.open.order.precedes(second, first) {
                clause.push(self.before(first, second, engine));
            }
        }
        engine.demand(clause);
    }

    /// The literal that one moment comes before another.
    fn before(&mut self, first: usize, second: usize, engine: &mut Engine<'_>) -> Literal {
        let (small, large) = (first.min(second), first.max(second));
        let variable = *self.pairs.entry((small, large)).or_insert_with(|| engine.variable(Meaning::Before(small, large)));
        Literal::new(variable, first == small)
    }
}
