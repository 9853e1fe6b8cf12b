//! The types of C: integers, and pointers to them.

use teetotal_program::{Type, Width};

/// An integer type, or a pointer to one, or a pointer to such a pointer and so on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CType {
    /// What is at the end of all pointers.
    pub(super) base: Type,
    /// How many pointers lead there.
    pub(super) depth: u8,
    /// Whether what is there is only ever 0 or 1, as `bool` demands.
    pub(super) truth: bool,
}

impl CType {
    pub(super) const INT: CType = CType::integer(Type::I32);

    pub(super) const fn integer(base: Type) -> Self {
        CType { base, depth: 0, truth: false }
    }

    /// What is a pointer to this, `depth` times over.
    pub(super) fn pointer(self, depth: u8) -> Self {
        CType { depth: self.depth.saturating_add(depth), ..self }
    }

    /// What it points to.
    pub(super) fn pointee(self) -> Option<Self> {
        Some(CType { depth: self.depth.checked_sub(1)?, ..self })
    }

    pub(super) fn is_pointer(self) -> bool {
        self.depth > 0
    }

    pub(super) fn is_truth(self) -> bool {
        self.truth && self.depth == 0
    }

    /// The integer type that holds its values, where addresses have `full` bits.
    pub(super) fn held(self, full: Width) -> Type {
        if self.is_pointer() { Type { width: full, signed: true } } else { self.base }
    }

    /// The same where an address has 64 bits, as in C.
    pub(super) fn value(self) -> Type {
        self.held(Width::W64)
    }

    /// Whether a pointer of one type may be used as one of the other: what they lead to is equally wide.
    pub(super) fn agrees_with(self, other: CType) -> bool {
        self.depth == other.depth && self.base.width == other.base.width
    }
}

/// Words that say nothing of the values of a type.
const QUALIFIERS: &[&str] = &["const", "volatile", "_Atomic", "register", "auto", "static", "extern", "__rcu"];

/// Words of which several may stand together.
const PARTS: &[&str] = &["char", "short", "int", "long", "signed", "unsigned"];

/// Every other type by its name.
const NAMES: &[(&str, Type)] = &[
    ("int8_t", Type::I8),
    ("int16_t", Type::I16),
    ("int32_t", Type::I32),
    ("int64_t", Type::I64),
    ("uint8_t", Type::U8),
    ("uint16_t", Type::U16),
    ("uint32_t", Type::U32),
    ("uint64_t", Type::U64),
    ("intptr_t", Type::I64),
    ("uintptr_t", Type::U64),
    ("ptrdiff_t", Type::I64),
    ("intmax_t", Type::I64),
    ("uintmax_t", Type::U64),
    ("size_t", Type::U64),
    ("ssize_t", Type::I64),
    ("bool", Type::U8),
    ("_Bool", Type::U8),
    // C11.
    ("atomic_bool", Type::U8),
    ("atomic_flag", Type::U8),
    ("atomic_char", Type::I8),
    ("atomic_schar", Type::I8),
    ("atomic_uchar", Type::U8),
    ("atomic_short", Type::I16),
    ("atomic_ushort", Type::U16),
    ("atomic_int", Type::I32),
    ("atomic_uint", Type::U32),
    ("atomic_long", Type::I64),
    ("atomic_ulong", Type::U64),
    ("atomic_llong", Type::I64),
    ("atomic_ullong", Type::U64),
    ("atomic_intptr_t", Type::I64),
    ("atomic_uintptr_t", Type::U64),
    ("atomic_size_t", Type::U64),
    ("atomic_ptrdiff_t", Type::I64),
    // The kernel.
    ("atomic_t", Type::I32),
    ("atomic64_t", Type::I64),
    ("atomic_long_t", Type::I64),
    ("spinlock_t", Type::I32),
    ("raw_spinlock_t", Type::I32),
    ("s8", Type::I8),
    ("s16", Type::I16),
    ("s32", Type::I32),
    ("s64", Type::I64),
    ("u8", Type::U8),
    ("u16", Type::U16),
    ("u32", Type::U32),
    ("u64", Type::U64),
];

/// Those that hold only 0 and 1.
const TRUTHS: &[&str] = &["bool", "_Bool", "atomic_bool", "atomic_flag"];

/// Whether `word` is part of the name of a type.
pub(super) fn is_type(word: &str) -> bool {
    is_qualifier(word) || PARTS.contains(&word) || NAMES.iter().any(|(name, _)| *name == word)
}

pub(super) fn is_qualifier(word: &str) -> bool {
    QUALIFIERS.contains(&word)
}

/// The type that these words say together.
pub(super) fn named(words: &[&str]) -> Option<CType> {
    let words: Vec<&str> = words.iter().copied().filter(|word| !is_qualifier(word)).collect();
    if !words.is_empty() && words.iter().all(|word| PARTS.contains(word)) {
        return Some(CType::integer(of_parts(&words)));
    }
    let [word] = words[..] else { return None };
    let (_, base) = NAMES.iter().find(|(name, _)| *name == word)?;
    Some(CType { truth: TRUTHS.contains(&word), ..CType::integer(*base) })
}

fn of_parts(words: &[&str]) -> Type {
    let width = if words.contains(&"long") {
        Width::W64
    } else if words.contains(&"short") {
        Width::W16
    } else if words.contains(&"char") {
        Width::W8
    } else {
        Width::W32
    };
    Type { width, signed: !words.contains(&"unsigned") }
}
