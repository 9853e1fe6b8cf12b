//! Puts all faults into a copy of the tree at once; a number chooses one while the programs run.
//!
//! Each function with faults has its body once for every fault and once without, and a `match` before them.
//! So one build is enough, and a fault may change whatever stands in a body.
//! Where a function gives a type that only its body says, the text of a fault must be an expression, which is chosen then.
//! A constant has its faults planted in builds of their own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Mutant;
use super::functions::{Item, Kind, items, modules};

/// The variable that holds the number of the fault to show.
pub(super) const VARIABLE: &str = "TEETOTAL_PLANTED";

/// Where the text of a fault stands.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// From the root of the workspace.
    pub(super) file: String,
    /// The item, as it is in the file.
    item: Item,
    /// Of the first byte of the text in the file.
    at: usize,
}

/// How a fault comes into the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// With a body of its own.
    Body,
    /// As an expression in the one body.
    Expression,
    /// With a build of its own.
    Alone,
}

impl Place {
    fn way(&self, mutant: &Mutant) -> Way {
        let body = &self.item.body;
        let is_within = body.start <= self.at && self.at + mutant.original.len() <= body.end;
        match self.item.kind {
            Kind::Function if is_within => Way::Body,
            Kind::OfOneBody if is_within => Way::Expression,
            _ => Way::Alone,
        }
    }
}

/// The files of all crates with faults.
#[derive(Debug)]
pub(super) struct Sources {
    /// By crate: files from the root of the workspace, with their text and items.
    crates: BTreeMap<String, Vec<(String, String, Vec<Item>)>>,
}

impl Sources {
    /// Reads the crates that are named in `mutants`, and the lowest, which has the switch in the copy.
    pub(super) fn read(root: &Path, mutants: &[&Mutant]) -> io::Result<Self> {
        let mut crates = BTreeMap::new();
        for name in mutants.iter().map(|mutant| mutant.krate()).chain(["program"]) {
            if !crates.contains_key(name) {
                let mut files = Vec::new();
                let source = root.join("crates").join(name).join("src");
                rust_files(&source, &mut files)?;
                files.sort();
                let files: io::Result<Vec<_>> = files
                    .into_iter()
                    .map(|path| {
                        let text = fs::read_to_string(&path)?;
                        let inside =
                            path.strip_prefix(&source).expect("it was found there").to_string_lossy().into_owned();
                        let found = items(&modules(&inside), &text);
                        Ok((format!("crates/{name}/src/{inside}"), text, found))
                    })
                    .collect();
                crates.insert(name.to_owned(), files?);
            }
        }
        Ok(Sources { crates })
    }

    /// Where the text of a fault stands, if it stands in one place.
    pub(super) fn place(&self, mutant: &Mutant) -> Result<Place, String> {
        let wanted: Vec<&str> = mutant.path().collect();
        let mut places: Vec<Place> = Vec::new();
        let mut n_items = 0;
        for (file, text, items) in &self.crates[mutant.krate()] {
            for item in items.iter().filter(|item| ends_with(&item.path, &wanted)) {
                n_items += 1;
                let inside = &text[item.range.clone()];
                places.extend(inside.match_indices(mutant.original).map(|(at, _)| Place {
                    file: file.clone(),
                    item: item.clone(),
                    at: item.range.start + at,
                }));
            }
        }
        match places.len() {
            1 => Ok(places.remove(0)),
            n => Err(format!("its text stands {n} times in {n_items} items named {}", mutant.item)),
        }
    }

    /// The text of a file as it is.
    fn text(&self, file: &str) -> &str {
        let files = self.crates.values().flatten();
        files.clone().find(|(path, ..)| path == file).map(|(_, text, _)| text.as_str()).expect("its crate was read")
    }
}

fn ends_with(path: &[String], wanted: &[&str]) -> bool {
    path.len() >= wanted.len() && path[path.len() - wanted.len()..].iter().zip(wanted).all(|(a, b)| a == b)
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            rust_files(&entry.path(), files)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
            files.push(entry.path());
        }
    }
    Ok(())
}

