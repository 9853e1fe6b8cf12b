//! What is kept from the search because nobody can tell: counts of references, and who made a value first.
//!
//! Keeping it hidden saves executions. As soon as somebody could tell, the search begins anew with it in the open.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use teetotal_clocks::Clock;
use teetotal_program::ThreadId;

use crate::complaint::Place;
use crate::loops::Head;
use crate::marks::{Mark, Marks};
use crate::runtime::{Execution, current, is_active, running};
use crate::standing::Standing;

/// What something is called that may be hidden.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Name(u64);

/// What kind of thing has a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Counts of references, by where they were made; a lazy value by its address; the end of threads by where they start.
    Thing,
    /// That another thread reads what an iteration from this head on restores.
    Observation,
    /// That an iteration from this head on seemed to change statics or thread-locals, for the so manieth time.
    Statics(u32),
    /// That an iteration from this head on has so many operations and ends in the own state in which it began.
    Iteration(u32),
    /// That a cycle of all threads which begins here seemed to change statics or thread-locals, for the so manieth time.
    Cycle(u32),
}

impl Name {
    /// Addresses have fewer bits.
    const KIND: u32 = 56;
    /// The kinds of suspicions come before those of lengths, both after the others, and those of cycles last.
    const STATICS: u64 = 2;
    const ITERATIONS: u64 = 16;
    const CYCLES: u64 = 64;

    pub(crate) fn new<T: ?Sized>(kind: Kind, at: &T) -> Self {
        let kind = match kind {
            Kind::Thing => 0,
            Kind::Observation => 1,
            Kind::Statics(times) => Name::STATICS + u64::from(times),
            Kind::Iteration(length) => Name::ITERATIONS + u64::from(length.next_power_of_two().trailing_zeros()),
            Kind::Cycle(times) => Name::CYCLES + u64::from(times),
        };
        Name((std::ptr::from_ref(at).cast::<()>() as u64) ^ (kind << Name::KIND))
    }

    /// The name of one of several things that belong to `place`; the 0th is called as the place itself is.
    pub(crate) fn beside(place: &'static Location<'static>, which: u8) -> Self {
        debug_assert!(usize::from(which) < size_of::<Location<'static>>(), "other places begin there");
        Name(Name::new(Kind::Thing, place).0 + u64::from(which))
    }

    /// Where it points to.
    pub(crate) fn address(self) -> usize {
        self.parts().0
    }

    /// The address and the kind.
    fn parts(self) -> (usize, Kind) {
        let address = self.0 & ((1 << Name::KIND) - 1);
        let kind = match self.0 >> Name::KIND {
            0 => Kind::Thing,
            1 => Kind::Observation,
            times @ Name::STATICS..Name::ITERATIONS => Kind::Statics((times - Name::STATICS) as u32),
            length @ Name::ITERATIONS..Name::CYCLES => Kind::Iteration(1 << (length - Name::ITERATIONS)),
            times => Kind::Cycle((times - Name::CYCLES) as u32),
        };
        (address as usize, kind)
    }
}

/// What is known of the heads of loops, by their places.
#[derive(Debug, Default)]
pub(crate) struct Heads(FxHashMap<usize, Cell<Head>>);

impl Heads {
    fn new(names: &FxHashSet<Name>) -> Self {
        let mut heads: FxHashMap<usize, Head> = FxHashMap::default();
        let mut names: Vec<&Name> = names.iter().collect();
        names.sort_unstable();
        for (address, kind) in names.into_iter().map(|name| name.parts()).filter(|(_, kind)| *kind != Kind::Thing) {
            let head = heads.entry(address).or_default();
            match kind {
                Kind::Thing => {}
                Kind::Observation => head.is_observed = true,
                Kind::Statics(times) => head.suspicions = head.suspicions.max(times),
                Kind::Iteration(length) => head.length = head.length.max(length),
                Kind::Cycle(times) => head.suspected_cycles = head.suspected_cycles.max(times),
            }
        }
        Heads(heads.into_iter().map(|(address, head)| (address, Cell::new(head))).collect())
    }

