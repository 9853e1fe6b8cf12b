//! Abstraction refinement: reference counts and the like are ignored until a thread observes them.
//!
//! The abstraction saves executions. As soon as a thread could observe a difference, the search restarts with the
//! abstracted operations made concrete ("in the open" in the names of this module).

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

/// The name of something that may be abstracted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Name(u64);

/// The kinds of names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Reference counts, by the place of creation; a lazy value, by its address; the end of threads, by the place where
    /// they start.
    Thing,
    /// Another thread reads what an iteration from this head on restores.
    Observation,
    /// An iteration from this head on seemed to change statics or thread-locals, for the nth time.
    Statics(u32),
    /// An iteration from this head on has this many operations and ends in the own state in which it began.
    Iteration(u32),
    /// A cycle of all threads which begins here seemed to change statics or thread-locals, for the nth time.
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

    /// Returns the name of one of several objects that belong to `place`; the first one has the name of the place.
    pub(crate) fn beside(place: &'static Location<'static>, which: u8) -> Self {
        debug_assert!(usize::from(which) < size_of::<Location<'static>>(), "other places begin there");
        Name(Name::new(Kind::Thing, place).0 + u64::from(which))
    }

    /// Returns the address to which it points.
    pub(crate) fn address(self) -> usize {
        self.parts().0
    }

    /// Returns the address and the kind.
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

/// What is known about the heads of loops, by their places.
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

    /// Returns whether no head is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns what is known about `place`, if it is the head of a loop.
    #[inline]
    pub(crate) fn at(&self, place: &'static Location<'static>) -> Option<Head> {
        if self.0.is_empty() { None } else { self.0.get(&(std::ptr::from_ref(place) as usize)).map(Cell::get) }
    }

    /// Records that an iteration from `place` on has changed no static.
    fn clear_suspicions(&self, place: &'static Location<'static>) {
        if let Some(head) = self.0.get(&(std::ptr::from_ref(place) as usize)) {
            head.set(Head { suspicions: 0, ..head.get() });
        }
    }
}

/// The number of abandoned executions after which a search ends.
const MAX_DISCARDED: usize = 50_000;
/// The number of bytes leaked by abandoned executions after which a search ends.
const MAX_LEAKED_BYTES: usize = 1 << 30;
/// The number of OS threads of abandoned executions after which a search ends.
const MAX_LEAKED_THREADS: usize = 1_000;

/// The abstraction of a model, and what its searches have observed.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Pages>);

#[derive(Debug, Default)]
struct Pages {
    /// The names that are concrete.
    open: Mutex<Arc<FxHashSet<Name>>>,
    /// The names that were observed since the search began.
    observed: Mutex<FxHashSet<Name>>,
    is_out_of_date: AtomicBool,
    /// How often a loop was cleared of having changed statics, by the address of its place.
    cleared: Mutex<FxHashMap<usize, u32>>,
    /// Loops that the fairness bound held back, and their bounds.
    bounded: Mutex<BTreeMap<At, u32>>,
    /// Loops with failed awaits that are assumed to keep no state on the heap.
    assumed: Mutex<BTreeSet<At>>,
    /// Accesses that frees are assumed to come after, because of synchronization outside of this crate.
    trusted: Mutex<BTreeSet<At>>,
    /// Whether something could have failed spuriously again than the bound allows.
    is_spurious_bound_met: AtomicBool,
    /// Whether an allocation could have been given the address of a freed block again than the bound allows.
    is_reuse_bound_met: AtomicBool,
    /// Whether code of a model got memory that the checked allocator does not know.
    has_unchecked_memory: AtomicBool,
    /// Whether plain accesses of some execution were not seen, since they are sampled.
    has_sampled_accesses: AtomicBool,
    /// The number of abandoned executions whose stacks were discarded.
    discarded: AtomicUsize,
    /// The number of bytes that these owned, as far as the checked allocator knows.
    leaked_bytes: AtomicUsize,
    /// The number of OS threads that sleep forever.
    leaked_threads: AtomicUsize,
    /// Whether a model used anything that the search checks, apart from threads.
    has_operations: AtomicBool,
    /// The maximum stack depth of a thread whose own state was compared.
    depth: AtomicUsize,
    /// The positions of the threads when the search could not continue.
    standing: Mutex<Vec<Standing>>,
    /// The misuse of an object that does not belong to the execution that used it, and its place.
    misuse: Mutex<Option<(String, Place)>>,
    /// The states that executions must reach.
    marks: Marks,
}

impl Ledger {
    /// The number of times that a loop is cleared of having changed statics; a loop that changes them now and then is
    /// recognized eventually.
    const CLEARINGS: u32 = 8;

