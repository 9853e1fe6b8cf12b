//! Persistent sets: which of the possible steps are worth taking first, because the others can wait without loss.
//!
//! A set of processes is persistent if nothing that the others can do, however long they run, depends on a step in it
//! [PERSISTENT]. It grows from one process: each needs with it whatever may still conflict with its step, or may make
//! that possible. What the processes are, and how much is known of what each may still do, differs from search to search;
//! the argument is in `docs/theory/reduction.md`.

use teetotal_program::LocSet;

/// Processes as bits, in the numbering of a search.
pub type Processes = u128;

/// The persistent set with the fewest steps among those that grow from one of `seeds`; not if each has all `n_steps`.
pub fn smallest(
    seeds: impl IntoIterator<Item = Processes>,
    n_steps: usize,
    mut grow: impl FnMut(Processes) -> Option<Processes>,
    count_steps: impl Fn(Processes) -> usize,
) -> Option<Processes> {
    let (mut best, mut fewest) = (None, n_steps);
    for seed in seeds {
        let grown = grow(seed);
        let count = grown.map_or(usize::MAX, &count_steps);
        if count < fewest {
            (best, fewest) = (grown, count);
        }
        if fewest == 1 {
            break;
        }
    }
    best
}

/// The least set with `seed` in which each process has what it needs; `None` if one needs what is not known.
pub fn grow(seed: Processes, mut needs: impl FnMut(u32) -> Option<Processes>) -> Option<Processes> {
    let (mut set, mut open) = (seed, seed);
    while open != 0 {
        let needed = needs(open.trailing_zeros())?;
        open = open & (open - 1) | needed & !set;
        set |= needed;
    }
    Some(set)
}

/// Which locations a step reads and writes in memory.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Access {
    pub read: LocSet,
    pub written: LocSet,
}

impl Access {
    /// A step that only reads.
    #[must_use]
    pub fn read(read: LocSet) -> Self {
        Access { read, written: LocSet::default() }
    }

    /// A step that only writes.
    #[must_use]
    pub fn write(written: LocSet) -> Self {
        Access { read: LocSet::default(), written }
    }

    /// All locations that it accesses.
    #[must_use]
    pub fn touched(self) -> LocSet {
        self.read.union(self.written)
    }

    /// Whether a thread that may still read and write these locations may do something that does not commute with it.
    #[must_use]
    pub fn conflicts(self, reads: LocSet, writes: LocSet) -> bool {
        self.written.meets(reads) || self.touched().meets(writes)
    }
}

#[cfg(test)]
mod tests {
    use teetotal_program::Loc;

    use super::*;

    #[test]
    fn a_set_grows_until_each_process_has_what_it_needs() {
        let needs = [0b010, 0b100, 0b000, 0b001];
        assert_eq!(grow(0b001, |process| Some(needs[process as usize])), Some(0b111));
        assert_eq!(grow(0b100, |process| Some(needs[process as usize])), Some(0b100));
        assert_eq!(grow(0b001, |process| (process != 2).then_some(needs[process as usize])), None);
    }

    #[test]
    fn the_smallest_set_is_chosen_unless_nothing_is_left_out() {
        let choose = |seeds: [Processes; 2]| smallest(seeds, 3, Some, |set| set.count_ones() as usize);
        assert_eq!(choose([0b011, 0b100]), Some(0b100));
        assert_eq!(choose([0b111, 0b111]), None);
    }

    #[test]
    fn reads_of_one_location_commute_and_writes_do_not() {
        let (x, none) = (LocSet::of(Loc(0)), LocSet::default());
        assert!(!Access::read(x).conflicts(x, none));
        assert!(Access::read(x).conflicts(none, x));
        assert!(Access::write(x).conflicts(x, none));
        assert!(!Access::write(x).conflicts(LocSet::of(Loc(1)), LocSet::of(Loc(1))));
    }
}
