//! The words of the notation.

use crate::notation::TYPES;
use teetotal_program::Order;
use teetotal_program::Type;
use teetotal_program::Value;

/// Words that are neither registers nor locations.
const KEYWORDS: [&str; 30] = [
    "fence", "sfence", "lfence", "sync", "lock", "unlock", "spawn", "join", "await", "choose", "assume", "assert",
    "if", "xchg", "cas", "add", "sub", "and", "or", "xor", "max", "min", "rlx", "acq", "rel", "ar", "sc", "plain",
    "true", "else",
];

/// Every name in `text`, in order.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

pub(super) fn is_register(word: &str) -> bool {
    is_numbered(word, 'r')
}

pub(super) fn is_location(word: &str) -> bool {
    let is_name = names(word).eq([word]);
    is_name && !is_register(word) && !is_numbered(word, 'P') && !KEYWORDS.contains(&word)
}

fn is_numbered(word: &str, letter: char) -> bool {
    word.strip_prefix(letter).is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether some statement of `body` spawns the thread called `name`.
pub(super) fn is_spawned(body: &str, name: &str) -> bool {
    let statements = body.split("||").flat_map(|thread| thread.split(';'));
    statements.map(str::trim).any(|s| s.starts_with("spawn") && s.split_whitespace().nth(1) == Some(name))
}

/// The number of the thread called `name`.
pub(super) fn thread(name: &str) -> Option<u16> {
    name.strip_prefix('P')?.parse().ok()
}

pub(super) fn number(text: &str) -> Option<Value> {
    text.parse::<i64>().map(|value| value as Value).or_else(|_| text.parse()).ok()
}

pub(super) fn ty(name: &str) -> Option<Type> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty)
}

pub(super) fn order(name: &str) -> Option<Order> {
    Some(match name {
        "plain" => Order::Plain,
        "rlx" => Order::Relaxed,
        "acq" => Order::Acquire,
        "rel" => Order::Release,
        "ar" => Order::AcqRel,
        "sc" => Order::SeqCst,
        _ => return None,
    })
}