    /// Returns whether an abstracted operation was observed, so that the search must restart.
    #[must_use]
    pub fn is_out_of_date(&self) -> bool {
        self.0.is_out_of_date.load(Ordering::Relaxed)
    }

    /// Returns the loops that the fairness bound held back, each with its bound.
    #[must_use]
    pub fn bounded_loops(&self) -> Vec<(Place, u32)> {
        locked(&self.0.bounded).iter().map(|(at, bound)| (at.into(), *bound)).collect()
    }

    /// Returns the loops with failed awaits that are assumed to keep no state on the heap.
    #[must_use]
    pub fn assumed_loops(&self) -> Vec<Place> {
        locked(&self.0.assumed).iter().map(Place::from).collect()
    }

    /// Returns the accesses that frees are assumed to come after, because of synchronization outside of this crate.
    #[must_use]
    pub fn trusted_accesses(&self) -> Vec<Place> {
        locked(&self.0.trusted).iter().map(Place::from).collect()
    }

    /// Records that a free is assumed to come after the access at `place`.
    pub(crate) fn note_trusted(&self, place: &Location<'static>) {
        locked(&self.0.trusted).insert(At::from(place));
    }

    /// Returns whether executions with more spurious failures or wake-ups than the bound allows were left out.
    #[must_use]
    pub fn is_spurious_bound_met(&self) -> bool {
        self.0.is_spurious_bound_met.load(Ordering::Relaxed)
    }

    /// Returns whether a model used anything that the search checks, apart from starting and ending threads.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        self.0.has_operations.load(Ordering::Relaxed)
    }

    /// Restores the loops of a resumed search, and the accesses that frees are assumed to come after.
    pub fn take_over(&self, bounded: &[(Place, u32)], assumed: &[Place], trusted: &[Place]) {
        locked(&self.0.bounded).extend(bounded.iter().map(|(place, bound)| (place.into(), *bound)));
        locked(&self.0.assumed).extend(assumed.iter().map(At::from));
        locked(&self.0.trusted).extend(trusted.iter().map(At::from));
    }

    /// Records that the bound on spurious failures was reached.
    pub fn note_spurious_bound(&self) {
        self.0.is_spurious_bound_met.store(true, Ordering::Relaxed);
    }

    /// Records that the bound on reuse was reached.
    pub fn note_reuse_bound(&self) {
        self.0.is_reuse_bound_met.store(true, Ordering::Relaxed);
    }

    /// Returns whether executions in which freed blocks are reused more often than the bound allows were left out.
    #[must_use]
    pub fn is_reuse_bound_met(&self) -> bool {
        self.0.is_reuse_bound_met.load(Ordering::Relaxed)
    }

    /// Returns whether code of a model got memory that the installed checked allocator does not know.
    #[must_use]
    pub fn has_unchecked_memory(&self) -> bool {
        self.0.has_unchecked_memory.load(Ordering::Relaxed)
    }

    /// Records that code of a model got memory that the checked allocator does not know.
    pub fn note_unchecked_memory(&self) {
        self.0.has_unchecked_memory.store(true, Ordering::Relaxed);
    }

    /// Returns whether plain accesses of some execution were not seen, since they are sampled.
    #[must_use]
    pub fn has_sampled_accesses(&self) -> bool {
        self.0.has_sampled_accesses.load(Ordering::Relaxed)
    }

    /// Records that plain accesses of an execution are not observed, since they are sampled.
    pub fn note_sampled_accesses(&self) {
        self.0.has_sampled_accesses.store(true, Ordering::Relaxed);
    }

    /// Returns the number of abandoned executions whose stacks were discarded; what the threads own is leaked.
    #[must_use]
    pub fn discarded(&self) -> usize {
        self.0.discarded.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that they own, as far as the checked allocator knows.
    #[must_use]
    pub fn leaked_bytes(&self) -> usize {
        self.0.leaked_bytes.load(Ordering::Relaxed)
    }

    /// Returns whether so much is leaked that the search must end.
    #[must_use]
    pub fn has_leaked_too_much(&self) -> bool {
        self.discarded() >= MAX_DISCARDED
            || self.leaked_bytes() >= MAX_LEAKED_BYTES
            || self.0.leaked_threads.load(Ordering::Relaxed) >= MAX_LEAKED_THREADS
    }

    /// Records an execution that was abandoned with unfinished threads, this many of them OS threads, and these bytes.
    pub(crate) fn note_discarded(&self, bytes: usize, os_threads: usize) {
        self.0.discarded.fetch_add(1, Ordering::Relaxed);
        self.0.leaked_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.0.leaked_threads.fetch_add(os_threads, Ordering::Relaxed);
    }

    /// Records that the model uses something that the search checks.
    pub fn note_operation(&self) {
        self.0.has_operations.store(true, Ordering::Relaxed);
    }

    /// Records that executions are left out in which the loop at `place` has more iterations than `bound`.
    pub(crate) fn note_bounded(&self, place: &Location<'static>, bound: u32) {
        locked(&self.0.bounded).insert(At::from(place), bound);
    }

    /// Records that an iteration of the loop at `place` is assumed to change nothing on the heap.
    pub(crate) fn note_assumed(&self, place: &Location<'static>) {
        let (mut assumed, at) = (locked(&self.0.assumed), At::from(place));
        if !assumed.contains(&at) {
            assumed.insert(at);
        }
    }

    /// Records the stack depth of a thread whose own state is compared.
    pub fn note_depth(&self, depth: usize) {
        if depth > self.depth() {
            self.0.depth.fetch_max(depth, Ordering::Relaxed);
        }
    }

    /// Returns the maximum stack depth of a thread whose own state was compared.
    ///
    /// This much of each stack is equal at the beginning of every execution, and must be in a resumed search.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.depth.load(Ordering::Relaxed)
    }

    /// Returns the positions of the threads in the last execution that was too long or could not be replayed.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        locked(&self.0.standing).clone()
    }

    /// Returns the misuse of an object that does not belong to the execution that used it, and its place, if there is
    /// one.
    ///
    /// Executions with such an object diverge in replays, so the search may have found nothing else.
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

    /// Makes everything that was observed concrete.
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

    /// Records that the state `name` must be reached, as required at `place`.
    pub fn ask_for(&self, name: &str, place: Option<Place>) {
        self.0.marks.ask_for(name, place);
    }

    /// Records that the state `name` was reached.
    pub fn reach(&self, name: &str) {
        self.0.marks.reach(name);
    }

    /// Returns the concrete names, relative to the load address of the program.
    #[must_use]
    pub fn open_from_here(&self) -> Vec<i64> {
        let mut names: Vec<i64> = self.names().iter().map(|name| name.0.wrapping_sub(here()) as i64).collect();
        names.sort_unstable();
        names
    }

    /// Makes this name concrete, given relative to the load address of the program.
    pub fn open_at(&self, name: i64) {
        let mut open = locked(&self.0.open);
        let mut names = FxHashSet::clone(&open);
        names.insert(Name(here().wrapping_add(name as u64)));
        *open = Arc::new(names);
    }

    /// Returns the required states, by their names.
    #[must_use]
    pub fn marked(&self) -> Vec<Mark> {
        self.0.marks.all()
    }

    pub(crate) fn marks(&self) -> &Marks {
        &self.0.marks
    }

    /// Returns what is known about the heads of loops.
    pub(crate) fn heads(&self) -> Heads {
        Heads::new(&self.names())
    }

    pub(crate) fn names(&self) -> Arc<FxHashSet<Name>> {
        Arc::clone(&locked(&self.0.open))
    }

    /// Records that an iteration from `place` on has changed no static; returns whether that clears the loop.
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

