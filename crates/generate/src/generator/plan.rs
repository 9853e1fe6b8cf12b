//! Skeletons of random programs: who accesses what, before it is decided how.
//!
//! Each skeleton is there because some fault of a machine or a search shows on it and hardly on anything else.

use crate::generator::idioms;
use crate::rng::Rng;
use crate::shape::Shape;
use teetotal_program::Order;

/// The threads of a program to be.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) threads: Vec<Vec<Slot>>,
    /// Whether all threads but the first are spawned by it.
    pub(super) spawns: bool,
}

/// What stands for one or a few statements. Locations are numbers below [`N_LOCATIONS`].
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Slot {
    Write(usize),
    Read(usize),
    /// A write that is a read-modify-write.
    WriteAtOnce(usize),
    /// A read of what the thread has just written, if it may still be in the buffer.
    PlainRead(usize),
    /// A compare-exchange that finds something else than it expects.
    FailedExchange(usize),
    /// A read and a write of one more.
    Increment(usize),
    /// A read of two locations at once.
    Snapshot(usize, usize),
    /// A read of the first, perhaps of both, and a store to the second in the same step.
    Transfer(usize, usize),
    /// A read of two locations at once and a choice by what is there, which may store.
    Guarded(usize, usize),
    Fence(Order),
    GlobalFence,
    /// A read-modify-write where it is only its order that matters.
    Update,
    Lock,
    Unlock,
    Choose,
    Spawn(usize),
    Join(usize),
    Exclusive(Vec<Slot>),
    Loop(Vec<Slot>),
    Spin(usize),
}

/// How many locations there are beside the lock.
pub(super) const N_LOCATIONS: usize = 3;

/// Which skeleton a program is made from.
#[derive(Clone, Copy, Debug)]
enum Idiom {
    Free,
    Cycle,
    Coherence,
    Locked,
    Spawned,
    Snapshot,
    Guarded,
    FailedExchange,
    Exclusive,
    Loops,
    Spins,
}

/// Makes a skeleton.
pub(super) fn plan(shape: &Shape, rng: &mut Rng) -> Plan {
    let weights = &shape.idioms;
    let idiom = rng.weighted(&[
        (weights.free, Idiom::Free),
        (weights.cycle, Idiom::Cycle),
        (weights.coherence, Idiom::Coherence),
        (weights.locked, Idiom::Locked),
        (weights.spawned, Idiom::Spawned),
        (weights.snapshot, Idiom::Snapshot),
        (weights.guarded, Idiom::Guarded),
        (weights.failed_exchange, Idiom::FailedExchange),
        (weights.exclusive, Idiom::Exclusive),
        (weights.loops, Idiom::Loops),
        (weights.spins, Idiom::Spins),
    ]);
    let threads = match idiom {
        Idiom::Free => free(shape, rng),
        Idiom::Cycle => cycle(shape, rng),
        Idiom::Coherence => idioms::coherence(rng),
        Idiom::Locked => idioms::locked(rng),
        Idiom::Spawned => idioms::spawned(shape, rng),
        Idiom::Snapshot => idioms::snapshot(shape, rng),
        Idiom::Guarded => idioms::guarded(shape, rng),
        Idiom::FailedExchange => idioms::failed_exchange(shape, rng),
        Idiom::Exclusive => idioms::exclusive(rng),
        Idiom::Loops => idioms::loops(shape, rng),
        Idiom::Spins => idioms::spins(shape, rng),
    };
    let mut plan = Plan { threads, spawns: matches!(idiom, Idiom::Spawned) };
    if !plan.spawns {
        rng.shuffle(&mut plan.threads);
    }
    forward(&mut plan, shape, rng);
    if rng.percent(shape.noise) {
        add_noise(&mut plan, shape, rng);
    }
    plan
}

pub(super) fn access(location: usize, rng: &mut Rng) -> Slot {
    if rng.percent(50) { Slot::Write(location) } else { Slot::Read(location) }
}

fn free(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    let n_threads = rng.weighted(&[(6, 2), (3, 3), (1, 4)]).min(shape.max_threads);
    let n_locations = rng.between(1, N_LOCATIONS);
    let longest = [4, 3, 2][n_threads - 2];
    let any = |rng: &mut Rng| {
        if rng.percent(shape.barriers / 4) { barrier(shape, rng) } else { access(rng.below(n_locations), rng) }
    };
    (0..n_threads).map(|_| (0..rng.between(1, longest)).map(|_| any(rng)).collect()).collect()
}

