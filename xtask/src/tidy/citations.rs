//! Every citation `[KEY, …]` in a doc comment has its key in the bibliography.

use std::collections::BTreeSet;

use super::Found;
use super::source::Source;

/// Where the bibliography is.
pub(super) const PAPERS: &str = "docs/papers.md";

/// The keys of the bibliography.
#[derive(Debug)]
pub(super) struct Bibliography(BTreeSet<String>);

impl Bibliography {
    /// Reads the rows ``| `KEY` | work |`` of the section "Bibliography".
    pub(super) fn new(papers: &str) -> Self {
        let section = papers.lines().skip_while(|line| *line != "## Bibliography").skip(1);
        let rows = section.take_while(|line| !line.starts_with("## ")).filter_map(|line| line.strip_prefix("| `"));
        Bibliography(rows.filter_map(|row| row.split_once('`')).map(|(key, _)| key.to_string()).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The citations of `source` that lead nowhere.
    pub(super) fn check(&self, source: &Source<'_>) -> Found {
        let mut found = vec![];
        for (line, doc) in source.docs() {
            let unknown = cited(doc).into_iter().filter(|key| !self.0.contains(*key));
            found.extend(unknown.map(|key| (line, format!("`{key}` is cited but is not a key in {PAPERS}"))));
        }
        found
    }
}

/// The keys in `[KEY, …]` outside of code spans.
fn cited(doc: &str) -> Vec<&str> {
    let prose = doc.split('`').step_by(2);
    let brackets = prose.flat_map(|text| text.split('[').skip(1));
    brackets.filter_map(|text| text.split_once(',')).map(|(key, _)| key).filter(|key| is_key(key)).collect()
}

/// Whether `text` looks like a key: one word with at least two capitals, so that an interval is none.
fn is_key(text: &str) -> bool {
    let is_one_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    is_one_word && text.chars().filter(char::is_ascii_uppercase).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPERS: &str = "# Papers\n| `EARLY` | no |\n## Bibliography\n### Main\n| key | work |\n|---|---|\n\
                          | `SOBER` | a |\n| `SOBER-TR` | b |\n## Definitions\n| `LATE` | c |\n";

    fn check(text: &str, lines: &[usize]) {
        let found = Bibliography::new(PAPERS).check(&Source::new("a.rs", text));
        let numbers: Vec<usize> = found.into_iter().map(|(line, _)| line).collect();
        assert_eq!(numbers, lines, "{text}");
    }

    #[test]
    fn keys_come_from_the_bibliography_alone() {
        assert!(Bibliography::new("# Papers\n| `EARLY` | no |\n").is_empty());
        check("//! [SOBER, Def. 1], [SOBER-TR, Fig. 6]\n/// [EARLY, §1]\n/// [LATE, §1]\n", &[2, 3]);
    }

    #[test]
    fn every_unknown_key_is_found() {
        check("//! [SOBER, Def. 1], [SOBRE, Def. 2], [x86-TSO, §3]\n", &[1, 1]);
        check("/// A citation may go on, [NOWHERE,\n/// Thm. 1].\n", &[1]);
    }

    #[test]
    fn links_intervals_code_and_plain_comments_are_not_citations() {
        check("//! [`Trace`], [lo, hi], `[AB, CD]`, [Events]\n// [NOWHERE, §1]\nlet a = [AB, CD];\n", &[]);
    }
}
