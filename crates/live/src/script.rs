//! A recorded execution of a model, to be performed again without running any code.

use std::panic::Location;

use teetotal_program::{Loc, Op, Status, Subject, ThreadId, Value};

use crate::request::Matter;
use crate::subject::Live;

/// An operation as a thread performed it, with its effect, which a schedule lacks.
#[derive(Clone, Copy, Debug)]
pub struct RecordedOp {
    pub op: Op,
    /// The location that an await read.
    pub awaited: Option<Loc>,
    /// What a read-modify-write wrote.
    pub written: Option<Value>,
    /// What a choice decided.
    pub matter: Option<Matter>,
    /// Its place in the source.
    pub place: &'static Location<'static>,
}

/// The operations of an execution that a model has recorded, as a subject: each thread offers what it did.
///
/// A search may have performed them in another order than one in which they happened.
#[derive(Debug)]
pub struct Script<'l> {
    live: &'l Live,
    /// How many operations of each thread are done, and whether it was started.
    threads: Vec<(usize, bool)>,
}

impl<'l> Script<'l> {
    /// At the beginning of what `live` did.
    #[must_use]
    pub fn new(live: &'l Live) -> Self {
        let mut script = Script { live, threads: Vec::new() };
        script.restart();
        script
    }

    fn next(&self, thread: ThreadId) -> Option<&RecordedOp> {
        let &(done, is_started) = self.threads.get(thread.index())?;
        if is_started { self.live.done(thread).get(done) } else { None }
    }
}

impl Subject for Script<'_> {
    fn n_threads(&self) -> usize {
        self.threads.len()
    }

    fn n_locations(&self) -> usize {
        self.live.n_locations()
    }

    fn initial(&self, loc: Loc) -> Value {
        self.live.initial(loc)
    }

    fn status(&self, thread: ThreadId) -> Status {
        match (self.threads.get(thread.index()), self.next(thread)) {
            (_, Some(done)) => Status::Ready(done.op),
            (Some((_, true)), None) => Status::Finished,
            _ => Status::NotStarted,
        }
    }

    fn modify(&self, thread: ThreadId, _old: Value) -> Option<Value> {
        self.next(thread)?.written
    }

    fn awaited(&self, thread: ThreadId, locations: &mut Vec<Loc>) {
        locations.extend(self.next(thread).and_then(|done| done.awaited));
    }

    fn accepts(&self, _thread: ThreadId, _values: &[Value], _alternative: u32) -> bool {
        true
    }

    fn resume(&mut self, thread: ThreadId, _answer: &[Value]) {
        if let Some(RecordedOp { op: Op::Spawn { thread: child, .. }, .. }) = self.next(thread).copied()
            && let Some((_, is_started)) = self.threads.get_mut(child.index())
        {
            *is_started = true;
        }
        if let Some((done, _)) = self.threads.get_mut(thread.index()) {
            *done += 1;
        }
    }

    fn restart(&mut self) {
        self.threads = vec![(0, false); self.live.n_threads()];
        self.threads.iter_mut().take(1).for_each(|(_, is_started)| *is_started = true);
    }

    fn place(&self, thread: ThreadId) -> u32 {
        self.threads.get(thread.index()).map_or(0, |(done, _)| *done as u32)
    }
}