    /// Whether no head is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is known of `place`, if it is the head of a loop.
    #[inline]
    pub(crate) fn at(&self, place: &'static Location<'static>) -> Option<Head> {
        if self.0.is_empty() { None } else { self.0.get(&(std::ptr::from_ref(place) as usize)).map(Cell::get) }
    }

    /// An iteration from `place` on has changed no static.
    fn clear_suspicions(&self, place: &'static Location<'static>) {
        if let Some(head) = self.0.get(&(std::ptr::from_ref(place) as usize)) {
            head.set(Head { suspicions: 0, ..head.get() });
        }
    }
}

/// A search ends that has left so many executions in the middle,
const MAX_DISCARDED: usize = 50_000;
/// or with them so many bytes,
const MAX_LEAKED_BYTES: usize = 1 << 30;
/// or so many OS threads.
const MAX_LEAKED_THREADS: usize = 1_000;

/// What in a model may be kept from the search.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Pages>);

#[derive(Debug, Default)]
struct Pages {
    /// The names of what is in the open.
    open: Mutex<Arc<FxHashSet<Name>>>,
    /// Those that were found to be observed since the search began.
    observed: Mutex<FxHashSet<Name>>,
    is_out_of_date: AtomicBool,
    /// How often a loop was cleared of having changed statics, by the address of its place.
    cleared: Mutex<FxHashMap<usize, u32>>,
    /// Loops that the fairness bound held back, and how often they may go round.
    bounded: Mutex<BTreeMap<At, u32>>,
    /// Loops with failed awaits that are taken to keep nothing on the heap.
    assumed: Mutex<BTreeSet<At>>,
    /// Accesses that frees are taken to come after, by way of what is not of this crate.
    trusted: Mutex<BTreeSet<At>>,
    /// Whether something could have failed spuriously once more than the bound allows.
    is_spurious_bound_met: AtomicBool,
    /// Whether an allocation could have been given the address of a freed block once more than the bound allows.
    is_reuse_bound_met: AtomicBool,
    /// Whether code of a model was given memory that the checked allocator does not know.
    has_unchecked_memory: AtomicBool,
    /// Whether plain accesses of some execution were not seen, since they are sampled.
    has_sampled_accesses: AtomicBool,
    /// How many executions were left with threads in the middle, whose stacks were discarded.
    discarded: AtomicUsize,
    /// How many bytes these owned, as far as the checked allocator knows.
    leaked_bytes: AtomicUsize,
    /// How many OS threads sleep for good.
    leaked_threads: AtomicUsize,
    /// Whether a model used something that the search looks at, threads aside.
    has_operations: AtomicBool,
    /// How deep in its stack a thread stood at most whose own state was looked at.
    depth: AtomicUsize,
    /// Where the threads stood when the search could not go on.
    standing: Mutex<Vec<Standing>>,
    /// What was said of an object that does not belong to the execution that used it, and where that was.
    misuse: Mutex<Option<(String, Place)>>,
    /// The states that executions are to reach.
    marks: Marks,
}

impl Ledger {
    /// So often a loop is cleared of having changed statics: one whose iterations do so now and then is not, in the end.
    const CLEARINGS: u32 = 8;

    /// Whether something hidden was observed, so that the search must begin anew.
    #[must_use]
    pub fn is_out_of_date(&self) -> bool {
        self.0.is_out_of_date.load(Ordering::Relaxed)
    }

    /// The loops that the fairness bound held back, each with its bound.
    #[must_use]
    pub fn bounded_loops(&self) -> Vec<(Place, u32)> {
        locked(&self.0.bounded).iter().map(|(at, bound)| (at.into(), *bound)).collect()
    }

    /// The loops with failed awaits that are taken to keep nothing on the heap.
    #[must_use]
    pub fn assumed_loops(&self) -> Vec<Place> {
        locked(&self.0.assumed).iter().map(Place::from).collect()
    }

    /// The accesses that frees are taken to come after, by way of what is not of this crate.
    #[must_use]
    pub fn trusted_accesses(&self) -> Vec<Place> {
        locked(&self.0.trusted).iter().map(Place::from).collect()
    }

