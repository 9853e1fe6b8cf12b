//! What a question leaves open: which writes each read may take its value from, and what must come before what.

use teetotal_memory::{EventId, EventKind};

use super::layout::{Layout, Read};
use super::question::{Demand, Question};
use crate::axiomatic::PartialOrder;

/// Where a read takes its value from: the moment of a write, or what the location holds at first.
pub(super) type Writer = Option<usize>;

/// The state of an answer in the making.
#[derive(Clone)]
pub(super) struct Open {
    /// What must come before what.
    pub(super) order: PartialOrder,
    /// For each read that takes part what it may still read from.
    pub(super) reads: Vec<OpenRead>,
}

/// A read and what it may still read from.
#[derive(Clone)]
pub(super) struct OpenRead {
    /// Its number in the layout.
    pub(super) read: usize,
    pub(super) writers: Vec<Writer>,
}

/// What takes part in the answer to a question.
pub(super) struct Part {
    /// How many events of each thread.
    pub(super) counts: Vec<usize>,
    /// The moments, as bits.
    pub(super) moments: Vec<u64>,
    /// For each location the moments of its writes, as bits.
    pub(super) writes: Vec<Vec<u64>>,
}

impl Part {
    pub(super) fn new(layout: &Layout<'_>, question: &Question<'_>) -> Self {
        let counts = layout.admit(question.events);
        let words = layout.len().div_ceil(64).max(1);
        let mut part = Part { counts, moments: vec![0; words], writes: vec![vec![0; words]; layout.locations.len()] };
        for (thread, &count) in part.counts.iter().enumerate() {
            for event in &layout.threads[thread][..count] {
                set(&mut part.moments, layout.moment(*event));
            }
        }
        for (location, bits) in layout.locations.iter().zip(&mut part.writes) {
            location.writes.iter().filter(|&&write| has(&part.moments, write)).for_each(|&write| set(bits, write));
        }
        part
    }

    pub(super) fn has(&self, layout: &Layout<'_>, event: EventId) -> bool {
        has(&self.moments, layout.moment(event))
    }
}

impl Open {
    /// Everything that the question itself leaves open; nothing if it contradicts itself.
    pub(super) fn new(layout: &Layout<'_>, part: &Part, question: &Question<'_>) -> Option<Self> {
        let mut order = layout.must.clone();
        for demand in question.demands {
            let Demand::Before { earlier, later } = *demand else { continue };
            let both = part.has(layout, earlier) && part.has(layout, later);
            if !both || !order.add(layout.moment(earlier), layout.moment(later)) {
                return None;
            }
        }
        let mut reads = Vec::new();
        for (number, read) in layout.reads.iter().enumerate().filter(|(_, read)| has(&part.moments, read.moment)) {
            if layout.keeps_sources {
                let writer = layout.writer(layout.kept_source(read.event, question.demands)?);
                let is_there = writer.is_none_or(|write| has(&part.moments, write) && write != read.moment);
                reads.push(OpenRead { read: number, writers: is_there.then_some(writer).into_iter().collect() });
                continue;
            }
            let writes = layout.locations[read.loc.index()].writes.iter().copied();
            let in_part = writes.filter(|&write| has(&part.moments, write) && write != read.moment);
            let writers = std::iter::once(None).chain(in_part.map(Some));
            let writers = writers.filter(|&writer| is_wanted(layout, read, writer, question.demands)).collect();
            reads.push(OpenRead { read: number, writers });
        }
        let is_read =
            |event: &EventId| layout.reads.iter().any(|read| read.event == *event && part.has(layout, *event));
        let about = question.demands.iter().filter_map(|demand| match demand {
            Demand::Source { read, .. } | Demand::Value { read, .. } => Some(read),
            Demand::Before { .. } => None,
        });
        about.into_iter().all(is_read).then_some(Open { order, reads })
    }
}

/// Whether a read may take its value from `writer` by what is demanded of it, or else by what it returned.
fn is_wanted(layout: &Layout<'_>, read: &Read, writer: Writer, demands: &[Demand]) -> bool {
    let value = match writer {
        None => Some(layout.locations[read.loc.index()].initial),
        Some(moment) => layout.writes[moment].map(|write| write.value),
    };
    // A lock is taken when it is free.
    if layout.trace.event(read.event).kind == EventKind::Lock && value != Some(0) {
        return false;
    }
    let mut is_mentioned = false;
    for demand in demands {
        let is_met = match *demand {
            Demand::Value { read: event, value: wanted } if event == read.event => value == Some(wanted),
            Demand::Source { read: event, source } if event == read.event => layout.writer(source) == writer,
            _ => continue,
        };
        if !is_met {
            return false;
        }
        is_mentioned = true;
    }
    is_mentioned || value == Some(read.value)
}

pub(super) fn set(bits: &mut [u64], index: usize) {
    bits[index / 64] |= 1 << (index % 64);
}

pub(super) fn clear(bits: &mut [u64], index: usize) {
    bits[index / 64] &= !(1 << (index % 64));
}

pub(super) fn has(bits: &[u64], index: usize) -> bool {
    bits[index / 64] & 1 << (index % 64) != 0
}
