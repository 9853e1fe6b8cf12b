//! Replay tokens: one execution in a line of text that needs no quoting.
//!
//! `tso1:6:9f3ac2d1:0.1.0.1.0w.1w` is an execution of six steps under TSO, in format 1. The hash is over what the steps
//! did, so that a token of another program, or of another version of it, is refused and not replayed as something else.
//! The steps are separated by dots: `0` is the next operation of thread 0, `0c2` the same with alternative 2, `0w` the
//! oldest store that may leave the buffer of thread 0, `0w1` the second of those, and `x3` after a step repeats it.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use teetotal_memory::{Event, EventKind, MODELS, ModelId, Source, Step, Trace};
use teetotal_program::{Loc, ThreadId};

/// The version of the format.
pub const VERSION: u32 = 1;

/// No execution that a token stands for has more steps than this.
const MAX_STEPS: usize = 10_000_000;

/// One execution of one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    pub model: ModelId,
    /// Over what the steps did; see [`hash`].
    pub hash: u32,
    pub steps: Vec<TokenStep>,
}

/// A step without the names of locations, which differ from run to run where addresses do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TokenStep {
    Issue {
        thread: ThreadId,
        alternative: u32,
    },
    /// A commit of `thread`: which of those possible, in the order in which the machine lists them.
    Commit {
        thread: ThreadId,
        ordinal: u32,
    },
}

/// Why a text is no token, or not one of this program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenError {
    Shape { missing: &'static str },
    Version { found: u64 },
    Model { found: String },
    Step { found: String },
    Truncated { announced: usize, found: usize },
    TooLong { found: u64 },
    NotPossible { position: usize },
    OtherProgram,
}

impl fmt::Display for TokenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenError::Shape { missing } => write!(formatter, "a token has the form `MODEL1:STEPS:HASH:…`, and this one has no {missing}"),
            TokenError::Version { found } => write!(formatter, "this token has format {found}; this version reads format {VERSION}"),
            TokenError::Model { found } => write!(formatter, "there is no model `{found}`"),
            TokenError::Step { found } => write!(formatter, "`{found}` is not a step of a token"),
            TokenError::Truncated { announced, found } => write!(formatter, "the token announces {announced} steps but has {found}; part of it seems to be missing"),
            TokenError::TooLong { found } => write!(formatter, "a token has at most {MAX_STEPS} steps, this one announces {found}"),
            TokenError::NotPossible { position } => write!(formatter, "step {position} of the token is not possible; the token was made from another program or version of it"),
            TokenError::OtherProgram => formatter.write_str("the steps of the token are possible but have other effects here; it was made from another version of this program"),
        }
    }
}

impl Error for TokenError {}

impl TokenStep {
    /// What stands for `step`, one of those possible.
    #[must_use]
    pub fn of(step: Step, enabled: &[Step]) -> TokenStep {
        match step {
            Step::Issue { thread, alternative } => TokenStep::Issue { thread, alternative },
            Step::Commit { thread, loc } => {
                let ordinal = commits_of(enabled, thread).position(|l| l == loc).expect("the step is possible");
                TokenStep::Commit { thread, ordinal: ordinal as u32 }
            }
        }
    }

    /// The step that it stands for among those possible.
    #[must_use]
    pub fn find(self, enabled: &[Step]) -> Option<Step> {
        let step = match self {
            TokenStep::Issue { thread, alternative } => Step::Issue { thread, alternative },
            TokenStep::Commit { thread, ordinal } => {
                Step::Commit { thread, loc: commits_of(enabled, thread).nth(ordinal as usize)? }
            }
        };
        enabled.contains(&step).then_some(step)
    }
}

/// The locations of the possible commits of `thread`.
fn commits_of(enabled: &[Step], thread: ThreadId) -> impl Iterator<Item = Loc> + '_ {
    enabled.iter().filter_map(move |step| match step {
        Step::Commit { thread: t, loc } if *t == thread => Some(*loc),
        _ => None,
    })
}

/// A rolling hash of the operations of an execution: what each did, where, with which values.
#[must_use]
pub fn hash(trace: &Trace) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    for event in trace.events() {
        add(u64::from(event.thread.0) << 8 | kind_number(event));
        add(event.loc.map_or(0, |loc| u64::from(loc.0) + 1));
        add(event.read.map_or(0, |value| value.wrapping_add(1)));
        add(event.written.map_or(0, |value| value.wrapping_add(1)));
        add(match event.source {
            None => 0,
            Some(Source::Initial) => 1,
            Some(Source::Write(id)) => 2 + u64::from(id.0),
        });
    }
    trace.steps().iter().for_each(|record| add(u64::from(record.event.0) << 1 | u64::from(record.step.is_commit())));
    (hash ^ hash >> 32) as u32
}

