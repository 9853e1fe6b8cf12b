//! What threads did between the steps of a failing execution: allocations, frees, plain accesses.

use teetotal_live::{Access, BlockEvent, Complaint, FaultKind, MemoryFault, Place};
use teetotal_memory::{Event, EventKind, Source, Trace};
use teetotal_program::{ThreadId, Value};
use teetotal_timeline::Note;

use super::memory::is_free;
use super::problem::Problem;
use super::source_text::SourceTexts;
use super::storyboard::{Storyboard, thread_name};

/// Returns the rows for events of a problem that no step shows, in the order in which they happened.
pub(super) fn rows(problem: &Problem, board: &Storyboard, texts: &mut SourceTexts) -> Vec<Note> {
    let mut rows = Rows { board, texts, notes: Vec::new() };
    match problem {
        Problem::Failed(_, Complaint::Race(race)) => {
            rows.access(&race.first, "");
            rows.access(&race.second, ", at the same time");
        }
        Problem::Failed(_, Complaint::Memory(fault)) => rows.fault(fault),
        _ => {}
    }
    rows.notes
}

struct Rows<'r> {
    board: &'r Storyboard,
    texts: &'r mut SourceTexts,
    notes: Vec<Note>,
}

impl Rows<'_> {
    fn fault(&mut self, fault: &MemoryFault) {
        let block = name_of(fault, self.board);
        let size = if fault.size == 0 { String::new() } else { format!(", {} bytes", fault.size) };
        match (fault.kind, &fault.freed) {
            (FaultKind::StalePointer, _) => {}
            (FaultKind::ReusedBlock, freed) => {
                freed.iter().for_each(|freed| self.event(freed, &format!("frees {block}")));
                self.event(&fault.allocated, &format!("allocates the memory of {block} again"));
            }
            _ => self.event(&fault.allocated, &format!("allocates {block}{size}")),
        }
        match (&fault.access, &fault.freed, fault.kind) {
            (Some(access), _, FaultKind::RacingFree) => self.access(access, ""),
            (None, _, FaultKind::RacingFree) => {
                fault.plain.iter().for_each(|access| self.event(access, &format!("accesses {block}")));
            }
            (_, Some(freed), FaultKind::UseAfterFree | FaultKind::DoubleFree) => {
                self.event(freed, &format!("frees {block}"));
            }
            _ => {}
        }
        let last = match fault.kind {
            FaultKind::DoubleFree => format!("frees {block} again"),
            FaultKind::RacingFree => format!("frees {block}"),
            FaultKind::UnpublishedBlock if is_free(fault) => format!("frees {block}"),
            FaultKind::StalePointer => "follows a pointer from freed memory".to_owned(),
            FaultKind::UnpublishedBlock if fault.access.is_some_and(|access| access.kind.is_atomic) => {
                format!("this is in {block}")
            }
            _ => match fault.place.as_ref().and_then(|place| self.texts.call(place)) {
                Some(call) => format!("{} in {block}", call.text),
                None => format!("accesses {block}"),
            },
        };
        let line = line_of(fault.place.as_ref());
        let after = self.board.trace.steps().len();
        self.notes.push(Note { after, thread: fault.thread.index(), text: format!("{last}{line}") });
    }

    fn event(&mut self, event: &BlockEvent, text: &str) {
        let Some(thread) = event.thread else { return };
        let text = format!("{text}{}", line_of(event.place.as_ref()));
        self.notes.push(Note { after: position(&self.board.trace, thread, event.after), thread: thread.index(), text });
    }

    /// A plain access; an atomic one is a step.
    fn access(&mut self, access: &Access, more: &str) {
        if access.kind.is_atomic || access.kind.is_creation && !access.kind.is_construction {
            return;
        }
        let place = Place::from(access.place);
        let does = self.texts.call(&place).map_or_else(|| access.kind.verb().to_owned(), |call| call.text);
        let (thread, line) = (access.thread, line_of(Some(&place)));
        let after = position(&self.board.trace, thread, access.after);
        self.notes.push(Note { after, thread: thread.index(), text: format!("{does}{line}{more}") });
    }
}

fn line_of(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" :{}", place.line))
}

