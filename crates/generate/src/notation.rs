//! Programs in one line, so that tests read as specification.
//!
//! Threads are separated by `||` and called `P0`, `P1` and so on, statements are separated by `;`. Names such as `r0`
//! are registers, each thread having its own, and all others are locations, which hold 0 at first.
//!
//! | statement | meaning |
//! |---|---|
//! | `x = 1`, `x =rel r0 + 1`, `r0 = x`, `r0 =acq x` | store, load; plain, or `rlx`, `acq`, `rel`, `ar`, `sc` |
//! | `r0 = 1`, `r0 = r1 + 1` | assignment |
//! | `r0 = xchg(x, 1)`, `r0 = add.rlx(x, 1)` | exchange, and `add`, `sub`, `and`, `or`, `xor`, `max`, `min`; `sc` by default |
//! | `r0 = cas(x, 0, 1)`, `r0 = cas.ar/rlx(x, 0, 1)` | compare-exchange; locked, or a load of this order, when it fails |
//! | `fence`, `sfence`, `lfence`, `fence.ar`, `sync` | full, store-store, load-load, acquire-release, global fence |
//! | `lock l`, `unlock l`, `lock.acq l`, `unlock.rel l` | `sc` by default |
//! | `spawn P1`, `join P1`, `spawn.rel P1`, `join.acq P1` | a thread that is spawned does not run from the beginning |
//! | `await x == 1`, `await x == 1 && y != r0` | waits, and reads both at once |
//! | `r0 = choose 2` | any number below 2 |
//! | `assume r0 == 1`, `assert r0 != 1` | also `<`, `<=`, `>`, `>=` |
//! | `if r0 == 1: x = 2` | one statement under a condition |
//!
//! In front may stand what locations hold at first, and their types: `{x = 1, y: u8 = 255}`.

use crate::notation::statement::statement;
use teetotal_program::Loc;
use teetotal_program::Span;
use teetotal_program::Type;
use teetotal_program::ir::{Builder, Program};

mod statement;
mod words;

/// The program that `text` says.
///
/// Its name is the text, and outcomes show all registers and then all locations.
///
/// # Panics
///
/// If the text is malformed: it is part of a test.
#[must_use]
#[track_caller]
pub fn program(text: &str) -> Program {
    read(text).unwrap_or_else(|message| panic!("malformed program: {message}\n  in: {text}"))
}

fn read(text: &str) -> Result<Program, String> {
    let mut p = Builder::new(text.trim());
    let source = p.source("notation", Some(text));
    let mut locations = Locations { known: Vec::new() };
    let body = declare(text, &mut p, &mut locations)?;
    let threads: Vec<&str> = body.split("||").collect();
    // Locations come in the order in which they are first named.
    words::names(body).filter(|name| words::is_location(name)).for_each(|name| locations.add(&mut p, name));
    for (index, thread) in threads.iter().enumerate() {
        let name = format!("P{index}");
        let mut result = Ok(());
        let code = |t: &mut teetotal_program::ir::ThreadBuilder<'_>| {
            for part in thread.split(';').filter(|part| !part.trim().is_empty()) {
                t.at(Some(span(text, part.trim(), source)));
                let added = statement(t, part.trim(), &locations);
                result = result.clone().and(added.map_err(|message| format!("{message} in `{}`", part.trim())));
            }
        };
        if words::is_spawned(body, &name) {
            p.spawned(&name, code)
        } else {
            p.thread(&name, code)
        };
        result?;
    }
    p.build().map_err(|error| error.to_string())
}

/// The locations of a program to be.
struct Locations {
    known: Vec<(String, Loc)>,
}

impl Locations {
    fn add(&mut self, p: &mut Builder, name: &str) {
        if self.find(name).is_none() {
            let loc = p.shared(name, 0);
            self.known.push((name.to_owned(), loc));
        }
    }

    fn find(&self, name: &str) -> Option<Loc> {
        self.known.iter().find(|(known, _)| known == name).map(|(_, loc)| *loc)
    }
}

/// Takes the declarations off the front of `text`.
fn declare<'t>(text: &'t str, p: &mut Builder, locations: &mut Locations) -> Result<&'t str, String> {
    let Some(rest) = text.trim_start().strip_prefix('{') else { return Ok(text) };
    let (declarations, body) = rest.split_once('}').ok_or("`{` without `}`")?;
    for declaration in declarations.split(',').map(str::trim) {
        let (left, value) = declaration.split_once('=').ok_or(format!("no `=` in `{declaration}`"))?;
        let (name, ty) = left.split_once(':').map_or((left.trim(), "i64"), |(name, ty)| (name.trim(), ty.trim()));
        let ty = words::ty(ty).ok_or(format!("`{ty}` is not a type"))?;
        let value = words::number(value.trim()).ok_or(format!("`{}` is not a number", value.trim()))?;
        if !words::is_location(name) || locations.find(name).is_some() {
            return Err(format!("`{name}` is no name for a new location"));
        }
        let loc = p.shared_as(name, ty, value);
        locations.known.push((name.to_owned(), loc));
    }
    Ok(body)
}

/// Where `part`, a slice of `text`, stands in it.
fn span(text: &str, part: &str, source: u16) -> Span {
    let before = &text[..part.as_ptr() as usize - text.as_ptr() as usize];
    let line = before.matches('\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() as u32 + 1;
    Span { source, line, column, length: part.chars().count() as u32 }
}

/// Types by name, for [`words::ty`].
const TYPES: [(&str, Type); 8] = [
    ("u8", Type::U8),
    ("u16", Type::U16),
    ("u32", Type::U32),
    ("u64", Type::U64),
    ("i8", Type::I8),
    ("i16", Type::I16),
    ("i32", Type::I32),
    ("i64", Type::I64),
];
