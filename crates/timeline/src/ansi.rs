//! ANSI colors, and what each is for.

/// The role of a piece of text, which determines its color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Plain,
    /// Names at the head of a column, and verdicts.
    Heading,
    /// Rules, numbers, and what did not change.
    Faint,
    /// Pending stores.
    Buffer,
    /// Writes to memory, and the arrows to them.
    Memory,
    /// A certain verdict.
    Good,
    /// A violation.
    Bad,
    /// A verdict that a longer search may change.
    Doubtful,
}

const RESET: &str = "\x1b[0m";

impl Role {
    fn code(self) -> &'static str {
        match self {
            Role::Plain => "",
            Role::Heading => "\x1b[1m",
            Role::Faint => "\x1b[2m",
            Role::Buffer => "\x1b[33m",
            Role::Memory => "\x1b[36m",
            Role::Good => "\x1b[1;32m",
            Role::Bad => "\x1b[1;31m",
            Role::Doubtful => "\x1b[1;33m",
        }
    }

    /// Returns `text` in the color of this role.
    pub fn paint(self, text: &str) -> String {
        match self.code() {
            "" => text.to_owned(),
            code => format!("{code}{text}{RESET}"),
        }
    }
}
