//! The members of the workspace stand in dependency order: each uses only those above it.

use super::Found;

/// A member: its folder, and the text of its manifest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member<'a> {
    pub(super) folder: &'a str,
    pub(super) manifest: &'a str,
}

/// The folders in `members = [ … ]` of the root manifest with the lines they stand on, one a line.
pub(super) fn members(root_manifest: &str) -> Vec<(usize, &str)> {
    let numbered = root_manifest.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let list = numbered.skip_while(|(_, line)| *line != "members = [").skip(1).take_while(|(_, line)| *line != "]");
    list.filter(|(_, line)| line.starts_with('"'))
        .map(|(number, line)| (number, line.trim_matches(['"', ','])))
        .collect()
}

/// The dependencies of members on members below them, at the lines of the root manifest.
pub(super) fn in_dependency_order(members: &[(usize, Member<'_>)]) -> Found {
    let mut found = vec![];
    for (index, (line, member)) in members.iter().enumerate() {
        for (_, below) in &members[index + 1..] {
            let name = package_name(below.manifest);
            if dependencies(member.manifest).any(|dependency| Some(dependency) == name) {
                found.push((*line, format!("`{}` uses `{}`, which is listed below it", member.folder, below.folder)));
            }
        }
    }
    found
}

fn package_name(manifest: &str) -> Option<&str> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(value.trim_matches('"'))
}

/// The names of all dependencies, those for tests and for build scripts included.
pub(super) fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    dependencies_in(manifest, |table| table.ends_with("dependencies"))
}

/// The names of the dependencies that whoever uses the package gets too.
pub(super) fn shipped_dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    dependencies_in(manifest, |table| table == "dependencies")
}

fn dependencies_in(manifest: &str, is_wanted: fn(&str) -> bool) -> impl Iterator<Item = &str> {
    let mut in_table = false;
    manifest.lines().filter(|line| !line.starts_with('#')).filter_map(move |line| {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            in_table = is_wanted(table);
            return table.rsplit_once('.').filter(|(kind, _)| is_wanted(kind)).map(|(_, name)| name);
        }
        let (name, _) = line.split_once(['.', '=', ' ']).filter(|_| in_table)?;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(first: &str, lines: &[usize]) {
        let first = format!("[package]\nname = \"a\"\n{first}\n");
        let second = "[package]\nname = \"b\"\n[dependencies]\na.workspace = true\n";
        let members =
            [(3, Member { folder: "x/a", manifest: &first }), (4, Member { folder: "x/b", manifest: second })];
        let found: Vec<usize> = in_dependency_order(&members).into_iter().map(|(line, _)| line).collect();
        assert_eq!(found, lines, "{first}");
    }

    #[test]
    fn a_member_may_use_those_above_it() {
        check("[dependencies]\nc = \"1\"\n[features]\nb = []", &[]);
    }

    #[test]
    fn a_member_may_not_use_those_below_it() {
        check("[dependencies]\nb.workspace = true", &[3]);
        check("[dependencies]\nb = { path = \"../b\" }", &[3]);
        check("[dev-dependencies]\nb = \"1\"", &[3]);
        check("[build-dependencies.b]\npath = \"../b\"", &[3]);
        check("[target.'cfg(unix)'.dependencies]\nb.workspace = true", &[3]);
    }

    #[test]
    fn members_are_read_from_the_root_manifest() {
        let manifest =
            "[workspace]\n# Members.\nmembers = [\n    \"crates/a\",\n    # And b.\n    \"b\",\n]\nx = [\n\"c\",\n]\n";
        assert_eq!(members(manifest), [(4, "crates/a"), (6, "b")]);
    }
}
