//! Shapes over several accesses, each of which shows some fault of a machine.
//!
//! Only accesses to a fixed location count, in the order in which they stand in the code.

use crate::coverage::features::any;
use teetotal_program::Loc;
use teetotal_program::ir::{Address, Expr, Instruction, Program, ThreadCode, Update};
use teetotal_program::{OnFailure, Order};

/// Two accesses of one thread to different locations, and what stands between them.
struct Pair<'p> {
    first: &'p Instruction,
    second: &'p Instruction,
    between: &'p [Instruction],
}

pub(super) fn n_threads_with(program: &Program, holds: impl Fn(&Instruction) -> bool) -> usize {
    program.threads.iter().filter(|thread| thread.code.iter().any(&holds)).count()
}

pub(super) fn join_then_read(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        thread.code.iter().enumerate().any(|(at, instruction)| {
            let Instruction::Join { thread: child, .. } = instruction else { return false };
            let child = &program.threads[child.index()].code;
            let stored = child.iter().filter(|i| is_store(i)).filter_map(location);
            stored.into_iter().any(|loc| thread.code[at..].iter().any(|i| is_read(i) && location(i) == Some(loc)))
        })
    })
}

/// Whether a store or a location's first value would not fit without being wrapped.
pub(super) fn wraps(program: &Program) -> bool {
    any(program, |i| match i {
        Instruction::Store { to: Address::Static(loc), value: Expr::Const(value), .. }
        | Instruction::Rmw { at: Address::Static(loc), update: Update::Exchange(Expr::Const(value)), .. } => {
            program.locations[loc.index()].ty.wrap(*value) != *value
        }
        _ => false,
    })
}

pub(super) fn forwards(program: &Program) -> bool {
    pairs_at_one_location(program, |first, second| is_store(first) && matches!(second, Instruction::Load { .. }))
}

pub(super) fn stores_twice(program: &Program) -> bool {
    pairs_at_one_location(program, |first, second| is_store(first) && is_store(second))
}

pub(super) fn forwards_from_the_newer(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let reads = thread.code.iter().enumerate().filter(|(_, i)| matches!(i, Instruction::Load { .. }));
        reads.into_iter().any(|(at, read)| {
            let stores = thread.code[..at].iter().filter(|i| is_store(i) && location(i) == location(read));
            location(read).is_some() && stores.count() > 1
        })
    })
}

pub(super) fn store_buffering(program: &Program) -> bool {
    cycle(program, |p| is_store(p.first) && is_read(p.second), |p| is_store(p.first) && is_read(p.second))
}

pub(super) fn drained_store_buffering(program: &Program) -> bool {
    let drained = |p: &Pair<'_>| is_store(p.first) && is_read(p.second) && p.drains();
    cycle(program, drained, drained)
}

pub(super) fn seq_cst_store_buffering(program: &Program) -> bool {
    let strong = |i: &Instruction| matches!(i, Instruction::Store { order: Order::SeqCst, .. });
    cycle(program, |p| strong(p.first) && is_read(p.second), |p| is_store(p.first) && is_read(p.second) && p.drains())
}

pub(super) fn store_buffering_past_failure(program: &Program) -> bool {
    let fails = |i: &Instruction| {
        matches!(i, Instruction::Rmw { update: Update::CompareExchange { on_failure: OnFailure::Load(_), .. }, order, .. }
            if order.releases())
    };
    cycle(program, |p| is_store(p.first) && fails(p.second), |p| is_store(p.first) && is_read(p.second))
}

pub(super) fn message_passing(program: &Program) -> bool {
    cycle(program, |p| is_store(p.first) && is_store(p.second), |p| is_read(p.first) && is_read(p.second))
}

pub(super) fn fenced_message_passing(program: &Program) -> bool {
    let fenced = |p: &Pair<'_>| {
        let fence = |i: &Instruction| matches!(i, Instruction::Fence { order: Order::Release | Order::AcqRel });
        is_store(p.first) && is_write(p.second) && p.between.iter().any(fence)
    };
    cycle(program, fenced, |p| is_read(p.first) && is_read(p.second))
}

pub(super) fn release_message_passing(program: &Program) -> bool {
    let released = |p: &Pair<'_>| {
        is_store(p.first) && matches!(p.second, Instruction::Store { order: Order::Release | Order::SeqCst, .. })
    };
    cycle(program, released, |p| is_read(p.first) && is_read(p.second))
}

pub(super) fn update_message_passing(program: &Program) -> bool {
    let updates = |p: &Pair<'_>| is_store(p.first) && matches!(p.second, Instruction::Rmw { .. });
    cycle(program, updates, |p| is_read(p.first) && is_read(p.second))
}

pub(super) fn two_plus_two_writes(program: &Program) -> bool {
    cycle(program, |p| is_store(p.first) && is_store(p.second), |p| is_store(p.first) && is_write(p.second))
}

impl Pair<'_> {
    /// Whether the first access, a store, has left the buffer before the second under every model.
    fn drains(&self) -> bool {
        let drains = |i: &Instruction| match i {
            Instruction::Fence { order } => *order == Order::SeqCst,
            Instruction::Rmw { order, .. } | Instruction::Lock { order, .. } | Instruction::Unlock { order, .. } => {
                order.releases()
            }
            Instruction::GlobalFence | Instruction::Store { order: Order::SeqCst, .. } => true,
            _ => false,
        };
        drains(self.first) || self.between.iter().any(drains)
    }
}

/// Whether one thread goes from some location to another as `there` says, and another thread back as `back` says.
fn cycle(program: &Program, there: impl Fn(&Pair<'_>) -> bool, back: impl Fn(&Pair<'_>) -> bool) -> bool {
    program.threads.iter().enumerate().any(|(one, thread)| {
        pairs(thread).filter(&there).any(|way| {
            let others = program.threads.iter().enumerate().filter(|(other, _)| *other != one);
            let returns = |p: &Pair<'_>| {
                location(p.first) == location(way.second) && location(p.second) == location(way.first) && back(p)
            };
            others.into_iter().any(|(_, other)| pairs(other).any(|pair| returns(&pair)))
        })
    })
}

fn pairs(thread: &ThreadCode) -> impl Iterator<Item = Pair<'_>> {
    let code = thread.code.as_slice();
    let both = (0..code.len()).flat_map(move |first| (first + 1..code.len()).map(move |second| (first, second)));
    both.filter_map(move |(first, second)| {
        let apart = location(&code[first])? != location(&code[second])?;
        let between = &code[first + 1..second];
        apart.then_some(Pair { first: &code[first], second: &code[second], between })
    })
}

fn pairs_at_one_location(program: &Program, holds: impl Fn(&Instruction, &Instruction) -> bool) -> bool {
    program.threads.iter().any(|thread| {
        (0..thread.code.len()).any(|at| {
            let first = &thread.code[at];
            let same = |second: &&Instruction| location(first).is_some() && location(first) == location(second);
            thread.code[at + 1..].iter().filter(same).any(|second| holds(first, second))
        })
    })
}

fn location(instruction: &Instruction) -> Option<Loc> {
    match instruction {
        Instruction::Load { from: Address::Static(loc), .. }
        | Instruction::Store { to: Address::Static(loc), .. }
        | Instruction::Rmw { at: Address::Static(loc), .. } => Some(*loc),
        _ => None,
    }
}

fn is_store(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Store { .. })
}

fn is_read(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Load { .. } | Instruction::Rmw { .. })
}

fn is_write(instruction: &Instruction) -> bool {
    matches!(instruction, Instruction::Store { .. } | Instruction::Rmw { .. })
}
