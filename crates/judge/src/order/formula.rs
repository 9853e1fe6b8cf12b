//! The same question as a formula for an SMT solver, to compare with.

use std::fmt::{self, Write};

use super::candidates::{Open, OpenRead, Part, Writer};
use super::layout::Layout;

/// The formula in the language of SMT-LIB, in the logic QF_IDL: one number for each moment.
pub(super) fn write(layout: &Layout<'_>, part: &Part, open: Option<&Open>) -> Result<String, fmt::Error> {
    let mut text = String::from("(set-logic QF_IDL)\n");
    let moments = moments(part);
    for moment in &moments {
        writeln!(text, "(declare-const o{moment} Int)")?;
    }
    let Some(open) = open else {
        text.push_str("(assert false)\n(check-sat)\n");
        return Ok(text);
    };
    for &first in &moments {
        let mut later = moments.iter().filter(|&&second| is_direct(open, part, first, second));
        later.try_for_each(|second| writeln!(text, "(assert (< o{first} o{second}))"))?;
    }
    for read in &open.reads {
        let ways: Vec<String> = read.writers.iter().map(|&writer| way(layout, part, read, writer)).collect();
        writeln!(text, "(assert (or false {}))", ways.join(" "))?;
    }
    text.push_str("(check-sat)\n");
    Ok(text)
}

fn moments(part: &Part) -> Vec<usize> {
    (0..64 * part.moments.len()).filter(|&moment| super::candidates::has(&part.moments, moment)).collect()
}

/// Whether one must come before the other, and not because of something between them.
fn is_direct(open: &Open, part: &Part, first: usize, second: usize) -> bool {
    let between = open.order.after(first).iter().zip(open.order.before(second)).zip(&part.moments);
    let mut between = between.map(|((after, before), part)| after & before & part);
    open.order.precedes(first, second) && between.all(|word| word == 0)
}

/// That the read takes its value from the writer.
fn way(layout: &Layout<'_>, part: &Part, open: &OpenRead, writer: Writer) -> String {
    let read = &layout.reads[open.read];
    let mut parts: Vec<String> = Vec::new();
    let others = layout.locations[read.loc.index()].writes.iter().copied();
    let others = others.filter(|&other| super::candidates::has(&part.moments, other));
    for other in others.filter(|&other| Some(other) != writer && other != read.moment) {
        let later = format!("(< o{} o{other})", read.moment);
        parts.push(match (writer, layout.is_own(other, read)) {
            (None, true) => "false".to_owned(),
            (None, false) => later,
            (Some(writer), true) => format!("(< o{other} o{writer})"),
            (Some(writer), false) => format!("(or (< o{other} o{writer}) {later})"),
        });
    }
    if let Some(writer) = writer.filter(|&writer| !layout.is_own(writer, read)) {
        parts.push(format!("(< o{writer} o{})", read.moment));
    }
    format!("(and true {})", parts.join(" "))
}
