//! The policy of `auto`: which searches are tried, in which order, and how far each may go.
//!
//! What is cheap is tried first. A search over states ends where there are finitely many, and a program with many states
//! may have few executions, so both are tried for a little before one of them is run to its end.
//! Finite data leave one thing that may grow without end: a store buffer whose thread stores in a loop that drains
//! nowhere. Such programs are for the symbolic search. Whether there is such a loop is read off the code, so a loop that
//! ends after a few iterations counts as well. Most violations show with a store or two in each buffer, so those are
//! looked for first.
//!
//! Rust code is searched by `dpor`, and by `rf` where most executions differ only in the order of writes; which it is
//! shows in the executions themselves, which [`Tally`] counts.

mod tally;

use teetotal_memory::{Access, Family, Model, ModelId, ModelVisitor};
use teetotal_program::ir::{Instruction, Program, ThreadCode};
use teetotal_program::{Loc, OnFailure, Order};

use crate::limits::Limits;
use crate::outcome::{Coverage, StopReason};
use crate::search::SearchId;
use crate::support::unsupported;

pub use self::tally::{RustAsked, RustChoice, Tally};

/// The limits on buffers with which violations are looked for before the symbolic search begins, one after the other.
const SHORT_BUFFERS: [u64; 2] = [1, 2];

/// As many more after a symbolic search that found no end.
const LONGER_BUFFERS: [u64; 3] = [3, 4, 6];

/// How many states are looked at with each limit on buffers, and for robustness.
const FEW_STATES: u64 = 100_000;

/// How many states are searched before anything else is tried.
const SOME_STATES: u64 = 300;

/// How many sets of states, where a loop may fill a buffer: where it does, there are few of them.
const SOME_SETS: u64 = 200;

/// How many states are searched before the symbolic search begins: a loop that may fill a buffer often does not.
const MORE_STATES: u64 = 6_000;

/// How many classes are tried, in how many states of threads, and how long their executions may be.
const FEW_CLASSES: u64 = 100;
const FEW_LOCAL_STATES: u64 = 800;
const SHORT_CLASS: u64 = 300;

/// How many executions are tried before a search over states goes on to its end, and how long they may be.
const FEW_EXECUTIONS: u64 = 2_000;
const SHORT_EXECUTION: u64 = 128;

/// How long executions may be where they are graphs and a loop may go on for ever; `dpor` itself goes further.
const SHORT_LOOP: u64 = 24;

/// How often a search for few executions may ask whether to stop, each time after some thousand events; less often where
/// a loop may make executions long.
const FEW_LOOKS: u64 = 4;
const LOOKS_AT_LOOPS: u64 = 1;

/// A search of a program, and how far it goes.
#[derive(Clone, Debug)]
pub struct Attempt {
    pub search: SearchId,
    pub limits: Limits,
    /// Whether one worker is enough for what it does.
    pub is_small: bool,
    /// How often it may ask the signal whether to stop before it is given up: executions that are never complete count
    /// against no other limit.
    pub looks: Option<u64>,
    /// Why it was taken where its answer counts: the end of "`x` was taken, since ...".
    pub reason: &'static str,
}

/// What is tried on a program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Tried in this order, until one has an answer.
    pub first: Vec<Attempt>,
    /// What is run to its end; its answer counts unless another has a better one.
    pub main: Attempt,
    /// Tried after a main search that found no end.
    pub last: Vec<Attempt>,
}

/// What is asked, as far as a plan depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub program: &'a Program,
    /// The model whose executions are searched.
    pub explored: ModelId,
    pub limits: &'a Limits,
    pub robustness: bool,
    /// Whether data races are looked for.
    pub races: bool,
    pub stop_at_first: bool,
    /// Whether what is asked can be answered by a search for execution graphs.
    pub fits_dpor: bool,
    /// Whether it can be answered by a search for value classes.
    pub fits_mcr: bool,
    /// Whether it can be answered by a search over states.
    pub fits_states: bool,
}

impl Attempt {
    /// Whether what it found is the answer: it came to its end, or something else than its own limits stopped it.
    #[must_use]
    pub fn is_answered_by(&self, coverage: &Coverage) -> bool {
        use StopReason::{Interrupted, Time, Violation};
        matches!(coverage, Coverage::Complete | Coverage::Stopped(Violation | Time | Interrupted))
    }

    fn main(search: SearchId, limits: &Limits, reason: &'static str) -> Self {
        Attempt { search, limits: *limits, is_small: false, looks: None, reason }
    }

    fn of_states(limits: &Limits, states: u64, buffer: Option<u64>, reason: &'static str) -> Self {
        let states = at_most(limits.states, states);
        let limits = Limits { states, buffer: buffer.or(limits.buffer), ..*limits };
        Attempt { search: SearchId::Stateful, limits, is_small: false, looks: None, reason }
    }

