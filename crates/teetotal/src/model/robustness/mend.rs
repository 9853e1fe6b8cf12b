//! Repairs that may make a model robust, tried by running it with them.

use teetotal_live::{Live, Mend, Place};
use teetotal_memory::{Event, ModelId, Trace};

use super::relaxed::{self, Shown};
use super::{Builder, Search, coverage_of};

/// The maximum number of suggestions that are tried one by one.
const MAX_TRIALS: usize = 8;

/// The results of the trials.
pub(super) struct Trials {
    /// The result for each pair.
    pub(super) of_pairs: Vec<Trial>,
    /// Whether the model is robust with all fences together, if that was tried.
    pub(super) all_fences: Option<bool>,
    /// Whether the model is robust with all stores sequentially consistent, if that was tried.
    pub(super) all_stores: Option<bool>,
}

/// The result of the trials for one pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) store_helps: Option<bool>,
    pub(super) fence_helps: Option<bool>,
}

/// Returns the operation of the thread of `store` before which a full fence belongs.
///
/// If stores stay in order, the fence may come as late as before the next operation that is not a store. Otherwise any
/// later store may be the one that is observed too early.
pub(super) fn fence_before(model: ModelId, live: &Live, trace: &Trace, store: &Event) -> Option<Place> {
    let later = trace.events().iter().filter(|event| event.thread == store.thread && event.index > store.index);
    let next = later.into_iter().find(|event| model.rules().has_barriers || !event.is_store())?;
    live.places(next.thread).get(next.index as usize).map(|&place| place.into())
}

/// Tries every suggestion.
pub(super) fn try_all(builder: &Builder, body: &teetotal_live::Model, shown: &[Shown]) -> Trials {
    let mut trying = Trying { builder, body, known: Vec::new() };
    let of_pairs = shown.iter().map(|one| {
        let fence = one.pair.fence_before.clone();
        let store_helps = trying.helps(one, &Mend { stores: vec![one.pair.store.clone()], fences: Vec::new() });
        let fence = fence.map(|place| Mend { stores: Vec::new(), fences: vec![place] });
        Trial { store_helps, fence_helps: fence.and_then(|mend| trying.helps(one, &mend)) }
    });
    let of_pairs = of_pairs.collect();
    let mut fences: Vec<Place> = shown.iter().filter_map(|one| one.pair.fence_before.clone()).collect();
    let has_all = fences.len() == shown.len();
    fences.dedup();
    let mut stores: Vec<Place> = shown.iter().map(|one| one.pair.store.clone()).collect();
    stores.dedup();
    let mut is_robust = |mend: Mend| trying.pairs_left(&mend).map(|left| left.is_empty());
    let all_fences = if has_all { is_robust(Mend { stores: Vec::new(), fences }) } else { None };
    let all_stores = is_robust(Mend { stores, fences: Vec::new() });
    Trials { of_pairs, all_fences, all_stores }
}

/// The places of a store and of an access.
type Places = (Place, Place);

struct Trying<'t> {
    builder: &'t Builder,
    body: &'t teetotal_live::Model,
    /// The repairs that were tried, and the pairs that were still found.
    known: Vec<(Mend, Option<Vec<Places>>)>,
}

impl Trying<'_> {
    /// Returns whether `mend` prevents the pair of `one`, if that was tried.
    fn helps(&mut self, one: &Shown, mend: &Mend) -> Option<bool> {
        let is_known = self.known.iter().any(|(known, _)| known == mend);
        if !is_known && self.known.len() >= MAX_TRIALS {
            return None;
        }
        let left = self.pairs_left(mend)?;
        Some(!left.iter().any(|(store, access)| (store, access) == (&one.pair.store, &one.pair.access)))
    }

    /// Returns the pairs that are still found with `mend`, if every execution could be searched.
    fn pairs_left(&mut self, mend: &Mend) -> Option<Vec<Places>> {
        if let Some((_, left)) = self.known.iter().find(|(known, _)| known == mend) {
            return left.clone();
        }
        let left = self.search(mend);
        self.known.push((mend.clone(), left.clone()));
        left
    }

    fn search(&self, mend: &Mend) -> Option<Vec<Places>> {
        let builder = &Builder { mend: mend.clone(), ..self.builder.clone() };
        let searched = Search { builder, body: self.body }.run();
        if !coverage_of(searched.coverage, &searched.stats, &searched.ledger).is_complete() {
            return None;
        }
        // Pairs that are found but ruled out do not count.
        let (shown, n_unconfirmed) = relaxed::show(builder, self.body, &searched.ledger, searched.pairs);
        if n_unconfirmed > 0 {
            return None;
        }
        Some(shown.into_iter().map(|one| (one.pair.store, one.pair.access)).collect())
    }
}
