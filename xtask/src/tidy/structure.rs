//! Who may do what: the invariants of `ARCHITECTURE.md` that can be read off the code.

use super::Found;
use super::scan::{find_word, has_word};
use super::source::Source;
use super::tree::File;
use super::workspace::{Member, dependencies, shipped_dependencies};

/// The files that make a machine. The first runs subjects; the others run scripts: the steps of a trace in another order.
const MAKES_MACHINES: &[&str] = &[
    "crates/engine/src/system.rs",
    "crates/judge/src/order/script.rs",
    "crates/judge/src/races/rehearsal.rs",
    "crates/judge/src/monitors/robustness/survey.rs",
    "crates/teetotal/src/model/robustness.rs",
];

/// Where a model is defined, and where one is named since that is the point: a monitor of one model, the default of users,
/// the bundled example.
const NAMES_MODELS: &[&str] = &[
    "crates/memory/src/model.rs",
    "crates/memory/src/models/",
    "crates/judge/src/axiomatic/",
    "crates/judge/src/monitor.rs",
    "crates/teetotal/src/model.rs",
    "crates/cli/src/commands/demo.rs",
];

/// Folders whose code compares models with each other, and so names them.
const COMPARES_MODELS: &[&str] = &["crates/properties/", "bench/", "fuzz/", "xtask/"];

/// Crates that make no text: it is made where it is shown.
const WITHOUT_TEXT: &[&str] =
    &["clocks", "memory", "judge", "engine", "dpor", "rf", "stateful", "mcr", "symbolic", "robustness"];

/// Files of these that do: formulas for a solver, names of generated programs, the reason of `auto`, checkpoints, and what a
/// comparison of two searches finds.
const MAKES_TEXT: &[&str] = &[
    "crates/judge/src/order/formula.rs",
    "crates/judge/src/axiomatic/families.rs",
    "crates/engine/src/auto/tally.rs",
    "crates/dpor/src/checkpoint.rs",
    "crates/dpor/src/checkpoint/text.rs",
    "crates/symbolic/src/compare.rs",
];

/// Files that write to the terminal or ask what it is: the last words of a process that cannot go on, what is said of a
/// test that passes, and how far a search is.
const PRINTS: &[&str] = &[
    "crates/live/src/runtime.rs",
    "crates/teetotal/src/model/conclusion.rs",
    "crates/teetotal/src/model/watchman.rs",
    // For the laws, which are tests.
    "crates/properties/",
    "crates/cli/",
];

/// What a search may use: no other search.
const OF_SEARCHES: &[&str] =
    &["teetotal-program", "teetotal-clocks", "teetotal-memory", "teetotal-judge", "teetotal-engine"];

/// What some crates may use of the workspace, apart from what they test with.
const MAY_USE: &[(&str, &[&str])] = &[
    ("crates/program", &[]),
    ("crates/clocks", &["teetotal-program"]),
    ("crates/gallery", &["teetotal-program"]),
    ("crates/generate", &["teetotal-program"]),
    ("crates/memory", &["teetotal-program"]),
    ("crates/engine", &["teetotal-program", "teetotal-memory", "teetotal-judge"]),
    ("crates/dpor", OF_SEARCHES),
    ("crates/rf", OF_SEARCHES),
    ("crates/stateful", OF_SEARCHES),
    ("crates/mcr", OF_SEARCHES),
    ("crates/symbolic", OF_SEARCHES),
    ("crates/robustness", OF_SEARCHES),
    ("crates/live", &["teetotal-program", "teetotal-clocks"]),
    ("crates/frontends", &["teetotal-program"]),
    ("crates/traces", &["teetotal-program", "teetotal-memory"]),
    ("crates/timeline", &["teetotal-program", "teetotal-memory"]),
    ("crates/cli", &["teetotal"]),
];

/// Machines are made in few places, so that it is known who performs steps.
pub(super) fn makes_no_machine(source: &Source<'_>) -> Found {
    let is_free =
        |path: &str| path.starts_with("crates/memory/") || path.starts_with("bench/") || MAKES_MACHINES.contains(&path);
    if is_free(source.path) {
        return vec![];
    }
    let made =
        source.code_outside_tests().filter(|(_, code)| code.contains("Machine::<") || code.contains("Machine::new"));
    made.map(|(line, _)| (line, "a machine is made here; only `System` performs the steps of a subject".to_owned()))
        .collect()
}

/// Code that needs to know something of a model asks the model, so that a new one has one row.
pub(super) fn names_no_model(source: &Source<'_>) -> Found {
    let is_free = |path: &str| NAMES_MODELS.iter().chain(COMPARES_MODELS).any(|free| path.starts_with(free));
    if is_free(source.path) {
        return vec![];
    }
    let names = |code: &str| {
        let by_path = code.contains("ModelId::") || code.contains("models::");
        by_path && ["Sc", "Tso", "Pso", "Rc11"].iter().any(|name| has_word(code, name))
    };
    let named = source.code_outside_tests().filter(|(_, code)| names(code));
    named.map(|(line, _)| (line, "a model is named here; ask its row of `MODELS`, or the trait".to_owned())).collect()
}

/// Text is made by few crates, so that it is known where words are chosen.
pub(super) fn makes_no_text(source: &Source<'_>) -> Found {
    let below = WITHOUT_TEXT.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")));
    if !below || MAKES_TEXT.contains(&source.path) {
        return vec![];
    }
    let made = source.code_outside_tests().filter(|(_, code)| code.contains("format!("));
    made.map(|(line, _)| (line, "text is made here; that is for the crates that show it".to_owned())).collect()
}

