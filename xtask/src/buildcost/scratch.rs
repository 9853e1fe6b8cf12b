//! A crate with the test that most users of loom begin with.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::cargo::{Cargo, Seconds};

/// A crate outside of this tree, so that nothing of it is built yet.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    target: PathBuf,
    /// How often the test was changed.
    changes: Cell<u32>,
}

impl Scratch {
    /// Writes a crate whose one dependency `loom` is this.
    pub(super) fn make(folder: &Path, dependency: &str) -> io::Result<Scratch> {
        fs::create_dir_all(folder.join("src"))?;
        let manifest = format!(
            "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
             [dependencies]\nloom = {dependency}\n\n[workspace]\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        let scratch = Scratch { folder: folder.to_owned(), target: folder.join("target"), changes: Cell::new(0) };
        scratch.write_test()?;
        Ok(scratch)
    }

    /// Fetches what the crate depends on, so that no build has to.
    pub(super) fn fetch(&self) -> Result<(), String> {
        let cargo = Cargo { folder: &self.folder, target: &self.target };
        cargo.run(&["fetch"]).or_else(|_| cargo.run(&["fetch", "--offline"])).map(|_| ())
    }

    /// What it takes to build the test.
    pub(super) fn build(&self, options: &[&str]) -> Result<Seconds, String> {
        let cargo = Cargo { folder: &self.folder, target: &self.target };
        cargo.run(&[&["test", "--no-run", "--offline"], options].concat())
    }

    /// What it takes to build the test again when a line of it has changed.
    pub(super) fn build_changed(&self, options: &[&str]) -> Result<Seconds, String> {
        self.changes.set(self.changes.get() + 1);
        self.write_test().map_err(|error| format!("the test cannot be changed: {error}"))?;
        self.build(options)
    }

    fn write_test(&self) -> io::Result<()> {
        let test = include_str!("test.txt").replace("CHANGES", &self.changes.get().to_string());
        fs::write(self.folder.join("src/lib.rs"), test)
    }
}
