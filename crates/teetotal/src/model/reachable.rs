//! States that a model must reach, and the report if it does not.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

use teetotal_engine::Stats;
use teetotal_live::{Ledger, Mark, Place};
use teetotal_memory::ModelId;

use super::failure::snippet;
use super::source_text::SourceTexts;
use super::violation::{Violation, ViolationKind};

/// Requires that some execution reaches this state: the model fails if none does.
///
/// `reachable!("name")` is reached where it is run, `reachable!("name", condition)` where the condition holds. The
/// model fails if a complete search never reaches the state; an incomplete search decides nothing.
///
/// A model knows the states that its executions come to, those in the source of the call that runs the model, and those
/// of [`Builder::must_reach`](crate::model::Builder::must_reach).
///
/// ```
/// use teetotal::sync::Arc;
/// use teetotal::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// teetotal::model(|| {
///     let n = Arc::new(AtomicUsize::new(0));
///     let other = Arc::clone(&n);
///     let writer = teetotal::thread::spawn(move || other.store(1, Relaxed));
///     teetotal::reachable!("the reader is first", n.load(Relaxed) == 0);
///     writer.join().unwrap();
/// });
/// ```
#[macro_export]
macro_rules! reachable {
    ($name:literal $(,)?) => {
        $crate::model::reached($name, true)
    };
    ($name:literal, $condition:expr $(,)?) => {
        $crate::model::reached($name, $condition)
    };
}

/// A state that is named in the source: its name, its line and its column.
type Named = (String, u32, u32);

/// Adds to `ledger` the states that are named in the source of the call at `place`.
pub(super) fn ask_for(ledger: &Ledger, place: &'static Location<'static>) {
    for (name, line, column) in named_at(place).iter() {
        ledger.ask_for(name, Some(Place { file: place.file().to_owned(), line: *line, column: *column }));
    }
}

/// Returns the states in the call at `place`; a test may run the same call often, so the source is read once.
fn named_at(place: &'static Location<'static>) -> Arc<[Named]> {
    /// By the address of the place.
    static KNOWN: Mutex<BTreeMap<usize, Arc<[Named]>>> = Mutex::new(BTreeMap::new());
    let key = std::ptr::from_ref(place) as usize;
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let named = known.entry(key).or_insert_with(|| {
        let mut texts = SourceTexts::default();
        texts.text(place.file()).map_or_else(Vec::new, |text| in_call(text, place.line(), place.column())).into()
    });
    Arc::clone(named)
}

/// Returns the violation if a complete search never reached one of these states.
pub(super) fn unreached(marks: &[Mark], model: ModelId, stats: &Stats) -> Option<Violation> {
    let mut texts = SourceTexts::default();
    let missing: Vec<&Mark> = marks.iter().filter(|mark| !mark.is_reached).collect();
    let (first, others) = missing.split_first()?;
    let name = model.info().name;
    let say = |mark: &Mark, texts: &mut SourceTexts| {
        let message = format!("`{}` is never reached", mark.name);
        match &mark.place {
            Some(place) => snippet(&message, place, None, texts),
            None => format!("{message}\n"),
        }
    };
    let mut text = say(first, &mut texts);
    others.iter().for_each(|mark| text.push_str(&say(mark, &mut texts)));
    let n = stats.executions;
    text.push_str(&format!("\nThese are all {n} executions under {name}, and none is in that state.\n"));
    let places = missing.iter().filter_map(|mark| mark.place.clone()).collect();
    Some(Violation { kind: ViolationKind::Unreached, places, model, execution: None, token: None, text })
}

/// Returns the states that are named in the call at this place, with their lines and columns.
fn in_call(text: &str, line: u32, column: u32) -> Vec<Named> {
    let mut reader = Reader { rest: text, line: 1, column: 1 };
    while (reader.line, reader.column) < (line, column) && reader.step().is_some() {}
    let mut depth = 0_u32;
    let mut names = Vec::new();
    loop {
        let (before, at) = (reader.rest, (reader.line, reader.column));
        if let Some(name) = name_of(before) {
            names.push((name.to_owned(), at.0, at.1));
        }
        match reader.token() {
            Some('(') => depth += 1,
            Some(')') if depth <= 1 => return names,
            Some(')') => depth -= 1,
            Some(_) => {}
            None => return names,
        }
    }
}

/// Returns the name if the text begins with a `reachable!`.
fn name_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("reachable!(")?.trim_start().strip_prefix('"')?;
    let (name, _) = rest.split_once('"')?;
    (!name.contains('\\')).then_some(name)
}

/// Reads source text without its comments and literals.
struct Reader<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

impl Reader<'_> {
    /// Returns the next character.
    fn step(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        (self.line, self.column) = if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        Some(c)
    }

    /// Returns the next character of the code; a comment or literal is one blank, a word its first character.
    fn token(&mut self) -> Option<char> {
        let rest = self.rest;
        let first = rest.chars().next()?;
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => literal_end(rest, '"'),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#") => raw_end(rest),
            '\'' if rest[1..].starts_with('\\') || rest[1..].chars().nth(1) == Some('\'') => literal_end(rest, '\''),
            c if c.is_alphanumeric() || c == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            c => {
                self.step();
                return Some(c);
            }
        };
        let end = rest.len() - length;
        while self.rest.len() > end && self.step().is_some() {}
        Some(' ')
    }
}

/// Returns the length of the literal that `text` begins with.
fn literal_end(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the raw literal, or raw identifier, that `text` begins with.
fn raw_end(text: &str) -> usize {
    let hashes = text[1..].chars().take_while(|&c| c == '#').count();
    let Some(inner) = text[1 + hashes..].strip_prefix('"') else { return 1 + hashes };
    let close = format!("\"{}", "#".repeat(hashes));
    inner.find(&close).map_or(text.len(), |end| 2 + hashes + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<Named> {
        in_call(text, 1, 1)
    }

    #[test]
    fn states_in_the_call_are_known() {
        let text = "model(|| {\n    reachable!(\"a b\");\n    f(')', \"(\", teetotal::reachable!( \"c\", x));\n});\nreachable!(\"d\")";
        assert_eq!(names(text), [("a b".to_owned(), 2, 5), ("c".to_owned(), 3, 27)]);
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        let text = "m(|| { // reachable!(\"a\")\n /* reachable!(\"b\") */ r#\"reachable!(\"c\") )\"# \"\\\")\" 'x: not_reachable!(\"d\") })";
        assert_eq!(names(text), []);
    }

    #[test]
    fn a_call_that_does_not_end_is_read_to_the_end() {
        assert_eq!(names("m(|| r#\"").len(), 0);
        assert_eq!(names("m('").len(), 0);
        assert_eq!(names("reachable!(\"").len(), 0);
    }
}
