//! The skeletons that are there for one construct each.

use crate::generator::plan::{Slot, access, barrier};
use crate::rng::Rng;
use crate::shape::Shape;
use teetotal_program::Order;

/// Message passing over a fence that is not a full one, which tells apart what such a fence holds back and what not.
pub(super) fn weak_fence(rng: &mut Rng) -> Vec<Vec<Slot>> {
    let fence = rng.pick(&[Order::Release, Order::AcqRel, Order::AcqRel, Order::Acquire]);
    let flag = if rng.percent(45) { Slot::WriteAtOnce(1) } else { Slot::Write(1) };
    if rng.percent(45) {
        // With a third write, before the fence or after it: what may leave early takes no order between others along.
        let mut first = vec![Slot::Write(0), Slot::Write(2), flag];
        first.insert(rng.between(1, 2), Slot::Fence(fence));
        return vec![first, vec![Slot::Read(1), Slot::Read(rng.pick(&[0, 2]))]];
    }
    vec![vec![Slot::Write(0), Slot::Fence(fence), flag], vec![Slot::Read(1), Slot::Read(0)]]
}

/// Store buffering around three threads, of which one waits for all buffers and so for what the others do meanwhile.
pub(super) fn global_fence() -> Vec<Vec<Slot>> {
    vec![
        vec![Slot::Write(1), Slot::GlobalFence, Slot::PlainRead(0)],
        vec![Slot::Write(0), Slot::PlainRead(2)],
        vec![Slot::Write(2), Slot::PlainRead(1)],
    ]
}

pub(super) fn coherence(rng: &mut Rng) -> Vec<Vec<Slot>> {
    let n_threads = rng.weighted(&[(80, 2), (20, 3)]);
    let mut threads: Vec<Vec<Slot>> =
        (0..n_threads).map(|_| (0..rng.between(2, 5 - n_threads)).map(|_| access(0, rng)).collect()).collect();
    if rng.percent(50) {
        threads[0] = vec![Slot::Write(0), Slot::Write(0), access(0, rng)];
        threads[1] = vec![Slot::Read(0), Slot::Read(0)];
        threads.truncate(2);
    }
    if rng.percent(30) {
        threads[0].push(access(1, rng));
        threads[1].push(access(1, rng));
    }
    threads
}

pub(super) fn locked(rng: &mut Rng) -> Vec<Vec<Slot>> {
    if rng.percent(20) {
        // Whether a lock orders what is before it with what is after it shows to a thread that does not take it.
        let first = vec![Slot::Write(0), Slot::Lock, Slot::Read(1), Slot::Unlock];
        return vec![first, vec![Slot::Write(1), Slot::Fence(Order::SeqCst), Slot::Read(0)]];
    }
    let body = |rng: &mut Rng| match rng.below(4) {
        0 | 1 => vec![Slot::Increment(0)],
        2 => vec![access(0, rng), access(rng.below(2), rng)],
        _ => vec![access(0, rng)],
    };
    let mut threads = Vec::new();
    for _ in 0..rng.weighted(&[(85, 2), (15, 3)]) {
        let mut slots = vec![Slot::Lock];
        slots.extend(body(rng));
        slots.push(Slot::Unlock);
        threads.push(slots);
    }
    if rng.percent(25) {
        threads[0] = body(rng);
    }
    if rng.percent(25) {
        threads[1].push(access(rng.below(2), rng));
    }
    threads
}

pub(super) fn spawned(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    if shape.max_threads > 2 && rng.percent(20) {
        // Whether a join orders what is before it with what is after it shows to a third thread only.
        let parent = vec![Slot::Spawn(1), Slot::Spawn(2), Slot::Write(0), Slot::Join(1), Slot::Read(1)];
        return vec![parent, Vec::new(), vec![Slot::Write(1), Slot::Fence(Order::SeqCst), Slot::Read(0)]];
    }
    if shape.max_threads > 2 && rng.percent(20) {
        return match rng.below(2) {
            // What a thread does that nobody has started yet shows to one that runs already.
            0 => {
                let parent = vec![Slot::Spawn(1), Slot::Read(1), Slot::Spawn(2)];
                vec![parent, vec![Slot::Read(0), Slot::Write(1)], vec![Slot::Write(0)]]
            }
            // A store that a join waits for lets the parent see what another child has not done yet.
            _ => {
                let parent = vec![Slot::Spawn(1), Slot::Spawn(2), Slot::Join(1), Slot::Read(0), Slot::Read(1)];
                vec![parent, vec![Slot::Write(0)], vec![Slot::Write(1)]]
            }
        };
    }
    let n_children = if shape.max_threads > 2 { rng.weighted(&[(70, 1), (30, 2)]) } else { 1 };
    let mut parent = Vec::new();
    let mut children = Vec::new();
    if rng.percent(50) {
        parent.push(Slot::Write(0));
    }
    for child in 1..=n_children {
        parent.push(Slot::Spawn(child));
        let first = rng.weighted(&[(60, Slot::Write(0)), (40, Slot::Read(0))]);
        let mut slots = vec![first];
        if rng.percent(60) {
            slots.push(access(rng.below(2), rng));
        }
        children.push(slots);
    }
    if rng.percent(40) {
        parent.push(access(rng.below(2), rng));
    }
    for child in 1..=n_children {
        if rng.percent(80) {
            parent.push(Slot::Join(child));
        }
    }
    parent.push(Slot::Read(rng.weighted(&[(70, 0), (30, 1)])));
    let mut threads = vec![parent];
    threads.extend(children);
    threads
}

