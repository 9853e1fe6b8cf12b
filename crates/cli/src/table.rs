//! Tables of plain text.

/// The rows with their columns aligned, two spaces between them and none at the end of a line.
pub(crate) fn align(rows: &[Vec<String>], indent: usize) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter(|row| column + 1 < row.len()).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let line = format!("{}{}", " ".repeat(indent), cells.collect::<Vec<_>>().join("  "));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::align;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bb", "c"], ["aaa", "b", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(align(&rows, 1), " a    bb  c\n aaa  b\n");
    }
}
