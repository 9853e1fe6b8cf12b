//! The text of a checkpoint: a line for each thing, and a checksum.
//!
//! ```text
//! teetotal checkpoint 1
//! version 0.1.0
//! program 9f3ac2d15e0b7a64 SB
//! model tso
//! checks assertion,condition,deadlock
//! steps 1000000
//! stop at-first-violation
//! done 0 executions=2 completed=2 blocked=0 discarded=0 failed=0 abandoned=0 steps=9 pending=1
//! seen 0x4
//! open 0x2.1 1..3
//! end 5b1e0c64a2f39d70
//! ```
//!
//! A path is the alternatives chosen, separated by dots; `0x4` is four times the first, `-` is the empty path. The
//! executions after `done` belong to it. `open P a..b` are the alternatives `a` up to `b`, without it, at the end of `P`.

use std::fmt::Write;
use std::str::FromStr;

use teetotal_engine::{Stats, StopReason};
use teetotal_program::ThreadId;

use super::{CheckpointError, Saved, Searched, Stretch};
use crate::job::Job;
use crate::position::Path;

/// How every checkpoint begins.
pub(super) const TITLE: &str = "teetotal checkpoint";

/// The version of the format. It grows too when the walk takes another order, since paths then lead elsewhere.
pub(super) const FORMAT: u32 = 1;

/// The version of the crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// No path is longer.
const MAX_PATH: usize = 1_000_000;

/// No search counts so far.
const MAX_COUNT: u64 = 1 << 48;

/// A hash of `text`.
pub(super) fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Searched {
    /// What must be the same to go on, by name, and what it is. The program comes last and is compared by its hash.
    fn entries(&self) -> [(&'static str, String); 5] {
        let checks: Vec<&str> = self.monitors.iter().map(|id| id.info().name).collect();
        [
            ("version", VERSION.to_owned()),
            ("model", self.model.info().name.to_owned()),
            ("checks", if checks.is_empty() { "none".to_owned() } else { checks.join(",") }),
            ("steps", self.steps.map_or("none".to_owned(), |steps| steps.to_string())),
            ("stop", if self.stop_at_first { "at-first-violation" } else { "never" }.to_owned()),
        ]
    }
}

impl Saved {
    pub(super) fn to_text(&self, of: &Searched) -> String {
        let mut text = format!("{TITLE} {FORMAT}\n");
        let mut line = |words: std::fmt::Arguments<'_>| {
            let _ = text.write_fmt(words);
            text.push('\n');
        };
        of.entries().iter().for_each(|(name, value)| line(format_args!("{name} {value}")));
        line(format_args!("program {:016x} {}", of.hash, one_line(&of.program)));
        for stretch in &self.done {
            let Stretch { start, stats, cut, seen } = stretch;
            let counts: Vec<String> = counts(&mut { *stats }).iter().map(|(name, n)| format!("{name}={n}")).collect();
            line(format_args!("done {} {}", show(start), counts.join(" ")));
            match cut {
                Some(StopReason::EndlessLoop { thread, instruction }) => {
                    line(format_args!("cut loop {thread} {instruction}"));
                }
                Some(StopReason::Steps(steps)) => line(format_args!("cut steps {steps}")),
                _ => {}
            }
            seen.iter().for_each(|path| line(format_args!("seen {}", show(path))));
        }
        for Job { path, from, to } in &self.open {
            match to {
                Some(to) => line(format_args!("open {} {from}..{to}", show(path))),
                None => line(format_args!("open {} {from}..", show(path))),
            }
        }
        let sum = checksum(&text);
        text + &format!("end {sum:016x}\n")
    }

    /// Reads a checkpoint of the search `of`.
    pub(crate) fn read(text: &str, of: &Searched) -> Result<Saved, CheckpointError> {
        let first = text.lines().next().unwrap_or("");
        let format = first.strip_prefix(TITLE).ok_or(CheckpointError::NoCheckpoint)?.trim();
        if format != FORMAT.to_string() {
            return Err(CheckpointError::Format { found: format.to_owned() });
        }
        let body = body(text).ok_or(CheckpointError::Damaged)?;
        let mut lines = body.lines().enumerate().skip(1).map(|(index, line)| Line { number: index + 1, text: line });
        for (what, expected) in of.entries() {
            let line = lines.next().ok_or(CheckpointError::Damaged)?;
            let found = line.after(what)?;
            if found != expected {
                return Err(CheckpointError::Other { what, found: found.to_owned(), expected });
            }
        }
        let line = lines.next().ok_or(CheckpointError::Damaged)?;
        let (hash, name) = line.after("program")?.split_once(' ').ok_or_else(|| line.error())?;
        let expected = one_line(&of.program);
        if name != expected {
            return Err(CheckpointError::Other { what: "program", found: name.to_owned(), expected });
        }
        if hash != format!("{:016x}", of.hash) {
            return Err(CheckpointError::OtherProgram { program: expected });
        }
        let mut saved = Saved { done: Vec::new(), open: Vec::new() };
        for line in lines {
            saved.add(&line).ok_or_else(|| line.error())?;
        }
        Ok(saved)
    }

    /// Takes in a line; returns whether it is one.
    fn add(&mut self, line: &Line<'_>) -> Option<()> {
        let (word, rest) = line.text.split_once(' ')?;
        match word {
            "done" => self.done.push(stretch(rest)?),
            "cut" => self.done.last_mut()?.cut = Some(cut(rest)?),
            "seen" => self.done.last_mut()?.seen.push(path(rest)?),
            "open" => self.open.push(job(rest)?),
            _ => return None,
        }
        Some(())
    }
}

