//! What documents say of the code: the files that they name are there, and what is said to be in one is in it.

use super::Found;
use super::scan::{has_word, is_word};
use super::tree::File;

/// Folders of the workspace: what begins so is a path.
const FOLDERS: &[&str] = &["crates/", "compat/", "corpus/", "docs/", "xtask/", "bench/", "fuzz/"];

/// Whether a document describes the code as it is. CONTRIBUTING.md also names files that are to be written.
pub(super) fn describes_the_code(path: &str) -> bool {
    path == "ARCHITECTURE.md" || path == "README.md" || path.starts_with("docs/") && path.ends_with(".md")
}

/// Paths that lead nowhere; and in the last cell of a row of a table, names that are in none of the files named there.
pub(super) fn names_what_is_there(text: &str, files: &[File]) -> Found {
    let mut found = vec![];
    for (index, line) in text.lines().enumerate() {
        let paths: Vec<&str> = spans(line).filter(|span| is_path(span)).collect();
        let missing = paths.iter().filter(|path| files_at(path, files).next().is_none());
        found.extend(missing.map(|path| (index + 1, format!("there is no `{path}`"))));
        let Some((_, cell)) = line.trim_end_matches(['|', ' ']).rsplit_once('|') else { continue };
        let paths: Vec<&str> = spans(cell).filter(|span| is_path(span)).collect();
        let is_there =
            |name: &&str| paths.iter().flat_map(|path| files_at(path, files)).any(|file| has_word(&file.text, name));
        let names = spans(cell).filter(|span| !paths.is_empty() && is_function(span));
        let names: Vec<&str> = names.filter(|name| !is_there(name)).collect();
        found.extend(names.iter().map(|name| (index + 1, format!("`{name}` is in no file that is named beside it"))));
    }
    found
}

/// What stands between backticks.
fn spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_path(span: &str) -> bool {
    let is_plain = |c: char| is_word(c) || matches!(c, '/' | '.' | '-' | '+');
    FOLDERS.iter().any(|folder| span.starts_with(folder)) && span.chars().all(is_plain)
}

/// Whether it is a name as functions have it.
fn is_function(span: &str) -> bool {
    span.contains('_') && span.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// The file called `path`, or those in the folder.
fn files_at<'f>(path: &str, files: &'f [File]) -> impl Iterator<Item = &'f File> {
    let folder = format!("{}/", path.trim_end_matches('/'));
    files.iter().filter(move |file| file.path == folder[..folder.len() - 1] || file.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, found: &[&str]) {
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let files = [file("crates/a/src/walk.rs", "fn go_on() {}\n"), file("docs/a.md", "A.\n")];
        let messages: Vec<String> = names_what_is_there(text, &files).into_iter().map(|(_, text)| text).collect();
        assert_eq!(messages, found);
    }

    #[test]
    fn paths_lead_to_a_file_or_a_folder() {
        check("See `crates/a/src/walk.rs`, `crates/a/src/` and `docs/a.md`.\n", &[]);
        check("See `crates/a/src/run.rs`.\n", &["there is no `crates/a/src/run.rs`"]);
        check("See `crates/a/src/wal`.\n", &["there is no `crates/a/src/wal`"]);
    }

    #[test]
    fn other_spans_and_patterns_are_no_paths() {
        check("`walk.rs`, `corpus/litmus/*.expected` and `crates/b/{c,d}.rs`\n", &[]);
    }

    #[test]
    fn names_in_a_table_are_in_the_file_beside_them() {
        check("| going on | `go_on` in `crates/a/src/walk.rs` |\n", &[]);
        let wrong = ["`come_back` is in no file that is named beside it"];
        check("| going back | `come_back` in `crates/a/src/walk.rs` |\n", &wrong);
        check("| `come_back` | `crates/a/src/walk.rs` |\n", &[]);
    }
}
