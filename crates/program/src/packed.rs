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

/// Appends all of `values`.
#[inline]
pub fn put_all(out: &mut Vec<u8>, values: &[u64]) {
    if values.iter().all(|&value| value < u64::from(LONG)) {
        out.extend(values.iter().map(|&value| value as u8));
    } else {
        values.iter().for_each(|&value| put(out, value));
    }
}

/// Takes as many numbers as `values` has room for.
#[inline]
pub fn take_all(bytes: &mut &[u8], values: &mut [u64]) {
    if let Some((short, rest)) = bytes.split_at_checked(values.len())
        && short.iter().all(|&byte| byte < LONG)
    {
        values.iter_mut().zip(short).for_each(|(value, &byte)| *value = u64::from(byte));
        *bytes = rest;
    } else {
        values.iter_mut().for_each(|value| *value = take(bytes));
    }
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

    #[test]
    fn many_at_once_are_the_same_bytes_as_one_by_one() {
        for numbers in [&[0, 1, 247][..], &[1, 248, 3], &[u64::MAX], &[]] {
            let (mut one_by_one, mut at_once) = (Vec::new(), Vec::new());
            numbers.iter().for_each(|&n| put(&mut one_by_one, n));
            put_all(&mut at_once, numbers);
            assert_eq!(one_by_one, at_once);
            let mut back = vec![7; numbers.len()];
            let mut rest = at_once.as_slice();
            take_all(&mut rest, &mut back);
            assert_eq!(back, numbers);
            assert!(rest.is_empty());
        }
    }
}
