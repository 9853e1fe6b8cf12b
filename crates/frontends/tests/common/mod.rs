//! The litmus tests that the tests of this crate read.

#![allow(dead_code, reason = "each file of tests uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};

use teetotal_program::ir::Program;

/// A litmus test and where it is.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// Our own corpus, sorted by name.
pub(crate) fn corpus() -> Vec<File> {
    let files = folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus"));
    assert!(files.len() >= 60, "the corpus is not there");
    files
}

/// The corpus of others beside this repository; empty where there is none.
pub(crate) fn conformance() -> Vec<File> {
    folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/litmus"))
}

/// The litmus tests in a folder and in those inside it; none if it is not there.
fn folder(path: &Path) -> Vec<File> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(folder(&path));
        } else if path.extension().is_some_and(|ending| ending == "litmus") {
            files.push(File { text: fs::read_to_string(&path).expect("tests are text"), path });
        }
    }
    files
}

/// `program` without its source and without places in it.
pub(crate) fn without_places(mut program: Program) -> Program {
    program.sources.clear();
    for place in program.threads.iter_mut().flat_map(|thread| &mut thread.places) {
        place.span = None;
    }
    program
}
