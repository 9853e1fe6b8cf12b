//! Writes a litmus test, so that reading what was written gives the same program.
//!
//! There is one spelling for everything: a column for each thread, sources before destinations with 64 bits and after
//! them with 32, locations in brackets in the condition, and as few parentheses as it allows.

use std::fmt::Write;

use teetotal_program::condition::Comparison;
use teetotal_program::{Type, Width};

use crate::litmus::operand_printer::statement;
use crate::litmus::syntax::{Code, Entry, Flavor, Initial, Named, Place, Proposition, Quantifier, Side, Test};
use crate::litmus::types::CType;
use crate::litmus::x86::{Line, Register};

/// The text of `test`, with `remarks` in lines of their own; nothing for a test in C.
pub(super) fn print(test: &Test, remarks: &[String]) -> Option<String> {
    let architecture = match test.flavor {
        Flavor::X86 => "X86",
        Flavor::X86_64 => "X86_64",
        Flavor::C => return None,
    };
    let Code::X86(threads) = &test.code else { return None };
    let mut out = format!("{architecture} {}\n", test.name);
    for remark in remarks {
        push(&mut out, format_args!("{remark}\n"));
    }
    let entries: String = test.init.iter().map(|given| format!("{}; ", entry(given, test.flavor))).collect();
    push(&mut out, format_args!("{{ {entries}}}\n"));
    table(threads, test.flavor, &mut out);
    if !test.shown.is_empty() {
        let places: Vec<String> =
            test.shown.iter().map(|shown| format!("{};", place(&shown.it, test.flavor))).collect();
        push(&mut out, format_args!("locations [{}]\n", places.join(" ")));
    }
    if let Some(filter) = &test.filter {
        push(&mut out, format_args!("filter ({})\n", proposition(filter, test.flavor)));
    }
    if let Some(quantifier) = test.quantifier {
        let word = match quantifier {
            Quantifier::Exists => "exists",
            Quantifier::NotExists => "~exists",
            Quantifier::ForAll => "forall",
        };
        push(&mut out, format_args!("{word} ({})\n", proposition(&test.proposition, test.flavor)));
    }
    Some(out)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes any text");
}

/// `register` in the case that its assembler prefers.
pub(super) fn register(register: Register, flavor: Flavor) -> String {
    match flavor {
        Flavor::X86 => register.name().to_uppercase(),
        Flavor::X86_64 | Flavor::C => register.name().to_owned(),
    }
}

fn entry(entry: &Entry, flavor: Flavor) -> String {
    let mut out = entry.ty.map(|ty| format!("{} ", type_name(ty))).unwrap_or_default();
    out.push_str(&place(&entry.place.it, flavor));
    if let Some(length) = entry.length {
        push(&mut out, format_args!("[{length}]"));
    }
    let values: Vec<String> = entry.values.iter().map(|value| initial(&value.it)).collect();
    match (&values[..], entry.length) {
        ([], _) => {}
        ([value], None) => push(&mut out, format_args!("={value}")),
        _ => push(&mut out, format_args!("={{{}}}", values.join(","))),
    }
    out
}

fn type_name(ty: CType) -> String {
    let base = if ty.truth { "bool" } else { integer_name(ty.base) };
    format!(
        "{base}{}",
        " *".repeat(usize::from(ty.depth.min(1))) + &"*".repeat(usize::from(ty.depth.saturating_sub(1)))
    )
}

fn integer_name(ty: Type) -> &'static str {
    match (ty.signed, ty.width) {
        (true, Width::W8) => "int8_t",
        (true, Width::W16) => "int16_t",
        (true, Width::W32) => "int32_t",
        (true, Width::W64) => "int64_t",
        (false, Width::W8) => "uint8_t",
        (false, Width::W16) => "uint16_t",
        (false, Width::W32) => "uint32_t",
        (false, Width::W64) => "uint64_t",
    }
}

fn initial(value: &Initial) -> String {
    match value {
        Initial::Number(number) => signed(*number),
        Initial::AddressOf(name, 0) => name.clone(),
        Initial::AddressOf(name, element) => format!("{name}[{element}]"),
    }
}

/// A number with its sign.
pub(super) fn signed(number: u64) -> String {
    (number as i64).to_string()
}

fn place(place: &Place, flavor: Flavor) -> String {
    match place {
        Place::Register(thread, Named::Register(named)) => format!("{thread}:{}", register(*named, flavor)),
        Place::Register(thread, Named::Local(name)) => format!("{thread}:{name}"),
        Place::Memory(name, None) => name.clone(),
        Place::Memory(name, Some(element)) => format!("{name}[{element}]"),
    }
}

/// The columns of the threads, each as wide as its widest cell.
fn table(threads: &[Vec<Line>], flavor: Flavor, out: &mut String) {
    let column = |(thread, lines): (usize, &Vec<Line>)| -> Vec<String> {
        let cells = lines.iter().map(|line| cell(line, flavor));
        std::iter::once(format!("P{thread}")).chain(cells).collect()
    };
    let columns: Vec<Vec<String>> = threads.iter().enumerate().map(column).collect();
    let n_rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: &Vec<String>| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(width).collect();
    for row in 0..n_rows {
        let cells = columns.iter().zip(&widths).map(|(column, &width)| {
            let cell = column.get(row).map_or("", String::as_str);
            format!(" {cell:<width$} ")
        });
        out.push_str(&cells.collect::<Vec<_>>().join("|"));
        out.push_str(";\n");
    }
}

fn cell(line: &Line, flavor: Flavor) -> String {
    let labels = line.labels.iter().map(|label| format!("{}:", label.it));
    let instruction = line.instruction.iter().map(|written| statement(written, flavor));
    labels.chain(instruction).collect::<Vec<_>>().join(" ")
}

fn proposition(given: &Proposition, flavor: Flavor) -> String {
    let joined = |parts: &[Proposition], word: &str, write: &dyn Fn(&Proposition) -> String| {
        parts.iter().map(write).collect::<Vec<_>>().join(word)
    };
    match given {
        Proposition::True => "true".to_owned(),
        Proposition::Not(inner) => match &**inner {
            Proposition::True => "false".to_owned(),
            inner => format!("not {}", atom(inner, flavor)),
        },
        Proposition::And(parts) => joined(parts, " /\\ ", &|part| atom(part, flavor)),
        Proposition::Or(parts) => joined(parts, " \\/ ", &|part| proposition(part, flavor)),
        Proposition::Compare(left, comparison, right) => {
            format!("{}{}{}", term(&left.it, flavor), sign(*comparison), side(&right.it, flavor))
        }
    }
}

/// A proposition that binds tighter than any sign around it.
fn atom(given: &Proposition, flavor: Flavor) -> String {
    let inner = proposition(given, flavor);
    if matches!(given, Proposition::And(_) | Proposition::Or(_)) { format!("({inner})") } else { inner }
}

/// What is held at a place. A location stands in brackets, so that none is taken for a word of the format.
fn term(given: &Place, flavor: Flavor) -> String {
    match given {
        Place::Register(..) => place(given, flavor),
        Place::Memory(..) => format!("[{}]", place(given, flavor)),
    }
}

fn side(side: &Side, flavor: Flavor) -> String {
    match side {
        Side::Number(number) => signed(*number),
        Side::Place(place) => term(place, flavor),
        Side::Name(name) => name.clone(),
    }
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}
