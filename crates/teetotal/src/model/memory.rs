//! Reports memory errors of a model.

use teetotal_live::{BlockEvent, FaultKind, MemoryFault, Place};
use teetotal_program::ThreadId;

use super::failure::{after_message, snippet};
use super::source_text::SourceTexts;
use super::storyboard::thread_name;
use super::violation::ViolationKind;

pub(super) fn kind_of(kind: FaultKind) -> ViolationKind {
    match kind {
        FaultKind::DoubleFree => ViolationKind::DoubleFree,
        FaultKind::UnpublishedBlock => ViolationKind::DataRace,
        _ => ViolationKind::UseAfterFree,
    }
}

/// Returns the allocation, the free and the access, as far as they are known.
pub(super) fn places_of(fault: &MemoryFault) -> Vec<Place> {
    let plain = fault.plain.as_ref().and_then(|plain| plain.place.clone());
    let access = fault.access.map(|access| access.place.into()).or(plain);
    let freed = fault.freed.as_ref().and_then(|freed| freed.place.clone());
    let mut places: Vec<Place> =
        [fault.allocated.place.clone(), freed, access, fault.place.clone()].into_iter().flatten().collect();
    places.dedup();
    places
}

pub(super) fn threads_of(fault: &MemoryFault) -> Vec<ThreadId> {
    let freed = fault.freed.as_ref().and_then(|freed| freed.thread);
    let plain = fault.plain.as_ref().and_then(|plain| plain.thread);
    let access = fault.access.map(|access| access.thread).or(plain);
    let threads = [Some(fault.thread), fault.allocated.thread, freed, access];
    let mut threads: Vec<ThreadId> = threads.into_iter().flatten().collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// Describes the error, with the allocation, the free and the access.
pub(super) fn describe(fault: &MemoryFault, texts: &mut SourceTexts) -> String {
    let thread = thread_name(fault.thread);
    let (message, verb) = match fault.kind {
        FaultKind::StalePointer => {
            ("use after free: a pointer was followed that was read from freed memory", "follows it")
        }
        FaultKind::ReusedBlock => {
            ("use after free: this block of memory was freed, and allocated for something else", "accesses it")
        }
        FaultKind::DoubleFree => ("double free: this block of memory was freed before", "frees it again"),
        FaultKind::RacingFree => ("use after free: nothing orders the free of this block after an access", "frees it"),
        FaultKind::UnpublishedBlock if is_free(fault) => {
            ("data race: nothing orders the allocation of this block before its free", "frees it")
        }
        FaultKind::UnpublishedBlock => {
            ("data race: nothing orders the creation of this value before an access", "accesses it")
        }
        _ if fault.is_ordered => ("use after free: this block of memory was freed before the access", "accesses it"),
        _ => ("use after free: nothing orders the access before the free of this block", "accesses it"),
    };
    let mut out = format!("{message}\n");
    let mut row = |place: Option<&Place>, label: &str| match place {
        Some(place) => out.push_str(after_message(&snippet("", place, Some(label), texts))),
        None => out.push_str(&format!("  {label} (the place in the source is not known)\n")),
    };
    // A block of which only references are known has no size.
    let size = if fault.size == 0 { String::new() } else { format!(" ({} bytes)", fault.size) };
    let allocated = format!("{} allocates the block{size}", by(&fault.allocated));
    match fault.kind {
        FaultKind::StalePointer | FaultKind::ReusedBlock => {}
        _ => row(fault.allocated.place.as_ref(), &allocated),
    }
    if let (Some(access), FaultKind::RacingFree) = (&fault.access, fault.kind) {
        row(Some(&access.place.into()), &format!("{} {} it here", thread_name(access.thread), access.kind.verb()));
    } else if let (Some(access), FaultKind::RacingFree) = (&fault.plain, fault.kind) {
        row(access.place.as_ref(), &format!("{} accesses it here", by(access)));
    } else if let (Some(freed), true) = (&fault.freed, fault.kind != FaultKind::UnpublishedBlock) {
        row(freed.place.as_ref(), &format!("{} frees it", by(freed)));
    }
    if fault.kind == FaultKind::ReusedBlock {
        row(fault.allocated.place.as_ref(), &format!("{} allocates its memory again", by(&fault.allocated)));
    }
    row(fault.place.as_ref(), &format!("{thread} {verb}"));
    out.push_str(&format!("help: {}\n", help(fault)));
    out
}

/// Returns whether it is the free that the allocation is not ordered before.
pub(super) fn is_free(fault: &MemoryFault) -> bool {
    fault.kind == FaultKind::UnpublishedBlock && fault.access.is_none() && fault.plain.is_none()
}

/// Returns how to fix the error.
fn help(fault: &MemoryFault) -> &'static str {
    match fault.kind {
        FaultKind::DoubleFree => "let one atomic exchange, such as `swap` or `compare_exchange`, decide who frees it",
        FaultKind::UnpublishedBlock => "store the pointer with `Release` or stronger, and load it with `Acquire`",
        FaultKind::RacingFree if fault.plain.is_some() => {
            "end the last access with a `Release` operation, and let the free come after an `Acquire` one that sees it; \
             what an `Arc` or a lock of `std` orders is not known: use those of `teetotal`"
        }
        FaultKind::RacingFree => {
            "end the last access with a `Release` operation, and let the free come after an `Acquire` one that sees it"
        }
        _ if fault.is_ordered => "the pointer outlives the block: do not keep it, or free the block later",
        _ => {
            "free the block when no thread can still have the pointer: count references, or use hazard pointers or epochs"
        }
    }
}

fn by(event: &BlockEvent) -> String {
    event.thread.map_or_else(|| "the end of the execution".to_owned(), thread_name)
}
