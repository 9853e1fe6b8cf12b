//! Finds the programs that arguments name: bundled ones, files, folders and lists of them.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use teetotal::parts::frontends::suggest::nearest;
use teetotal::parts::frontends::{FRONTENDS, Frontend, MOST_DIAGNOSTICS, Reading, Settings};
use teetotal::{Diagnostic, Program, Snippet, Source, gallery};

use crate::fault::Fault;

/// The source of a program.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A bundled program of this name.
    Bundled(String),
    File(PathBuf),
    /// Not found; the other targets are still checked.
    Missing(Fault),
}

/// The maximum size of a program file.
const MAX_BYTES: u64 = 1 << 24;

/// The maximum nesting of lists.
const MAX_DEPTH: usize = 8;

/// Returns the targets of the arguments, in order. A name that does not look like a file must be that of a bundled
/// program.
pub(crate) fn targets(arguments: &[String]) -> Result<Vec<Target>, Fault> {
    let mut targets = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        if is_bundled(argument) {
            targets.push(Target::Bundled(argument.clone()));
        } else if is_path(argument) {
            gather(path, MAX_DEPTH, &mut targets);
        } else {
            return Err(missing(argument));
        }
    }
    Ok(targets)
}

/// Returns the one program that an argument names.
pub(crate) fn load(argument: &str, settings: &Settings) -> Result<Loaded, Fault> {
    match targets(&[argument.to_owned()])?.as_slice() {
        [target] => target.load(settings),
        several => Err(Fault::new(format!("`{argument}` names {} programs", several.len())).help("name one of them")),
    }
}

/// A program, and notes for its author.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) program: Arc<Program>,
    pub(crate) notice: Option<String>,
}

impl Target {
    pub(crate) fn load(&self, settings: &Settings) -> Result<Loaded, Fault> {
        match self {
            Target::Bundled(name) => bundled(name).map(|program| Loaded { program, notice: None }),
            Target::File(path) => read(path, settings),
            Target::Missing(fault) => Err(fault.clone()),
        }
    }
}

/// Returns whether a bundled program is meant; a file of the same name takes precedence, a folder does not.
fn is_bundled(argument: &str) -> bool {
    gallery::by_name(argument).is_some() && !Path::new(argument).is_file()
}

fn is_path(argument: &str) -> bool {
    let path = Path::new(argument);
    argument.starts_with('@')
        || argument.contains(std::path::is_separator)
        || Frontend::claiming(path).is_some()
        || path.exists()
}

/// Returns the bundled program `name`, with the name of its entry.
fn bundled(name: &str) -> Result<Arc<Program>, Fault> {
    let Some(entry) = gallery::by_name(name) else { return Err(missing(name)) };
    let mut program = (entry.build)();
    entry.name.clone_into(&mut program.name);
    Ok(Arc::new(program))
}

fn missing(name: &str) -> Fault {
    let list = "`teetotal list programs` shows the bundled programs";
    let fault = Fault::new(format!("there is no file or bundled program `{name}`"));
    match nearest(name, gallery::PROGRAMS.iter().map(|entry| entry.name)) {
        Some(meant) => fault.help(format!("did you mean `{meant}`?")).help(list),
        None => fault.help(list),
    }
}

/// Adds the files that `path` names; lists may be nested up to `depth`.
fn gather(path: &Path, depth: usize, targets: &mut Vec<Target>) {
    let before = targets.len();
    let result = if let Some(list) = list_at(path) {
        gather_list(&list, depth, targets)
    } else if path.is_dir() {
        walk(path, targets).and_then(|()| match targets.len() - before {
            0 => Err(Fault::new(format!("the folder `{}` has no file that ends in {}", path.display(), endings()))),
            _ => Ok(()),
        })
    } else {
        targets.push(Target::File(path.to_owned()));
        Ok(())
    };
    targets.extend(result.err().map(Target::Missing));
}

/// Returns the list that `path` names: `@tests` is the file `tests`, or `@tests` itself if it exists, as in herd7.
fn list_at(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    if name.starts_with('@') && path.is_file() {
        return Some(path.to_owned());
    }
    path.to_str()?.strip_prefix('@').map(PathBuf::from)
}

