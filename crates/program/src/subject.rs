//! The interface of what is checked: threads that offer operations and are answered.

use crate::names::{Loc, Reg, ThreadId, Value};
use crate::op::Op;

/// A program in the middle of an execution.
///
/// The intermediate representation implements it, and so can Rust closures on coroutines or a process elsewhere.
/// A subject is deterministic: the same answers lead to the same operations.
pub trait Subject {
    /// How many threads there are, started or not.
    fn n_threads(&self) -> usize;

    /// How many locations there are so far.
    fn n_locations(&self) -> usize;

    /// What `loc` holds before anything is written to it.
    fn initial(&self, loc: Loc) -> Value;

    /// What `thread` does next.
    fn status(&self, thread: ThreadId) -> Status;

    /// What `thread` did wrong, if it did.
    fn failure(&self, thread: ThreadId) -> Option<Failure> {
        match self.status(thread) {
            Status::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// What the read-modify-write, lock or unlock that `thread` is about to perform would write over `old`, or nothing.
    fn modify(&self, thread: ThreadId, old: Value) -> Option<Value>;

    /// Puts the locations that the `Await` of `thread` reads into `locations`, which is empty before.
    fn awaited(&self, thread: ThreadId, locations: &mut Vec<Loc>);

    /// Whether the `Await` of `thread` may take `alternative` when it reads `values`, one for each awaited location.
    fn accepts(&self, thread: ThreadId, values: &[Value], alternative: u32) -> bool;

    /// What the `Await` of `thread` stores in the same step when it reads `values` and takes `alternative`.
    fn stores(&self, _thread: ThreadId, _values: &[Value], _alternative: u32) -> Option<(Loc, Value)> {
        None
    }

    /// Goes on with `thread`, whose operation was performed.
    ///
    /// `answer` holds the value read (load, read-modify-write, lock, unlock), the values read and, if there is more than
    /// one, the alternative taken (await), the alternative taken (choose), or nothing. A spawn starts the thread that it
    /// names.
    fn resume(&mut self, thread: ThreadId, answer: &[Value]);

    /// Back to the beginning, for another execution.
    fn restart(&mut self);

    /// The thread that asks to go on without a switch to another thread, as in `atomic` of Promela.
    ///
    /// It is heeded while that thread can go on; stores may leave buffers all the same.
    fn exclusive(&self) -> Option<ThreadId> {
        None
    }

    /// Takes back what [`Subject::exclusive`] says, because that thread cannot go on.
    fn give_way(&mut self) {}

    /// Whether `thread` has done its work if it waits here forever, as at an `end` label of Promela.
    fn may_rest(&self, _thread: ThreadId) -> bool {
        false
    }

    /// What a register of `thread` holds. A subject without registers has no condition that asks for one.
    fn register(&self, _thread: ThreadId, _reg: Reg) -> Value {
        0
    }

    /// Whether it wants to know where the values come from that its threads read.
    const NOTES_SOURCES: bool = false;

    /// Is told, before `thread` goes on with what it read, which operation of which thread had written that.
    fn reads_from(&mut self, _thread: ThreadId, _write: Option<(ThreadId, u32)>) {}

    /// Where in its code `thread` stands, as a number that means something to whoever made the subject.
    ///
    /// For the intermediate representation it is the number of the instruction in its thread.
    fn place(&self, thread: ThreadId) -> u32;
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It performs this operation once memory lets it.
    Ready(Op),
    /// Nobody has spawned it yet.
    NotStarted,
    /// It has ended.
    Finished,
    /// It made an assumption that does not hold: the execution does not count, though the other threads go on.
    Discarded,
    /// It has done something wrong and goes no further.
    Failed(Failure),
    /// The last iteration of a loop left everything as it was, so that it repeats itself as long as it reads the same.
    FailedAwait(FailedAwait),
}

/// An iteration of a loop that has left everything as it was: a failed await.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FailedAwait {
    /// The first operation of it, by its number in the thread.
    pub since: u32,
    /// Whether something in it failed spuriously, so that it does not repeat itself for ever.
    pub is_spurious: bool,
    /// Whether its last read is a compare-exchange that failed spuriously: it would fail with any other value, too.
    pub ends_spuriously: bool,
    /// Whether it changed something and changed it back.
    pub restores: bool,
    /// Whether all that it updated are locks that it waited for: it does not see that another thread holds them.
    pub only_locks: bool,
    /// Whether it is part of a cycle of all threads after which the whole state is as before, in any order of their steps.
    pub recurs: bool,
}

/// What a thread did wrong, and at which of its instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Failure {
    /// An assertion does not hold.
    Assertion { instruction: u32 },
    /// A division or remainder by zero.
    DivisionByZero { instruction: u32 },
    /// An address that is no location's.
    BadAddress { instruction: u32 },
    /// An index past the end of an array.
    BadIndex { instruction: u32 },
    /// It unlocks what it does not hold.
    NotHolder { instruction: u32 },
    /// It spawns a thread that runs already.
    AlreadyStarted { instruction: u32 },
    /// It runs on and on without an operation on memory.
    EndlessLoop { instruction: u32 },
    /// It panicked.
    Panic { instruction: u32 },
    /// It accesses data that another thread accesses at the same time.
    Race { instruction: u32 },
}

