//! The same question always gets the same answer: no clock, environment or thread timing below the façade.

use super::Found;
use super::scan::{has_word, is_word};
use super::source::Source;

/// The crates below the façade. Time and the environment reach them as parameters.
const CRATES: &[&str] = &[
    "program",
    "gallery",
    "generate",
    "memory",
    "judge",
    "engine",
    "dpor",
    "rf",
    "stateful",
    "mcr",
    "symbolic",
    "robustness",
    "check",
    "traces",
    "frontends",
    "timeline",
    "report",
];

const MODULES: &[&str] = &["time", "env", "thread"];

pub(super) fn is_deterministic(source: &Source<'_>) -> Found {
    let below = CRATES.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")));
    if !below {
        return vec![];
    }
    let mut found = vec![];
    for (line, code) in statements(source) {
        found.extend(modules_used(&code).map(|module| {
            let help = if module == "thread" { "; of threads only `std::thread::scope` is allowed" } else { "" };
            (line, format!("`std::{module}` below the façade{help}"))
        }));
    }
    found
}

/// The lines of code outside tests, with an import that goes on over several lines as one.
fn statements(source: &Source<'_>) -> Vec<(usize, String)> {
    let mut statements: Vec<(usize, String)> = vec![];
    for (line, code) in source.code_outside_tests() {
        match statements.last_mut() {
            Some((_, open)) if open.contains("std::{") && !open.contains(';') => open.push_str(code),
            _ => statements.push((line, code.to_string())),
        }
    }
    statements
}

/// The modules named in `code`, alone or in a group; a scope of threads ends before its caller goes on.
fn modules_used(code: &str) -> impl Iterator<Item = &'static str> {
    let paths: Vec<&str> = code.match_indices("std::").map(|(at, std)| &code[at + std.len()..]).collect();
    MODULES.iter().copied().filter(move |module| {
        paths.iter().any(|path| match path.strip_prefix('{') {
            Some(group) => has_word(group, module),
            None => path.strip_prefix(module).is_some_and(is_use),
        })
    })
}

/// Whether what follows the name of a module makes it a use: not a longer name, a macro, or a scope.
fn is_use(rest: &str) -> bool {
    !rest.starts_with(is_word) && !rest.starts_with('!') && !rest.starts_with("::scope")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, lines: &[usize]) {
        let found: Vec<usize> = is_deterministic(&Source::new(path, text)).into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, lines, "{path}: {text}");
    }

    #[test]
    fn clocks_environment_and_threads_are_found() {
        for code in [
            "use std::time::Instant;",
            "let a = std::env::var(b);",
            "std::thread::sleep(a);",
            "use std::thread;",
            "use std::{env, fmt};",
            "use std::{fmt, thread::spawn};",
            "use std::{\n    fmt,\n    timeless,\n    time,\n};",
        ] {
            check("crates/engine/src/driver.rs", &format!("//! A.\n{code}\n"), &[2]);
        }
    }

    #[test]
    fn scoped_threads_are_allowed() {
        check("crates/engine/src/parallel.rs", "std::thread::scope(|scope| a(scope));\n", &[]);
    }

    #[test]
    fn other_names_tests_and_comments_are_allowed() {
        let text = "use std::timeless;\nstd::env!(\"A\");\nuse std::{fmt, iter};\n// std::time\n\
                    #[cfg(test)]\nmod tests {\n    use std::env;\n}\n";
        check("crates/judge/src/lib.rs", text, &[]);
    }

    #[test]
    fn the_facade_and_the_command_may_look_at_the_clock() {
        for path in ["crates/teetotal/src/lib.rs", "crates/cli/src/main.rs", "bench/src/main.rs"] {
            check(path, "use std::time::Instant;\n", &[]);
        }
    }
}
