//! The capabilities of the terminal, as far as they are known.

use std::env;
use std::ffi::OsStr;
use std::io::{IsTerminal, stdout};

use clap::{Args, ValueEnum};
use teetotal::{Drawing, Style};

use crate::values;

/// When to use colors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// How text is drawn.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Screen {
    #[arg(long, value_name = "WHEN", default_value = "auto", env = "TEETOTAL_COLOR", hide_env = true)]
    #[arg(hide_possible_values = true, help = "Colors: auto, always or never")]
    color: Color,

    /// Columns [default: those of the terminal, else 80]
    #[arg(long, value_name = "N", value_parser = values::width, env = "TEETOTAL_WIDTH", hide_env = true)]
    width: Option<usize>,

    /// Draw with ASCII characters only
    #[arg(long, env = "TEETOTAL_ASCII", hide_env = true, value_parser = values::flag())]
    ascii: bool,
}

impl Screen {
    /// Returns how to draw on standard output.
    pub(crate) fn drawing(self) -> Drawing {
        let color = match self.color {
            Color::Auto => color_by_default(),
            Color::Always => true,
            Color::Never => false,
        };
        let width = self.width.or_else(terminal_width).unwrap_or(Drawing::default().width);
        Drawing { width, style: Style { ascii: self.ascii, color } }
    }
}

/// Returns whether to use colors by default.
pub(crate) fn color_by_default() -> bool {
    stdout().is_terminal() && allowed(env::var_os("NO_COLOR").as_deref(), env::var_os("TERM").as_deref())
}

/// Returns whether a terminal with these variables gets colors.
fn allowed(no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
}

fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stdout())?;
    Some(usize::from(width.0).max(40))
}

#[cfg(test)]
mod tests {
    use super::allowed;

    #[test]
    fn no_color_and_dumb_terminals_are_honored() {
        assert!(allowed(None, Some("xterm".as_ref())));
        assert!(allowed(Some("".as_ref()), None));
        assert!(!allowed(Some("1".as_ref()), Some("xterm".as_ref())));
        assert!(!allowed(None, Some("dumb".as_ref())));
    }
}
