//! The executions that were run, and which of them agree with an annotation.

use rustc_hash::{FxHashMap, FxHashSet};

use super::changes::Annotation;
use super::history::History;
use super::pasts::Pasts;

/// The executions by number, in the order in which they were run.
#[derive(Default)]
pub(super) struct Index {
    /// For each history of a thread the executions that have it.
    having: FxHashMap<History, Vec<u32>>,
    /// For each execution the annotations from which others were or will be looked for, as counts of points.
    bases: Vec<Vec<Vec<u32>>>,
    /// The annotations that were met.
    met: FxHashSet<History>,
}

impl Index {
    /// Takes note of an execution; gives its number.
    pub(super) fn add(&mut self, pasts: &Pasts) -> u32 {
        let number = self.bases.len() as u32;
        for history in pasts.points() {
            let having = self.having.entry(history).or_default();
            if having.last() != Some(&number) {
                having.push(number);
            }
        }
        self.bases.push(Vec::new());
        number
    }

    /// Whether something is to be done for the annotation, which says more than one with these points does.
    pub(super) fn is_new(&self, annotation: &Annotation, points: &[u32]) -> bool {
        !self.met.contains(&annotation.key()) && !self.is_covered(annotation, points.iter().sum())
    }

    /// Takes note that the annotation is met.
    pub(super) fn meet(&mut self, annotation: &Annotation) {
        self.met.insert(annotation.key());
    }

    /// The executions that agree with the annotation.
    pub(super) fn agreeing<'a>(&'a self, annotation: &'a Annotation) -> impl Iterator<Item = u32> + 'a {
        let lists: Option<Vec<&[u32]>> =
            annotation.histories.iter().map(|history| self.having.get(history).map(Vec::as_slice)).collect();
        let shortest = lists.as_ref().and_then(|lists| lists.iter().min_by_key(|list| list.len()).copied());
        let has_all = move |number: &u32| lists.iter().flatten().all(|list| list.binary_search(number).is_ok());
        shortest.unwrap_or(&[]).iter().copied().filter(has_all)
    }

    /// Whether others that agree with the annotation are looked for from an execution that agrees with it already, as far
    /// as they agree with a part of the annotation that says something of more than `size` operations.
    fn is_covered(&self, annotation: &Annotation, size: u32) -> bool {
        let suits = |base: &Vec<u32>| base.iter().sum::<u32>() > size && is_part(base, &annotation.points);
        self.agreeing(annotation).any(|number| self.bases[number as usize].iter().any(suits))
    }

    /// Others are looked for from the execution, as far as they agree with what it has of these points.
    pub(super) fn look_from(&mut self, number: u32, points: &[u32]) {
        self.bases[number as usize].push(points.to_vec());
    }
}

/// Whether one annotation is part of another of the same execution.
fn is_part(one: &[u32], other: &[u32]) -> bool {
    one.iter().enumerate().all(|(index, &points)| points <= other.get(index).copied().unwrap_or(0))
}