impl Failure {
    /// The instruction at which it happened.
    #[must_use]
    pub fn instruction(self) -> u32 {
        match self {
            Failure::Assertion { instruction }
            | Failure::DivisionByZero { instruction }
            | Failure::BadAddress { instruction }
            | Failure::BadIndex { instruction }
            | Failure::NotHolder { instruction }
            | Failure::AlreadyStarted { instruction }
            | Failure::EndlessLoop { instruction }
            | Failure::Panic { instruction }
            | Failure::Race { instruction } => instruction,
        }
    }
}

/// A state that can be written to bytes and read back; equal states have equal bytes.
pub trait Snapshot {
    /// Becomes a copy of `other`, which is a state of the same program.
    fn copy_from(&mut self, other: &Self);

    /// Appends this state to `out`.
    fn save(&self, out: &mut Vec<u8>);

    /// Becomes the state at the front of `bytes`, which [`Snapshot::save`] of the same program wrote.
    fn load(&mut self, bytes: &mut &[u8]);
}

/// A subject that can be taken back to an earlier state of an execution.
///
/// A thread that stands where it stood before, and is answered as before, goes on as before, whatever the others do.
/// Some subjects keep the state of each thread; others, whose threads are code that cannot be copied, run again.
pub trait Rewind: Subject {
    /// Whether it runs again; then only [`Rewind::rerun`] takes it back.
    const RUNS_AGAIN: bool = false;

    /// How many words hold the state of a thread, of the largest one.
    fn thread_words(&self) -> usize {
        0
    }

    /// Writes the state of `thread` to the front of `words`.
    fn save_thread(&self, _thread: ThreadId, _words: &mut [Value]) {}

    /// Takes it back.
    fn load_thread(&mut self, _thread: ThreadId, _words: &[Value]) {}

    /// Starts `thread`, as a spawn would.
    fn start_thread(&mut self, _thread: ThreadId) {}

    /// Whether `thread` may still write to memory.
    fn may_write(&self, thread: ThreadId) -> bool;

    /// Runs again from the beginning, operation by operation as `plan` has it.
    ///
    /// What each write writes is put into `written` at its `id`, since addresses may differ from run to run. Gives the
    /// first operation that is not what the plan says, if one is not.
    fn rerun(&mut self, _plan: &[Redo], _written: &mut [Value]) -> Result<(), usize> {
        Ok(())
    }

    /// Is told what memory holds where it stands, before it is taken back: code that cannot be left goes on from there.
    fn settle(&mut self, _memory: &dyn Fn(Loc) -> Value) {}

    /// Is told that the search cannot go on with the execution that it is in.
    fn give_up(&self) {}

    /// Whether the location that `thread` waits for is written by read-modify-writes alone, whoever writes it.
    fn waits_for_updates(&self, _thread: ThreadId) -> bool {
        false
    }

    /// Is told whether the last iteration of `thread` is a failed await, where it was seen to be one or not before.
    fn set_failed_await(&mut self, _thread: ThreadId, _failed: Option<FailedAwait>) {}

    /// Is told that another thread has read what the failed await of `thread` changed and changed back.
    fn note_observed(&self, _thread: ThreadId) {}

    /// Whether the choice of `thread` may take nothing but its first alternative, since choices like it have taken others
    /// as often as they may.
    fn takes_the_first(&self, _thread: ThreadId) -> bool {
        false
    }

    /// Whether the choice of `thread` is made only when nothing else can be done; those with the lowest number first.
    fn rests(&self, _thread: ThreadId) -> Option<u32> {
        None
    }
}

/// An operation of an execution that is run again.
///
/// Unlike a step of a schedule it says what the operation is answered: it is the subject alone that runs again, without
/// a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Redo {
    pub thread: ThreadId,
    /// What it is called in the table of written values.
    pub id: u32,
    /// What it did before.
    pub kind: RedoKind,
    /// The location it accesses.
    pub loc: Option<Loc>,
    /// The thread that it starts.
    pub child: Option<ThreadId>,
    pub answer: RedoAnswer,
    /// Whether it writes.
    pub writes: bool,
    /// The operation that wrote what it reads.
    pub source: Option<(ThreadId, u32)>,
}

/// What an operation that is run again did before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedoKind {
    /// It read, and wrote nothing or has not gone on.
    Read,
    Store,
    /// It read and wrote.
    Update,
    Choice,
    Fence,
    Spawn,
    Join,
    Other,
}

/// What an operation that is run again is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedoAnswer {
    Nothing,
    /// The alternative of a choice.
    Alternative(u32),
    /// What its location held at the beginning.
    Initial,
    /// What the operation with this `id` wrote.
    WrittenBy(u32),
    /// It is not answered: its thread stands at it, and its location keeps its name.
    NotYet,
}

/// A subject that can tell afterwards what an operation would have done with other values.
///
/// A search asks so about executions that were run, to see what others there are.
pub trait Hindsight: Subject {
    /// What is kept of an operation.
    type Kept: Clone;

