//! Measures and breaks plain text.

/// Returns the width of `text`: one column for each character.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// Breaks `text` at spaces into lines of at most `width` columns, all but the first indented.
///
/// A word that is longer than a line is broken too; a no-break space is part of a word and becomes a space. Empty text
/// has no lines.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(indent + 4);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let used = self::width(&line);
            let blank = line.trim().is_empty();
            let gap = usize::from(!blank);
            if used + gap + word.len() <= width {
                line.extend(std::iter::repeat_n(' ', gap));
                line.extend(word);
                break;
            }
            if blank {
                let rest = word.split_off(width - used);
                line.extend(word);
                word = rest;
            }
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
        }
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines.into_iter().map(|line| line.replace(NO_BREAK, " ")).collect()
}

/// A space at which [`wrap`] does not break.
pub const NO_BREAK: char = '\u{a0}';

/// Returns `text` as one word for [`wrap`].
pub fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_at_spaces_and_later_ones_are_indented() {
        assert_eq!(wrap("reads 1 from own buffer (3)", 12, 2), ["reads 1 from", "  own buffer", "  (3)"]);
    }

    #[test]
    fn a_word_that_fits_nowhere_is_broken() {
        assert_eq!(wrap("x abcdefghijkl", 8, 2), ["x", "  abcdef", "  ghijkl"]);
    }

    #[test]
    fn nothing_takes_no_line() {
        assert!(wrap("", 10, 0).is_empty());
    }
}
