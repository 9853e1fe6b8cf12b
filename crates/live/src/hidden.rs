//! What is kept from the search because nobody can tell: counts of references, and who made a value first.
//!
//! Keeping it hidden saves executions. As soon as somebody could tell, the search begins anew with it in the open.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;
use teetotal_program::ThreadId;

use crate::clock::Clock;
use crate::complaint::Place;
use crate::marks::{Mark, Marks};
use crate::runtime::{Execution, current, is_active, running};
use crate::standing::Standing;

/// What in a model may be kept from the search.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Pages>);

#[derive(Debug, Default)]
struct Pages {
    /// The names of what is in the open.
    open: Mutex<Arc<FxHashSet<usize>>>,
    /// Those that were found to be observed since the search began.
    observed: Mutex<FxHashSet<usize>>,
    is_out_of_date: AtomicBool,
    /// Whether a thread that yields again and again has to let others go first.
    left_out_turns: AtomicBool,
    /// Where the threads stood when the search could not go on.
    standing: Mutex<Vec<Standing>>,
    /// The states that executions are to reach.
    marks: Marks,
}

impl Ledger {
    /// Whether something hidden was observed, so that the search must begin anew.
    #[must_use]
    pub fn is_out_of_date(&self) -> bool {
        self.0.is_out_of_date.load(Ordering::Relaxed)
    }

    /// Whether executions were left out in which a thread yields again and again and goes on while others can.
    #[must_use]
    pub fn left_out_turns(&self) -> bool {
        self.0.left_out_turns.load(Ordering::Relaxed)
    }

    /// Such executions are left out.
    pub(crate) fn leave_out_turns(&self) {
        self.0.left_out_turns.store(true, Ordering::Relaxed);
    }

    /// Where the threads stood in the last execution that was too long or could not be run again.
    #[must_use]
    pub fn standing(&self) -> Vec<Standing> {
        self.0.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_standing(&self, standing: Vec<Standing>) {
        *self.0.standing.lock().unwrap_or_else(PoisonError::into_inner) = standing;
    }

    /// What was observed is in the open from now on.
    pub fn open(&self) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut observed = self.0.observed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = FxHashSet::clone(&open);
        names.extend(observed.drain());
        *open = Arc::new(names);
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
        let mut names: Vec<i64> = self.names().iter().map(|name| name.wrapping_sub(here()) as i64).collect();
        names.sort_unstable();
        names
    }

    /// What had this name, relative to where this program is in memory, is in the open.
    pub fn open_at(&self, name: i64) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = FxHashSet::clone(&open);
        names.insert(here().wrapping_add(name as usize));
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

    pub(crate) fn names(&self) -> Arc<FxHashSet<usize>> {
        Arc::clone(&self.0.open.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, name: usize) {
        self.0.observed.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        self.0.is_out_of_date.store(true, Ordering::Relaxed);
    }
}

/// Where this program is in memory.
fn here() -> usize {
    static HERE: u8 = 0;
    std::ptr::from_ref(&HERE) as usize
}

/// Code that runs while something is kept from the search.
#[derive(Clone, Copy, Debug)]
struct Section {
    thread: ThreadId,
    name: usize,
}

/// The sections that threads are in.
#[derive(Debug, Default)]
pub(crate) struct Sections(Vec<Section>);

impl Execution {
    /// Somebody could tell what is hidden under `name`.
    pub(crate) fn expose(&self, name: usize) {
        if !self.is_over.get() {
            self.ledger.note(name);
        }
    }

    pub(crate) fn is_open(&self, name: usize) -> bool {
        self.open.contains(&name)
    }

    /// The thread that runs does something that others can see.
    pub(crate) fn be_seen(&self, thread: ThreadId) {
        let names: Vec<usize> = {
            let sections = self.sections.borrow();
            if sections.0.is_empty() {
                return;
            }
            sections.0.iter().filter(|section| section.thread == thread).map(|section| section.name).collect()
        };
        names.into_iter().for_each(|name| self.expose(name));
    }
}

/// Runs `f`, which must do nothing that others can see, or else what has this `name` is exposed.
///
/// Meanwhile the thread knows what `known` says besides.
pub(crate) fn unseen<R>(name: usize, known: Option<&Clock>, f: impl FnOnce() -> R) -> R {
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
    name: usize,
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
