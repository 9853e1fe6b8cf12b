//! Small programs with loops that wait, and a generator of them.

use teetotal::sync::atomic::Ordering;

/// How many locations and registers there are.
pub(crate) const N_LOCATIONS: usize = 3;
pub(crate) const N_REGISTERS: usize = 3;
/// At most so many threads.
pub(crate) const MOST_THREADS: usize = 3;

/// A statement of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    Load(usize, usize, Ordering),
    Store(usize, u64, Ordering),
    Swap(usize, usize, u64, Ordering),
    /// Sets the second bit.
    Or(usize, usize, Ordering),
    /// Exchanges the first value for the second.
    Exchange(usize, usize, u64, u64),
    /// Reads and writes back what was there.
    Keep(usize, usize),
    Fence,
    Hint(Hint),
    /// Leaves the innermost loop if the register holds this value.
    BreakIf(usize, u64),
    /// Repeats, forever or so often.
    Loop(Option<u32>, Vec<Statement>),
    /// Counts in a place that no register is in, up to a limit.
    Count(Counter, u64),
    /// Takes the lock, or tries to; reads the data behind it and changes it.
    Locked {
        tries: bool,
        register: usize,
        change: Change,
    },
    /// Exchanges the first value for the second, and may fail spuriously; then the register holds [`FAILED`] more.
    Weak(usize, usize, u64, u64),
    /// Reads the data that is not atomic.
    Read(usize),
    /// Writes it.
    Write(u64),
}

/// What is added to the value that was read where an exchange or an attempt to lock fails.
pub(crate) const FAILED: u64 = 4;

/// How the data behind the lock is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    No,
    /// It is borrowed to be changed, and stays as it is.
    Borrow,
    Set(u64),
    /// It counts up to a limit.
    Count(u64),
}

impl Change {
    /// The data after the change.
    pub(crate) fn apply(self, data: u64) -> u64 {
        match self {
            Change::No | Change::Borrow => data,
            Change::Set(value) => value,
            Change::Count(most) => (data + 1).min(most.max(data)),
        }
    }
}

/// Where a counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    /// In a frame of the thread.
    Own,
    /// In a frame of the thread that has started it.
    Parent,
}

/// A hint that the thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hint {
    Yield,
    Spin,
    Sleep,
}

/// The threads.
pub(crate) type Program = Vec<Vec<Statement>>;

/// Numbers that look random.
pub(crate) struct Rng(u64, bool);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d, false)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// A program for this seed, of which every other one has locks and weak exchanges.
pub(crate) fn generate(seed: u64) -> Program {
    let rng = &mut Rng::new(seed);
    rng.1 = seed % 2 == 1;
    let n_threads = 2 + usize::from(rng.percent(25));
    let mut program: Program = (0..n_threads).map(|_| Vec::new()).collect();
    for (index, thread) in program.iter_mut().enumerate() {
        let n_statements = 1 + rng.below(if n_threads == 2 { 3 } else { 2 });
        let has_loop = index == 0 || rng.percent(40);
        let loop_at = rng.below(n_statements);
        for at in 0..n_statements {
            if has_loop && at == loop_at {
                thread.push(waiting_loop(rng, true));
            } else {
                thread.push(access(rng));
            }
            if rng.percent(15) {
                thread.push(hint(rng));
            }
        }
    }
    for index in 0..n_threads {
        if awaits_data(&program[index]) && rng.percent(75) {
            let other = &mut program[(index + 1 + rng.below(n_threads - 1)) % n_threads];
            let set = Change::Set(1 + rng.below(2) as u64);
            other.insert(rng.below(other.len() + 1), Statement::Locked { tries: false, register: 0, change: set });
        }
        let mut awaited = Vec::new();
        program[index].iter().for_each(|statement| find_awaited(statement, &mut awaited));
        for (loc, value) in awaited {
            // Otherwise most loops would have no end.
            if rng.percent(75) {
                let other = &mut program[(index + 1 + rng.below(n_threads - 1)) % n_threads];
                other.insert(rng.below(other.len() + 1), Statement::Store(loc, value, store_order(rng)));
            }
        }
    }
    program
}

/// The locations and values that an endless loop waits for.
fn find_awaited(statement: &Statement, awaited: &mut Vec<(usize, u64)>) {
    let Statement::Loop(limit, body) = statement else { return };
    for pair in body.windows(2) {
        if let (Statement::Load(_, loc, _) | Statement::Keep(_, loc), Statement::BreakIf(_, value), None) =
            (&pair[0], &pair[1], limit)
        {
            awaited.push((*loc, *value));
        }
    }
    body.iter().for_each(|statement| find_awaited(statement, awaited));
}

