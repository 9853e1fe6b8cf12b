//! What was found to be impossible, for whoever comes after.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::history::History;

/// The changes that are impossible while an annotation holds, by the history that the changed thread would have.
///
/// They are impossible too while a larger annotation holds, since it demands more of the same events.
#[derive(Debug, Default)]
pub(super) struct Refuted {
    /// Those of the annotation that this one was made of.
    before: Option<Rc<Refuted>>,
    own: RefCell<FxHashSet<History>>,
}

impl Refuted {
    /// For an annotation that is made of the one that `before` belongs to.
    pub(super) fn after(before: &Rc<Refuted>) -> Rc<Self> {
        Rc::new(Refuted { before: Some(Rc::clone(before)), own: RefCell::default() })
    }

    pub(super) fn has(&self, history: History) -> bool {
        let mut part = Some(self);
        while let Some(refuted) = part {
            if refuted.own.borrow().contains(&history) {
                return true;
            }
            part = refuted.before.as_deref();
        }
        false
    }

    pub(super) fn add(&self, history: History) {
        self.own.borrow_mut().insert(history);
    }
}