/// Adds the files of a list with one path per line, relative to the folder of the list.
fn gather_list(list: &Path, depth: usize, targets: &mut Vec<Target>) -> Result<(), Fault> {
    if depth == 0 {
        return Err(Fault::new(format!("the list `{}` is nested too deeply", list.display())));
    }
    let text = text_of(list)?;
    let paths = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let folder = list.parent().unwrap_or(Path::new(""));
    let before = targets.len();
    for line in paths {
        match line.strip_prefix('@') {
            Some(inner) if !folder.join(line).is_file() => {
                if let Err(fault) = gather_list(&folder.join(inner), depth - 1, targets) {
                    targets.push(Target::Missing(fault));
                }
            }
            _ => gather(&folder.join(line), depth - 1, targets),
        }
    }
    match targets.len() - before {
        0 => Err(Fault::new(format!("the list `{}` names no file", list.display()))),
        _ => Ok(()),
    }
}

/// Returns the extensions of files that are searched for in folders.
fn endings() -> String {
    FRONTENDS.iter().map(|frontend| format!(".{}", frontend.ending)).collect::<Vec<_>>().join(" or ")
}

/// Adds the files of programs below `folder`, sorted by name.
fn walk(folder: &Path, targets: &mut Vec<Target>) -> Result<(), Fault> {
    let cannot = |error: std::io::Error| Fault::new(format!("`{}` cannot be read: {error}", folder.display()));
    let mut entries = fs::read_dir(folder).map_err(cannot)?.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a folder may form a cycle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if let Err(fault) = walk(&path, targets) {
                targets.push(Target::Missing(fault));
            }
        } else if Frontend::claiming(&path).is_some() && !path.is_dir() {
            targets.push(Target::File(path));
        }
    }
    Ok(())
}

/// Reads a program; errors point at their places in the file.
fn read(path: &Path, settings: &Settings) -> Result<Loaded, Fault> {
    let name = path.display().to_string();
    let text = text_of(path)?;
    match (Frontend::of(path).read)(&name, &text, settings) {
        Ok(Reading { program, notices }) => {
            let notice = noticed(&notices, &name);
            Ok(Loaded { program: Arc::new(program), notice })
        }
        Err(found) => Err(refused(&found, Source { name, text: Some(text) })),
    }
}

/// Returns one line for all notices about a file: the first one, and the places of the others.
fn noticed(notices: &[Diagnostic], name: &str) -> Option<String> {
    let (first, others) = notices.split_first()?;
    let mut lines: Vec<u32> = others.iter().map(|notice| notice.span.line).collect();
    lines.retain(|&line| line != first.span.line);
    lines.dedup();
    let more = match &lines[..] {
        [] => String::new(),
        [line] => format!(", and in line {line}"),
        lines => format!(", and in lines {}", lines.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
    };
    let place = format!("{name}:{}:{}", first.span.line, first.span.column);
    Some(format!("{place}: {}{more}; `--split` makes each access a step of its own", first.message))
}

/// The maximum number of errors that are shown for one file.
const MANY: usize = 20;

fn refused(found: &[Diagnostic], source: Source) -> Fault {
    let snippet = |diagnostic: &Diagnostic| {
        let Diagnostic { message, span, label, help } = diagnostic;
        Snippet { message, source: &source, span: *span, label: label.as_deref(), help: help.as_deref() }.render()
    };
    let mut text = found.iter().take(MANY).map(snippet).collect::<Vec<_>>().join("\n");
    if found.is_empty() {
        text = format!("error: `{}` was rejected without a diagnostic; this is a bug in teetotal\n", source.name);
    }
    if found.len() > MANY {
        let least = if found.len() < MOST_DIAGNOSTICS { "" } else { "at least " };
        text.push_str(&format!("\nerror: and {least}{} more in `{}`\n", found.len() - MANY, source.name));
    }
    Fault::Refused(text)
}

/// Returns the text of a file.
fn text_of(path: &Path) -> Result<String, Fault> {
    let shown = path.display();
    let cannot = |error: std::io::Error| {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        };
        Fault::new(format!("`{shown}` cannot be read: {reason}"))
    };
    let mut bytes = Vec::new();
    File::open(path).map_err(cannot)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Fault::new(format!("`{shown}` is larger than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Fault::new(format!("`{shown}` is not valid UTF-8: line {line} has an invalid byte"))
            .help("save the file as UTF-8")
    })
}
