//! Common phrases: counts, lists, sizes and places.

use teetotal_memory::EventKind;
use teetotal_program::ir::Program;
use teetotal_program::{Span, ThreadId};

/// Returns `1 state`, `2 states`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Returns `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[impl AsRef<str>]) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

/// Formats a number of bytes with one decimal.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if n < 1024 {
        return count(n, "byte");
    }
    let mut unit = 0;
    let mut tenths = u128::from(n) * 10 / 1024;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Returns the file that a program was read from; one that was written in Rust has none.
pub(crate) fn file(program: &Program) -> Option<&str> {
    let source = program.sources.first()?;
    source.text.as_ref().map(|_| source.name.as_str())
}

/// Returns the arguments that name a program on the command line, with its options, quoted for a shell.
pub(crate) fn argument(program: &Program) -> String {
    let name = file(program).unwrap_or(&program.name);
    let parts = std::iter::once(name).chain(program.read_with.iter().map(String::as_str));
    parts.map(shell_word).collect::<Vec<_>>().join(" ")
}

fn shell_word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+./:@%,=".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', "'\\''"))
    }
}

/// Returns the place of an instruction in its source, as `file:line:column`.
pub(crate) fn place(program: &Program, thread: ThreadId, instruction: usize) -> Option<String> {
    let Span { source, line, column, .. } = program.threads[thread.index()].places.get(instruction)?.span?;
    let source = program.sources.get(usize::from(source))?;
    Some(format!("{}:{line}:{column}", source.name))
}

/// Returns the name of an event.
pub(crate) fn kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Load => "load",
        EventKind::Store => "store",
        EventKind::Rmw => "read-modify-write",
        EventKind::FailedRmw => "failed read-modify-write",
        EventKind::Fence => "fence",
        EventKind::GlobalFence => "global fence",
        EventKind::Lock => "lock",
        EventKind::Unlock => "unlock",
        EventKind::Spawn(_) => "spawn",
        EventKind::Join(_) => "join",
        EventKind::Choose => "choice",
    }
}

#[cfg(test)]
mod tests {
    use teetotal_program::Source;

    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!([count(0, "state"), count(1, "state"), count(2, "state")], ["0 states", "1 state", "2 states"]);
    }

    #[test]
    fn lists_end_with_and() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list(&[""; 0]), "");
    }

    #[test]
    fn a_program_is_called_by_its_file_as_a_shell_wants_it() {
        let named = |name: &str, text: Option<&str>| {
            let mut program = teetotal_gallery::store_buffering();
            program.sources = vec![Source { name: name.to_owned(), text: text.map(str::to_owned) }];
            argument(&program)
        };
        assert_eq!(named("gallery.rs", None), "SB");
        assert_eq!(named("tests/2+2W.litmus", Some("")), "tests/2+2W.litmus");
        assert_eq!(named("my test's.litmus", Some("")), r"'my test'\''s.litmus'");
    }

    #[test]
    fn sizes_have_a_unit() {
        assert_eq!(
            [bytes(1023), bytes(1024), bytes(1536), bytes(8 << 30), bytes(u64::MAX)],
            ["1023 bytes", "1.0 KiB", "1.5 KiB", "8.0 GiB", "16777215.9 TiB"]
        );
    }
}
