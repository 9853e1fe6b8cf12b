//! Explanations of surprising executions, in sentences.

use teetotal_memory::{Event, EventId, Source, Trace};

use super::Timeline;
use super::names::Names;
use crate::text;

/// The explanation of an execution that sequential consistency allows.
pub(super) const POSSIBLE: &str = "The same reads and writes are possible under sequential consistency.";

/// The line above the cycle of an execution that sequential consistency does not allow.
pub(super) const IMPOSSIBLE: &str = "Sequential consistency forbids it: each must come before the next, in a cycle:";

/// The maximum number of sentences.
const MANY: usize = 6;

/// Returns one sentence for each surprise; those about the events of `cycle` come first.
pub(super) fn sentences(timeline: &Timeline<'_>, cycle: Option<&[EventId]>) -> Vec<String> {
    let cycle = cycle.unwrap_or_default();
    let teller = Teller { trace: timeline.trace, names: Names::new(timeline.program, timeline.trace) };
    let mut surprises = teller.stale_reads();
    surprises.extend(teller.overtaken_stores());
    surprises.extend(teller.old_reads());
    surprises.extend(teller.late_writes());
    // A read that passed a store of its own thread needs no sentence if one of these explains it.
    let told: Vec<EventId> = surprises.iter().flat_map(|surprise| surprise.about).collect();
    let untold = |surprise: &Surprise| surprise.about.iter().all(|event| !told.contains(event));
    surprises.extend(teller.early_forwards());
    surprises.extend(teller.reads_before_own_stores(cycle).into_iter().filter(untold));
    surprises.sort_by_key(|surprise| !surprise.about.iter().any(|event| cycle.contains(event)));
    let more = surprises.len().saturating_sub(MANY);
    let mut sentences: Vec<String> = surprises.into_iter().take(MANY).map(|surprise| surprise.sentence).collect();
    if more > 0 {
        sentences.push(format!(
            "There {} like these.",
            if more == 1 { "is 1 more".into() } else { format!("are {more} more") }
        ));
    }
    sentences
}

struct Surprise {
    about: [EventId; 2],
    sentence: String,
}

struct Teller<'a> {
    trace: &'a Trace,
    names: Names<'a>,
}