    /// A free is taken to come after the access at `place`.
    pub(crate) fn note_trusted(&self, place: &Location<'static>) {
        locked(&self.0.trusted).insert(At::from(place));
    }

    /// Whether executions with more spurious failures or wake-ups than the bound allows were left out.
    #[must_use]
    pub fn is_spurious_bound_met(&self) -> bool {
        self.0.is_spurious_bound_met.load(Ordering::Relaxed)
    }

    /// Whether a model used anything that the search looks at, threads that start and end aside.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        self.0.has_operations.load(Ordering::Relaxed)
    }

    /// Takes over which loops a search that is continued was known to have, and which accesses frees come after.
    pub fn take_over(&self, bounded: &[(Place, u32)], assumed: &[Place], trusted: &[Place]) {
        locked(&self.0.bounded).extend(bounded.iter().map(|(place, bound)| (place.into(), *bound)));
        locked(&self.0.assumed).extend(assumed.iter().map(At::from));
        locked(&self.0.trusted).extend(trusted.iter().map(At::from));
    }

    /// Something could have failed spuriously once more.
    pub fn note_spurious_bound(&self) {
        self.0.is_spurious_bound_met.store(true, Ordering::Relaxed);
    }

    /// An allocation could have been given the address of a freed block once more.
    pub fn note_reuse_bound(&self) {
        self.0.is_reuse_bound_met.store(true, Ordering::Relaxed);
    }

    /// Whether executions in which freed blocks are reused more often than the bound allows were left out.
    #[must_use]
    pub fn is_reuse_bound_met(&self) -> bool {
        self.0.is_reuse_bound_met.load(Ordering::Relaxed)
    }

    /// Whether code of a model was given memory that the checked allocator, which is installed, does not know.
    #[must_use]
    pub fn has_unchecked_memory(&self) -> bool {
        self.0.has_unchecked_memory.load(Ordering::Relaxed)
    }

    /// Code of a model was given memory that the checked allocator does not know.
    pub fn note_unchecked_memory(&self) {
        self.0.has_unchecked_memory.store(true, Ordering::Relaxed);
    }

    /// Whether plain accesses of some execution were not seen, since they are sampled.
    #[must_use]
    pub fn has_sampled_accesses(&self) -> bool {
        self.0.has_sampled_accesses.load(Ordering::Relaxed)
    }

    /// Plain accesses of an execution are not seen, since they are sampled.
    pub fn note_sampled_accesses(&self) {
        self.0.has_sampled_accesses.store(true, Ordering::Relaxed);
    }

    /// How many executions were left with threads in the middle: what these own is leaked.
    #[must_use]
    pub fn discarded(&self) -> usize {
        self.0.discarded.load(Ordering::Relaxed)
    }

    /// How many bytes they own, as far as the checked allocator knows.
    #[must_use]
    pub fn leaked_bytes(&self) -> usize {
        self.0.leaked_bytes.load(Ordering::Relaxed)
    }

    /// Whether so much is leaked that the search is to end.
    #[must_use]
    pub fn has_leaked_too_much(&self) -> bool {
        self.discarded() >= MAX_DISCARDED
            || self.leaked_bytes() >= MAX_LEAKED_BYTES
            || self.0.leaked_threads.load(Ordering::Relaxed) >= MAX_LEAKED_THREADS
    }

    /// An execution was left with threads in the middle, so many of them OS threads, and these bytes.
    pub(crate) fn note_discarded(&self, bytes: usize, os_threads: usize) {
        self.0.discarded.fetch_add(1, Ordering::Relaxed);
        self.0.leaked_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.0.leaked_threads.fetch_add(os_threads, Ordering::Relaxed);
    }

    /// The model uses something that the search looks at.
    pub fn note_operation(&self) {
        self.0.has_operations.store(true, Ordering::Relaxed);
    }

    /// Executions are left out in which the loop at `place` has more iterations than `bound`.
    pub(crate) fn note_bounded(&self, place: &Location<'static>, bound: u32) {
        locked(&self.0.bounded).insert(At::from(place), bound);
    }

