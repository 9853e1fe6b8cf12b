//! The words of the language, and those that are refused with a reason.

/// What is not supported, by name, with what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("chan", "processes communicate by shared variables; memory models do not cover channels"),
    ("ltl", "only assertions, labels (`--label`) and deadlocks are checked; write the property as an assertion"),
    ("never", "only assertions, labels (`--label`) and deadlocks are checked; write the property as an assertion"),
    ("trace", "only assertions, labels (`--label`) and deadlocks are checked; write the property as an assertion"),
    ("notrace", "only assertions, labels (`--label`) and deadlocks are checked; write the property as an assertion"),
    ("typedef", "use one variable or array for each field"),
    ("unless", "write the escape as an option of the `if` and `do` around each statement"),
    ("provided", "write the condition as a guard of each statement"),
    ("priority", "processes run in any order here"),
    ("timeout", "it observes all processes at once, which no memory model defines; use a shared variable"),
    ("D_proctype", "write `proctype`"),
    ("c_code", "only Promela itself is read; write it as statements"),
    ("c_expr", "only Promela itself is read; write it as an expression"),
    ("c_decl", "only Promela itself is read; declare it with a type of Promela"),
    ("c_state", "only Promela itself is read; declare it with a type of Promela"),
    ("c_track", "only Promela itself is read; declare it with a type of Promela"),
    ("xr", "it is about channels, which are not supported"),
    ("xs", "it is about channels, which are not supported"),
    ("len", "it is about channels, which are not supported"),
    ("empty", "it is about channels, which are not supported"),
    ("nempty", "it is about channels, which are not supported"),
    ("full", "it is about channels, which are not supported"),
    ("nfull", "it is about channels, which are not supported"),
    ("eval", "it is about channels, which are not supported"),
    ("enabled", "processes cannot observe each other; use a shared variable"),
    ("pc_value", "processes cannot observe each other; use a shared variable"),
    ("np_", "only assertions, labels (`--label`) and deadlocks are checked"),
    ("_last", "processes cannot observe each other; use a shared variable"),
    ("_nr_pr", "processes cannot observe each other; use a shared variable"),
    ("_priority", "processes run in any order here"),
    ("get_priority", "processes run in any order here"),
    ("set_priority", "processes run in any order here"),
    ("set_max", "it is not part of the language that SPIN documents"),
];

/// Words that begin a declaration that is refused with all in its braces.
const UNITS: &[&str] =
    &["ltl", "never", "trace", "notrace", "typedef", "c_code", "c_decl", "c_state", "c_track", "D_proctype", "chan"];

const TYPES: &[&str] = &["bit", "bool", "byte", "short", "int", "unsigned", "mtype", "pid", "chan"];

const RESERVED: &[&str] = &[
    "active", "proctype", "init", "inline", "if", "fi", "do", "od", "else", "break", "goto", "skip", "atomic",
    "d_step", "assert", "printf", "printm", "run", "for", "select", "in", "true", "false", "_pid", "of", "hidden",
    "show", "local",
];

/// Why `word` is not supported, if it is not.
pub(super) fn refused(word: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(name, _)| *name == word).map(|(_, reason)| *reason)
}

/// Whether it begins a declaration that is not supported.
pub(super) fn is_unit_refused(word: &str) -> bool {
    UNITS.contains(&word)
}

pub(super) fn is_type(word: &str) -> bool {
    TYPES.contains(&word)
}

/// Whether it stands before a type and says who sees the variable.
pub(super) fn is_visibility(word: &str) -> bool {
    matches!(word, "hidden" | "show" | "local")
}

/// Whether it is a word of the language, so that nothing can be called that.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || TYPES.contains(&word)
}
