//! A compact byte form of small numbers, for states that are stored by the million.
//!
//! Most values of a state are tiny, so a number below 248 is one byte; a larger one is a byte that says how many follow.

/// The first byte that announces more bytes.
const LONG: u8 = 248;

/// Appends `value`.
#[inline]
pub fn put(out: &mut Vec<u8>, value: u64) {
    if value < u64::from(LONG) {
        out.push(value as u8);
    } else {
        put_long(out, value);
    }
}

#[cold]
fn put_long(out: &mut Vec<u8>, value: u64) {
    let length = 8 - value.leading_zeros() as usize / 8;
    out.push(LONG + (length as u8 - 1));
    out.extend_from_slice(&value.to_le_bytes()[..length]);
}

/// Takes the number at the front of `bytes`, which must have been written by [`put`].
#[inline]
pub fn take(bytes: &mut &[u8]) -> u64 {
    let first = bytes[0];
    *bytes = &bytes[1..];
    if first < LONG { u64::from(first) } else { take_long(bytes, usize::from(first - LONG) + 1) }
}

#[cold]
fn take_long(bytes: &mut &[u8], length: usize) -> u64 {
    let mut full = [0; 8];
    full[..length].copy_from_slice(&bytes[..length]);
    *bytes = &bytes[length..];
    u64::from_le_bytes(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        let numbers = [0, 1, 247, 248, 255, 256, 0xffff, 0x1_0000, u64::from(u32::MAX), 1 << 40, u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&n| put(&mut bytes, n));
        let mut rest = bytes.as_slice();
        for n in numbers {
            assert_eq!(take(&mut rest), n);
        }
        assert!(rest.is_empty());
    }
}
