//! Leaves out the ways on which an execution would have too many preemptions.

use teetotal_memory::Model;
use teetotal_program::{Op, ThreadId};

use super::alternatives::Alternative;
use super::answer::{Answer, answer};
use super::bits::Bits;
use super::graph::{NONE, Role};
use super::preemptions::{More, Schedules};
use super::walk::{Rewindable, Walk};

impl<S: Rewindable, M: Model, const N: usize> Walk<S, M, N> {
    /// Leaves out the sources for the read of `thread` that need too many preemptions, from the alternative `first` on.
    pub(super) fn leave_out_sources(&mut self, first: usize, thread: ThreadId, op: Op, own_past: Bits<N>) {
        let Some(bound) = self.bound.filter(|_| self.alternatives.len() > first + 1) else { return };
        let Some(slot) = self.graph.free_slot() else { return };
        let reading = self.reading(thread, op);
        let loc = reading.loc.index();
        let progress = self.graph.progress(thread);
        let held_back = self.held_back(progress, reading.access(progress));
        let (graph, subject, left_out) = (&self.graph, &self.subject, &mut self.left_out);
        let schedules = Schedules::new(graph, M::BUFFERS);
        retain(&mut self.alternatives, first, |alternative| {
            let Alternative::Source(source) = alternative else { return true };
            let answer = answer::<S, M>(subject, thread, op, graph.value_of(source, loc));
            let mut order = match answer {
                // Nothing happens.
                Answer::Blocked => return true,
                Answer::Load(_) => progress.floor,
                Answer::Failed | Answer::Updated(_) => progress.floor | held_back,
            };
            if source != NONE && graph.node(source).thread != thread {
                order.insert(source);
            }
            let before = graph.follower(source, loc);
            let is_taken = matches!(answer, Answer::Updated(_)) && graph.is_updated(source, loc);
            let fits = if is_taken {
                // Whoever has updated it is given up, with all that comes after some read.
                let past = own_past | if source == NONE { Bits::EMPTY } else { graph.node(source).past };
                let mut oldest = graph.node(before).before;
                graph.revisitable(loc, past, |read| oldest = read);
                let more = More { thread, slot, order, floor: None, before: NONE };
                schedules.need_at_most(&graph.kept(oldest, past), bound, &[more])
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
        let write = self.write_of_thread(thread);
        let floor = (M::BUFFERS && write.role == Role::Store).then(|| self.graph.progress(thread).floor);
        let (graph, left_out) = (&self.graph, &mut self.left_out);
        let schedules = Schedules::new(graph, M::BUFFERS);
        retain(&mut self.alternatives, first, |alternative| {
            let Alternative::Revisit(read) = alternative else { return true };
            let node = graph.node(read);
            let kept = graph.kept(read, write.past);
            let writes = More { thread, slot, order: write.order & kept, floor, before: NONE };
            let order = graph.progress_after(node.before, graph.strand(node.thread)).floor | Bits::one(slot);
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