/// Returns the name of the block in the table.
fn name_of(fault: &MemoryFault, board: &Storyboard) -> String {
    board.pointers.get(&(fault.address as Value)).cloned().unwrap_or_else(|| "the block".to_owned())
}

/// Returns the number of steps before what `thread` did after this many operations.
fn position(trace: &Trace, thread: ThreadId, after: u32) -> usize {
    let is_last = |event: &&Event| match event.kind {
        EventKind::Spawn(child) if after == 0 => child == thread,
        _ => event.thread == thread && event.index + 1 == after,
    };
    trace.events().iter().find(is_last).map_or(0, |event| event.step as usize + 1)
}

/// Explains why nothing orders the accesses of a problem, if the trace shows it.
pub(super) fn why(problem: &Problem, board: &Storyboard) -> Option<String> {
    let trace = &board.trace;
    match problem {
        Problem::Failed(_, Complaint::Race(race)) => {
            let [first, second] = [&race.first, &race.second].map(|access| (access.thread, access.after));
            Some(unordered(trace, first, second))
        }
        Problem::Failed(_, Complaint::Memory(fault)) => {
            let last = (fault.thread, fault.after);
            match (fault.kind, &fault.access) {
                (FaultKind::RacingFree, Some(access)) => Some(unordered(trace, (access.thread, access.after), last)),
                (FaultKind::RacingFree, None) => {
                    let access = fault.plain.as_ref()?;
                    Some(unordered(trace, (access.thread?, access.after), last))
                }
                (FaultKind::UnpublishedBlock, _) => {
                    Some(unordered(trace, (fault.allocated.thread?, fault.allocated.after), last))
                }
                (FaultKind::UseAfterFree | FaultKind::DoubleFree, _) if !fault.is_ordered => held(fault, board),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Explains since when a thread has had a pointer to a block that another thread freed.
fn held(fault: &MemoryFault, board: &Storyboard) -> Option<String> {
    let block = name_of(fault, board);
    let value = board.shown.get(&(fault.address as Value))?;
    let reads = |event: &&Event| event.thread == fault.thread && event.read == Some(*value);
    let read = board.trace.events().iter().rev().find(reads)?;
    let (thread, step) = (thread_name(fault.thread), read.step + 1);
    let by = fault.freed.as_ref()?.thread.map(thread_name)?;
    Some(format!("{thread} has had {block} since step ({step}), and nothing kept {by} from freeing it meanwhile.\n"))
}

/// Explains why what one thread did after this many operations is not ordered before what another thread did.
fn unordered(trace: &Trace, first: (ThreadId, u32), second: (ThreadId, u32)) -> String {
    let [one, other] = [first.0, second.0].map(thread_name);
    // A read of the second thread, from a write of the first, that lies between the two.
    let passes = |event: &&Event| {
        let source = match event.source {
            Some(Source::Write(id)) => trace.event(id),
            _ => return false,
        };
        event.thread == second.0 && event.index < second.1 && source.thread == first.0 && source.index >= first.1
    };
    let Some(read) = trace.events().iter().rev().find(passes) else {
        return format!(
            "Nothing orders the two: {other} has read nothing by then that {one} wrote with `Release` after it.\n"
        );
    };
    let Some(Source::Write(id)) = read.source else { return String::new() };
    let write = trace.event(id);
    let (from, to) = (write.step + 1, read.step + 1);
    let fenced = |thread, range: std::ops::Range<u32>, is_right: fn(teetotal_program::Order) -> bool| {
        let is_fence = |event: &&Event| {
            event.thread == thread
                && event.kind == EventKind::Fence
                && range.contains(&event.index)
                && is_right(event.order)
        };
        trace.events().iter().any(|event| is_fence(&event))
    };
    let releases = write.order.releases() || fenced(first.0, first.1..write.index, |order| order.releases());
    let acquires = read.order.acquires() || fenced(second.0, read.index..second.1, |order| order.acquires());
    let why = match (releases, acquires) {
        (false, false) => format!("({from}) does not release and ({to}) does not acquire"),
        (false, true) => format!("({from}) does not release"),
        (true, false) => format!("({to}) does not acquire"),
        (true, true) => "there is no release sequence between them".to_owned(),
    };
    format!("Nothing orders the two: {other} reads at ({to}) what {one} wrote at ({from}), but {why}.\n")
}
