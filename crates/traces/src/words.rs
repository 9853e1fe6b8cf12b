//! The words of a line.

/// What is left of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'l> {
    rest: &'l [u8],
}

impl<'l> Words<'l> {
    pub(super) fn new(line: &'l [u8]) -> Self {
        Words { rest: line }
    }
}

impl<'l> Iterator for Words<'l> {
    type Item = &'l [u8];

    /// The next word, which ends at a space or tab.
    #[inline]
    fn next(&mut self) -> Option<&'l [u8]> {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
        let start = self.rest.iter().position(|byte| !is_space(byte))?;
        let rest = &self.rest[start..];
        let end = rest.iter().position(is_space).unwrap_or(rest.len());
        self.rest = &rest[end..];
        Some(&rest[..end])
    }
}

/// A number in decimal digits.
#[inline]
pub(super) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_spaces_and_tabs() {
        let words: Vec<&[u8]> = Words::new(b"  a \t bc ").collect();
        assert_eq!(words, [b"a".as_slice(), b"bc"]);
    }

    #[test]
    fn numbers_have_digits_only_and_fit() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!([number(b""), number(b"-1"), number(b"1x"), number(b"18446744073709551616")], [None; 4]);
    }
}
