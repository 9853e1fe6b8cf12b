//! Small programs over the look-alikes of `std`, and a generator of them.

/// An operation of a thread. One that needs what the thread does not have does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Lock,
    TryLock,
    Unlock,
    Wait,
    WaitTimeout,
    NotifyOne,
    NotifyAll,
    /// Wakes all threads and keeps others from waiting without a time limit.
    Close,
    Read,
    Write,
    TryRead,
    TryWrite,
    Downgrade,
    /// Drops the newest guard of the `RwLock`.
    Release,
    ReleaseAll,
    Barrier,
    CallOnce,
    IsCompleted,
    Set(u8),
    Get,
    GetOrInit(u8),
    Send(u8),
    TrySend(u8),
    Recv,
    TryRecv,
    RecvTimeout,
    DropSender,
    DropReceiver,
    Park,
    ParkTimeout,
    Unpark(usize),
    CloneArc,
    DropArc,
    DropArcs,
    IntoInner,
    TryUnwrap,
    GetMut,
    StrongCount,
    WeakCount,
    MakeWeak,
    Upgrade,
    DropWeak,
    DropWeaks,
    /// Locks the mutex that may be poisoned, counts, and unlocks it.
    Fragile,
    TryFragile,
    /// Locks the mutex that may be poisoned, and panics before it is unlocked.
    Break,
    IsBroken,
    Mend,
    /// Calls the `Once` whose closures may panic.
    CallBrittle,
    PanicBrittle,
    ForceBrittle,
    /// Of the main thread only.
    IsFinished(usize),
    Join(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Unbounded,
    /// A rendezvous if it is 0.
    Bounded(usize),
}

/// The threads, of which the first starts the others, and what they have at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Op>>,
    pub(crate) channel: Channel,
    pub(crate) has_sender: Vec<bool>,
    pub(crate) receiver: usize,
    pub(crate) has_arc: Vec<bool>,
    pub(crate) has_weak: Vec<bool>,
}

impl Program {
    /// What the thread does, up to its end.
    pub(crate) fn all(&self, thread: usize) -> Vec<Op> {
        let mut all = self.threads[thread].clone();
        all.push(Op::Unlock);
        if thread == 0 && self.threads.iter().flatten().any(|op| matches!(op, Op::Wait)) {
            all.push(Op::Close);
        }
        all.extend([Op::ReleaseAll, Op::DropSender, Op::DropReceiver, Op::DropArcs, Op::DropWeaks]);
        if thread == 0 {
            all.extend((1..self.threads.len()).map(Op::Join));
        }
        all
    }
}

/// Numbers that look random.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn of(&mut self, ops: &[Op]) -> Op {
        ops[self.below(ops.len())]
    }
}

/// What programs are about.
const THEMES: usize = 9;

fn operation(rng: &mut Rng, theme: usize, thread: usize, n_threads: usize) -> Op {
    let value = 1 + rng.below(2) as u8 + 2 * thread as u8;
    match theme {
        0 => rng.of(&[Op::Lock, Op::Lock, Op::TryLock, Op::Unlock]),
        1 => rng.of(&[Op::Lock, Op::Wait, Op::Wait, Op::WaitTimeout, Op::NotifyOne, Op::NotifyAll, Op::Unlock]),
        2 => {
            rng.of(&[Op::Read, Op::Read, Op::Write, Op::TryRead, Op::TryWrite, Op::Release, Op::Release, Op::Downgrade])
        }
        3 => rng.of(&[Op::Barrier, Op::CallOnce, Op::IsCompleted, Op::Set(value), Op::Get, Op::GetOrInit(value)]),
        4 => rng.of(&[
            Op::Send(value),
            Op::Send(value),
            Op::TrySend(value),
            Op::Recv,
            Op::Recv,
            Op::TryRecv,
            Op::RecvTimeout,
            Op::DropSender,
            Op::DropReceiver,
        ]),
        5 => {
            let other = rng.below(n_threads);
            rng.of(&[Op::Park, Op::ParkTimeout, Op::Unpark(other), Op::Unpark(other)])
        }
        6 => rng.of(&[
            Op::CloneArc,
            Op::DropArc,
            Op::IntoInner,
            Op::IntoInner,
            Op::TryUnwrap,
            Op::GetMut,
            Op::StrongCount,
            Op::WeakCount,
            Op::MakeWeak,
            Op::Upgrade,
            Op::Upgrade,
            Op::DropWeak,
        ]),
        7 => rng.of(&[
            Op::Fragile,
            Op::TryFragile,
            Op::Break,
            Op::Break,
            Op::IsBroken,
            Op::Mend,
            Op::CallBrittle,
            Op::PanicBrittle,
            Op::ForceBrittle,
        ]),
        _ if thread == 0 && n_threads > 1 => {
            let other = 1 + rng.below(n_threads - 1);
            rng.of(&[Op::IsFinished(other), Op::IsFinished(other), Op::Join(other)])
        }
        _ => rng.of(&[Op::TryLock, Op::Set(value), Op::Get]),
    }
}

/// A program for this seed.
pub(crate) fn generate(seed: u64) -> Program {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d);
    let n_threads = 2 + rng.below(2);
    let most = if n_threads == 2 { 4 } else { 3 };
    // A program is about few things, so that its threads meet.
    let main_theme = rng.below(THEMES);
    let other_theme = rng.below(THEMES);
    let threads = (0..n_threads).map(|thread| {
        let n_ops = 1 + rng.below(most);
        // Several threads wait, so it is observable which one is notified.
        let waits = main_theme == 1 && rng.percent(60);
        let mut ops = if waits { vec![Op::Lock, rng.of(&[Op::Wait, Op::WaitTimeout])] } else { Vec::new() };
        ops.extend((0..n_ops).map(|_| {
            let theme = if rng.percent(70) { main_theme } else { other_theme };
            operation(&mut rng, theme, thread, n_threads)
        }));
        ops.truncate(most);
        if thread == 0 {
            // It ends what others wait for, and so does not wait itself.
            ops.iter_mut().filter(|op| **op == Op::Wait).for_each(|op| *op = Op::WaitTimeout);
        }
        ops
    });
    let threads = threads.collect();
    let channel = match rng.below(4) {
        0 => Channel::Unbounded,
        1 => Channel::Bounded(1 + rng.below(2)),
        _ => Channel::Bounded(0),
    };
    let receiver = rng.below(n_threads);
    let has_sender = (0..n_threads).map(|thread| rng.percent(if thread == receiver { 20 } else { 90 })).collect();
    let has_arc = (0..n_threads).map(|_| rng.percent(80)).collect();
    let has_weak = (0..n_threads).map(|_| rng.percent(30)).collect();
    Program { threads, channel, has_sender, receiver, has_arc, has_weak }
}
