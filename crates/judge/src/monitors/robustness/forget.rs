//! Which writes the default algorithm may forget, so that executions of any length fit into memory.
//!
//! It asks for the last write to a location in the past of a thread. Every past, now and later, is made of those that
//! are kept now and of events to come: the past of each thread, of the newest write of each location, and of all of its
//! accesses. The writes to a location come one after the other, so the last one in a past that is made of several is
//! the latest of their last ones. A write that is the last one in none of them will never be asked for.

use teetotal_program::Loc;

use super::borderline::{Borderline, Location};

/// How many of the newest writes to a location are kept in any case.
const NEWEST: usize = 32;

impl<I: Copy> Borderline<I> {
    /// How many writes to `loc` are kept.
    #[must_use]
    pub fn n_kept(&self, loc: Loc) -> usize {
        self.locations[loc.index()].writes.len()
    }

    /// Forgets every write to `loc` that will never be asked for, but for the newest ones; gives how many.
    pub fn forget(&mut self, loc: Loc) -> usize {
        let writes = &self.locations[loc.index()].writes;
        let Some(first_new) = writes.len().checked_sub(NEWEST) else { return 0 };
        let mut keeps = vec![true; writes.len()];
        keeps[..first_new].fill(false);
        for table in [&self.threads, &self.writes, &self.accesses] {
            for past in (0..table.n_rows()).map(|row| table.row(row)) {
                // Most know one of the newest ones, so that their last one is kept.
                if !writes[first_new].is_in(past)
                    && let Some(last) = writes[..first_new].partition_point(|write| write.is_in(past)).checked_sub(1)
                {
                    keeps[last] = true;
                }
            }
        }
        self.keep(loc, &keeps)
    }

    /// Forgets the writes to `loc` that are older than what each of the threads that go on knows; gives how many.
    ///
    /// It takes less time than [`Borderline::forget`]. A thread that starts by itself later is not reckoned with.
    pub fn forget_known(&mut self, loc: Loc, goes_on: &[bool]) -> usize {
        let threads = goes_on.iter().enumerate().filter(|(_, goes_on)| **goes_on);
        let oldest = threads.map(|(thread, _)| self.last_of(self.threads.row(thread), loc)).min();
        let Some(Some(oldest)) = oldest else { return 0 };
        let keeps: Vec<bool> = (0..self.n_kept(loc)).map(|index| index >= oldest).collect();
        self.keep(loc, &keeps)
    }

    /// Forgets the writes to `loc` that are old, but for the newest one, whether or not they will be asked for.
    pub fn forget_old(&mut self, loc: Loc, is_old: impl Fn(&I) -> bool) -> usize {
        let writes = &self.locations[loc.index()].writes;
        let newest = writes.len().saturating_sub(1);
        let first = writes.partition_point(|write| is_old(&write.id)).min(newest);
        let keeps: Vec<bool> = (0..writes.len()).map(|index| index >= first).collect();
        self.keep(loc, &keeps)
    }

    /// What the writes to `loc` are called that are kept, but for the newest one.
    pub fn older(&self, loc: Loc) -> impl Iterator<Item = I> + '_ {
        let writes = &self.locations[loc.index()].writes;
        writes[..writes.len().saturating_sub(1)].iter().map(|write| write.id)
    }

    /// The position of the last write to `loc` in a past.
    fn last_of(&self, past: &[u32], loc: Loc) -> Option<usize> {
        let Location { newest, writes, .. } = &self.locations[loc.index()];
        match newest {
            Some(newest) if newest.is_in(past) => Some(writes.len() - 1),
            _ => writes.partition_point(|write| write.is_in(past)).checked_sub(1),
        }
    }

    fn keep(&mut self, loc: Loc, keeps: &[bool]) -> usize {
        let location = &mut self.locations[loc.index()];
        let n_before = location.writes.len();
        let (mut writes, mut readers) = (0, 0);
        for (index, &keeps) in keeps.iter().enumerate() {
            let mut write = location.writes[index];
            let end = location.writes.get(index + 1).map_or(location.readers.len(), |next| next.readers as usize);
            if keeps {
                let own = write.readers as usize..end;
                write.readers = readers as u32;
                location.readers.copy_within(own.clone(), readers);
                readers += own.len();
                location.writes[writes] = write;
                writes += 1;
            }
        }
        location.writes.truncate(writes);
        location.readers.truncate(readers);
        location.newest = location.writes.last().copied();
        n_before - writes
    }
}
