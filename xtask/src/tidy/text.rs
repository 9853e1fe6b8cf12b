//! Rules on any text file: white space, and nothing that belongs to one machine.

use super::Found;

/// Folders that exist on one machine only; in pieces, so that this file passes its own rule.
const MACHINE_FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "home/"), concat!("/", "root/")];

/// Parts of the names of hosts that serve packages.
const REGISTRY_HOSTS: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("arti", "factory"),
    concat!("registry.", "npmjs"),
];

/// The only source of packages that a lock file names.
const PUBLIC_REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(super) fn has_clean_space(path: &str, text: &str) -> Found {
    if !is_ours_to_format(path) {
        return vec![];
    }
    let mut found = vec![];
    for (index, line) in text.split('\n').enumerate() {
        if line.ends_with(char::is_whitespace) {
            found.push((index + 1, "trailing space".into()));
        }
        if path.ends_with(".rs") && line.contains('\t') {
            found.push((index + 1, "tab".into()));
        }
    }
    found
}

pub(super) fn ends_with_one_newline(path: &str, text: &str) -> Found {
    let is_clean = text.is_empty() || (text.ends_with('\n') && !text.ends_with("\n\n"));
    if is_clean || !is_ours_to_format(path) {
        return vec![];
    }
    vec![(text.lines().count(), "the file does not end with exactly one newline".into())]
}

/// Whether the spaces of a file are ours to choose; those of inputs are not.
fn is_ours_to_format(path: &str) -> bool {
    [".rs", ".md", ".toml"].iter().any(|ending| path.ends_with(ending))
}

pub(super) fn names_no_machine(_: &str, text: &str) -> Found {
    let mut found = vec![];
    for (index, line) in text.lines().enumerate() {
        let folders = MACHINE_FOLDERS.iter().filter(|folder| has_absolute(line, folder));
        let hosts = REGISTRY_HOSTS.iter().filter(|host| line.to_lowercase().contains(*host));
        found.extend(folders.map(|folder| (index + 1, format!("a path of one machine: `{folder}`"))));
        found.extend(hosts.map(|host| (index + 1, format!("a package host: `{host}`"))));
    }
    found
}

/// Whether `folder` stands in `line` and is not the end of a longer path.
fn has_absolute(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = &line[..at];
        !before.ends_with(|c: char| c.is_alphanumeric() || "._-~})".contains(c))
    })
}

/// A lock file takes packages from the public registry or from the workspace.
pub(super) fn locks_public_packages(path: &str, text: &str) -> Found {
    if !path.ends_with("Cargo.lock") {
        return vec![];
    }
    let sources = text.lines().enumerate().filter(|(_, line)| line.starts_with("source = "));
    let foreign = sources.filter(|(_, line)| line.trim_start_matches("source = ").trim_matches('"') != PUBLIC_REGISTRY);
    foreign.map(|(index, _)| (index + 1, "a package that is not from the public registry".into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&str, &str) -> Found, path: &str, text: &str, lines: &[usize]) {
        let found: Vec<usize> = rule(path, text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, lines, "{path}: {text:?}");
    }

    #[test]
    fn lines_have_no_trailing_space_and_rust_has_no_tab() {
        for path in ["a.rs", "a.md", "a.toml"] {
            check(has_clean_space, path, "a\nb \nc\r\n\nd", &[2, 3]);
        }
        check(has_clean_space, "a.rs", "a\n\tb\n", &[2]);
        check(has_clean_space, "a.md", "a\n\tb\n", &[]);
        check(has_clean_space, "a.litmus", "a \n", &[]);
    }

    #[test]
    fn files_end_with_one_newline() {
        check(ends_with_one_newline, "a.rs", "a\nb\n", &[]);
        check(ends_with_one_newline, "a.rs", "a\nb", &[2]);
        check(ends_with_one_newline, "a.md", "a\n\n", &[2]);
        check(ends_with_one_newline, "a.litmus", "a", &[]);
    }

    #[test]
    fn paths_of_one_machine_are_found_in_any_file() {
        for folder in MACHINE_FOLDERS {
            check(names_no_machine, "a.litmus", &format!("a\nsee {folder}b\n"), &[2]);
            check(names_no_machine, "a.md", &format!("`{folder}b`, file://{folder}b"), &[1]);
            check(names_no_machine, "a.md", &format!("docs{folder}b and ..{folder}b and ~{folder}b"), &[]);
        }
    }

    #[test]
    fn package_hosts_are_found_in_any_file() {
        for host in REGISTRY_HOSTS {
            check(names_no_machine, ".cargo/config.toml", &format!("a\nb = \"https://{host}/c\"\n"), &[2]);
        }
        check(names_no_machine, "README.md", "https://crates.io/crates/teetotal\n", &[]);
    }

    #[test]
    fn locked_packages_are_public() {
        let public = format!("source = \"{PUBLIC_REGISTRY}\"\n");
        check(locks_public_packages, "Cargo.lock", &public, &[]);
        let mirror = format!("{public}source = \"registry+https://mirror.example/index\"\n");
        check(locks_public_packages, "Cargo.lock", &mirror, &[2]);
        check(locks_public_packages, "a.md", &mirror, &[]);
    }
}
