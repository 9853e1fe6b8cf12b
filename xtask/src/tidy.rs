//! Checks what the compiler does not: how files open, how long they are, and what they must not contain.
//!
//! A rule is a function from a file to its [`Found`], and a row in [`RUST_RULES`] or [`TEXT_RULES`].

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

use crate::Task;

use self::citations::{Bibliography, PAPERS};
use self::source::Source;
use self::tree::File;
use self::workspace::Member;

mod citations;
mod determinism;
mod documents;
mod rust;
mod scan;
mod source;
mod structure;
mod text;
pub(crate) mod tree;
mod workspace;

/// Check the rules of the house that the compiler does not know
#[derive(clap::Args)]
pub(crate) struct Tidy {}

impl Task for Tidy {
    const NAME: &'static str = "tidy";

    fn run(self) -> ExitCode {
        let report = inspect(&tree::files(root()));
        report.notices.iter().for_each(|notice| eprintln!("note: {notice}"));
        report.findings.iter().for_each(|finding| println!("{finding}"));
        if report.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// What a rule finds in a file: lines, counted from 1, and what is wrong there.
type Found = Vec<(usize, String)>;

const RUST_RULES: &[fn(&Source<'_>) -> Found] = &[
    rust::opens_with_a_sentence,
    rust::is_not_too_long,
    rust::functions_are_not_too_long,
    rust::has_no_unwrap,
    rust::is_finished,
    rust::has_no_empty_bullet,
    rust::imports_by_name,
    determinism::is_deterministic,
    structure::makes_no_machine,
    structure::names_no_model,
    structure::makes_no_text,
    structure::prints_nothing,
];

const TEXT_RULES: &[fn(&str, &str) -> Found] =
    &[text::has_clean_space, text::ends_with_one_newline, text::names_no_machine, text::locks_public_packages];

/// Something to mend.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

#[derive(Default, Debug)]
struct Report {
    /// Sorted by path and line.
    findings: Vec<Finding>,
    /// What could not be checked.
    notices: Vec<String>,
}

impl Report {
    fn add(&mut self, path: &str, found: Found) {
        self.findings.extend(found.into_iter().map(|(line, message)| Finding { path: path.into(), line, message }));
    }
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

fn inspect(files: &[File]) -> Report {
    let mut report = Report::default();
    inspect_each(files, &mut report);
    inspect_citations(files, &mut report);
    inspect_members(files, &mut report);
    inspect_documents(files, &mut report);
    report.findings.sort();
    report
}

fn inspect_each(files: &[File], report: &mut Report) {
    for File { path, text } in files {
        TEXT_RULES.iter().for_each(|rule| report.add(path, rule(path, text)));
        if path.ends_with(".rs") {
            let source = Source::new(path, text);
            RUST_RULES.iter().for_each(|rule| report.add(path, rule(&source)));
        }
    }
}

fn inspect_citations(files: &[File], report: &mut Report) {
    let Some(papers) = text_of(files, PAPERS) else {
        report.notices.push(format!("{PAPERS} is absent, so citations are not checked"));
        return;
    };
    let bibliography = Bibliography::new(papers);
    if bibliography.is_empty() {
        report.add(PAPERS, vec![(1, "no keys in the section `## Bibliography`".into())]);
    }
    for File { path, text } in files.iter().filter(|file| file.path.ends_with(".rs")) {
        report.add(path, bibliography.check(&Source::new(path, text)));
    }
}

fn inspect_members(files: &[File], report: &mut Report) {
    const ROOT_MANIFEST: &str = "Cargo.toml";
    let folders = workspace::members(text_of(files, ROOT_MANIFEST).unwrap_or_default());
    if folders.is_empty() {
        report.add(ROOT_MANIFEST, vec![(1, "no list `members = [` with one member a line".into())]);
    }
    let mut members = vec![];
    for (line, folder) in folders {
        match text_of(files, &format!("{folder}/Cargo.toml")) {
            Some(manifest) => members.push((line, Member { folder, manifest })),
            None => report.add(ROOT_MANIFEST, vec![(line, format!("`{folder}` has no manifest"))]),
        }
    }
    report.add(ROOT_MANIFEST, workspace::in_dependency_order(&members));
    report.add(ROOT_MANIFEST, structure::uses_what_it_may(&members));
    report.add(ROOT_MANIFEST, structure::uses_what_it_depends_on(&members, files));
}

fn inspect_documents(files: &[File], report: &mut Report) {
    for File { path, text } in files.iter().filter(|file| documents::describes_the_code(&file.path)) {
        report.add(path, documents::names_what_is_there(text, files));
    }
}

fn text_of<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    files.iter().find(|file| file.path == path).map(|file| file.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], findings: &[&str]) {
        let files: Vec<File> =
            files.iter().map(|&(path, text)| File { path: path.into(), text: text.into() }).collect();
        let found: Vec<String> = inspect(&files).findings.iter().map(Finding::to_string).collect();
        assert_eq!(found, findings);
    }

    const MANIFESTS: [(&str, &str); 4] = [
        ("Cargo.toml", "[workspace]\nmembers = [\n    \"a\",\n    \"b\",\n]\n"),
        ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
        ("b/Cargo.toml", "[package]\nname = \"b\"\n[dependencies]\na.workspace = true\n"),
        ("b/src/a.rs", "//! Uses it.\n\nuse a::A;\n"),
    ];

    #[test]
    fn this_workspace_is_tidy() {
        let files = tree::files(root());
        assert!(text_of(&files, "xtask/src/tidy.rs").is_some(), "the files of the workspace were not found");
        let findings: Vec<String> = inspect(&files).findings.iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "{}", findings.join("\n"));
    }

    #[test]
    fn a_tidy_tree_has_no_findings() {
        check(&MANIFESTS, &[]);
    }

    #[test]
    fn all_findings_are_reported_with_file_and_line() {
        let mut files = MANIFESTS.to_vec();
        files.push(("b/src/lib.rs", "//! B [NONE, §1].\nuse crate::*;\nfn f() { \n    todo!()\n}\n"));
        files.push(("docs/papers.md", "## Bibliography\n\n| key | work |\n|---|---|\n| `SOME` | a |\n"));
        check(
            &files,
            &[
                "b/src/lib.rs:1: `NONE` is cited but is not a key in docs/papers.md",
                "b/src/lib.rs:2: glob import of the crate or of the parent outside tests",
                "b/src/lib.rs:3: trailing space",
                "b/src/lib.rs:4: `todo!` is left",
            ],
        );
    }

    #[test]
    fn a_bibliography_or_member_list_in_another_form_is_noticed() {
        check(
            &[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("docs/papers.md", "# Papers\n")],
            &[
                "Cargo.toml:1: no list `members = [` with one member a line",
                "docs/papers.md:1: no keys in the section `## Bibliography`",
            ],
        );
    }

    #[test]
    fn an_absent_bibliography_gives_a_notice() {
        assert_eq!(inspect(&[]).notices, ["docs/papers.md is absent, so citations are not checked"]);
    }
}