    fn of_few_sets(limits: &Limits, reason: &'static str) -> Self {
        let limits = Limits { states: at_most(limits.states, SOME_SETS), ..*limits };
        Attempt { search: SearchId::Symbolic, limits, is_small: true, looks: None, reason }
    }

    fn of_few_classes(limits: &Limits) -> Self {
        let executions = at_most(limits.executions, FEW_CLASSES);
        let states = at_most(limits.states, FEW_LOCAL_STATES);
        let limits = Limits { executions, states, steps: at_most(limits.steps, SHORT_CLASS), ..*limits };
        Attempt {
            search: SearchId::Mcr,
            limits,
            is_small: true,
            looks: None,
            reason: "threads read the same values in most executions",
        }
    }

    fn of_few_executions(program: &Program, limits: &Limits) -> Self {
        let looks = if program.is_loop_free() { FEW_LOOKS } else { LOOKS_AT_LOOPS };
        let (executions, steps) = (at_most(limits.executions, FEW_EXECUTIONS), at_most(limits.steps, SHORT_EXECUTION));
        let limits = Limits { executions, steps, ..*limits };
        Attempt {
            search: SearchId::Dpor,
            limits,
            is_small: true,
            looks: Some(looks),
            reason: "there are few executions, and they are short",
        }
    }
}

fn at_most(limit: Option<u64>, few: u64) -> Option<u64> {
    Some(limit.map_or(few, |limit| limit.min(few)))
}

impl Plan {
    /// The plan of `auto`.
    #[must_use]
    pub fn of(asked: &Asked<'_>) -> Plan {
        if matches!(asked.explored.info().family, Family::Graphs) {
            Plan::for_graphs(asked)
        } else if asked.robustness {
            Plan::for_robustness(asked)
        } else if asked.races {
            Plan::only(SearchId::Mcr, asked.limits, "it shows data races with the fewest executions")
        } else {
            asked.explored.visit_buffers(PlanUnderModel(asked))
        }
    }

    /// Only `search`.
    #[must_use]
    pub fn only(search: SearchId, limits: &Limits, reason: &'static str) -> Plan {
        Plan { first: Vec::new(), main: Attempt::main(search, limits, reason), last: Vec::new() }
    }

    /// By graphs; where a loop may make them grow without end, up to a number of operations.
    fn for_graphs(asked: &Asked<'_>) -> Plan {
        let Asked { program, limits, .. } = *asked;
        if program.is_loop_free() {
            return Plan::only(SearchId::Dpor, limits, "executions of the model are graphs");
        }
        let limits = Limits { steps: at_most(limits.steps, SHORT_LOOP), ..*limits };
        Plan::only(SearchId::Dpor, &limits, "executions of the model are graphs, and a thread has a loop")
    }

    /// By traces where executions end, else by states.
    ///
    /// Two threads with many accesses to one location have few states and very many executions.
    fn for_robustness(asked: &Asked<'_>) -> Plan {
        let limits = asked.limits;
        // A limit was set to be told what it leaves out.
        let is_free = *limits == Limits::default() && asked.fits_states;
        let states = |states, reason| is_free.then(|| Attempt::of_states(limits, states, None, reason));
        match search_for_robustness(asked.program) {
            SearchId::Dpor => {
                let mut plan = Plan::only(SearchId::Dpor, limits, "no thread has a loop");
                if let Some(states) = states(FEW_STATES, "there are fewer states than executions") {
                    plan.first = vec![Attempt::of_few_executions(asked.program, limits), states];
                }
                plan
            }
            search => {
                let mut plan = Plan::only(search, limits, "a thread has a loop, so executions may be endless");
                plan.first.extend(states(SOME_STATES, FEW));
                if asked.fits_dpor && unsupported(asked.program).is_none() {
                    plan.first.push(Attempt::of_few_executions(asked.program, limits));
                }
                plan
            }
        }
    }

    fn for_violations<M: Model>(asked: &Asked<'_>) -> Plan {
        let limits = asked.limits;
        // With a limit on buffers there is nothing that grows without end.
        let fills_buffers = limits.buffer.is_none() && may_fill_buffers::<M>(asked.program);
        let (search, why) = match fills_buffers {
            true => (SearchId::Symbolic, "a loop may fill a buffer without bound"),
            false => (SearchId::Stateful, "no buffer grows without bound"),
        };
        let mut plan = Plan::only(search, limits, why);
        // A limit was set to be told what it leaves out.
        if *limits == Limits::default() {
            plan.first.push(Attempt::of_states(limits, SOME_STATES, None, FEW));
            let executions = asked.fits_dpor && unsupported(asked.program).is_none();
            let executions = executions.then(|| Attempt::of_few_executions(asked.program, limits));
            // A loop makes many executions, and has some that are cut short.
            let (early, late) = if asked.program.is_loop_free() { (executions, None) } else { (None, executions) };
            plan.first.extend(early);
            if fills_buffers {
                plan.first.push(Attempt::of_few_sets(limits, why));
            }
            if asked.fits_mcr {
                plan.first.push(Attempt::of_few_classes(limits));
            }
            if fills_buffers {
                plan.first.push(Attempt::of_states(limits, MORE_STATES, None, "no buffer grows without bound"));
            }
            plan.first.extend(late.filter(|_| !fills_buffers));
        }
        if fills_buffers && asked.stop_at_first {
            let short = |buffer| Attempt::of_states(limits, FEW_STATES, Some(buffer), "short buffers are enough");
            plan.first.extend(SHORT_BUFFERS.map(short));
            plan.last = LONGER_BUFFERS.map(short).into();
        }
        plan
    }
}

