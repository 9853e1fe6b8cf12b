//! Who may do what: the invariants of `ARCHITECTURE.md` that can be read off the code.

use super::Found;
use super::scan::has_word;
use super::source::Source;
use super::workspace::{Member, shipped_dependencies};

/// The files that make a machine. The first runs subjects; the others run scripts: the steps of a trace in another order.
const MAKES_MACHINES: &[&str] = &[
    "crates/engine/src/system.rs",
    "crates/judge/src/order/script.rs",
    "crates/judge/src/races/rehearsal.rs",
    "crates/judge/src/monitors/robustness/survey.rs",
    "crates/teetotal/src/model/robustness.rs",
];

/// Where a model is defined, and where one is named since that is the point: sequential consistency as what robustness is
/// measured by, the default of users, the bundled examples, the predictions of cycles.
const NAMES_MODELS: &[&str] = &[
    "crates/memory/src/model.rs",
    "crates/memory/src/models/",
    "crates/judge/src/axiomatic/",
    "crates/judge/src/monitor.rs",
    "crates/judge/src/monitors/robustness/survey.rs",
    "crates/robustness/src/unbounded.rs",
    "crates/check/src/recorded.rs",
    "crates/teetotal/src/model.rs",
    "crates/teetotal/src/model/robustness.rs",
    "crates/cli/src/commands/demo.rs",
];

/// Folders whose code compares models with each other, and so names them.
const COMPARES_MODELS: &[&str] = &["crates/properties/", "bench/", "fuzz/", "xtask/"];

/// What some crates may use of the workspace, apart from what they test with.
const MAY_USE: &[(&str, &[&str])] = &[
    ("crates/program", &[]),
    ("crates/clocks", &["teetotal-program"]),
    ("crates/memory", &["teetotal-program"]),
    ("crates/live", &["teetotal-program", "teetotal-clocks"]),
    ("crates/frontends", &["teetotal-program", "teetotal-memory"]),
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
    fn crates_use_what_they_may() {
        let member = |manifest| (7, Member { folder: "crates/live", manifest });
        let good =
            "[dependencies]\nteetotal-program.workspace = true\n[dev-dependencies]\nteetotal-dpor.workspace = true\n";
        let bad = "[dependencies]\nteetotal-dpor.workspace = true\n";
        assert!(uses_what_it_may(&[member(good)]).is_empty());
        assert_eq!(uses_what_it_may(&[member(bad)]).len(), 1);
    }
}