    /// An iteration of the loop at `place` is taken to have changed nothing on the heap.
    pub(crate) fn note_assumed(&self, place: &Location<'static>) {
        let (mut assumed, at) = (locked(&self.0.assumed), At::from(place));
        if !assumed.contains(&at) {
            assumed.insert(at);
        }
    }

    /// The own state of a thread so deep in its stack is looked at.
    pub fn note_depth(&self, depth: usize) {
        if depth > self.depth() {
            self.0.depth.fetch_max(depth, Ordering::Relaxed);
        }
    }

    /// How deep in its stack a thread stood at most whose own state was looked at.
    ///
    /// As much of each stack is the same at the beginning of every execution, and so must be in a search that is
    /// continued.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.depth.load(Ordering::Relaxed)
    }

    /// Where the threads stood in the last execution that was too long or could not be run again.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        locked(&self.0.standing).clone()
    }

    /// What is wrong with an object that a model used, and where, if one does not belong to the execution that used it.
    ///
    /// Executions with such an object differ when they are run again, so that the search may have found nothing else.
    #[must_use]
    pub fn misuse(&self) -> Option<(String, Place)> {
        locked(&self.0.misuse).clone()
    }

    pub(crate) fn note_misuse(&self, text: String, place: Place) {
        locked(&self.0.misuse).get_or_insert((text, place));
    }

    pub(crate) fn note_standing(&self, standing: Vec<Standing>) {
        *locked(&self.0.standing) = standing;
    }

    /// What was observed is in the open from now on.
    pub fn open(&self) {
        let mut open = locked(&self.0.open);
        let mut observed = locked(&self.0.observed);
        let mut names = FxHashSet::clone(&open);
        names.extend(observed.drain());
        *open = Arc::new(names);
        locked(&self.0.bounded).clear();
        locked(&self.0.assumed).clear();
        locked(&self.0.trusted).clear();
        self.0.is_spurious_bound_met.store(false, Ordering::Relaxed);
        self.0.is_reuse_bound_met.store(false, Ordering::Relaxed);
        self.0.has_unchecked_memory.store(false, Ordering::Relaxed);
        self.0.has_sampled_accesses.store(false, Ordering::Relaxed);
        self.0.is_out_of_date.store(false, Ordering::Relaxed);
    }

    /// The state `name` is to be reached, which is asked for at `place`.
    pub fn ask_for(&self, name: &str, place: Option<Place>) {
        self.0.marks.ask_for(name, place);
    }

    /// The state `name` was reached before.
    pub fn reach(&self, name: &str) {
        self.0.marks.reach(name);
    }

    /// The names of what is in the open, relative to where this program is in memory.
    #[must_use]
    pub fn open_from_here(&self) -> Vec<i64> {
        let mut names: Vec<i64> = self.names().iter().map(|name| name.0.wrapping_sub(here()) as i64).collect();
        names.sort_unstable();
        names
    }

    /// What had this name, relative to where this program is in memory, is in the open.
    pub fn open_at(&self, name: i64) {
        let mut open = locked(&self.0.open);
        let mut names = FxHashSet::clone(&open);
        names.insert(Name(here().wrapping_add(name as u64)));
        *open = Arc::new(names);
    }

    /// The states that were asked for, by their names.
    #[must_use]
    pub fn marked(&self) -> Vec<Mark> {
        self.0.marks.all()
    }

    pub(crate) fn marks(&self) -> &Marks {
        &self.0.marks
    }

    /// What is known of the heads of loops.
    pub(crate) fn heads(&self) -> Heads {
        Heads::new(&self.names())
    }

    pub(crate) fn names(&self) -> Arc<FxHashSet<Name>> {
        Arc::clone(&locked(&self.0.open))
    }

    /// An iteration from `place` on has changed no static; returns whether that clears the loop.
    fn clear_suspicions(&self, place: &'static Location<'static>) -> bool {
        let address = std::ptr::from_ref(place) as usize;
        let mut cleared = locked(&self.0.cleared);
        let times = cleared.entry(address).or_insert(0);
        *times += 1;
        if *times > Ledger::CLEARINGS {
            return false;
        }
        let is_other = |name: &Name| !matches!(name.parts(), (at, Kind::Statics(_)) if at == address);
        Arc::make_mut(&mut locked(&self.0.open)).retain(is_other);
        true
    }

    fn note(&self, name: Name) {
        locked(&self.0.observed).insert(name);
        self.0.is_out_of_date.store(true, Ordering::Relaxed);
    }
}

