//! Numbers for the names in a trace.

use rustc_hash::FxHashMap;

use super::words::number;

/// Names of a letter and a number are looked up without hashing if the number is less than this.
const MAX_DIRECT: usize = 1 << 20;

/// Which name has which number, in the order in which they appear.
#[derive(Debug, Default)]
pub(super) struct Registry {
    /// For names such as `V12`: for each first byte, by the digits, one more than the number of the name.
    direct: Vec<Vec<u32>>,
    /// Other names of at most 8 bytes, as numbers.
    short: FxHashMap<u64, u32>,
    long: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

/// How a name is looked up.
enum Lookup {
    Direct(u8, usize),
    Short(u64),
    Long,
}

impl Lookup {
    #[inline]
    fn of(name: &[u8]) -> Lookup {
        match name {
            [first, digits @ ..] if digits.len() <= 7 => match direct(digits) {
                Some(index) => Lookup::Direct(*first, index),
                None if name.contains(&0) => Lookup::Long,
                None => Lookup::Short(name.iter().fold(0, |key, &byte| key << 8 | u64::from(byte))),
            },
            _ => Lookup::Long,
        }
    }
}

/// The number that some digits stand for, if no others stand for it and it is small.
#[inline]
fn direct(digits: &[u8]) -> Option<usize> {
    if digits.first() == Some(&b'0') && digits.len() > 1 {
        return None;
    }
    number(digits).map(|number| number as usize).filter(|&number| number < MAX_DIRECT)
}

impl Registry {
    /// The number of a name that is known.
    #[inline]
    pub(super) fn get(&self, name: &[u8]) -> Option<u32> {
        match Lookup::of(name) {
            Lookup::Direct(first, index) => self.direct.get(usize::from(first))?.get(index)?.checked_sub(1),
            Lookup::Short(key) => self.short.get(&key).copied(),
            Lookup::Long => self.long.get(name).copied(),
        }
    }

    /// The number of a name; one that is new gets the next.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8]) -> u32 {
        match self.get(name) {
            Some(number) => number,
            None => self.add(name),
        }
    }

    #[cold]
    fn add(&mut self, name: &[u8]) -> u32 {
        let number = self.names.len() as u32;
        self.names.push(name.into());
        match Lookup::of(name) {
            Lookup::Direct(first, index) => {
                self.direct.resize_with(self.direct.len().max(usize::from(first) + 1), Vec::new);
                let row = &mut self.direct[usize::from(first)];
                row.resize(row.len().max(index + 1), 0);
                row[index] = number + 1;
            }
            Lookup::Short(key) => _ = self.short.insert(key, number),
            Lookup::Long => _ = self.long.insert(name.into(), number),
        }
        number
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// A name as text.
    pub(super) fn name(&self, number: usize) -> String {
        self.names.get(number).map_or_else(String::new, |name| shown_whole(name))
    }
}

/// All bytes of a name as text for people.
fn shown_whole(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().map(plain).collect()
}

/// What stands for a character.
fn plain(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

/// More characters of a name are not shown.
const MAX_SHOWN: usize = 60;

/// Bytes of a trace as text for people.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut = text.chars().nth(MAX_SHOWN).map(|_| '…');
    text.chars().take(MAX_SHOWN).map(plain).chain(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::Registry;

    #[test]
    fn names_are_told_apart_however_they_are_looked_up() {
        let names = ["V1", "V01", "V10", "V", "1", "01", "main", "V\0", "V1048576", "a long name", "W1", "V1234567"];
        let mut registry = Registry::default();
        for _ in 0..2 {
            let numbers: Vec<u32> = names.iter().map(|name| registry.number(name.as_bytes())).collect();
            assert_eq!(numbers, (0..names.len() as u32).collect::<Vec<_>>());
        }
        assert_eq!((registry.name(2), registry.get(b"V2")), ("V10".to_owned(), None));
    }
}