/// A thread with one access passes the cycle on at the same location, any other from one location to the next.
fn cycle(shape: &Shape, rng: &mut Rng) -> Vec<Vec<Slot>> {
    if rng.percent(shape.barriers / 6) {
        return idioms::weak_fence(rng);
    }
    if shape.max_threads > 2 && rng.percent(shape.global_fences / 4) {
        return idioms::global_fence();
    }
    let n_threads = rng.weighted(&[(70, 2), (24, 3), (6, 4)]).min(shape.max_threads);
    let single = match n_threads {
        2 => vec![false; 2],
        3 => vec![rng.percent(60), false, false],
        _ => vec![true, false, true, false],
    };
    let n_locations = single.iter().filter(|single| !**single).count();
    let mut location = 0;
    let mut threads: Vec<Vec<Slot>> = Vec::new();
    for single in single {
        let mut slots = vec![access(location, rng)];
        if !single {
            location = (location + 1) % n_locations;
            slots.push(access(location, rng));
        }
        threads.push(slots);
    }
    // Two reads do not conflict, and then the cycle would be none.
    for at in 0..n_threads {
        let next = (at + 1) % n_threads;
        if let (Some(Slot::Read(location)), Slot::Read(_)) = (threads[at].last().cloned(), &threads[next][0]) {
            threads[next][0] = Slot::Write(location);
        }
    }
    separate(&mut threads, shape, rng);
    threads
}

/// Puts barriers between the accesses of each thread, often of the same kind in all.
fn separate(threads: &mut [Vec<Slot>], shape: &Shape, rng: &mut Rng) {
    let common = (rng.percent(40) && rng.percent(shape.barriers)).then(|| separator(shape, rng));
    for slots in threads.iter_mut().filter(|slots| slots.len() > 1) {
        let own = rng.percent(shape.barriers).then(|| separator(shape, rng));
        // Two critical sections exclude each other, which hides whether each alone orders anything.
        let common = common.clone().map(|slot| match slot {
            Slot::Lock | Slot::Unlock if rng.percent(50) => Slot::Fence(Order::SeqCst),
            other => other,
        });
        match common.or(own) {
            Some(Slot::Lock) => {
                slots.insert(1, Slot::Lock);
                if !rng.percent(shape.mistakes) {
                    slots.push(Slot::Unlock);
                }
            }
            Some(Slot::Unlock) => {
                slots.insert(0, Slot::Lock);
                slots.insert(2, Slot::Unlock);
            }
            Some(barrier) => slots.insert(1, barrier),
            None => {}
        }
    }
}

/// A barrier, or one end of a critical section.
fn separator(shape: &Shape, rng: &mut Rng) -> Slot {
    if rng.percent(shape.critical) { rng.pick(&[Slot::Lock, Slot::Unlock]) } else { barrier(shape, rng) }
}

/// Something that orders what is before it with what is after it, or seems to.
pub(super) fn barrier(shape: &Shape, rng: &mut Rng) -> Slot {
    if rng.percent(shape.global_fences) {
        return Slot::GlobalFence;
    }
    rng.weighted(&[
        (28, Slot::Fence(Order::SeqCst)),
        (26, Slot::Fence(Order::Release)),
        (14, Slot::Fence(Order::AcqRel)),
        (12, Slot::Fence(Order::Acquire)),
        (16, Slot::Update),
    ])
}

/// Lets a thread read back what it wrote.
fn forward(plan: &mut Plan, shape: &Shape, rng: &mut Rng) {
    let writes = |slots: &[Slot]| slots.iter().position(|slot| matches!(slot, Slot::Write(_)));
    for slots in &mut plan.threads {
        if let Some(at) = writes(slots)
            && let Slot::Write(location) = slots[at]
            && rng.percent(shape.forwarding)
        {
            slots.insert(at + 1, Slot::PlainRead(location));
        }
    }
}

fn add_noise(plan: &mut Plan, shape: &Shape, rng: &mut Rng) {
    let slot = if rng.percent(shape.choices) {
        Slot::Choose
    } else if rng.percent(shape.barriers / 3) {
        Slot::Fence(rng.pick(&[Order::SeqCst, Order::Release, Order::AcqRel, Order::Acquire]))
    } else if rng.percent(shape.updates) {
        Slot::Update
    } else {
        access(rng.below(N_LOCATIONS), rng)
    };
    let thread = rng.below(plan.threads.len());
    let slots = &mut plan.threads[thread];
    let at = rng.below(slots.len() + 1);
    slots.insert(at, slot);
}

impl Slot {
    /// Whether it accesses the location with this number.
    pub(super) fn uses(&self, location: usize) -> bool {
        match self {
            Slot::Write(own)
            | Slot::Read(own)
            | Slot::WriteAtOnce(own)
            | Slot::PlainRead(own)
            | Slot::FailedExchange(own)
            | Slot::Increment(own)
            | Slot::Spin(own) => *own == location,
            Slot::Snapshot(first, second) | Slot::Transfer(first, second) | Slot::Guarded(first, second) => {
                [*first, *second].contains(&location)
            }
            Slot::Exclusive(slots) | Slot::Loop(slots) => slots.iter().any(|slot| slot.uses(location)),
            _ => false,
        }
    }

    /// Whether it needs a lock.
    pub(super) fn locks(&self) -> bool {
        match self {
            Slot::Lock | Slot::Unlock => true,
            Slot::Exclusive(slots) | Slot::Loop(slots) => slots.iter().any(Slot::locks),
            _ => false,
        }
    }
}
