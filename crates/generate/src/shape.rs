//! What random programs look like: how large they are and how often they contain what.

/// Sizes and frequencies. A field that is not a size or a weight is a percentage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// At most this many threads, from 2 to 4.
    pub max_threads: usize,
    /// At most this many operations on memory and choices in the code of all threads.
    pub max_operations: usize,
    /// At most this many stores, which may all be in buffers at once, in the code of all threads.
    pub max_stores: usize,
    /// At most this many executions under PSO, by the bound of [`crate::interleavings_bound`].
    pub max_interleavings: u64,
    /// From which skeletons programs are made.
    pub idioms: Idioms,
    /// A statement more, anywhere.
    pub noise: u32,
    /// Something between two accesses that orders them.
    pub barriers: u32,
    /// A barrier that is a wait for the buffers of all threads, out of all barriers.
    pub global_fences: u32,
    /// A barrier that is a lock or an unlock, out of all barriers.
    pub critical: u32,
    /// A load after a store of the same thread to the same location.
    pub forwarding: u32,
    /// A write that is a read-modify-write.
    pub updates: u32,
    /// A read that is a compare-exchange or another read-modify-write.
    pub update_reads: u32,
    /// A read that is an await.
    pub awaits: u32,
    /// An access that is not plain.
    pub orders: u32,
    /// A value that depends on what was read before.
    pub data_dependencies: u32,
    /// An address that depends on what was read before.
    pub address_dependencies: u32,
    /// An access that happens or not depending on what was read before.
    pub branches: u32,
    /// A choice before an access, out of the statements of noise.
    pub choices: u32,
    /// Two of the locations are an array.
    pub arrays: u32,
    /// A location narrower than 64 bits.
    pub narrow: u32,
    /// A value near the ends of some width.
    pub extremes: u32,
    /// An assertion about what was read.
    pub asserts: u32,
    /// An assumption about what was read.
    pub assumes: u32,
    /// A misuse of a lock, an index or an address, in a program that has such a thing.
    pub mistakes: u32,
}

/// How often each skeleton is taken, as weights.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Idioms {
    /// Any accesses.
    pub free: u32,
    /// Each thread shares one location with the thread before it and one with the thread after it.
    ///
    /// Store buffering, message passing, load buffering, 2+2W, IRIW and their kin are of this kind.
    pub cycle: u32,
    /// Several accesses of each thread to one location.
    pub coherence: u32,
    /// Critical sections.
    pub locked: u32,
    /// A thread that starts others and waits for them.
    pub spawned: u32,
    /// A thread that looks at two locations at once.
    pub snapshot: u32,
    /// Steps that read and store at once, or choose by what they read.
    pub guarded: u32,
    /// A compare-exchange that fails, where a load would show that the buffer is not empty.
    pub failed_exchange: u32,
    /// Stretches without a switch to another thread.
    pub exclusive: u32,
    /// Loops that end after a few turns.
    pub loops: u32,
    /// Loops that end when another thread writes. They have finitely many states and no longest execution.
    pub spins: u32,
}

impl Shape {
    /// Programs without loops and exclusive stretches, assertions and assumptions: what can be enumerated axiomatically.
    #[must_use]
    pub fn litmus() -> Self {
        Shape {
            max_threads: 4,
            max_operations: 9,
            max_stores: 5,
            max_interleavings: 600_000,
            idioms: Idioms {
                free: 14,
                cycle: 48,
                coherence: 10,
                locked: 7,
                spawned: 9,
                snapshot: 6,
                guarded: 9,
                failed_exchange: 8,
                exclusive: 0,
                loops: 0,
                spins: 0,
            },
            noise: 35,
            barriers: 55,
            global_fences: 13,
            critical: 24,
            forwarding: 20,
            updates: 24,
            update_reads: 10,
            awaits: 5,
            orders: 50,
            data_dependencies: 25,
            address_dependencies: 12,
            branches: 15,
            choices: 25,
            arrays: 12,
            narrow: 15,
            extremes: 8,
            asserts: 0,
            assumes: 0,
            mistakes: 0,
        }
    }

    /// Everything but loops.
    #[must_use]
    pub fn full() -> Self {
        let litmus = Shape::litmus();
        Shape {
            idioms: Idioms { exclusive: 14, locked: 10, ..litmus.idioms },
            asserts: 12,
            assumes: 8,
            mistakes: 10,
            ..litmus
        }
    }

    /// As [`Shape::full`], with loops that count to a small number in most programs.
    #[must_use]
    pub fn loops() -> Self {
        let full = Shape::full();
        Shape { idioms: Idioms { loops: 100, ..full.idioms }, ..full }
    }

    /// As [`Shape::loops`], with loops that wait for another thread in most programs.
    ///
    /// Their executions cannot be enumerated; their states can.
    #[must_use]
    pub fn spins() -> Self {
        let full = Shape::full();
        Shape { idioms: Idioms { loops: 20, spins: 80, ..full.idioms }, ..full }
    }
}