/// The command and few other files write to the terminal.
pub(super) fn prints_nothing(source: &Source<'_>) -> Found {
    let is_free = !source.path.starts_with("crates/") || PRINTS.iter().any(|free| source.path.starts_with(free));
    if is_free {
        return vec![];
    }
    let calls = ["print!", "println!", "eprint!", "eprintln!", "stdout()", "stderr()"];
    let printed =
        source.code_outside_tests().filter(|(_, code)| calls.iter().any(|call| find_word(code, call).is_some()));
    printed.map(|(line, _)| (line, "something is printed here; that is for the command".to_owned())).collect()
}

/// Uses of a crate that its place in the architecture does not allow, at the lines of the root manifest.
pub(super) fn uses_what_it_may(members: &[(usize, Member<'_>)]) -> Found {
    let mut found = vec![];
    for (line, member) in members {
        let Some((_, allowed)) = MAY_USE.iter().find(|(folder, _)| *folder == member.folder) else { continue };
        let used = shipped_dependencies(member.manifest).filter(|name| name.starts_with("teetotal"));
        found.extend(used.filter(|name| !allowed.contains(name)).map(|name| {
            (*line, format!("`{}` uses `{name}`, which its place in ARCHITECTURE.md does not allow", member.folder))
        }));
    }
    found
}

/// Dependencies of members that no file of theirs names, at the lines of the root manifest; one for tests only is no
/// dependency of the rest.
pub(super) fn uses_what_it_depends_on(members: &[(usize, Member<'_>)], files: &[File]) -> Found {
    let mut found = vec![];
    for (line, member) in members {
        let is_used = |name: &str, folder: String| {
            let of_folder = |file: &&File| file.path.starts_with(&folder) && file.path.ends_with(".rs");
            files.iter().filter(of_folder).any(|file| has_word(&file.text, &name.replace('-', "_")))
        };
        let shipped = shipped_dependencies(member.manifest).map(|name| (name, format!("{}/src/", member.folder)));
        let all = dependencies(member.manifest).map(|name| (name, format!("{}/", member.folder)));
        let mut unused: Vec<&str> =
            shipped.chain(all).filter(|(name, folder)| !is_used(name, folder.clone())).map(|(name, _)| name).collect();
        unused.sort_unstable();
        unused.dedup();
        let message = |name| format!("`{}` depends on `{name}` and does not use it", member.folder);
        found.extend(unused.into_iter().map(|name| (*line, message(name))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: fn(&Source<'_>) -> Found, path: &str, text: &str) -> Vec<usize> {
        rule(&Source::new(path, text)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn machines_are_made_by_systems() {
        let text = "fn f() {\n    let machine = Machine::<Sc>::new(&subject);\n}\n";
        assert_eq!(lines(makes_no_machine, "crates/mcr/src/search.rs", text), [2]);
        assert!(lines(makes_no_machine, "crates/engine/src/system.rs", text).is_empty());
        assert!(lines(makes_no_machine, "crates/mcr/tests/search.rs", text).is_empty());
    }

    #[test]
    fn models_are_asked() {
        let text = "use teetotal_memory::models::{Pso, Sc};\nfn f() -> bool {\n    id == ModelId::Tso\n}\n";
        assert_eq!(lines(names_no_model, "crates/report/src/reason.rs", text), [1, 3]);
        assert!(lines(names_no_model, "crates/memory/src/models/pso.rs", text).is_empty());
        assert!(
            lines(names_no_model, "crates/report/src/reason.rs", "use teetotal_program::models::Scale;\n").is_empty()
        );
    }

    #[test]
    fn text_is_made_where_it_is_shown() {
        let text = "fn f() -> String {\n    format!(\"{x}\")\n}\n";
        assert_eq!(lines(makes_no_text, "crates/mcr/src/search.rs", text), [2]);
        assert!(lines(makes_no_text, "crates/report/src/words.rs", text).is_empty());
        assert!(lines(makes_no_text, "crates/mcr/tests/search.rs", text).is_empty());
    }

    #[test]
    fn the_command_prints() {
        let text = "fn f() {\n    println!();\n    io::stderr().flush();\n    fingerprint!();\n}\n";
        assert_eq!(lines(prints_nothing, "crates/report/src/words.rs", text), [2, 3]);
        assert!(lines(prints_nothing, "crates/cli/src/output.rs", text).is_empty());
    }

    #[test]
    fn crates_use_what_they_depend_on() {
        let manifest = "[dependencies]\nserde-json = \"1\"\n[dev-dependencies]\nother.workspace = true\n";
        let members = [(7, Member { folder: "crates/a", manifest })];
        let file = |path: &str, text: &str| File { path: path.to_owned(), text: text.to_owned() };
        let of = |src: &str, tests: &str| [file("crates/a/src/lib.rs", src), file("crates/a/tests/b.rs", tests)];
        let n_unused = |files: &[File]| uses_what_it_depends_on(&members, files).len();
        assert_eq!(n_unused(&of("use serde_json::Value;\n", "use other::A;\n")), 0);
        assert_eq!(n_unused(&of("", "use serde_json::Value;\n")), 2);
    }

    #[test]
    fn crates_use_what_they_may() {
        let member = |manifest| (7, Member { folder: "crates/live", manifest });
        let good =
            "[dependencies]\nteetotal-program.workspace = true\n[dev-dependencies]\nteetotal-dpor.workspace = true\n";
        let bad = "[dependencies]\nteetotal-dpor.workspace = true\n";
        assert!(uses_what_it_may(&[member(good)]).is_empty());
        assert_eq!(uses_what_it_may(&[member(bad)]).len(), 1);
    }
}
