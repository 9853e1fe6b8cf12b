//! What was measured, beside what it is to be.

/// What a number counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Seconds,
    Kibibytes,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) unit: Unit,
    /// What it is compared with, if that was measured.
    pub(super) than: Option<f64>,
    pub(super) now: f64,
    /// How many times the other it is to be at most.
    pub(super) at_most: f64,
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.than.map(|than| self.now / than)
    }

    pub(super) fn is_missed(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio > self.at_most)
    }

    fn shown(&self, value: f64) -> String {
        match self.unit {
            Unit::Seconds => format!("{value:.2} s"),
            Unit::Kibibytes => format!("{value:.0} KiB"),
        }
    }
}

/// The rows as a table; tests of the library are compared with loom, the others with another revision of this tree.
pub(super) fn render(rows: &[Row]) -> String {
    let mut out = format!("{:<24}{:>12}{:>12}{:>8}{:>9}\n", "", "other", "this", "ratio", "at most");
    for row in rows {
        let than = row.than.map_or_else(|| "-".to_owned(), |than| row.shown(than));
        let ratio = row.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
        let missed = if row.is_missed() { "  MISSED" } else { "" };
        let (what, now, at_most) = (row.what, row.shown(row.now), row.at_most);
        out.push_str(&format!("{what:<24}{than:>12}{now:>12}{ratio:>8}{at_most:>9.1}{missed}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missed_is_marked() {
        let row = Row { what: "a", unit: Unit::Seconds, than: Some(1.0), now: 4.0, at_most: 3.0 };
        let size = Row { what: "b", unit: Unit::Kibibytes, than: None, now: 10.4, at_most: 0.5 };
        assert!(row.is_missed() && !size.is_missed());
        let text = render(&[row, size]);
        assert!(text.lines().nth(1).is_some_and(|line| line.ends_with("4.00      3.0  MISSED")), "{text}");
        assert!(text.lines().nth(2).is_some_and(|line| line.ends_with("10 KiB       -      0.5")), "{text}");
    }
}