impl Teller<'_> {
    /// Describes loads from memory while another thread had a store to the same location in its buffer.
    fn stale_reads(&self) -> Vec<Surprise> {
        let mut surprises: Vec<Surprise> = Vec::new();
        for (read, event) in self.trace.ids().filter(|(_, event)| event.is_read() && !event.forwarded) {
            let hidden = |store: &Event| {
                store.thread != event.thread && store.loc == event.loc && self.was_pending(store, event.step)
            };
            let stores: Vec<_> = self.trace.ids().filter(|(_, store)| hidden(store)).collect();
            for (index, &(id, store)) in stores.iter().enumerate() {
                let newest = stores[index + 1..].iter().all(|(_, later)| later.thread != store.thread);
                let reader_told = surprises.iter().any(|surprise| {
                    surprise.about[1] == id && self.trace.event(surprise.about[0]).thread == event.thread
                });
                if newest && !reader_told && store.written != event.read {
                    surprises.push(Surprise { about: [read, id], sentence: self.stale_read(event, store) });
                }
            }
        }
        surprises
    }

    fn stale_read(&self, read: &Event, store: &Event) -> String {
        let [reader, writer] = [read, store].map(|event| self.names.thread(event.thread));
        let fate = match store.committed {
            Some(step) => format!("it left at {}", at(step)),
            None => "it stayed there to the end".to_owned(),
        };
        format!(
            "{reader} read {} at {} although {writer} had stored {} at {}: that store was still in \
             {writer}'s buffer ({fate}).",
            self.what_was_read(read),
            at(read.step),
            self.what_was_written(store),
            at(store.step),
        )
    }

    /// Loads that returned an old value although another thread had overwritten it.
    fn old_reads(&self) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        for (read, event) in self.trace.ids().filter(|(_, event)| event.is_read()) {
            let Some(loc) = event.loc else { continue };
            let writes = self.trace.coherence(loc);
            let first = match event.source {
                Some(Source::Write(source)) => writes.iter().position(|&write| write == source).map_or(0, |at| at + 1),
                _ => 0,
            };
            let overwriting = writes[first..].iter().find(|&&write| {
                let write = self.trace.event(write);
                write.thread != event.thread && write.committed.is_some_and(|step| step < event.step)
            });
            let Some(&write) = overwriting else { continue };
            let written = self.trace.event(write);
            let sentence = format!(
                "{} read {} at {} although {} had written {} at {}: nothing makes that write happen before the read.",
                self.names.thread(event.thread),
                self.what_was_read(event),
                at(event.step),
                self.names.thread(written.thread),
                self.what_was_written(written),
                at(written.step),
            );
            surprises.push(Surprise { about: [read, write], sentence });
        }
        surprises
    }

    /// Writes that come before an earlier one of another thread in modification order.
    fn late_writes(&self) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        for (late, event) in self.trace.ids().filter(|(_, event)| event.is_write()) {
            let Some(loc) = event.loc else { continue };
            let writes = self.trace.coherence(loc);
            let after = writes.iter().skip_while(|&&write| write != late).skip(1);
            let is_earlier = |write: &&EventId| {
                let write = self.trace.event(**write);
                event.committed == Some(event.step) && write.committed.is_some_and(|step| step < event.step)
            };
            let Some(&overwriting) = after.clone().find(is_earlier) else { continue };
            let written = self.trace.event(overwriting);
            let sentence = format!(
                "{}'s write {} at {} comes before {}'s {} at {} in modification order: nothing orders the two.",
                self.names.thread(event.thread),
                self.what_was_written(event),
                at(event.step),
                self.names.thread(written.thread),
                self.what_was_written(written),
                at(written.step),
            );
            surprises.push(Surprise { about: [late, overwriting], sentence });
        }
        surprises
    }

    /// Describes stores that reached memory before an earlier store of their thread.
    fn overtaken_stores(&self) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        for (late, store) in self.trace.ids().filter(|(_, event)| event.is_store()) {
            let overtakes = |later: &Event| {
                later.thread == store.thread
                    && later.index > store.index
                    && later.is_write()
                    && later.committed.is_some_and(|step| self.was_pending(store, step))
            };
            let Some((early, later)) = self.trace.ids().find(|(_, later)| overtakes(later)) else { continue };
            let since = match store.committed {
                Some(step) => format!("({})", at(step)),
                None => "(still in the buffer at the end)".to_owned(),
            };
            let sentence = format!(
                "{}'s store {} reached memory ({}) before its earlier store {} did {since}.",
                self.names.thread(store.thread),
                self.what_was_written(later),
                later.committed.map_or_else(String::new, at),
                self.what_was_written(store),
            );
            surprises.push(Surprise { about: [late, early], sentence });
        }
        surprises
    }

    /// Describes loads of a thread from its own buffer that another thread's write then preceded in memory.
    fn early_forwards(&self) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        for (read, event) in self.trace.ids().filter(|(_, event)| event.forwarded) {
            let Some(Source::Write(own)) = event.source else { continue };
            let store = self.trace.event(own);
            let first = |write: &Event| {
                let between = write.committed.is_some_and(|step| step > event.step && self.was_pending(store, step));
                write.thread != event.thread && write.loc == event.loc && between
            };
            let Some((_, write)) = self.trace.ids().find(|(_, write)| first(write)) else { continue };
            let sentence = format!(
                "{thread} read {} at {} from its own buffer; {}'s {} reached memory before that store did.",
                self.what_was_read(event),
                at(event.step),
                self.names.thread(write.thread),
                self.what_was_written(write),
                thread = self.names.thread(event.thread),
            );
            surprises.push(Surprise { about: [read, own], sentence });
        }
        surprises
    }

    /// Describes loads that follow in the cycle a store of their own thread that had not reached memory.
    fn reads_before_own_stores(&self, cycle: &[EventId]) -> Vec<Surprise> {
        let mut surprises = Vec::new();
        for (index, &id) in cycle.iter().enumerate() {
            let read = cycle[(index + 1) % cycle.len()];
            let (store, event) = (self.trace.event(id), self.trace.event(read));
            let passed = store.thread == event.thread && store.index < event.index && event.is_read();
            if !(passed && self.was_pending(store, event.step)) {
                continue;
            }
            let until = match store.committed {
                Some(step) => format!("until {}", at(step)),
                None => "to the end".to_owned(),
            };
            let sentence = format!(
                "{} read {} at {} while its own earlier store {} ({}) waited in its buffer, {until}.",
                self.names.thread(event.thread),
                self.what_was_read(event),
                at(event.step),
                self.what_was_written(store),
                at(store.step),
            );
            surprises.push(Surprise { about: [id, read], sentence });
        }
        surprises
    }

    /// Returns whether `store` was in its buffer when `step` was performed.
    fn was_pending(&self, store: &Event, step: u32) -> bool {
        store.is_store() && store.step < step && store.committed.is_none_or(|left| left > step)
    }

    fn what_was_read(&self, event: &Event) -> String {
        event
            .loc
            .zip(event.read)
            .map_or_else(String::new, |(loc, value)| text::unbroken(&self.names.equals(loc, value)))
    }

    fn what_was_written(&self, event: &Event) -> String {
        event
            .loc
            .zip(event.written)
            .map_or_else(String::new, |(loc, value)| text::unbroken(&self.names.equals(loc, value)))
    }
}

/// Returns the name of a step in a sentence.
fn at(step: u32) -> String {
    text::unbroken(&format!("step {}", step + 1))
}
