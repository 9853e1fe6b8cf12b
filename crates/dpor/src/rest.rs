//! What a search of real code has left to do, so that it goes on later.

use std::fmt;
use std::str::FromStr;

use super::job::Job;

/// No path is longer.
const MAX_PATH: usize = 1_000_000;

/// Parts of the walk that are not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rest(pub(super) Vec<Job>);

/// A line that is no part of a walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoRest;

impl Rest {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Rest(vec![Job::all()])
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A line for each part: the alternatives chosen, then those that are left, as in `0.0.2 1..3`.
impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Job { path, from, to } in &self.0 {
            let path: Vec<String> = path.iter().map(u32::to_string).collect();
            let to = to.map_or(String::new(), |to| to.to_string());
            writeln!(f, "{} {from}..{to}", if path.is_empty() { "-".to_owned() } else { path.join(".") })?;
        }
        Ok(())
    }
}

impl FromStr for Rest {
    type Err = NoRest;

    fn from_str(text: &str) -> Result<Self, NoRest> {
        text.lines().map(job).collect::<Option<Vec<Job>>>().map(Rest).ok_or(NoRest)
    }
}

fn job(line: &str) -> Option<Job> {
    let (path, rest) = line.split_once(' ')?;
    let (from, to) = rest.split_once("..")?;
    let path = if path == "-" { String::new() } else { path.to_owned() };
    let chosen = path.split('.').filter(|part| !part.is_empty()).take(MAX_PATH);
    let path = chosen.map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some(Job { path, from: from.parse().ok()?, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let job = |path: &[u32], from, to| Job { path: path.iter().copied().collect(), from, to };
        let rest = Rest(vec![job(&[], 0, None), job(&[0, 12, 3], 1, Some(4))]);
        assert_eq!(rest.to_string(), "- 0..\n0.12.3 1..4\n");
        assert_eq!(rest.to_string().parse(), Ok(rest));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["x", "- 1", "0.x 1..2", "0 1..-2", "- ..", "- 99999999999.."] {
            assert_eq!(text.parse::<Rest>(), Err(NoRest), "{text}");
        }
    }
}
