//! Rules on one Rust file: how it opens, how long it is, what it must not contain.

use super::Found;
use super::scan::find_word;
use super::source::Source;

const MAX_LINES: usize = 800;
const MAX_FUNCTION_LINES: usize = 60;

/// A file begins with one sentence that says what is in it, unless it is an example, which is shown as it is.
pub(super) fn opens_with_a_sentence(source: &Source<'_>) -> Found {
    if source.path.contains("/examples/") {
        return vec![];
    }
    let first = source.text.lines().next().unwrap_or_default();
    if !first.starts_with("//! ") {
        return vec![(1, "the file does not open with a `//!` sentence".into())];
    }
    if !first.ends_with('.') {
        return vec![(1, "the opening sentence does not end with a period on the first line".into())];
    }
    vec![]
}

pub(super) fn is_not_too_long(source: &Source<'_>) -> Found {
    let length = source.text.lines().count();
    let found = (length > MAX_LINES).then(|| (1, format!("the file has {length} lines, more than {MAX_LINES}")));
    found.into_iter().collect()
}

pub(super) fn functions_are_not_too_long(source: &Source<'_>) -> Found {
    let long = source.functions().filter(|function| function.length > MAX_FUNCTION_LINES);
    long.map(|f| (f.line, format!("`{}` has {} lines, more than {MAX_FUNCTION_LINES}", f.name, f.length))).collect()
}

pub(super) fn has_no_unwrap(source: &Source<'_>) -> Found {
    let message = "`unwrap()` outside tests; `expect` states the promise that was broken";
    let lines = source.code_outside_tests().filter(|(_, code)| code.contains(".unwrap()"));
    lines.map(|(line, _)| (line, message.into())).collect()
}

pub(super) fn is_finished(source: &Source<'_>) -> Found {
    let mut found = vec![];
    for (line, code) in source.code() {
        let unfinished = ["todo!", "unimplemented!"].into_iter().filter(|word| find_word(code, word).is_some());
        let ignored = ["#[ignore"].into_iter().filter(|attribute| code.contains(attribute));
        found.extend(unfinished.chain(ignored).map(|what| (line, format!("`{what}` is left"))));
    }
    found
}

pub(super) fn has_no_empty_bullet(source: &Source<'_>) -> Found {
    let lines = source.docs().filter(|(_, doc)| is_bullet(doc.trim()));
    lines.map(|(line, _)| (line, "empty bullet in a doc comment".into())).collect()
}

/// Whether `text` is `-`, `*`, `+` or a number with a period, and nothing else.
fn is_bullet(text: &str) -> bool {
    let number = text.strip_suffix('.').unwrap_or_default();
    matches!(text, "-" | "*" | "+") || (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn imports_by_name(source: &Source<'_>) -> Found {
    let lines = source.code_outside_tests().filter(|(_, code)| imports_everything(code));
    lines.map(|(line, _)| (line, "glob import of the crate or of the parent outside tests".into())).collect()
}

/// Whether `code` imports all of the crate or of a module around it.
fn imports_everything(code: &str) -> bool {
    let Some(at) = find_word(code, "use ") else { return false };
    let path = code[at + "use ".len()..].trim().trim_end_matches(';');
    let Some(modules) = path.strip_suffix("::*") else { return false };
    modules.split("::").all(|part| matches!(part, "crate" | "super" | "self"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&Source<'_>) -> Found, text: &str, lines: &[usize]) {
        let found: Vec<usize> = rule(&Source::new("a.rs", text)).into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, lines, "{text}");
    }

    #[test]
    fn the_first_line_is_a_sentence_with_a_period() {
        check(opens_with_a_sentence, "//! A.\n//! B\n", &[]);
        for text in ["", "fn main() {}\n", "// A.\n", "//! A\n//! b.\n", "\n//! A.\n", "//!\n//! A.\n"] {
            check(opens_with_a_sentence, text, &[1]);
        }
    }

    #[test]
    fn a_file_has_at_most_800_lines() {
        check(is_not_too_long, &"a\n".repeat(800), &[]);
        check(is_not_too_long, &"a\n".repeat(801), &[1]);
    }

    #[test]
    fn a_function_has_at_most_60_lines() {
        let with_body = |n: usize| format!("\npub fn a() {{\n{}}}\n", "    b();\n".repeat(n));
        check(functions_are_not_too_long, &with_body(58), &[]);
        check(functions_are_not_too_long, &with_body(59), &[2]);
    }

    #[test]
    fn tests_and_tables_may_be_long() {
        let body = "    b(),\n".repeat(99);
        check(functions_are_not_too_long, &format!("#[test]\nfn a() {{\n{body}}}\n"), &[]);
        check(functions_are_not_too_long, &format!("const A: &[fn()] = &[\n{body}];\n"), &[]);
    }

    #[test]
    fn unwrap_is_for_tests() {
        check(has_no_unwrap, "a.unwrap();\nb.unwrap_or(1);\n// c.unwrap()\n\"d.unwrap()\";\n", &[1]);
        check(has_no_unwrap, "#[cfg(test)]\nmod tests {\n    a.unwrap();\n}\nb\n    .unwrap();\n", &[6]);
    }

    #[test]
    fn nothing_is_left_to_do_or_ignored() {
        check(is_finished, "todo!()\nmy_todo!()\nunimplemented!(\"a\")\n// todo!()\n", &[1, 3]);
        check(is_finished, "#[test]\n#[ignore = \"slow\"]\nfn a() {}\n#[test]\n#[ignore]\nfn b() {}\n", &[2, 5]);
    }

    #[test]
    fn bullets_say_something() {
        check(has_no_empty_bullet, "//! -\n/// *\n//! 12.\n", &[1, 2, 3]);
        check(has_no_empty_bullet, "//! - a\n//!\n//! .\n// -\n//! ---\n", &[]);
    }

    #[test]
    fn only_tests_import_everything_around_them() {
        check(imports_by_name, "use super::*;\npub use crate::*;\nuse super::super::*;\n", &[1, 2, 3]);
        check(imports_by_name, "use super::a;\nuse crate::prelude::*;\nuse std::*;\nreuse super::*;\n", &[]);
        check(imports_by_name, "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n", &[]);
    }
}