/// The texts of files by their paths from the root of the workspace.
pub(super) type Files = BTreeMap<String, String>;

/// A fault, its number, and where it stands.
type Planted<'m> = (usize, &'m Mutant, Place);

/// A tree with many faults.
pub(super) struct Together<'m> {
    /// Those that are not as they were.
    pub(super) files: Files,
    /// The faults that cannot be planted along with others, with their numbers.
    pub(super) alone: Vec<(usize, &'m Mutant)>,
}

/// Plants all of `mutants` that can be planted along with others.
///
/// A fault has the number of its place in `mutants`, counted from 1.
pub(super) fn together<'m>(sources: &Sources, mutants: &[&'m Mutant]) -> Result<Together<'m>, String> {
    let mut by_item: BTreeMap<(String, usize), Vec<Planted<'_>>> = BTreeMap::new();
    let mut alone = Vec::new();
    for (index, &mutant) in mutants.iter().enumerate() {
        let place = sources.place(mutant)?;
        if place.way(mutant) == Way::Alone {
            alone.push((index + 1, mutant));
        } else {
            let key = (place.file.clone(), place.item.range.start);
            by_item.entry(key).or_default().push((index + 1, mutant, place));
        }
    }
    // From the last item to the first, so that places stay where they are.
    let mut files = Files::new();
    let mut begun: BTreeMap<String, usize> = BTreeMap::new();
    for ((file, start), planted) in by_item.into_iter().rev() {
        let Place { item, .. } = planted[0].2.clone();
        // A function within which another has faults.
        if begun.get(&file).is_some_and(|&next| next < item.body.end) {
            alone.extend(planted.iter().map(|(number, mutant, _)| (*number, *mutant)));
            continue;
        }
        begun.insert(file.clone(), start);
        let text = files.entry(file.clone()).or_insert_with(|| sources.text(&file).to_owned());
        let original = &sources.text(&file)[item.body.clone()];
        let changed = match item.kind {
            Kind::OfOneBody => with_expressions(original, item.body.start, planted),
            _ => with_bodies(original, item.body.start, &planted),
        };
        text.replace_range(item.body, &changed);
    }
    let lowest = "crates/program/src/lib.rs";
    let text = files.remove(lowest).unwrap_or_else(|| sources.text(lowest).to_owned());
    files.insert(lowest.to_owned(), text + SWITCH);
    alone.sort_by_key(|(number, _)| *number);
    Ok(Together { files, alone })
}

