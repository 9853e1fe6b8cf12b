//! How text is drawn: how wide, with which characters, and whether in color.

/// What the reader's terminal can show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many columns there are. Lines stay within it as long as no single word is longer.
    pub width: usize,
    pub style: Style,
}

/// Which characters and colors are used. The default is Unicode without color.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Lines and arrows are made of ASCII characters.
    pub ascii: bool,
    /// ANSI colors are added. They carry no meaning that the text does not.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { width: 80, style: Style::default() }
    }
}

/// The characters that lines and arrows are made of.
#[derive(Clone, Copy, Debug)]
pub struct Glyphs {
    pub vertical: char,
    pub horizontal: char,
    pub cross: char,
    pub head: char,
    /// From an old value to a new one.
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
