//! A number for what all threads have read, and from where.
//!
//! It is there to see how many executions differ in that, before somebody decides how to search. Two executions that
//! differ and have the same number are a pity and no harm.

use teetotal_program::Value;

/// What a thread has read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fingerprint {
    /// Which thread it is: who started it, and with which operation.
    name: u64,
    reads: u64,
}

impl Fingerprint {
    /// Of the thread that operation `index` of this one starts.
    pub(crate) fn of_child(self, index: u32) -> Self {
        let name = mix(self.name, u64::from(index) + 1);
        Fingerprint { name, reads: name }
    }

    /// Takes note that operation `index` reads what operation `written` of a thread wrote.
    pub(crate) fn read(&mut self, index: u32, writer: Fingerprint, written: u32) {
        self.reads = mix(mix(self.reads, index.into()), mix(writer.name, u64::from(written) + 2));
    }

    /// Takes note that operation `index` takes an alternative.
    pub(crate) fn take(&mut self, index: u32, alternative: Value) {
        self.reads = mix(mix(self.reads, index.into()), alternative);
    }

    /// As a number that can be added to those of other threads.
    pub(crate) fn number(self, performed: u32) -> u64 {
        mix(mix(self.name, self.reads), performed.into())
    }
}

fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}
