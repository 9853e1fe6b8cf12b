//! Happens-before between steps where sequential consistency may divide an atomic section.
//!
//! It does so before an operation that would be blocked directly after the previous operation of the section. In the
//! execution of the model that operation may be blocked at other times, or never. So two bounds are kept: a cycle although
//! every section is divided wherever it could be shows that the execution is none of sequential consistency; no cycle
//! although sections are divided only where a failed attempt is known shows that it is one.

use teetotal_memory::Event;
use teetotal_program::{Loc, ThreadId};

use super::precedence::{Cyclic, Issued, Precedence};

/// Ways to divide sections that are followed for one state; to follow fewer leaves more in doubt.
const MOST_DIVISIONS: usize = 16;

/// What each open step comes before, for several ways to divide atomic sections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Orders {
    /// Every section is divided before each operation that may be blocked.
    divided: Precedence,
    /// No section is divided unless after a failed attempt, which reads what it would have to wait for: one for each
    /// choice of the attempts that has no cycle. None where no section can be divided, so that `divided` is exact.
    attempted: Option<Vec<Precedence>>,
}

/// An operation that would be blocked now.
#[derive(Debug)]
pub(super) struct FailedAttempt {
    pub(super) thread: ThreadId,
    /// The reads that make it fail.
    pub(super) reads: Vec<Event>,
    /// The thread that has not ended, but must have for the operation to be possible.
    pub(super) joins: Option<ThreadId>,
}

/// Whether the operation at which a thread stands, before a step and after it, may divide the section that it continues.
#[derive(Clone, Copy, Debug)]
pub(super) struct MayDivide {
    pub(super) before: bool,
    pub(super) after: bool,
}

impl Orders {
    /// At the beginning of an execution.
    pub(super) fn new(n_threads: usize, may_divide: bool) -> Self {
        let divided = Precedence::new(n_threads);
        Orders { attempted: may_divide.then(|| vec![divided.clone()]), divided }
    }

    /// Whether there are sections that may be divided.
    pub(super) fn may_divide(&self) -> bool {
        self.attempted.is_some()
    }

    /// As bytes; equal ones have equal bytes.
    pub(super) fn save(&self, out: &mut Vec<u8>) {
        self.divided.save(out);
        for precedence in self.attempted.iter().flatten() {
            out.push(0);
            precedence.save(out);
        }
    }

    /// A step is issued; `newest` is the position of the newest pending store of the thread to a location.
    pub(super) fn issue(
        &mut self,
        issued: &Issued<'_>,
        may_divide: MayDivide,
        newest: &impl Fn(Loc) -> Option<usize>,
        n_locations: usize,
    ) -> Result<(), Cyclic> {
        let divided = Issued {
            continues: issued.continues && !may_divide.before,
            stays_open: issued.stays_open && !may_divide.after,
            ..*issued
        };
        self.update(|precedence, is_divided| {
            precedence.issue(if is_divided { &divided } else { issued }, newest, n_locations)
        })
    }

    /// The store of `thread` at `position` of its buffer reaches memory at `loc`.
    pub(super) fn commit(&mut self, thread: ThreadId, position: usize, loc: Loc) -> Result<(), Cyclic> {
        self.update(|precedence, _| precedence.commit(thread, position, loc))
    }

    fn update(&mut self, step: impl Fn(&mut Precedence, bool) -> Result<(), Cyclic>) -> Result<(), Cyclic> {
        step(&mut self.divided, true)?;
        if let Some(attempted) = &mut self.attempted {
            attempted.retain_mut(|precedence| step(precedence, false).is_ok());
        }
        Ok(())
    }

    /// Takes in that an operation would be blocked, so that the section that it continues may be divided.
    pub(super) fn attempt(
        &mut self,
        failed: &FailedAttempt,
        newest: &impl Fn(Loc) -> Option<usize>,
        n_locations: usize,
    ) {
        let Some(attempted) = &mut self.attempted else { return };
        let FailedAttempt { thread, ref reads, joins } = *failed;
        // The thread that is to be joined has a step to come, which the attempt precedes.
        let issued = Issued { thread, events: reads, continues: true, stays_open: false, starts: joins };
        for index in 0..attempted.len() {
            let mut precedence = attempted[index].clone();
            if attempted.len() < MOST_DIVISIONS
                && precedence.is_in_section(thread)
                && precedence.issue(&issued, newest, n_locations).is_ok()
                && !attempted.contains(&precedence)
            {
                attempted.push(precedence);
            }
        }
    }

    /// Whether it is not known if the execution so far is one of sequential consistency.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.attempted.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether it is not known if the execution is one of sequential consistency where `blocked` are blocked forever.
    pub(super) fn is_in_doubt_at_end(&self, blocked: &[ThreadId]) -> bool {
        let divides = |precedence: &Precedence| !blocked.iter().any(|&thread| precedence.is_in_section(thread));
        self.attempted.as_ref().is_some_and(|attempted| !attempted.iter().any(divides))
    }
}