pub(super) fn snapshot(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    let mut looker = vec![Slot::Snapshot(0, 1)];
    if rng.percent(30) {
        looker.insert(0, Slot::Write(rng.below(2)));
    }
    let mut writer = vec![Slot::Write(0), Slot::Write(1)];
    rng.shuffle(&mut writer);
    if rng.percent(40) {
        writer.push(Slot::Write(rng.below(2)));
    } else if rng.percent(shape.barriers) {
        writer.insert(1, barrier(shape, rng));
    }
    if rng.percent(20) { vec![looker.clone(), writer, looker] } else { vec![looker, writer] }
}

/// Steps that read and store at once: increments, and stores that wait in a buffer while others look at their source.
pub(super) fn guarded(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    let step = |rng: &mut Rng| match rng.below(3) {
        0 => Slot::Transfer(0, 0),
        1 => Slot::Transfer(rng.below(2), rng.below(2)),
        _ => Slot::Guarded(0, 1),
    };
    if rng.percent(25) {
        // Whether what was read before a fence of another thread may be stored after it.
        let first = vec![Slot::Write(1), Slot::GlobalFence, Slot::PlainRead(0)];
        return vec![first, vec![Slot::Transfer(1, 0), Slot::Read(1)]];
    }
    let mut first = vec![step(rng)];
    let mut second = vec![if rng.percent(50) { step(rng) } else { Slot::Write(rng.below(2)) }];
    for slots in [&mut first, &mut second] {
        if rng.percent(60) {
            let at = rng.below(2);
            slots.insert(at, access(rng.below(2), rng));
        }
        if slots.len() > 1 && rng.percent(shape.barriers / 3) {
            slots.insert(1, barrier(shape, rng));
        }
    }
    vec![first, second]
}

/// Store buffering in which the read of one thread or of both is a compare-exchange that fails.
pub(super) fn failed_exchange(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    let own = rng.weighted(&[(75, 0), (25, 1)]);
    let mut first = vec![Slot::Write(own), Slot::FailedExchange(1)];
    if rng.percent(30) {
        first.insert(1, barrier(shape, rng));
    }
    let second = match rng.below(3) {
        0 => vec![Slot::Write(1), Slot::FailedExchange(0)],
        1 => vec![Slot::Write(1), Slot::Fence(Order::SeqCst), Slot::Read(0)],
        _ => vec![Slot::Write(1), access(0, rng)],
    };
    vec![first, second]
}

pub(super) fn exclusive(rng: &mut Rng) -> Vec<Vec<Slot>> {
    let stretch = |rng: &mut Rng| {
        Slot::Exclusive(match rng.below(5) {
            0 | 1 => vec![Slot::Increment(0)],
            2 => vec![Slot::Write(0), Slot::Write(1)],
            3 => vec![Slot::Read(1), Slot::Read(0)],
            // It may be blocked in the middle, and then others go on.
            _ => {
                let waits =
                    [Slot::Fence(Order::SeqCst), Slot::Update, Slot::Lock, Slot::Snapshot(0, 1), Slot::Guarded(0, 1)];
                vec![Slot::Write(0), rng.pick(&waits), Slot::Read(1)]
            }
        })
    };
    let mut first = vec![stretch(rng)];
    let mut second = if rng.percent(60) { vec![stretch(rng)] } else { vec![access(0, rng), access(1, rng)] };
    for slots in [&mut first, &mut second] {
        if rng.percent(20) {
            slots.push(access(rng.below(2), rng));
        }
    }
    vec![first, second]
}

pub(super) fn loops(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    let body = |rng: &mut Rng| match rng.below(7) {
        0 => vec![Slot::Write(0)],
        1 => vec![Slot::Read(0)],
        2 => vec![Slot::Increment(0)],
        3 => vec![Slot::Write(0), barrier(shape, rng)],
        4 => vec![Slot::Read(0), access(1, rng)],
        5 => vec![Slot::Transfer(rng.below(2), 0)],
        _ => vec![Slot::Update],
    };
    let mut first = vec![Slot::Loop(body(rng))];
    if rng.percent(40) {
        first.insert(rng.below(2), access(rng.below(2), rng));
    }
    let mut second = vec![access(0, rng), access(rng.below(2), rng)];
    if rng.percent(30) {
        second = vec![Slot::Loop(body(rng))];
    }
    vec![first, second]
}

pub(super) fn spins(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    if rng.percent(12) {
        // Nobody ends the loop, and what the other thread does must still be seen.
        return vec![vec![Slot::Spin(2)], vec![access(0, rng), Slot::Read(0), Slot::Read(1)]];
    }
    let mut waiter = vec![Slot::Spin(1), access(0, rng)];
    let mut writer = vec![Slot::Write(0), Slot::Write(1)];
    if rng.percent(40) {
        waiter.insert(0, Slot::Write(rng.pick(&[0, 2])));
        writer.insert(rng.below(2), Slot::Spin(rng.pick(&[0, 2])));
    } else if rng.percent(shape.barriers) {
        writer.insert(1, barrier(shape, rng));
    }
    if rng.percent(15) { vec![waiter, writer, vec![Slot::Read(1), Slot::Read(0)]] } else { vec![waiter, writer] }
}