/// A place in the source, by file, line and column.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct At(Cow<'static, str>, u32, u32);

impl From<&Location<'static>> for At {
    fn from(place: &Location<'static>) -> Self {
        At(place.file().into(), place.line(), place.column())
    }
}

impl From<&Place> for At {
    fn from(place: &Place) -> Self {
        At(place.file.clone().into(), place.line, place.column)
    }
}

impl From<&At> for Place {
    fn from(At(file, line, column): &At) -> Self {
        Place { file: file.to_string(), line: *line, column: *column }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where this program is in memory.
fn here() -> u64 {
    static HERE: u8 = 0;
    std::ptr::from_ref(&HERE) as u64
}

/// Code that runs while something is kept from the search.
#[derive(Clone, Copy, Debug)]
struct Section {
    thread: ThreadId,
    name: Name,
}

/// The sections that threads are in.
#[derive(Debug, Default)]
pub(crate) struct Sections(Vec<Section>);

impl Execution {
    /// Somebody could tell what is hidden under `name`.
    pub(crate) fn expose(&self, name: Name) {
        if !self.is_over.get() && !self.is_open(name) {
            self.ledger.note(name);
        }
    }

    /// The search must begin anew with `name` in the open, even if it was so before.
    pub(crate) fn begin_anew_with(&self, name: Name) {
        if !self.is_over.get() {
            self.ledger.note(name);
        }
    }

    /// An iteration from `place` on has changed no static: what seemed to was not its doing.
    pub(crate) fn clear_suspicions(&self, place: &'static Location<'static>) {
        if self.ledger.clear_suspicions(place) {
            self.heads.clear_suspicions(place);
        }
    }

    pub(crate) fn is_open(&self, name: Name) -> bool {
        self.open.contains(&name)
    }

    /// The thread that runs does something that others can see.
    #[inline]
    pub(crate) fn be_seen(&self, thread: ThreadId) {
        if !self.sections.borrow().0.is_empty() {
            self.expose_sections(thread);
        }
    }

    /// Whether `thread` is in a section that is hidden.
    pub(crate) fn is_unseen(&self, thread: ThreadId) -> bool {
        self.sections.try_borrow().is_ok_and(|sections| sections.0.iter().any(|section| section.thread == thread))
    }

    #[cold]
    fn expose_sections(&self, thread: ThreadId) {
        let sections = self.sections.borrow();
        let own = sections.0.iter().filter(|section| section.thread == thread);
        own.for_each(|section| self.expose(section.name));
    }
}

/// Runs `f`, which must do nothing that others can see, or else what has this `name` is exposed.
///
/// Meanwhile the thread knows what `known` says besides.
pub(crate) fn unseen<R>(name: Name, known: Option<&Clock>, f: impl FnOnce() -> R) -> R {
    let begun = is_active().then(running).flatten().and_then(|thread| {
        current(|execution| {
            execution.sections.borrow_mut().0.push(Section { thread, name });
            known.map(|known| execution.races.borrow_mut().learn(thread, known))
        })
        .map(|before| (thread, before))
    });
    let end = End { begun, name };
    let result = f();
    drop(end);
    result
}

/// Ends a section, also when it ends by a panic.
struct End {
    begun: Option<(ThreadId, Option<Clock>)>,
    name: Name,
}

impl Drop for End {
    fn drop(&mut self) {
        let Some((thread, before)) = self.begun.take() else { return };
        current(|execution| {
            let sections = &mut execution.sections.borrow_mut().0;
            if let Some(at) = sections.iter().rposition(|section| section.thread == thread && section.name == self.name)
            {
                sections.remove(at);
            }
            if let Some(before) = before {
                execution.races.borrow_mut().unlearn(thread, before);
            }
        });
    }
}