    /// What is to be kept of the operation that `thread` is about to perform.
    fn keep(&self, thread: ThreadId) -> Self::Kept;

    /// What the read-modify-write, lock or unlock would have written over `old`, or nothing.
    fn would_write(&self, kept: &Self::Kept, old: Value) -> Option<Value>;

    /// Whether the `Await` of one location would have gone on with `value`.
    fn would_accept(&self, kept: &Self::Kept, value: Value) -> bool;

    /// What a choice is about, and how often in an execution choices about that may take another alternative than their
    /// first, if not any number.
    fn most_taken(&self, _kept: &Self::Kept) -> Option<(u32, usize)> {
        None
    }

    /// The locations that the failed await of `thread` has changed and changed back.
    fn restores(&self, _thread: ThreadId) -> Vec<Loc> {
        Vec::new()
    }

    /// What memory has to hold at the end so that `thread`, which stands where it waits, waits for good; where it waits
    /// apart.
    fn waits_while(&self, _thread: ThreadId) -> Vec<(Loc, Value)> {
        Vec::new()
    }
}

/// A subject that can tell which locations a thread may still use.
///
/// The stateful search needs it to see which steps commute with everything that is still to come.
pub trait Foresight: Subject {
    /// What `thread` may still do, from where it is, whatever it reads.
    fn future(&self, thread: ThreadId) -> Future;

    /// Whether the `Await` of `thread` may have to wait, depending on what it reads.
    fn may_wait(&self, thread: ThreadId) -> bool;

    /// The locations that the `Await` of `thread` may store to in the same step.
    fn stores_at_once(&self, thread: ThreadId) -> LocSet;

    /// Whether `thread`, where it stands, asks to go on without a switch to another thread.
    fn asks_for_no_switch(&self, thread: ThreadId) -> bool;

    /// A number that grows along every path of `thread` except where it goes back in a loop.
    fn position(&self, thread: ThreadId) -> u32;
}

/// A subject whose states are plain data, as those of the intermediate representation are: they can be copied, saved and
/// taken back, and tell what is still to come.
///
/// Searches that go on from any state they have seen ask for it. Code that has to run again does not have it.
pub trait ExplicitState: Rewind + Foresight + Snapshot + Clone + Send + Sync {}

impl<S: Rewind + Foresight + Snapshot + Clone + Send + Sync> ExplicitState for S {}

/// Which locations a thread may still use, over-approximated.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Future {
    /// Read by a load or an await.
    pub loads: LocSet,
    /// Written by a store, that is, through a buffer where the model has one.
    pub stores: LocSet,
    /// Read and written at once, by a read-modify-write.
    pub updates: LocSet,
    /// Locked or unlocked.
    pub locks: LocSet,
    /// Whether it may do something that everybody must be asked about: wait for the buffers of all threads, hold back the
    /// steps of other threads, or start a thread that another one may start as well.
    pub is_global: bool,
    /// Whether it may do one of these things other than wait.
    pub holds_back: bool,
}

impl Future {
    /// Every location that may be read, in whatever way.
    #[must_use]
    pub fn reads(self) -> LocSet {
        self.loads.union(self.updates).union(self.locks)
    }

    /// Every location that may be written, in whatever way.
    #[must_use]
    pub fn writes(self) -> LocSet {
        self.stores.union(self.updates).union(self.locks)
    }

    /// Both together.
    #[must_use]
    pub fn union(self, other: Future) -> Future {
        Future {
            loads: self.loads.union(other.loads),
            stores: self.stores.union(other.stores),
            updates: self.updates.union(other.updates),
            locks: self.locks.union(other.locks),
            is_global: self.is_global || other.is_global,
            holds_back: self.holds_back || other.holds_back,
        }
    }
}

/// A set of locations, over-approximated: locations that are equal modulo 64 are not told apart.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LocSet(u64);

impl LocSet {
    /// Every location.
    pub const ALL: LocSet = LocSet(u64::MAX);

    /// The set of `loc` alone.
    #[must_use]
    pub fn of(loc: Loc) -> Self {
        LocSet(1 << (loc.0 % 64))
    }

    /// The set of `length` locations from `base` on.
    #[must_use]
    pub fn run(base: Loc, length: u32) -> Self {
        if length >= 64 {
            return LocSet::ALL;
        }
        (0..length).map(|i| LocSet::of(Loc(base.0 + i))).fold(LocSet::default(), LocSet::union)
    }

    /// Whether `loc` may be in it.
    #[must_use]
    pub fn has(self, loc: Loc) -> bool {
        self.0 & LocSet::of(loc).0 != 0
    }

    /// Both together.
    #[must_use]
    pub fn union(self, other: LocSet) -> LocSet {
        LocSet(self.0 | other.0)
    }

    /// Those that may be in both.
    #[must_use]
    pub fn intersection(self, other: LocSet) -> LocSet {
        LocSet(self.0 & other.0)
    }

    /// Whether some location may be in both.
    #[must_use]
    pub fn meets(self, other: LocSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}