/// A body that is one of several: `original`, which begins at `start`, and that with each of the faults.
fn with_bodies(original: &str, start: usize, planted: &[Planted<'_>]) -> String {
    let mut text = String::from(" match ::teetotal_program::planted() {");
    for (number, mutant, place) in planted {
        let (before, rest) = original.split_at(place.at - start);
        let after = &rest[mutant.original.len()..];
        write!(text, " {number} => {{{before}{}{after}}}", mutant.replacement).expect("a text grows");
    }
    text + " _ => {" + original + "} } "
}

/// The body `original`, which begins at `start`, with expressions that are one of two.
fn with_expressions(original: &str, start: usize, mut planted: Vec<Planted<'_>>) -> String {
    planted.sort_by_key(|(.., place)| place.at);
    let mut text = original.to_owned();
    for (number, mutant, place) in planted.into_iter().rev() {
        let range = place.at - start..place.at - start + mutant.original.len();
        let Mutant { original, replacement, .. } = mutant;
        let either =
            format!("(if ::teetotal_program::planted() == {number} {{ {replacement} }} else {{ {original} }})");
        text.replace_range(range, &either);
    }
    text
}

/// A file of the tree with one fault.
pub(super) fn alone(sources: &Sources, mutant: &Mutant) -> Result<(String, String), String> {
    let place = sources.place(mutant)?;
    let mut text = sources.text(&place.file).to_owned();
    text.replace_range(place.at..place.at + mutant.original.len(), mutant.replacement);
    Ok((place.file, text))
}

/// What the lowest crate has in the copy; it allocates nothing, since an allocator may ask it.
const SWITCH: &str = r#"
extern crate self as teetotal_program;

/// The number of the fault to show.
#[inline]
pub fn planted() -> u32 {
    match NUMBER.load(core::sync::atomic::Ordering::Relaxed) {
        u32::MAX => number(),
        number => number,
    }
}

static NUMBER: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(u32::MAX);

#[cold]
#[allow(unsafe_code)]
fn number() -> u32 {
    unsafe extern "C" {
        safe fn getenv(name: *const core::ffi::c_char) -> *const core::ffi::c_char;
    }
    let text = getenv(c"TEETOTAL_PLANTED".as_ptr());
    // SAFETY: a variable ends with a zero, and nothing changes the environment meanwhile.
    let text = if text.is_null() { c"" } else { unsafe { core::ffi::CStr::from_ptr(text) } };
    let number = text.to_str().ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    NUMBER.store(number, core::sync::atomic::Ordering::Relaxed);
    number
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [Mutant; 4] = [
        Mutant { name: "1", item: "k::A::b", original: "c", replacement: "d" },
        Mutant { name: "2", item: "k::e", original: "f + 1", replacement: "f + 2" },
        Mutant { name: "3", item: "k::G", original: "1", replacement: "2" },
        Mutant { name: "4", item: "k::b", original: "<", replacement: ">" },
    ];

    fn sources(text: &str) -> Sources {
        let lowest = ("crates/program/src/lib.rs".to_owned(), String::new(), Vec::new());
        let file = ("crates/k/src/a.rs".to_owned(), text.to_owned(), items(&["a"], text));
        Sources { crates: BTreeMap::from([("k".to_owned(), vec![file]), ("program".to_owned(), vec![lowest])]) }
    }

    #[test]
    fn a_number_chooses_among_bodies_and_expressions() {
        let text = "impl A { fn b() { x < c } }\nfn e() -> impl B { f + 1 }\nconst G: u8 = 1;\n";
        let rows: Vec<&Mutant> = ROWS.iter().collect();
        let Together { files, alone } = together(&sources(text), &rows).expect("every row has its place");
        let either = |number: u32, with: &str, without: &str| {
            format!("(if ::teetotal_program::planted() == {number} {{ {with} }} else {{ {without} }})")
        };
        assert_eq!(
            files["crates/k/src/a.rs"],
            format!(
                "impl A {{ fn b() {{ match ::teetotal_program::planted() \
                 {{ 1 => {{ x < d }} 4 => {{ x > c }} _ => {{ x < c }} }} }} }}\n\
                 fn e() -> impl B {{ {} }}\nconst G: u8 = 1;\n",
                either(2, "f + 2", "f + 1")
            )
        );
        assert_eq!(alone.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [3]);
        assert!(files["crates/program/src/lib.rs"].contains(VARIABLE));
    }

    #[test]
    fn the_crate_with_the_switch_is_read_whatever_is_planted() {
        let row = Mutant { name: "", item: "memory::StoreBuffer::is_empty", original: "", replacement: "" };
        let sources = Sources::read(super::super::workspace(), &[&row]).expect("the crates are there");
        assert!(sources.text("crates/program/src/lib.rs").contains("pub use"));
    }

    #[test]
    fn a_text_must_stand_once_in_the_function() {
        for text in ["impl A { fn b() { x } }", "impl A { fn b() { c + c } }", "fn b() { c }", "impl A { } fn c() { }"]
        {
            assert!(sources(text).place(&ROWS[0]).is_err(), "{text}");
        }
        assert!(sources("impl A { fn b() { c } fn c() { c } }").place(&ROWS[0]).is_ok());
    }
}