/// Returns the load address of the program.
fn here() -> u64 {
    static HERE: u8 = 0;
    std::ptr::from_ref(&HERE) as u64
}

/// Sections of code whose operations are abstracted.
#[derive(Clone, Copy, Debug)]
struct Section {
    thread: ThreadId,
    name: Name,
}

/// The sections that threads are in.
#[derive(Debug, Default)]
pub(crate) struct Sections(Vec<Section>);

impl Execution {
    /// Records that a thread could observe what is abstracted under `name`.
    pub(crate) fn expose(&self, name: Name) {
        if !self.is_over.get() && !self.is_open(name) {
            self.ledger.note(name);
        }
    }

    /// Records that the search must restart with `name` concrete, even if it was concrete before.
    pub(crate) fn begin_anew_with(&self, name: Name) {
        if !self.is_over.get() {
            self.ledger.note(name);
        }
    }

    /// Records that an iteration from `place` on changed no static after all.
    pub(crate) fn clear_suspicions(&self, place: &'static Location<'static>) {
        if self.ledger.clear_suspicions(place) {
            self.heads.clear_suspicions(place);
        }
    }

    pub(crate) fn is_open(&self, name: Name) -> bool {
        self.open.contains(&name)
    }

    /// Records that the current thread does something that other threads can observe.
    #[inline]
    pub(crate) fn be_seen(&self, thread: ThreadId) {
        if !self.sections.borrow().0.is_empty() {
            self.expose_sections(thread);
        }
    }

    /// Returns whether `thread` is in an abstracted section.
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

/// Runs `f` as an abstracted section; if it does something that other threads can observe, `name` becomes concrete.
///
/// Meanwhile the thread also knows `known`.
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
