//! The table of features.

use crate::coverage::shapes;
use teetotal_program::ir::{Address, Expr, Guard, Instruction, Program, Update};
use teetotal_program::{OnFailure, Order};

/// What a program may have, by name.
pub(super) type Feature = (&'static str, fn(&Program) -> bool);

/// Each is counted once for each program that has it.
pub(super) const FEATURES: &[Feature] = &[
    ("2 threads", |p| p.n_threads() == 2),
    ("3 threads", |p| p.n_threads() == 3),
    ("4 threads", |p| p.n_threads() == 4),
    ("plain store", |p| stores(p, Order::Plain)),
    ("relaxed store", |p| stores(p, Order::Relaxed)),
    ("release store", |p| stores(p, Order::Release)),
    ("seq-cst store", |p| stores(p, Order::SeqCst)),
    ("plain load", |p| loads(p, Order::Plain)),
    ("relaxed load", |p| loads(p, Order::Relaxed)),
    ("acquire load", |p| loads(p, Order::Acquire)),
    ("seq-cst load", |p| loads(p, Order::SeqCst)),
    ("plain rmw", |p| updates(p, Order::Plain)),
    ("relaxed rmw", |p| updates(p, Order::Relaxed)),
    ("acquire rmw", |p| updates(p, Order::Acquire)),
    ("release rmw", |p| updates(p, Order::Release)),
    ("acquire-release rmw", |p| updates(p, Order::AcqRel)),
    ("seq-cst rmw", |p| updates(p, Order::SeqCst)),
    ("exchange", |p| update(p, |u| matches!(u, Update::Exchange(_)))),
    ("fetch-and-op", |p| update(p, |u| matches!(u, Update::Fetch(..)))),
    ("update under a condition", |p| update(p, |u| matches!(u, Update::When { .. }))),
    ("update by a function", |p| update(p, |u| matches!(u, Update::Function(_)))),
    ("compare-exchange, failure a load", |p| exchange(p, |f| f != OnFailure::Locked)),
    ("compare-exchange, failure locked", |p| exchange(p, |f| f == OnFailure::Locked)),
    ("full fence", |p| fences(p, Order::SeqCst)),
    ("store-store fence", |p| fences(p, Order::Release)),
    ("acquire-release fence", |p| fences(p, Order::AcqRel)),
    ("load-load fence", |p| fences(p, Order::Acquire)),
    ("global fence", |p| any(p, |i| matches!(i, Instruction::GlobalFence))),
    ("lock", |p| any(p, |i| matches!(i, Instruction::Lock { .. }))),
    ("lock in two threads", |p| shapes::n_threads_with(p, |i| matches!(i, Instruction::Lock { .. })) > 1),
    ("spawn", |p| any(p, |i| matches!(i, Instruction::Spawn { .. }))),
    ("join", |p| any(p, |i| matches!(i, Instruction::Join { .. }))),
    ("join, then a read of what the child stored", shapes::join_then_read),
    ("choice", |p| any(p, |i| matches!(i, Instruction::Choose { .. }))),
    ("await one location", |p| awaits(p, 1)),
    ("await two locations", |p| awaits(p, 2)),
    ("guarded step with several options", |p| guarded(p, |options| options.len() > 1)),
    ("guarded step that stores", |p| guarded(p, |options| options.iter().any(|option| option.store.is_some()))),
    ("branch", |p| any(p, |i| matches!(i, Instruction::Branch { .. }))),
    ("loop", |p| !p.is_loop_free()),
    ("exclusive stretch", |p| p.threads.iter().flat_map(|t| &t.places).any(|place| place.exclusive)),
    ("assertion", |p| any(p, |i| matches!(i, Instruction::Assert { .. }))),
    ("assumption", |p| any(p, |i| matches!(i, Instruction::Assume { .. }))),
    ("computed index", |p| address(p, |a| matches!(a, Address::Indexed { .. }))),
    ("computed address", |p| address(p, |a| matches!(a, Address::Computed(_)))),
    ("data dependency", |p| any(p, |i| matches!(i, Instruction::Store { value, .. } if !is_constant(value)))),
    ("location narrower than 64 bits", |p| p.locations.iter().any(|l| l.ty.width.bits() < 64)),
    ("value wider than its location", shapes::wraps),
    ("forwarding pair", shapes::forwards),
    ("two stores to one location, then a load", shapes::forwards_from_the_newer),
    ("two stores of a thread to one location", shapes::stores_twice),
    ("store buffering", shapes::store_buffering),
    ("store buffering, both sides drain", shapes::drained_store_buffering),
    ("store buffering, seq-cst stores", shapes::seq_cst_store_buffering),
    ("store buffering past a failed exchange", shapes::store_buffering_past_failure),
    ("message passing", shapes::message_passing),
    ("message passing, store-store fence", shapes::fenced_message_passing),
    ("message passing, release store", shapes::release_message_passing),
    ("message passing by rmw", shapes::update_message_passing),
    ("2+2W", shapes::two_plus_two_writes),
];

pub(super) fn any(program: &Program, holds: impl Fn(&Instruction) -> bool) -> bool {
    program.threads.iter().flat_map(|thread| &thread.code).any(holds)
}

pub(super) fn is_constant(value: &Expr) -> bool {
    let mut constant = true;
    value.walk(&mut |e| constant &= !matches!(e, Expr::Reg(_)));
    constant
}

fn stores(program: &Program, wanted: Order) -> bool {
    any(program, |i| matches!(i, Instruction::Store { order, .. } if *order == wanted))
}

fn loads(program: &Program, wanted: Order) -> bool {
    any(program, |i| matches!(i, Instruction::Load { order, .. } if *order == wanted))
}

fn updates(program: &Program, wanted: Order) -> bool {
    any(program, |i| matches!(i, Instruction::Rmw { order, .. } if *order == wanted))
}

fn fences(program: &Program, wanted: Order) -> bool {
    any(program, |i| matches!(i, Instruction::Fence { order } if *order == wanted))
}

fn update(program: &Program, holds: impl Fn(&Update) -> bool) -> bool {
    any(program, |i| matches!(i, Instruction::Rmw { update, .. } if holds(update)))
}

fn exchange(program: &Program, holds: impl Fn(OnFailure) -> bool) -> bool {
    update(program, |u| matches!(u, Update::CompareExchange { on_failure, .. } if holds(*on_failure)))
}

fn awaits(program: &Program, n: usize) -> bool {
    any(program, |i| matches!(i, Instruction::Await { loads, .. } if loads.len() == n))
}

fn guarded(program: &Program, holds: impl Fn(&[Guard]) -> bool) -> bool {
    any(program, |i| matches!(i, Instruction::Guarded { options, .. } if holds(options)))
}

fn address(program: &Program, holds: impl Fn(&Address) -> bool) -> bool {
    any(program, |i| match i {
        Instruction::Load { from: at, .. } | Instruction::Store { to: at, .. } | Instruction::Rmw { at, .. } => {
            holds(at)
        }
        _ => false,
    })
}
