//! What a misspelled name may have meant.

/// At most this many names are compared.
const MOST: usize = 256;

/// The name nearest to `word`, if it is near enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    let near = names.into_iter().take(MOST).filter_map(|name| {
        let other = name.chars().count();
        let allowed = (length.max(other) / 3).max(1);
        let distance = if length.abs_diff(other) <= allowed { distance(&word, &name.to_lowercase()) } else { other };
        (distance <= allowed && distance < other).then_some((distance, name))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, name)| name)
}

/// How many letters must be changed, added, left out or swapped with their neighbor to make `b` of `a`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_near_name_is_meant() {
        let names = ["SB", "dekker-loop", "peterson-loop"];
        assert_eq!(nearest("dekker-lop", names), Some("dekker-loop"));
        assert_eq!(nearest("petersno-loop", names), Some("peterson-loop"));
        assert_eq!(nearest("SBB", names), Some("SB"));
        assert_eq!(nearest("BS", names), Some("SB"));
    }

    #[test]
    fn a_far_name_is_not() {
        assert_eq!(nearest("sequential", ["SB", "dekker-loop"]), None);
        assert_eq!(nearest("", ["SB"]), None);
    }
}
