//! Iterative preemption bounding: the executions without a preemption, then those with one, with two, and so on.
//!
//! A preemption is a switch to another thread although the one that performed the last operation can go on. A commit is
//! none and changes nothing of whose turn it is; to leave a thread that waits, is blocked or has ended is none either.
//! [BOUND]. We differ in two ways:
//! 1. No prefix is kept for the next bound. A round runs all executions within its bound again and shows those that reach
//!    it; the earlier ones are few beside them, and memory does not grow with the number of executions.
//! 2. There is no reduction: what persistent sets leave out may have fewer preemptions than what stands for it.

use teetotal_memory::{Step, Trace};
use teetotal_program::{Loc, ThreadId};

use crate::outcome::StopReason;
use crate::strategy::{Choice, Strategy};

/// Every interleaving with few preemptions.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The largest bound, if there is one.
    last: Option<u64>,
    /// The bound of this round.
    bound: u64,
    /// For each step of the current execution, what was taken and what is left.
    path: Vec<Branch>,
    /// The positions that are left to take at all branches, those of the deepest branch last.
    left: Vec<usize>,
    /// Whether this round came to a step that would have been a preemption too many.
    cut: bool,
    started: bool,
    /// Whether a store that stays in its buffer, although it could leave, counts as a preemption.
    counts_delays: bool,
    now: Now,
}

/// One step of the current execution.
#[derive(Clone, Copy, Debug)]
struct Branch {
    taken: usize,
    /// How many steps were possible.
    of: usize,
    /// How many positions of `left` are its own.
    n_left: usize,
}

/// Where the current execution is.
#[derive(Clone, Default, Debug)]
struct Now {
    depth: usize,
    preemptions: u64,
    /// Who performed the last operation.
    thread: Option<ThreadId>,
    /// The buffers whose oldest store stays although it could leave.
    delayed: Vec<(ThreadId, Loc)>,
}

impl Bounded {
    /// With at most `last` preemptions, or with any number.
    #[must_use]
    pub fn new(last: Option<u64>) -> Self {
        Bounded {
            last,
            bound: 0,
            path: Vec::new(),
            left: Vec::new(),
            cut: false,
            started: false,
            counts_delays: false,
            now: Now::default(),
        }
    }

    /// The same, where a store that stays in its buffer, although it could leave, counts as a preemption too.
    #[must_use]
    pub fn with_delays(last: Option<u64>) -> Self {
        Bounded { counts_delays: true, ..Bounded::new(last) }
    }

    /// Goes back to the deepest step that can be taken otherwise; gives whether there is one.
    fn backtrack(&mut self) -> bool {
        while let Some(branch) = self.path.last_mut() {
            if branch.n_left > 0 {
                branch.n_left -= 1;
                branch.taken = self.left.pop().expect("each branch has as many as it counts");
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Notes what may be taken here, where the current execution has not been before.
    fn branch(&mut self, enabled: &[Step]) {
        let first = self.left.len();
        let within =
            |step: &Step| self.now.preemptions + self.now.cost(*step, enabled, self.counts_delays) <= self.bound;
        let allowed = (0..enabled.len()).filter(|&position| within(&enabled[position]));
        self.left.extend(allowed.rev());
        let n_allowed = self.left.len() - first;
        self.cut |= n_allowed < enabled.len();
        let taken = self.left.pop().expect("a store may leave its buffer, or a thread go on or be left that cannot");
        self.path.push(Branch { taken, of: enabled.len(), n_left: n_allowed - 1 });
    }
}

impl Now {
    /// Whether `step` takes the turn from a thread that can go on.
    fn is_preempted_by(&self, step: Step, enabled: &[Step]) -> bool {
        let is_issue_of = |step: &Step, thread| !step.is_commit() && step.thread() == thread;
        let Some(thread) = self.thread else { return false };
        !step.is_commit() && step.thread() != thread && enabled.iter().any(|step| is_issue_of(step, thread))
    }

    /// The stores that `step` leaves in their buffers for the first time.
    fn newly_delayed(&self, step: Step, enabled: &[Step]) -> impl Iterator<Item = (ThreadId, Loc)> {
        let commits = enabled.iter().filter_map(|step| match *step {
            Step::Commit { thread, loc } => Some((thread, loc)),
            Step::Issue { .. } => None,
        });
        commits.filter(move |buffer| !step.is_commit() && !self.delayed.contains(buffer))
    }

    /// What `step` costs of the bound.
    fn cost(&self, step: Step, enabled: &[Step], counts_delays: bool) -> u64 {
        let delays = if counts_delays { self.newly_delayed(step, enabled).count() } else { 0 };
        u64::from(self.is_preempted_by(step, enabled)) + delays as u64
    }

    fn take(&mut self, step: Step, enabled: &[Step], counts_delays: bool) {
        self.preemptions += self.cost(step, enabled, counts_delays);
        self.depth += 1;
        if counts_delays {
            let delayed: Vec<_> = self.newly_delayed(step, enabled).collect();
            self.delayed.extend(delayed);
            if let Step::Commit { thread, loc } = step {
                self.delayed.retain(|&buffer| buffer != (thread, loc));
            }
        }
        if !step.is_commit() {
            self.thread = Some(step.thread());
        }
    }
}

impl Strategy for Bounded {
    fn begin(&mut self) -> bool {
        self.now = Now::default();
        if !std::mem::replace(&mut self.started, true) || self.backtrack() {
            return true;
        }
        if !self.cut || self.last == Some(self.bound) {
            return false;
        }
        self.bound += 1;
        self.cut = false;
        true
    }

    fn choose(&mut self, enabled: &[Step], _: &Trace) -> Choice {
        if self.now.depth == self.path.len() {
            self.branch(enabled);
        }
        let Branch { taken, of, .. } = self.path[self.now.depth];
        assert_eq!(of, enabled.len(), "the same prefix allowed other steps before; the subject is not deterministic");
        self.now.take(enabled[taken], enabled, self.counts_delays);
        Choice::Take(taken)
    }

    fn is_new(&self) -> bool {
        self.now.preemptions == self.bound
    }

    fn left_out(&self) -> Option<StopReason> {
        self.cut.then_some(StopReason::Preemptions(self.bound))
    }
}
