//! The source of a model, for quotations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use teetotal_live::Place;

/// The maximum length of a statement; longer ones are truncated.
const MAX_LENGTH: usize = 44;

/// The maximum number of lines before the place at which a statement may begin.
const MAX_LINES_BEFORE: u32 = 4;

/// The files that were read so far, by the names that the compiler uses.
#[derive(Debug, Default)]
pub(super) struct SourceTexts {
    files: BTreeMap<String, Option<String>>,
}

impl SourceTexts {
    /// Returns the text of a file, if it is available.
    pub(super) fn text(&mut self, file: &str) -> Option<&str> {
        let read = || find(file).and_then(|path| std::fs::read_to_string(path).ok());
        self.files.entry(file.to_owned()).or_insert_with(read).as_deref()
    }

    fn line(&mut self, file: &str, number: u32) -> Option<&str> {
        self.text(file)?.lines().nth(number.checked_sub(1)? as usize)
    }

    /// Returns the call at `place`, with its receiver.
    pub(super) fn call(&mut self, place: &Place) -> Option<Call> {
        let mut line: Vec<char> = self.line(&place.file, place.line)?.chars().collect();
        let mut at = (place.column as usize).checked_sub(1)?;
        if at >= line.len() {
            return None;
        }
        // A chain of calls may begin on an earlier line.
        for above in 1..=MAX_LINES_BEFORE {
            let first = line.iter().position(|c| !c.is_whitespace()).unwrap_or(0);
            if line.get(first) != Some(&'.') || place.line <= above {
                break;
            }
            let before: Vec<char> = self.line(&place.file, place.line - above)?.trim_end().chars().collect();
            at = at + before.len() - first;
            line = before.into_iter().chain(line.drain(first..)).collect();
        }
        let from = receiver_start(&line, at);
        let on: String = line[from..at].iter().collect();
        let on = on.trim_end_matches('.').trim_start_matches("self.").to_owned();
        let end = call_end(&line, at);
        let text: String = line[from..end].iter().collect();
        let length = end.saturating_sub(at) as u32;
        Some(Call { on: Some(on).filter(|on| !on.is_empty()), text: shortened(&text), length })
    }
}

/// A call in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Call {
    /// The receiver.
    pub(super) on: Option<String>,
    pub(super) text: String,
    /// The number of characters from its place on.
    pub(super) length: u32,
}

/// Finds a file that the compiler named relative to its working directory, which is this folder or one above.
fn find(file: &str) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(Path::new(file))).find(|path| path.is_file())
}

/// Returns where the expression begins whose method is named at `at`.
fn receiver_start(line: &[char], at: usize) -> usize {
    let mut start = at;
    while let Some(&c) = start.checked_sub(1).and_then(|before| line.get(before)) {
        match c {
            ')' | ']' => match opening(line, start - 1) {
                Some(open) => start = open,
                None => break,
            },
            c if c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '?') => start -= 1,
            _ => break,
        }
    }
    start
}

/// Returns the position of the bracket that the one at `close` closes.
fn opening(line: &[char], close: usize) -> Option<usize> {
    let mut depth = 0;
    for at in (0..=close).rev() {
        match line[at] {
            ')' | ']' => depth += 1,
            '(' | '[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Returns where the call ends whose name is at `at`: after its arguments, or at the end of the line.
fn call_end(line: &[char], at: usize) -> usize {
    let mut depth = 0;
    for (offset, &c) in line[at..].iter().enumerate() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth <= 0 {
                    return at + offset + usize::from(depth == 0);
                }
            }
            ';' | ',' if depth == 0 => return at + offset,
            _ => {}
        }
    }
    line.len()
}

fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= MAX_LENGTH {
        return text;
    }
    text.chars().take(MAX_LENGTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call_in(text: &str, line: u32, column: u32) -> Option<Call> {
        let mut texts = SourceTexts::default();
        texts.files.insert("a.rs".to_owned(), Some(text.to_owned()));
        texts.call(&Place { file: "a.rs".to_owned(), line, column })
    }

    #[test]
    fn a_call_is_quoted_with_what_it_is_called_on() {
        let call = call_in("    let a = self.slots[i].state.load(Acquire) + 1;", 1, 33).expect("it is there");
        assert_eq!(
            call,
            Call { on: Some("slots[i].state".into()), text: "self.slots[i].state.load(Acquire)".into(), length: 13 }
        );
    }

    #[test]
    fn a_call_may_begin_on_an_earlier_line() {
        let call = call_in("let n = shared\n    .count\n    .fetch_add(1, Relaxed);", 3, 6).expect("it is there");
        assert_eq!(
            call,
            Call { on: Some("shared.count".into()), text: "shared.count.fetch_add(1, Relaxed)".into(), length: 21 }
        );
    }

    #[test]
    fn a_function_is_called_on_nothing() {
        let call = call_in("fence(SeqCst);", 1, 1).expect("it is there");
        assert_eq!(call, Call { on: None, text: "fence(SeqCst)".into(), length: 13 });
    }

    #[test]
    fn places_that_are_not_in_the_text_are_not_quoted() {
        assert_eq!(call_in("x", 1, 9), None);
        assert_eq!(call_in("x", 7, 1), None);
        assert_eq!(call_in("x", 0, 0), None);
    }
}