/// Whether an endless loop waits for the data behind the lock.
fn awaits_data(statements: &[Statement]) -> bool {
    let is_locked = |statement: &Statement| matches!(statement, Statement::Locked { .. });
    statements.iter().any(|statement| match statement {
        Statement::Loop(limit, body) => limit.is_none() && body.iter().any(is_locked) || awaits_data(body),
        _ => false,
    })
}

/// An access to the data behind the lock.
fn locked(rng: &mut Rng) -> Statement {
    let change = match rng.below(8) {
        0..=3 => Change::No,
        4..=5 => Change::Borrow,
        6 => Change::Count(1 + rng.below(3) as u64),
        _ => Change::Set(rng.below(3) as u64),
    };
    Statement::Locked { tries: rng.percent(40), register: rng.below(N_REGISTERS), change }
}

/// A loop, with an inner one perhaps.
fn waiting_loop(rng: &mut Rng, may_nest: bool) -> Statement {
    let limit = rng.percent(35).then(|| 1 + rng.below(3) as u32);
    let mut body = Vec::new();
    for _ in 0..1 + rng.below(2) {
        if rng.1 && rng.percent(60) {
            if rng.percent(60) {
                let access = locked(rng);
                let Statement::Locked { register, .. } = access else { unreachable!("it is one") };
                body.push(access);
                body.push(Statement::BreakIf(register, 1 + rng.below(2) as u64));
            } else {
                let (register, loc, old) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS), rng.below(2) as u64);
                body.push(Statement::Weak(register, loc, old, 1 + rng.below(2) as u64));
                body.push(Statement::BreakIf(register, old));
            }
            continue;
        }
        match rng.below(10) {
            0..=5 => {
                let (register, loc) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS));
                body.push(Statement::Load(register, loc, load_order(rng)));
                body.push(Statement::BreakIf(register, 1 + rng.below(2) as u64));
            }
            6 => {
                let (register, loc) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS));
                body.push(Statement::Exchange(register, loc, rng.below(2) as u64, 1 + rng.below(2) as u64));
                body.push(Statement::BreakIf(register, rng.below(2) as u64));
            }
            7 => {
                // Changes something and changes it back.
                let (register, loc) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS));
                body.push(Statement::Swap(register, loc, 1, Ordering::SeqCst));
                if rng.percent(40) {
                    body.push(access(rng));
                }
                body.push(Statement::Swap(register, loc, 0, Ordering::SeqCst));
            }
            8 => {
                let (register, loc) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS));
                body.push(Statement::Keep(register, loc));
                body.push(Statement::BreakIf(register, 1));
            }
            _ => body.push(access(rng)),
        }
    }
    if rng.percent(20) {
        let counter = if rng.percent(50) { Counter::Own } else { Counter::Parent };
        body.insert(rng.below(body.len() + 1), Statement::Count(counter, 1 + rng.below(2) as u64));
    }
    if rng.percent(50) {
        body.insert(rng.below(body.len() + 1), hint(rng));
    }
    if may_nest && rng.percent(10) {
        body.insert(rng.below(body.len() + 1), waiting_loop(rng, false));
    }
    Statement::Loop(limit, body)
}

fn hint(rng: &mut Rng) -> Statement {
    Statement::Hint([Hint::Yield, Hint::Spin, Hint::Sleep][rng.below(3)])
}

fn load_order(rng: &mut Rng) -> Ordering {
    [Ordering::Relaxed, Ordering::Acquire, Ordering::SeqCst][rng.below(3)]
}

fn store_order(rng: &mut Rng) -> Ordering {
    [Ordering::Relaxed, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst][rng.below(4)]
}

/// An access to memory, or a fence.
fn access(rng: &mut Rng) -> Statement {
    if rng.1 && rng.percent(25) {
        return locked(rng);
    }
    let (register, loc) = (rng.below(N_REGISTERS), rng.below(N_LOCATIONS));
    match rng.below(10) {
        0..=4 => Statement::Store(loc, 1 + rng.below(2) as u64, store_order(rng)),
        5..=6 => Statement::Load(register, loc, load_order(rng)),
        7 => Statement::Swap(register, loc, 1 + rng.below(2) as u64, Ordering::AcqRel),
        8 => Statement::Or(register, loc, [Ordering::Relaxed, Ordering::SeqCst][rng.below(2)]),
        _ => Statement::Fence,
    }
}
