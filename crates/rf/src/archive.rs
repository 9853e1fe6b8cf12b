//! The executions that were run, as long as others may be looked for from them.

use std::rc::Rc;

use super::execution::Execution;
use super::pasts::Pasts;
use super::run::Plan;

/// So many events are kept; an execution that is not kept is run again when it is wanted.
const MOST_EVENTS: usize = 1 << 21;

/// An execution and the pasts of its events.
pub(super) struct Known<K> {
    pub(super) execution: Execution<K>,
    pub(super) pasts: Pasts,
}

impl<K> Known<K> {
    pub(super) fn new(execution: Execution<K>) -> Rc<Self> {
        let pasts = Pasts::new(&execution);
        Rc::new(Known { execution, pasts })
    }
}

/// The executions by their numbers.
pub(super) struct Archive<K> {
    files: Vec<File<K>>,
    n_events: usize,
}

/// How to run an execution, and the execution if it is kept.
struct File<K> {
    plan: Rc<Plan>,
    known: Option<Rc<Known<K>>>,
}

impl<K> Archive<K> {
    pub(super) fn new() -> Self {
        Archive { files: Vec::new(), n_events: 0 }
    }

    /// Takes in the execution with the next number.
    pub(super) fn add(&mut self, known: &Rc<Known<K>>, held: &[(super::names::Name, u32)]) {
        let events = known.execution.trace.events().len();
        let counts: Vec<u32> = known.pasts.threads.iter().map(|events| events.len() as u32).collect();
        let plan = Rc::new(Plan { turns: known.execution.turns_of(&counts), held: held.to_vec() });
        let is_kept = self.n_events + events <= MOST_EVENTS;
        self.n_events += if is_kept { events } else { 0 };
        self.files.push(File { plan, known: is_kept.then(|| Rc::clone(known)) });
    }

    /// Takes the execution out, if it is kept.
    pub(super) fn take(&mut self, number: u32) -> Option<Rc<Known<K>>> {
        let known = self.files[number as usize].known.take()?;
        self.n_events -= known.execution.trace.events().len();
        Some(known)
    }

    /// How to run the execution again.
    pub(super) fn plan(&self, number: u32) -> Rc<Plan> {
        Rc::clone(&self.files[number as usize].plan)
    }

    /// About how many bytes the plans take.
    pub(super) fn bytes(&self) -> u64 {
        let turns: usize = self.files.last().map_or(0, |file| file.plan.turns.len());
        (self.files.len() * (turns + 8) * size_of::<super::execution::Turn>()) as u64
    }
}