fn kind_number(event: &Event) -> u64 {
    match event.kind {
        EventKind::Load => 0,
        EventKind::Store => 1,
        EventKind::Rmw => 2,
        EventKind::FailedRmw => 3,
        EventKind::Fence => 4,
        EventKind::GlobalFence => 5,
        EventKind::Lock => 6,
        EventKind::Unlock => 7,
        EventKind::Spawn(_) => 8,
        EventKind::Join(_) => 9,
        EventKind::Choose => 10,
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{VERSION}:{}:{:08x}:", self.model.info().name, self.steps.len(), self.hash)?;
        for (position, run) in self.steps.chunk_by(|a, b| a == b).enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            write!(f, "{}", run[0])?;
            if run.len() > 1 {
                write!(f, "x{}", run.len())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for TokenStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenStep::Issue { thread, alternative: 0 } => write!(f, "{thread}"),
            TokenStep::Issue { thread, alternative } => write!(f, "{thread}c{alternative}"),
            TokenStep::Commit { thread, ordinal: 0 } => write!(f, "{thread}w"),
            TokenStep::Commit { thread, ordinal } => write!(f, "{thread}w{ordinal}"),
        }
    }
}

impl FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let mut parts = text.trim().splitn(4, ':');
        let mut part = |missing| parts.next().filter(|p| !p.is_empty()).ok_or(TokenError::Shape { missing });
        let head = part("model and version")?;
        let announced = part("number of steps")?;
        let announced: u64 = announced.parse().map_err(|_| TokenError::Shape { missing: "number of steps" })?;
        let hash = part("hash")?;
        let body = parts.next().ok_or(TokenError::Shape { missing: "steps" })?;

        // The name of a model may end in digits itself.
        let known = MODELS.iter().map(|info| info.name).filter(|&name| {
            let version = head.strip_prefix(name);
            version.is_some_and(|version| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
        });
        let name = known.max_by_key(|name| name.len());
        let name = name.unwrap_or_else(|| head.trim_end_matches(|c: char| c.is_ascii_digit()));
        let version = head[name.len()..].parse().map_err(|_| TokenError::Shape { missing: "version" })?;
        if version != u64::from(VERSION) {
            return Err(TokenError::Version { found: version });
        }
        let model = ModelId::by_name(name).ok_or_else(|| TokenError::Model { found: name.to_owned() })?;
        if hash.len() != 8 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(TokenError::Shape { missing: "hash of eight hexadecimal digits" });
        }
        let hash = u32::from_str_radix(hash, 16).map_err(|_| TokenError::Shape { missing: "hash" })?;
        if announced > MAX_STEPS as u64 {
            return Err(TokenError::TooLong { found: announced });
        }
        let steps = parse_steps(body, announced as usize)?;
        Ok(Token { model, hash, steps })
    }
}

fn parse_steps(body: &str, announced: usize) -> Result<Vec<TokenStep>, TokenError> {
    let mut steps = Vec::new();
    for item in body.split('.').filter(|_| !body.is_empty()) {
        let (step, count) = parse_run(item).ok_or_else(|| TokenError::Step { found: item.to_owned() })?;
        if count > announced - steps.len().min(announced) {
            return Err(TokenError::Truncated { announced, found: steps.len().saturating_add(count) });
        }
        steps.extend(std::iter::repeat_n(step, count));
    }
    if steps.len() == announced { Ok(steps) } else { Err(TokenError::Truncated { announced, found: steps.len() }) }
}

/// A step and how often it stands.
fn parse_run(item: &str) -> Option<(TokenStep, usize)> {
    let (step, count) = match item.split_once('x') {
        Some((step, count)) => (step, number(count)?),
        None => (item, 1),
    };
    if count == 0 {
        return None;
    }
    let step = if let Some((thread, alternative)) = step.split_once('c') {
        TokenStep::Issue { thread: ThreadId(number(thread)?), alternative: number(alternative)? }
    } else if let Some((thread, ordinal)) = step.split_once('w') {
        let ordinal = if ordinal.is_empty() { 0 } else { number(ordinal)? };
        TokenStep::Commit { thread: ThreadId(number(thread)?), ordinal }
    } else {
        TokenStep::Issue { thread: ThreadId(number(step)?), alternative: 0 }
    };
    Some((step, count))
}

/// A number in digits alone: `parse` would take a sign too.
fn number<T: FromStr>(text: &str) -> Option<T> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}
