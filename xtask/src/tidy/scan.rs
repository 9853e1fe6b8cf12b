//! Tells code from comments and literals, line by line.

/// A line of a Rust file.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Without comments; string and character literals are there but empty.
    pub(super) code: String,
    /// What follows `///` or `//!`.
    pub(super) doc: Option<String>,
}

/// The lines of `text`.
pub(super) fn scan(text: &str) -> Vec<Line> {
    let mut scanner = Scanner { rest: text, lines: vec![Line::default()] };
    while !scanner.rest.is_empty() {
        scanner.token();
    }
    scanner.lines
}

struct Scanner<'a> {
    rest: &'a str,
    /// Never empty; the last one is being read.
    lines: Vec<Line>,
}

impl Scanner<'_> {
    /// Reads a comment, a literal, or one character of anything else.
    fn token(&mut self) {
        if self.rest.starts_with("//") {
            self.line_comment();
        } else if self.rest.starts_with("/*") {
            self.block_comment();
        } else if let Some(hashes) = self.raw_string_begins() {
            self.raw_string(hashes);
        } else if self.rest.starts_with('"') {
            self.quoted('"');
        } else if self.character_begins() {
            self.quoted('\'');
        } else {
            let c = self.skip(1);
            self.code(c);
        }
    }

    fn line_comment(&mut self) {
        let comment = self.rest.lines().next().unwrap_or_default();
        let is_doc = comment.starts_with("//!") || (comment.starts_with("///") && !comment.starts_with("////"));
        self.last().doc = is_doc.then(|| comment[3..].to_string());
        self.rest = &self.rest[comment.len()..];
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
            } else {
                self.skip(1);
            }
            if depth == 0 || self.rest.is_empty() {
                return;
            }
        }
    }

    /// How many `#` the raw string that begins here has, if one does.
    fn raw_string_begins(&mut self) -> Option<usize> {
        let after = self.rest.strip_prefix('r')?;
        let quoted = after.trim_start_matches('#');
        let prefix: String = self.last().code.chars().rev().take_while(|&c| is_word(c)).collect();
        (quoted.starts_with('"') && matches!(prefix.as_str(), "" | "b" | "c")).then_some(after.len() - quoted.len())
    }

    fn raw_string(&mut self, hashes: usize) {
        let end = format!("\"{}", "#".repeat(hashes));
        self.skip("r\"".len() + hashes);
        while !self.rest.is_empty() && !self.rest.starts_with(&end) {
            self.skip(1);
        }
        self.skip(end.len());
        self.last().code.push_str("\"\"");
    }

    /// Whether a character literal begins here, rather than a lifetime.
    fn character_begins(&self) -> bool {
        let mut chars = self.rest.chars();
        chars.next() == Some('\'') && (chars.next() == Some('\\') || chars.next() == Some('\''))
    }

    fn quoted(&mut self, quote: char) {
        self.skip(1);
        while !self.rest.is_empty() && !self.rest.starts_with(quote) {
            let escape = self.rest.starts_with('\\');
            self.skip(if escape { 2 } else { 1 });
        }
        self.skip(1);
        self.last().code.extend([quote, quote]);
    }

    /// Passes over `count` characters and returns the last of them.
    fn skip(&mut self, count: usize) -> Option<char> {
        let mut last = None;
        for _ in 0..count {
            let mut chars = self.rest.chars();
            last = chars.next();
            self.rest = chars.as_str();
            if last == Some('\n') {
                self.lines.push(Line::default());
            }
        }
        last
    }

    fn code(&mut self, c: Option<char>) {
        self.last().code.extend(c.filter(|&c| c != '\n'));
    }

    fn last(&mut self) -> &mut Line {
        self.lines.last_mut().expect("there is always a line")
    }
}

/// Whether `c` may be part of a name.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where `word` stands in `code`, with no name directly before it.
pub(super) fn find_word(code: &str, word: &str) -> Option<usize> {
    let mut matches = code.match_indices(word).map(|(at, _)| at);
    matches.find(|&at| !code[..at].ends_with(is_word))
}

/// Whether `word` stands in `code` as a name of its own.
pub(super) fn has_word(code: &str, word: &str) -> bool {
    code.split(|c| !is_word(c)).any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &[&str]) {
        let found: Vec<String> = scan(text).into_iter().map(|line| line.code).collect();
        assert_eq!(found, code);
    }

    #[test]
    fn comments_are_not_code() {
        check("a // b {\nc /* d /* e */\nf */ g", &["a ", "c ", " g"]);
    }

    #[test]
    fn strings_are_empty_and_keep_their_lines() {
        check("f(\"a \\\" {\nb\", 1)", &["f(", "\"\", 1)"]);
    }

    #[test]
    fn raw_strings_end_at_their_own_number_of_hashes() {
        check("f(br##\"a \"# {\"##) + r#fn + \"r\"", &["f(b\"\") + r#fn + \"\""]);
    }

    #[test]
    fn a_name_that_ends_in_r_does_not_begin_a_raw_string() {
        check(r#"for"a\"b""#, &["for\"\""]);
    }

    #[test]
    fn lifetimes_are_not_characters() {
        check(r"<'a>('{', '\'', '\u{7d}', '∥') 'b: {", &["<'a>('', '', '', '') 'b: {"]);
    }

    #[test]
    fn doc_comments_are_kept() {
        let docs: Vec<_> = scan("//! a\n/// b\n//// c\n// d\n\"\n/// e\"").into_iter().map(|line| line.doc).collect();
        assert_eq!(docs, [Some(" a".into()), Some(" b".into()), None, None, None, None]);
    }

    #[test]
    fn unfinished_text_ends_the_scan() {
        for text in ["\"a", "r#\"a\"", "/* a /* */", "'\\", "b'"] {
            assert_eq!(scan(text).len(), 1, "{text}");
        }
    }
}
