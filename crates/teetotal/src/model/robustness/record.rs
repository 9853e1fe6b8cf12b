//! Writes the sequentially consistent executions of a model as traces.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use teetotal_dpor::Rest;
use teetotal_engine::driver::Flow;
use teetotal_engine::{Execution, SearchId, StopReason};
use teetotal_live::{Ledger, Live};
use teetotal_memory::{Event, EventKind, ModelId};
use teetotal_program::{Loc, Op, Subject, ThreadId, Value};
use teetotal_robustness::waiters;
use teetotal_traces::{self as traces, Format, Naming, Waiting};

use super::super::rust_searches::{self, RustTask};
use super::super::source_text::SourceTexts;
use super::super::storyboard::{ADDRESSES, location_names};
use super::super::watchman::Watchman;
use super::{Builder, recording, test_name, thread_name, trace_of};

/// The number of models recorded for each test.
static RECORDED: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Writes one execution forevery trace to `folder`, in files named after the test.
pub(in super::super) fn record(
    builder: &Builder,
    body: &teetotal_live::Model,
    folder: &Path,
    format: Format,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let name = own_name();
    let ledger = Ledger::default();
    loop {
        let mut sink = Sink { folder, name: &name, format, file: None, n: 0 };
        write_all(builder, body, &ledger, &mut sink)?;
        if !ledger.is_out_of_date() {
            return sink.file.map_or(Ok(()), |mut file| file.flush());
        }
        ledger.open();
    }
}

/// Returns the name of the files of this model.
fn own_name() -> String {
    let name = test_name().unwrap_or_else(|| "model".to_owned()).replace("::", "-");
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    let n = recorded.entry(name.clone()).and_modify(|n| *n += 1).or_insert(1);
    if *n == 1 { name } else { format!("{name}-{n}") }
}

/// Where executions are written: one file for all of them, or one for each.
struct Sink<'s> {
    folder: &'s Path,
    name: &'s str,
    format: Format,
    file: Option<BufWriter<File>>,
    n: u64,
}

impl Sink<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.n += 1;
        if self.format == Format::Std {
            return fs::write(self.folder.join(format!("{}-{:06}.std", self.name, self.n)), text);
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(File::create(self.folder.join(format!("{}.trace", self.name)))?)),
        };
        file.write_all(text)
    }
}

fn write_all(builder: &Builder, body: &teetotal_live::Model, ledger: &Ledger, sink: &mut Sink<'_>) -> io::Result<()> {
    let signal = Watchman::new(builder, ledger);
    let format = sink.format;
    let writing = Mutex::new((sink, None));
    let look = |execution: &Execution<'_, Live>| {
        if ledger.is_out_of_date() {
            return Flow::Stop(StopReason::Superseded);
        }
        let mut writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (sink, failed) = &mut *writing;
        match text_of(execution, format).and_then(|text| sink.write(&text)) {
            Ok(()) => Flow::Continue,
            Err(error) => {
                *failed = Some(error);
                Flow::Stop(StopReason::Interrupted)
            }
        }
    };
    let limits = builder.limits();
    let make = || recording(builder.live(body, ledger));
    let model = ModelId::STRONGEST;
    let task =
        RustTask { make: &make, model, limits, jobs: 1, bound: None, rest: Rest::all(), signal: &signal, sink: &look };
    let searched = rust_searches::run(SearchId::Dpor, &task);
    searched.expect("`dpor` takes all Rust code");
    let (_, failed) = writing.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), Err)
}

fn text_of(execution: &Execution<'_, Live>, format: Format) -> io::Result<Vec<u8>> {
    let live = execution.subject;
    let mut trace = trace_of(execution);
    let mut pointers = Pointers::default();
    let initial = (0..trace.n_locations()).map(|index| pointers.show(live.initial(Loc::at(index)))).collect();
    trace.map_values(|value| pointers.show(value));
    let names = Names { live, initial, locations: location_names(live, &trace, &mut SourceTexts::default()) };
    let waiting = waiters(live).into_iter().map(|waiter| Waiting {
        thread: waiter.thread,
        loc: waiter.loc,
        kind: waiter.kind,
        order: waiter.order,
        place: live.source_place(waiter.thread).map(ToString::to_string),
    });
    let mut text = Vec::new();
    traces::write(&mut text, format, &trace, &[ThreadId(0)], &waiting.collect::<Vec<_>>(), &names)?;
    Ok(text)
}

/// Returns numbers for values that look like addresses, which differ from run to run.
#[derive(Default)]
struct Pointers {
    known: BTreeMap<Value, Value>,
}

impl Pointers {
    fn show(&mut self, value: Value) -> Value {
        if !ADDRESSES.contains(&value) {
            return value;
        }
        // The low bits are a tag.
        let next = ADDRESSES.start + 8 * self.known.len() as Value;
        *self.known.entry(value & !7).or_insert(next) | (value & 7)
    }
}

struct Names<'l> {
    live: &'l Live,
    initial: Vec<Value>,
    locations: Vec<String>,
}

impl Naming for Names<'_> {
    fn thread(&self, thread: ThreadId) -> String {
        thread_name(thread)
    }

    fn location(&self, loc: Loc) -> String {
        self.locations.get(loc.index()).cloned().unwrap_or_else(|| format!("location{}", loc.index()))
    }

    fn initial(&self, loc: Loc) -> Value {
        self.initial.get(loc.index()).copied().unwrap_or(0)
    }

    fn place(&self, event: &Event) -> Option<String> {
        self.live.places(event.thread).get(event.index as usize).map(ToString::to_string)
    }

    fn waits(&self, event: &Event) -> bool {
        let done = self.live.done(event.thread).get(event.index as usize);
        event.kind == EventKind::Load && done.is_some_and(|done| matches!(done.op, Op::Await { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_numbered_and_keep_their_marks() {
        let mut pointers = Pointers::default();
        let address = ADDRESSES.start + 0x1238;
        let shown = [7, address, address + 16, address | 1].map(|value| pointers.show(value));
        assert_eq!(shown, [7, ADDRESSES.start, ADDRESSES.start + 8, ADDRESSES.start | 1]);
    }
}
