//! The page about the look-alikes of `std` names every public function that they have.

use std::fs;
use std::path::{Path, PathBuf};

/// Files whose public functions are on the page; those that have none of `std` are left out.
const FILES: [&str; 24] = [
    "alloc.rs",
    "cell.rs",
    "future.rs",
    "held.rs",
    "hint.rs",
    "lazy_static.rs",
    "local.rs",
    "sync/arc.rs",
    "sync/atomic.rs",
    "sync/barrier.rs",
    "sync/condvar.rs",
    "sync/flag.rs",
    "sync/mod.rs",
    "sync/mpsc.rs",
    "sync/mutex.rs",
    "sync/notify.rs",
    "sync/once.rs",
    "sync/pointer.rs",
    "sync/poison.rs",
    "sync/rwlock.rs",
    "sync/weak.rs",
    "thread.rs",
    "thread/lenient.rs",
    "thread/scope.rs",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The identifier that `text` begins with.
fn identifier(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The type that a line begins to implement, if it does.
fn implemented(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("impl")?.trim_end_matches(" {");
    let rest = rest.rsplit_once(" for ").map_or(rest, |(_, name)| name);
    let rest = match rest.strip_prefix('<') {
        // The parameters end where as many `>` as `<` have come, arrows aside.
        Some(parameters) => {
            let mut depth = 1;
            let end = parameters.char_indices().find(|&(at, c)| {
                depth += i32::from(c == '<') - i32::from(c == '>' && !parameters[..at].ends_with('-'));
                depth == 0
            });
            &parameters[end?.0 + 1..]
        }
        None => rest,
    };
    Some(rest.trim_start())
}

/// The names on the page of the public functions of a file.
fn functions(module: &str, source: &str) -> Vec<String> {
    let mut owner = None;
    let mut names = Vec::new();
    for line in source.lines() {
        if let Some(name) = implemented(line) {
            owner = Some(if name.starts_with("$name") { "AtomicUsize" } else { identifier(name) }.to_owned());
        } else if line == "}" {
            owner = None;
        }
        if let Some(rest) = line.trim_start().strip_prefix("integer!(@fetch ") {
            names.push(format!("AtomicUsize::{}", identifier(rest)));
        }
        let public = ["pub fn ", "pub const fn ", "pub unsafe fn "];
        let name = public.iter().find_map(|prefix| line.trim_start().strip_prefix(prefix)).map(identifier);
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            names.push(format!("{}::{name}", owner.as_deref().unwrap_or(module)));
        }
    }
    names
}

#[test]
fn the_page_names_every_public_function() {
    let page = read("docs/guide/std.md");
    let mut missing = Vec::new();
    let mut found = 0;
    for file in FILES {
        let module = Path::new(file).file_stem().and_then(|stem| stem.to_str()).expect("a file has a name");
        let module = if file == "thread/scope.rs" { "thread" } else { module };
        let all = functions(module, &read(&format!("crates/live/src/{file}")));
        found += all.len();
        missing.extend(all.into_iter().filter(|name| !page.contains(&format!("`{name}`"))));
    }
    assert!(missing.is_empty(), "docs/guide/std.md does not name {}", missing.join(", "));
    assert!(found > 200, "only {found} functions were found");
}

#[test]
fn every_file_of_look_alikes_is_looked_at() {
    for folder in ["sync", "thread"] {
        let path = root().join("crates/live/src").join(folder);
        for entry in fs::read_dir(path).expect("the folder is there") {
            let name = entry.expect("it can be read").file_name().into_string().expect("names are text");
            let file = format!("{folder}/{name}");
            let is_private = matches!(file.as_str(), "sync/channel.rs" | "sync/counts.rs" | "sync/lent.rs");
            assert!(is_private || FILES.contains(&file.as_str()), "{file} is not looked at");
        }
    }
}
