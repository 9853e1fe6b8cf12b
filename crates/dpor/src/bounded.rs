//! The preemption bound: leaves out the alternatives with which an execution would have too many preemptions.

use teetotal_program::{Op, ThreadId};

use super::alternatives::Alternative;
use super::answer::{Answer, answer};
use super::bits::Bits;
use super::consistency::{Consistency, NewRead};
use super::graph::NONE;
use super::preemptions::{More, Schedules};
use super::walk::{Rewindable, Walk};

impl<S: Rewindable, C: Consistency, const N: usize> Walk<S, C, N> {
    /// Leaves out the sources for the read of `thread` that need too many preemptions, from the alternative `first` on.
    pub(super) fn leave_out_sources(&mut self, first: usize, thread: ThreadId, op: Op, own_prefix: Bits<N>) {
        let Some(bound) = self.bound.filter(|_| self.alternatives.len() > first + 1) else { return };
        let Some(slot) = self.graph.free_slot() else { return };
        let reading = self.reading(thread, op);
        let loc = reading.loc.index();
        let access = C::access(&self.graph.view(thread), Some(reading.loc), reading.order);
        let (graph, subject, left_out) = (&self.graph, &self.subject, &mut self.left_out);
        let maximal = &mut self.maximal;
        let schedules = Schedules::new(graph);
        retain(&mut self.alternatives, first, |alternative| {
            let Alternative::Source(source) = alternative else { return true };
            let answer = answer(subject, graph.rules, thread, op, graph.value_of(source, loc));
            // Nothing happens.
            if answer == Answer::Blocked {
                return true;
            }
            let read = NewRead { thread, access, kind: answer.kind() };
            let order = C::read_would_happen_after(graph, &read, source);
            let overwriter = graph.follower(source, loc);
            let before = if C::READS_HAPPEN_BEFORE_OVERWRITERS { overwriter } else { NONE };
            let is_taken = matches!(answer, Answer::Updated(_)) && graph.is_updated(source, loc);
            let fits = if is_taken {
                // The other read-modify-write is deleted, with all that comes after some read.
                let prefix = own_prefix | if source == NONE { Bits::EMPTY } else { graph.node(source).porf };
                let mut oldest = graph.node(overwriter).before;
                graph.backward_revisits(loc, prefix, maximal, |read| oldest = read);
                let more = More { thread, slot, order, floor: None, before: NONE };
                schedules.need_at_most(&graph.restriction(oldest, prefix), bound, &[more])
            } else {
                schedules.need_at_most(&graph.alive(), bound, &[More { thread, slot, order, floor: None, before }])
            };
            *left_out |= !fits;
            fits
        });
    }

    /// Leaves out the revisits by the write of `thread` that need too many preemptions, from the alternative `first` on.
    pub(super) fn leave_out_revisits(&mut self, first: usize, thread: ThreadId) {
        let Some(bound) = self.bound.filter(|_| self.alternatives.len() > first) else { return };
        let Some(slot) = self.graph.free_slot() else { return };
        let write = self.write_of(thread).node;
        let view = self.graph.view(thread);
        let floor = C::is_buffered(&self.graph, write.role).then(|| *C::performed_after(&view));
        let (graph, left_out) = (&self.graph, &mut self.left_out);
        let schedules = Schedules::new(graph);
        retain(&mut self.alternatives, first, |alternative| {
            let Alternative::Revisit(read) = alternative else { return true };
            let node = graph.node(read);
            let kept = graph.restriction(read, write.porf);
            let order = *C::happens_after(&write.label) & kept;
            let writes = More { thread, slot, order, floor, before: NONE };
            let before_read = graph.view_after(node.before, graph.events(node.thread));
            let order = *C::performed_after(&before_read) | Bits::one(slot);
            let reads = More { thread: node.thread, slot: read, order, floor: None, before: NONE };
            // What waits may have to wait, and nothing happens.
            let more = if node.waits { &[writes][..] } else { &[writes, reads] };
            let fits = schedules.need_at_most(&kept, bound, more);
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
