//! A Rust file with its lines told apart: code, documentation, tests.

use std::ops::RangeInclusive;

use super::scan::{Line, find_word, is_word, scan};

/// A Rust file.
pub(super) struct Source<'a> {
    /// Relative to the root of the workspace, with `/`.
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    lines: Vec<Line>,
    /// Indices of the lines of test functions and test modules.
    tests: Vec<RangeInclusive<usize>>,
}

/// A function with a body.
pub(super) struct Function {
    pub(super) name: String,
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) length: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        let lines = scan(text);
        let tests = if is_test_file(path) { vec![0..=lines.len()] } else { test_items(&lines) };
        Source { path, text, lines, tests }
    }

    /// The code of every line with its number, counted from 1.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines.iter().enumerate().map(|(index, line)| (index + 1, line.code.as_str()))
    }

    /// The same without tests.
    pub(super) fn code_outside_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code().filter(|&(number, _)| !self.is_test(number))
    }

    /// The text of every doc comment line with its number.
    pub(super) fn docs(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.lines.iter().enumerate();
        numbered.filter_map(|(index, line)| line.doc.as_deref().map(|doc| (index + 1, doc)))
    }

    /// The functions with a body, without tests; a function inside another counts for both.
    pub(super) fn functions(&self) -> impl Iterator<Item = Function> {
        self.code_outside_tests().filter_map(|(line, code)| {
            let at = find_word(code, "fn ")?;
            let name: String = code[at + "fn ".len()..].chars().take_while(|&c| is_word(c)).collect();
            let last = end_of_body(&self.lines[line - 1..], at)?;
            (!name.is_empty()).then_some(Function { name, line, length: last + 1 })
        })
    }

    fn is_test(&self, number: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&(number - 1)))
    }
}

/// Whether the whole file is a test: it is in a folder `tests`, or is the module `tests` of its parent.
fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "tests" | "tests.rs"))
}

fn test_items(lines: &[Line]) -> Vec<RangeInclusive<usize>> {
    let begins = |line: &Line| {
        let code = line.code.trim_start();
        ["#[test]", "#[cfg(test)]", "#[cfg(all(test"].iter().any(|attribute| code.starts_with(attribute))
    };
    let starts = (0..lines.len()).filter(|&index| begins(&lines[index]));
    starts.map(|index| index..=index + end_of_body(&lines[index..], 0).unwrap_or(0)).collect()
}

/// The index of the line on which the body of an item ends, if it has one.
///
/// The item begins at byte `from` of the first line.
fn end_of_body(lines: &[Line], from: usize) -> Option<usize> {
    let mut brackets = 0_i32;
    let mut braces = 0_i32;
    for (index, line) in lines.iter().enumerate() {
        let start = if index == 0 { from } else { 0 };
        for c in line.code[start..].chars() {
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets -= 1,
                ';' if brackets == 0 && braces == 0 => return None,
                '{' => braces += 1,
                '}' => {
                    braces -= 1;
                    if braces == 0 {
                        return Some(index);
                    }
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(path: &str, text: &str) -> Vec<(String, usize, usize)> {
        Source::new(path, text).functions().map(|f| (f.name, f.line, f.length)).collect()
    }

    #[test]
    fn a_function_ends_at_its_own_brace() {
        let text =
            "trait T {\n    fn a(x: [u8; 2]);\n    fn b(\n    ) {\n        if x { \"}\" }\n    }\n}\nfn c() {}\n";
        assert_eq!(functions("a.rs", text), [("b".into(), 3, 4), ("c".into(), 8, 1)]);
    }

    #[test]
    fn pointers_to_functions_are_not_functions() {
        assert_eq!(functions("a.rs", "const A: fn (u8) = {\n};\nlet my_fn = {\n};"), []);
    }

    #[test]
    fn test_modules_and_test_functions_are_tests() {
        let text = "a\n#[test]\nfn b() {\n}\nc\n#[cfg(test)]\nmod tests {\n    d\n}\ne";
        let source = Source::new("a.rs", text);
        let outside: Vec<&str> = source.code_outside_tests().map(|(_, code)| code).collect();
        assert_eq!(outside, ["a", "c", "e"]);
    }

    #[test]
    fn files_of_tests_are_tests() {
        for path in ["tests/a.rs", "crates/x/tests/a/b.rs", "crates/x/src/a/tests.rs"] {
            assert_eq!(Source::new(path, "a").code_outside_tests().count(), 0, "{path}");
        }
        assert_eq!(Source::new("crates/x/src/testing/mod.rs", "a").code_outside_tests().count(), 1);
    }
}
