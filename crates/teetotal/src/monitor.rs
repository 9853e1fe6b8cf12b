//! Finds violations of robustness in a recorded execution.

use std::collections::BTreeMap;
use std::io::Read;

use teetotal_judge::monitors::robustness::{Mark, Stream, TooMuch, Waits};
use teetotal_memory::{EventKind, ModelId};
use teetotal_program::{Loc, ThreadId};
use teetotal_report::{Gap, Monitored, Pair, Spot};
use teetotal_traces::{Item, Reader, TraceError};

/// The maximum number of pairs of places that are kept; further ones are only counted.
const MAX_PAIRS: usize = 1_000;

/// One less than the number of events after which the signal is polled.
const PAUSE: u64 = (1 << 16) - 1;

/// Options for monitoring a trace.
#[derive(Clone, Debug)]
pub struct Monitoring {
    /// The name of the trace in reports.
    pub name: String,
    /// The model under which robustness is checked.
    pub model: ModelId,
    /// The maximum number of stores to remember besides the newest one of each location; `None` for all that may be
    /// needed.
    pub window: Option<usize>,
}

/// Reads a trace of any length from `input` and returns the violations of robustness that it implies.
///
/// If the rest of the trace cannot be read, returns what was found before, and the error. `stops` is polled to stop
/// early.
///
/// ```
/// use teetotal::{ModelId, Monitoring, monitor};
///
/// let trace = "T0|w(x)|3\nT0|r(y)|4\nT1|w(y)|7\nT1|r(x)|8\n";
/// let options = Monitoring { name: "SB".to_owned(), model: ModelId::Tso, window: None };
/// let (found, error) = monitor(trace.as_bytes(), &options, &|| false);
/// assert!(error.is_none());
/// assert_eq!(found.pairs[0].location, "x");
/// assert!(found.verdict_line().starts_with("SB: not robust under tso: 1 pair"));
/// ```
pub fn monitor(input: impl Read, options: &Monitoring, stops: &dyn Fn() -> bool) -> (Monitored, Option<TraceError>) {
    let mut watch = Watch {
        reader: Reader::new(input),
        stream: Stream::new(options.model, options.window),
        model: options.model,
        pairs: BTreeMap::new(),
        executions: 0,
        events: 0,
        accesses: 0,
        unlisted: 0,
    };
    let (gap, error) = match watch.run(stops) {
        Ok(()) => ((!watch.stream.is_complete()).then_some(Gap::Window), None),
        Err(End::TooMuch(limit)) => (Some(Gap::Limit(limit.to_string())), None),
        Err(End::Interrupted) => (Some(Gap::Interrupted), None),
        Err(End::Trace(error)) => (Some(Gap::BadInput), Some(error)),
    };
    (watch.told(options, gap), error)
}

struct Watch<R> {
    reader: Reader<R>,
    stream: Stream,
    model: ModelId,
    pairs: BTreeMap<Places, Seen>,
    executions: u64,
    events: u64,
    accesses: u64,
    unlisted: u64,
}

/// The key of a pair: the two places, or the location if a place is not known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Places {
    store: (ThreadId, u32),
    access: (ThreadId, u32),
    loc: Loc,
    does: &'static str,
}

/// The data about a pair.
struct Seen {
    store: Mark,
    line: u64,
    times: u64,
    depends_on_value: bool,
}

/// The reason why the end of a trace was not reached.
enum End {
    Trace(TraceError),
    TooMuch(TooMuch),
    Interrupted,
}

impl From<TraceError> for End {
    fn from(error: TraceError) -> Self {
        End::Trace(error)
    }
}

impl From<TooMuch> for End {
    fn from(limit: TooMuch) -> Self {
        End::TooMuch(limit)
    }
}

impl<R: Read> Watch<R> {
    fn run(&mut self, stops: &dyn Fn() -> bool) -> Result<(), End> {
        while let Some(item) = self.reader.read()? {
            match item {
                Item::Event { event, may_wait, .. } => {
                    self.events += 1;
                    self.accesses += u64::from(event.loc.is_some());
                    let line = self.reader.line();
                    let place = if event.is_store() { self.reader.place() } else { 0 };
                    if let Some(store) = self.stream.event(event, line, place)? {
                        self.found(store, event.thread, does(event.kind), may_wait);
                    }
                    if self.events & PAUSE == 0 && stops() {
                        return Err(End::Interrupted);
                    }
                }
                Item::Waits { thread, loc, kind, order } => {
                    let waits = Waits::of_kind(self.model, kind, order);
                    if let Some(store) = self.stream.waits(thread, loc, waits)? {
                        self.found(store, thread, does(kind), true);
                    }
                }
                Item::Begin => {
                    self.executions += 1;
                    self.stream.begin();
                }
                Item::Threads => {
                    let mut threads = self.reader.idle_threads();
                    threads.try_for_each(|thread| self.stream.starts(thread))?;
                }
                Item::Nothing => {}
            }
        }
        Ok(())
    }

    fn found(&mut self, store: Mark, thread: ThreadId, does: &'static str, depends_on_value: bool) {
        let place = self.reader.place();
        let is_known = store.place != 0 && place != 0;
        let loc = if is_known { Loc(0) } else { store.loc };
        let places = Places { store: (store.thread, store.place), access: (thread, place), loc, does };
        let n_pairs = self.pairs.len();
        match self.pairs.get_mut(&places) {
            Some(seen) => {
                seen.times += 1;
                seen.depends_on_value &= depends_on_value;
            }
            None if n_pairs < MAX_PAIRS => {
                let line = self.reader.line();
                self.pairs.insert(places, Seen { store, line, times: 1, depends_on_value });
            }
            None => self.unlisted += 1,
        }
    }

    fn told(&self, options: &Monitoring, gap: Option<Gap>) -> Monitored {
        let mut found: Vec<(&Places, &Seen)> = self.pairs.iter().collect();
        found.sort_by_key(|(_, seen)| (seen.line, seen.store.number));
        let (n_threads, n_locations) = self.reader.counts();
        let spot = |(thread, place): (ThreadId, u32), line, does| Spot {
            thread: self.reader.thread_name(thread),
            line,
            does,
            place: self.reader.place_name(place),
        };
        let pairs = found.into_iter().map(|(places, seen)| Pair {
            store: spot(places.store, seen.store.number, "store"),
            access: spot(places.access, seen.line, places.does),
            location: self.reader.location_name(seen.store.loc),
            times: seen.times,
            depends_on_value: seen.depends_on_value,
        });
        Monitored {
            name: options.name.clone(),
            model: options.model,
            format: self.reader.format().map(teetotal_traces::Format::name),
            executions: self.executions.max(u64::from(self.events > 0)),
            events: self.events,
            accesses: self.accesses,
            n_threads,
            n_locations,
            pairs: pairs.collect(),
            unlisted: self.unlisted,
            gap,
        }
    }
}

/// Returns the verb for an access.
fn does(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Load => "load",
        EventKind::Store => "store",
        EventKind::Lock => "lock",
        EventKind::Unlock => "unlock",
        _ => "read-modify-write",
    }
}
