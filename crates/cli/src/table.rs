//! Tables of plain text.

/// The maximum line length, as far as the last column can be wrapped.
const WIDTH: usize = 80;

/// Returns the rows with aligned columns, two spaces between columns and none at the end of a line.
///
/// A last column that is too long is wrapped.
pub(crate) fn align(rows: &[Vec<String>], indent: usize) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter(|row| column + 1 < row.len()).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut out = String::new();
    for row in rows.iter().flat_map(|row| broken(row, &widths, indent)) {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}"));
        let line = format!("{}{}", " ".repeat(indent), cells.collect::<Vec<_>>().join("  "));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Returns the row as one or more lines.
fn broken(row: &[String], widths: &[usize], indent: usize) -> Vec<Vec<String>> {
    let Some((last, others)) = row.split_last() else { return vec![Vec::new()] };
    let before = indent + widths.iter().take(others.len()).map(|width| width + 2).sum::<usize>();
    let room = WIDTH.saturating_sub(before).max(20);
    let mut lines: Vec<String> = vec![String::new()];
    for word in last.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    let beside = |index: usize| if index == 0 { others.to_vec() } else { vec![String::new(); others.len()] };
    lines.into_iter().enumerate().map(|(index, line)| [beside(index), vec![line]].concat()).collect()
}

#[cfg(test)]
mod tests {
    use super::align;

    #[test]
    fn a_long_last_column_goes_on_below_itself() {
        let rows = [vec!["name".to_owned(), "word ".repeat(16).trim_end().to_owned()]];
        let first = format!("name  {}", "word ".repeat(15));
        assert_eq!(align(&rows, 0), format!("{}\n{}word\n", first.trim_end(), " ".repeat(6)));
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bb", "c"], ["aaa", "b", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(align(&rows, 1), " a    bb  c\n aaa  b\n");
    }
}