/// A line of a checkpoint and its number.
struct Line<'t> {
    number: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    /// What comes after the word `name`, which the line must begin with.
    fn after(&self, name: &str) -> Result<&'t str, CheckpointError> {
        self.text.strip_prefix(name).and_then(|rest| rest.strip_prefix(' ')).ok_or_else(|| self.error())
    }

    fn error(&self) -> CheckpointError {
        let found: String = self.text.chars().take(60).collect();
        CheckpointError::Line { line: self.number, found }
    }
}

/// The text without its last line, if that is the checksum of it.
fn body(text: &str) -> Option<&str> {
    let start = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (body, last) = text.split_at(start);
    let sum = last.strip_suffix('\n')?.strip_prefix("end ")?;
    (sum == format!("{:016x}", checksum(body))).then_some(body)
}

/// A name on one line.
fn one_line(name: &str) -> String {
    name.escape_debug().to_string()
}

/// The counts of a stretch by name.
fn counts(stats: &mut Stats) -> [(&'static str, &mut u64); 8] {
    [
        ("executions", &mut stats.executions),
        ("completed", &mut stats.completed),
        ("blocked", &mut stats.blocked),
        ("discarded", &mut stats.discarded),
        ("failed", &mut stats.failed),
        ("abandoned", &mut stats.abandoned),
        ("steps", &mut stats.steps),
        ("pending", &mut stats.pending),
    ]
}

fn stretch(text: &str) -> Option<Stretch> {
    let mut words = text.split(' ');
    let start = path(words.next()?)?;
    let mut stats = Stats::default();
    for (name, count) in counts(&mut stats) {
        *count = number(words.next()?.strip_prefix(name)?.strip_prefix('=')?).filter(|count| *count < MAX_COUNT)?;
    }
    words.next().is_none().then_some(Stretch { start, stats, cut: None, seen: Vec::new() })
}

fn cut(text: &str) -> Option<StopReason> {
    match text.split(' ').collect::<Vec<_>>()[..] {
        ["steps", steps] => Some(StopReason::Steps(number(steps)?)),
        ["loop", thread, instruction] => {
            Some(StopReason::EndlessLoop { thread: ThreadId(number(thread)?), instruction: number(instruction)? })
        }
        _ => None,
    }
}

fn job(text: &str) -> Option<Job> {
    let (start, range) = text.split_once(' ')?;
    let (from, to) = range.split_once("..")?;
    let (path, from) = (path(start)?, number(from)?);
    if to.is_empty() {
        let all = Job { path, from, to: None };
        return (all == Job::all()).then_some(all);
    }
    let to = number(to)?;
    (from < to).then_some(Job { path, from, to: Some(to) })
}

fn show(path: &[u32]) -> String {
    let runs = path.chunk_by(|a, b| a == b).map(|run| match run.len() {
        1 => run[0].to_string(),
        n => format!("{}x{n}", run[0]),
    });
    if path.is_empty() { "-".to_owned() } else { runs.collect::<Vec<_>>().join(".") }
}

fn path(text: &str) -> Option<Path> {
    let mut path = Vec::new();
    for run in text.split('.').filter(|_| text != "-") {
        let (chosen, times) = run.split_once('x').unwrap_or((run, "1"));
        let times: usize = number(times)?;
        if times == 0 || times > MAX_PATH - path.len() {
            return None;
        }
        path.extend(std::iter::repeat_n(number::<u32>(chosen)?, times));
    }
    Some(path.into())
}

/// A number in digits alone: `parse` would take a sign too.
fn number<T: FromStr>(text: &str) -> Option<T> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_as_it_is_shown() {
        for steps in [&[][..], &[0], &[0, 0, 0, 1, 2, 2], &[7, 0]] {
            assert_eq!(path(&show(steps)).as_deref(), Some(steps));
        }
        assert_eq!(show(&[0, 0, 0, 1, 2, 2]), "0x3.1.2x2");
        for text in ["", "0x0", "0..1", "-1", "+1", "1x", "0x99999999999", "0x9999999", "a"] {
            assert_eq!(path(text), None, "{text}");
        }
    }

    #[test]
    fn a_job_has_a_beginning_before_its_end() {
        assert_eq!(job("- 0.."), Some(Job::all()));
        assert_eq!(job("0x2 1..3"), Some(Job { path: [0, 0].into(), from: 1, to: Some(3) }));
        for text in ["0x2 3..3", "0 1..", "- 0", "0", "0 0..1..2"] {
            assert_eq!(job(text), None, "{text}");
        }
    }
}
