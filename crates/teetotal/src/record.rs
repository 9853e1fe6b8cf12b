//! Writes the sequentially consistent executions of a program as traces.

use std::io::{self, Write};
use std::sync::Arc;

use teetotal_check::each_execution;
use teetotal_engine::driver::Flow;
use teetotal_memory::{Event, EventKind, Trace};
use teetotal_program::ir::{Instruction, Program, printer};
use teetotal_program::{Loc, ThreadId, Value};
use teetotal_robustness::Waiter;
use teetotal_traces::{self as traces, Format, Naming, Waiting};

use crate::{CheckError, Coverage, Limits, StopReason, StopSignal};

/// Calls a closure with one sequentially consistent execution forevery trace of `program`, and its number.
///
/// Returns how many were written, and whether these are all. An execution that cannot be written ends the search; the
/// error is returned.
///
/// ```
/// use std::sync::Arc;
/// use teetotal::traces::Format;
/// use teetotal::{Limits, gallery, record};
///
/// let program = Arc::new(gallery::store_buffering());
/// let mut text = Vec::new();
/// let (written, coverage) = record(&program, &Limits::default(), &|| None, Format::Own, &mut |_, execution| {
///     text.extend_from_slice(execution);
///     Ok(())
/// })?;
/// assert_eq!(written.expect("a list takes everything"), 3);
/// assert!(coverage.is_complete());
/// assert!(text.starts_with(b"teetotal trace 1\nthreads P0 P1\n"));
/// # Ok::<(), teetotal::CheckError>(())
/// ```
pub fn record(
    program: &Arc<Program>,
    limits: &Limits,
    signal: StopSignal<'_>,
    format: Format,
    keep: &mut (dyn FnMut(u64, &[u8]) -> io::Result<()> + Send),
) -> Result<(io::Result<u64>, Coverage), CheckError> {
    let mut written = 0;
    let mut failed = None;
    let coverage = each_execution(program, limits, signal, &mut |trace, waiters| {
        written += 1;
        let mut text = Vec::new();
        let kept = text_of(program, trace, waiters, format, &mut text).and_then(|()| keep(written, &text));
        failed = kept.err();
        if failed.is_some() { Flow::Stop(StopReason::Interrupted) } else { Flow::Continue }
    })?;
    Ok((failed.map_or(Ok(written), Err), coverage))
}

/// Writes an execution of `program`, at the end of which some threads may be blocked.
fn text_of(
    program: &Program,
    trace: &Trace,
    waiters: &[Waiter],
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    let threads = program.threads.iter().enumerate();
    let roots: Vec<ThreadId> = threads.filter(|(_, code)| code.starts).map(|(index, _)| ThreadId::at(index)).collect();
    let waiting = waiters.iter().map(|waiter| Waiting {
        thread: waiter.thread,
        loc: waiter.loc,
        kind: waiter.kind,
        order: waiter.order,
        place: Some(place(program, waiter.thread, waiter.place)),
    });
    let waiting: Vec<Waiting> = waiting.collect();
    traces::write(out, format, trace, &roots, &waiting, &Names { program })
}

struct Names<'p> {
    program: &'p Program,
}

impl Naming for Names<'_> {
    fn thread(&self, thread: ThreadId) -> String {
        self.program.threads.get(thread.index()).map_or_else(String::new, |code| code.name.clone())
    }

    fn location(&self, loc: Loc) -> String {
        self.program.location_name(loc).to_owned()
    }

    fn initial(&self, loc: Loc) -> Value {
        self.program.locations.get(loc.index()).map_or(0, |location| location.initial)
    }

    fn place(&self, event: &Event) -> Option<String> {
        Some(place(self.program, event.thread, event.place))
    }

    fn waits(&self, event: &Event) -> bool {
        let code = self.program.threads.get(event.thread.index()).map(|thread| &thread.code);
        let instruction = code.and_then(|code| code.get(event.place as usize));
        event.kind == EventKind::Load && matches!(instruction, Some(Instruction::Await { .. }))
    }
}

/// Describes an instruction: its position in its thread, its text, and its place in the source if there is one.
fn place(program: &Program, thread: ThreadId, instruction: u32) -> String {
    let statement = printer::shown(program, thread, instruction as usize, None);
    let places = program.threads.get(thread.index()).map(|code| &code.places);
    let span = places.and_then(|places| places.get(instruction as usize)).and_then(|place| place.span);
    let source = span.and_then(|span| Some((program.sources.get(usize::from(span.source))?, span)));
    let source = source.map(|(source, span)| format!(" ({}:{}:{})", source.name, span.line, span.column));
    format!("{instruction}: {statement}{}", source.unwrap_or_default())
}
