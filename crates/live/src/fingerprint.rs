//! Fingerprints: a hash of what all threads have read, and from which writes.
//!
//! They count how many executions differ in what they read, before a search is chosen. A collision makes the count less
//! exact and does no other harm.

use teetotal_program::Value;

/// What a thread has read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Fingerprint {
    /// The thread: its parent, and the operation that started it.
    name: u64,
    reads: u64,
}

impl Fingerprint {
    /// Of the thread that operation `index` of this one starts.
    pub(crate) fn of_child(self, index: u32) -> Self {
        let name = mix(self.name, u64::from(index) + 1);
        Fingerprint { name, reads: name }
    }

    /// Records that operation `index` reads what operation `written` of a thread wrote.
    pub(crate) fn read(&mut self, index: u32, writer: Fingerprint, written: u32) {
        self.reads = mix(mix(self.reads, index.into()), mix(writer.name, u64::from(written) + 2));
    }

    /// Records that operation `index` takes an alternative.
    pub(crate) fn take(&mut self, index: u32, alternative: Value) {
        self.reads = mix(mix(self.reads, index.into()), alternative);
    }

    /// Returns a number that can be added to those of other threads.
    pub(crate) fn number(self, performed: u32) -> u64 {
        mix(mix(self.name, self.reads), performed.into())
    }
}

fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed ^ mixed >> 29
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two threads that the first one starts.
    fn two() -> [Fingerprint; 2] {
        [0, 1].map(|index| Fingerprint::default().of_child(index))
    }

    #[test]
    fn threads_have_different_numbers_by_who_started_them_and_when() {
        let [one, other] = two();
        assert_ne!(one.number(0), other.number(0));
        assert_ne!(one.of_child(1).number(0), other.of_child(0).number(0));
    }

    #[test]
    fn what_was_read_and_from_whom_makes_a_number() {
        let [one, other] = two();
        let after = |index, writer, written| {
            let mut one = one;
            one.read(index, writer, written);
            one.number(1)
        };
        assert_eq!(after(0, other, 3), after(0, other, 3));
        assert_ne!(after(0, other, 3), after(0, other, 4));
        assert_ne!(after(0, other, 3), after(1, other, 3));
        assert_ne!(after(0, other, 3), after(0, one, 3));
    }

    #[test]
    fn what_a_writer_has_read_does_not_matter_to_its_readers() {
        let [one, mut other] = two();
        let (mut before, mut after) = (one, one);
        before.read(0, other, 0);
        other.take(0, 1);
        after.read(0, other, 0);
        assert_eq!(before, after);
    }

    #[test]
    fn the_order_of_reads_and_the_alternatives_matter() {
        let [one, other] = two();
        let (mut first, mut second, mut third) = (one, one, one);
        first.take(0, 1);
        second.take(0, 2);
        third.read(0, other, 0);
        assert_ne!(first.number(1), second.number(1));
        first.read(1, other, 0);
        third.take(1, 1);
        assert_ne!(first.number(2), third.number(2));
        assert_ne!(first.number(2), first.number(3), "how far a thread is counts too");
    }
}
