//! The text files of the workspace.

use std::fs;
use std::path::Path;
use std::process::Command;

/// A text file.
#[derive(Debug)]
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every text file below `root` that git does not ignore, sorted by path.
///
/// Without git, as in an unpacked archive, every file outside `target` and `.git`.
pub(crate) fn files(root: &Path) -> Vec<File> {
    let mut paths = tracked(root).unwrap_or_else(|| {
        let mut paths = vec![];
        walk(root, "", &mut paths);
        paths
    });
    paths.sort();
    paths.into_iter().filter_map(|path| Some(File { text: fs::read_to_string(root.join(&path)).ok()?, path })).collect()
}

/// What git tracks or would add; a file that was deleted is still listed.
fn tracked(root: &Path) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let list = String::from_utf8(output.stdout).ok()?;
    Some(list.split_terminator('\0').map(str::to_string).collect()).filter(|paths: &Vec<String>| !paths.is_empty())
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !matches!(name.as_str(), "target" | ".git") => walk(root, &path, paths),
            Ok(kind) if kind.is_file() => paths.push(path),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::root;

    #[test]
    fn git_and_the_folders_agree_on_the_rust_files() {
        let mut walked = vec![];
        walk(root(), "", &mut walked);
        for file in files(root()).into_iter().filter(|file| file.path.ends_with(".rs")) {
            assert!(walked.contains(&file.path), "{} is only known to git", file.path);
        }
        assert!(walked.contains(&"xtask/src/tidy/tree.rs".to_string()));
    }
}