/// Why a search over states was taken.
const FEW: &str = "there are few states";

struct PlanUnderModel<'p>(&'p Asked<'p>);

impl ModelVisitor for PlanUnderModel<'_> {
    type Output = Plan;

    fn visit<M: Model>(self) -> Plan {
        Plan::for_violations::<M>(self.0)
    }
}

/// The search that decides robustness of `program` best: by traces where executions end, else by states.
#[must_use]
pub fn search_for_robustness(program: &Program) -> SearchId {
    let by_traces = program.is_loop_free() && unsupported(program).is_none();
    if by_traces { SearchId::Dpor } else { SearchId::Stateful }
}

/// Whether some thread may store again and again while its buffer never has to be empty.
fn may_fill_buffers<M: Model>(program: &Program) -> bool {
    M::BUFFERS
        && program.threads.iter().any(|thread| {
            let stores = (0..thread.code.len()).filter(|&at| is_store(&thread.code[at]));
            stores.filter(|&at| !drains::<M>(&thread.code[at])).any(|at| comes_back::<M>(thread, at))
        })
}

fn is_store(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Store { .. } => true,
        Instruction::Guarded { options, .. } => options.iter().any(|option| option.store.is_some()),
        _ => false,
    }
}

/// Whether the thread may come from `start` back to it without a drain.
fn comes_back<M: Model>(thread: &ThreadCode, start: usize) -> bool {
    let mut seen = vec![false; thread.code.len()];
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for next in next_of(thread, at) {
            if next == start {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) && !drains::<M>(&thread.code[next]) {
                open.push(next);
            }
        }
    }
    false
}

/// The instructions that may come after the one at `at`.
fn next_of(thread: &ThreadCode, at: usize) -> impl Iterator<Item = usize> + '_ {
    let instruction = &thread.code[at];
    let falls_through = !matches!(instruction, Instruction::Jump { .. } | Instruction::Guarded { .. });
    let next = falls_through.then_some(at + 1);
    instruction.targets().map(|target| target as usize).chain(next).filter(|&next| next < thread.code.len())
}

/// Whether the buffer is empty once the thread is past it, always.
fn drains<M: Model>(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Store { order, .. } | Instruction::Fence { order } => *order == Order::SeqCst,
        Instruction::GlobalFence => true,
        Instruction::Rmw { update, order, .. } => {
            let may_be_load = M::FAILURE_IS_LOAD && matches!(update.on_failure(), OnFailure::Load(_));
            !may_be_load && waits_for_all::<M>(*order)
        }
        Instruction::Lock { order, .. } | Instruction::Unlock { order, .. } => waits_for_all::<M>(*order),
        Instruction::Join { order, .. } => order.releases() && waits_for_all::<M>(*order),
        Instruction::Spawn { order, .. } => waits_for_all::<M>(*order),
        _ => false,
    }
}

/// Whether an access to memory at once waits for stores to other locations too.
fn waits_for_all<M: Model>(order: Order) -> bool {
    let write = |loc, order| Access { loc: Some(loc), order, epoch: 0 };
    M::keeps_order(write(Loc(0), Order::Plain), write(Loc(1), order))
}

#[cfg(test)]
mod tests {
    use teetotal_memory::BUFFER_MODELS;
    use teetotal_program::ir::Builder;

    use super::*;

    #[test]
    fn only_what_is_tried_first_is_given_up() {
        let mut builder = Builder::new("two");
        let x = builder.shared("x", 0);
        builder.thread("P0", |thread| thread.store(x, 1));
        let program = builder.build().expect("it is a program");
        let limits = Limits::default();
        for (explored, robustness) in BUFFER_MODELS.iter().flat_map(|model| [(model.id, false), (model.id, true)]) {
            let asked = Asked {
                program: &program,
                explored,
                limits: &limits,
                robustness,
                races: false,
                stop_at_first: true,
                fits_dpor: true,
                fits_mcr: true,
                fits_states: true,
            };
            let Plan { first, main, .. } = Plan::of(&asked);
            assert!(main.looks.is_none() && main.limits == limits, "{main:?}");
            assert!(first.iter().all(|attempt| attempt.limits != limits), "{first:?}");
            let given_up = Coverage::Stopped(StopReason::Superseded);
            assert!(first.iter().all(|attempt| !attempt.is_answered_by(&given_up)));
        }
    }
}
