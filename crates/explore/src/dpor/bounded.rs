//! Leaves out the ways on which an execution would have too many preemptions.

use teetotal_memory::Model;
use teetotal_program::{Op, ThreadId};

use super::alternatives::Alternative;
use super::answer::{Answer, answer};
use super::bits::Bits;
use super::graph::NONE;
use super::preemptions::Schedules;
use super::walk::{Rewindable, Walk};

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// Leaves out the sources for the read of `thread` that need too many preemptions, from the alternative `first` on.
    pub(super) fn leave_out_sources(&mut self, first: usize, thread: ThreadId, op: Op, own_past: Bits<N>) {
        let Some(bound) = self.bound.filter(|_| self.alternatives.len() > first + 1) else { return };
        let Some(slot) = self.graph.free_slot() else { return };
        let loc = self.reading(thread, op).loc.index();
        let schedules = Schedules::new(&self.graph, self.graph.alive());
        let waits = matches!(op, Op::Lock { .. } | Op::Await { .. });
        let (graph, subject, left_out) = (&self.graph, &self.subject, &mut self.left_out);
        retain(&mut self.alternatives, first, |alternative| {
            let Alternative::Source(source) = alternative else { return true };
            let answer = answer::<S, M>(subject, thread, op, graph.value_of(source, loc));
            if answer == Answer::Blocked {
                // Nothing happens.
                return true;
            }
            let past = own_past | if source == NONE { Bits::EMPTY } else { graph.node(source).past };
            let fits = if matches!(answer, Answer::Updated(_)) && graph.is_updated(source, loc) {
                // Whoever has updated it is given up.
                let rival = graph.node(graph.follower(source, loc)).before;
                Schedules::new(graph, graph.kept(rival, past)).with(thread, slot, past, waits).need_at_most(bound)
            } else {
                schedules.with(thread, slot, past, waits).need_at_most(bound)
            };
            *left_out |= !fits;
            fits
        });
    }

    /// Leaves out the revisits by the write of `thread` that need too many preemptions, from the alternative `first` on.
    pub(super) fn leave_out_revisits(&mut self, first: usize, thread: ThreadId) {
        let Some(bound) = self.bound.filter(|_| self.alternatives.len() > first) else { return };
        let Some(slot) = self.graph.free_slot() else { return };
        let write = self.write_of_thread(thread);
        let (graph, left_out) = (&self.graph, &mut self.left_out);
        retain(&mut self.alternatives, first, |alternative| {
            let Alternative::Revisit(read) = alternative else { return true };
            let node = graph.node(read);
            let kept = Schedules::new(graph, graph.kept(read, write.past));
            let mut with_write = kept.with(thread, slot, write.past, false);
            // What waits may have to wait, and nothing happens.
            if !node.waits {
                let strand = graph.strand(node.thread);
                let past = graph.past_after(node.before, strand) | write.past | Bits::one(slot);
                with_write = with_write.with(node.thread, read, past, false);
            }
            let fits = with_write.need_at_most(bound);
            *left_out |= !fits;
            fits
        });
    }
}

/// Keeps those alternatives from `first` on that `fit`.
fn retain(alternatives: &mut Vec<Alternative>, first: usize, mut fits: impl FnMut(Alternative) -> bool) {
    let mut kept = 0;
    for index in first..alternatives.len() {
        let alternative = alternatives[index];
        if fits(alternative) {
            alternatives[first + kept] = alternative;
            kept += 1;
        }
    }
    alternatives.truncate(first + kept);
}
