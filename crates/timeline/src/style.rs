//! How text is drawn: width, characters and color.

/// The capabilities of the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The width in columns. Lines exceed it only if a single word does.
    pub width: usize,
    pub style: Style,
}

/// Which characters and colors are used. The default is Unicode without color.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Draws lines and arrows with ASCII characters.
    pub ascii: bool,
    /// Adds ANSI colors. They carry no meaning that the text does not have.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { width: 80, style: Style::default() }
    }
}

/// The characters of lines and arrows.
#[derive(Clone, Copy, Debug)]
pub struct Glyphs {
    pub vertical: char,
    pub horizontal: char,
    pub cross: char,
    pub head: char,
    /// Between an old value and a new one.
    pub becomes: &'static str,
    /// Between parts of one line.
    pub dot: &'static str,
}

impl Style {
    pub fn glyphs(self) -> Glyphs {
        if self.ascii {
            Glyphs { vertical: '|', horizontal: '-', cross: '+', head: '>', becomes: "->", dot: "-" }
        } else {
            Glyphs { vertical: '│', horizontal: '─', cross: '┼', head: '▶', becomes: "→", dot: "·" }
        }
    }
}
