//! Reads a trace line by line, from a stream of any length.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Read};

use teetotal_memory::{Event, EventKind};
use teetotal_program::{Loc, Order, ThreadId};

use super::registry::{Registry, shown};
use super::state::{State, Wrong};
use super::{Format, HEADER, own, std_format};

/// How much is read at once.
const CHUNK: usize = 1 << 16;

/// A longer line is no line of a trace.
const MAX_LINE: usize = 1 << 16;

/// More places are not told apart.
const MAX_PLACES: usize = 1 << 20;

/// What a line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// Another execution begins.
    Begin,
    /// Threads were named that are there from the beginning.
    Threads,
    /// Something happened.
    Event {
        /// Its position in its thread is left open.
        event: Event,
        /// Whether it might have waited or failed, had it read something else.
        may_wait: bool,
    },
    /// A thread is blocked forever.
    Waits { thread: ThreadId, loc: Loc, kind: EventKind, order: Order },
    /// Nothing that anybody has to know.
    Nothing,
}

/// Why a trace is read no further.
#[derive(Debug)]
pub enum TraceError {
    Unreadable(io::Error),
    Line {
        line: u64,
        what: String,
        /// What to do about it.
        help: Option<&'static str>,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceError::Unreadable(error) => write!(formatter, "the trace cannot be read: {error}"),
            TraceError::Line { line, what, .. } => write!(formatter, "line {line}: {what}"),
        }
    }
}

impl Error for TraceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            TraceError::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for TraceError {
    fn from(error: io::Error) -> Self {
        TraceError::Unreadable(error)
    }
}

/// Reads a trace of either format; the first line says which it is.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer was read from the input, and not looked at yet.
    unread: std::ops::Range<usize>,
    /// The line that was read last.
    current: std::ops::Range<usize>,
    /// Where its place begins.
    place: usize,
    line: u64,
    format: Option<Format>,
    state: State,
    places: Registry,
}

impl<R: Read> Reader<R> {
    /// Reads from the beginning of `input`, which need not be buffered.
    pub fn new(input: R) -> Self {
        Reader {
            input,
            buffer: vec![0; CHUNK],
            unread: 0..0,
            current: 0..0,
            place: 0,
            line: 0,
            format: None,
            state: State::default(),
            places: Registry::default(),
        }
    }

    /// The number of the line that was read last, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// A number for where the event of the line that was read last stands in the source; 0 if the line does not say.
    pub fn place(&mut self) -> u32 {
        let place = &self.buffer[self.current.start + self.place..self.current.end];
        match self.places.get(place) {
            _ if place.is_empty() => 0,
            Some(number) => number + 1,
            None if self.places.len() < MAX_PLACES => self.places.number(place) + 1,
            None => u32::MAX,
        }
    }

    /// The place that has this number, if it is known.
    #[must_use]
    pub fn place_name(&self, place: u32) -> Option<String> {
        let number = place.checked_sub(1).filter(|_| place != u32::MAX)?;
        Some(self.places.name(number as usize))
    }

    /// The format, once a line was read.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// How many threads and locations were named so far.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.state.threads.len(), self.state.locations.len())
    }

    /// The threads that are there and did nothing yet.
    pub fn idle_threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.state.idle_threads()
    }

    /// What a thread is called.
    #[must_use]
    pub fn thread_name(&self, thread: ThreadId) -> String {
        self.state.threads.name(thread.index())
    }

    /// What a location is called.
    #[must_use]
    pub fn location_name(&self, loc: Loc) -> String {
        self.state.locations.name(loc.index())
    }

    /// What the next line that says something says; nothing at the end.
    ///
    /// After an error nothing more is to be read.
    #[inline]
    pub fn read(&mut self) -> Result<Option<Item>, TraceError> {
        loop {
            if !self.next_line()? {
                return Ok(None);
            }
            let line = &self.buffer[self.current.clone()];
            if matches!(line.first(), None | Some(b'#')) {
                continue;
            }
            let read = match self.format {
                Some(Format::Std) => std_format::read(line, &mut self.state, self.line),
                _ => self.read_own(),
            };
            match read {
                Ok((Item::Nothing, _)) => {}
                Ok((item, place)) => {
                    self.place = place;
                    return Ok(Some(item));
                }
                Err(wrong) => return Err(self.error(wrong)),
            }
        }
    }

    /// Reads the first line of a trace, or any of our own format.
    fn read_own(&mut self) -> Result<(Item, usize), Wrong> {
        let line = &self.buffer[self.current.clone()];
        if line == HEADER.as_bytes() {
            self.format = Some(Format::Own);
            self.state.begin();
            return Ok((Item::Begin, line.len()));
        }
        match self.format {
            Some(_) => own::read(line, &mut self.state, self.line),
            None if line.contains(&b'|') => {
                self.format = Some(Format::Std);
                std_format::read(line, &mut self.state, self.line)
            }
            None => {
                let help = "a trace begins with `teetotal trace 1`, or has lines such as `T0|w(x)|12`";
                Err((format!("`{}` does not begin a trace", shown(line)), Some(help)))
            }
        }
    }

    #[cold]
    fn error(&self, (what, help): Wrong) -> TraceError {
        let line = &self.buffer[self.current.clone()];
        let looks_like_std = line.contains(&b'|') && line.contains(&b'(');
        let (what, help) = match self.format {
            Some(Format::Std) if line == HEADER.as_bytes() || !line.contains(&b'|') => {
                ("a trace of the format std has no line such as `".to_owned() + &shown(line) + "`", None)
            }
            Some(Format::Own) if looks_like_std => {
                ("a line of the format std in a trace that began in another format".to_owned(), None)
            }
            _ => (what, help),
        };
        TraceError::Line { line: self.line, what, help }
    }

    /// Goes to the next line; says whether there is one.
    #[inline]
    fn next_line(&mut self) -> Result<bool, TraceError> {
        let mut looked = 0;
        loop {
            let unread = &self.buffer[self.unread.clone()];
            if let Some(end) = unread[looked..].iter().position(|&byte| byte == b'\n') {
                let end = self.unread.start + looked + end;
                let has_return = end > self.unread.start && self.buffer[end - 1] == b'\r';
                self.current = self.unread.start..end - usize::from(has_return);
                self.unread.start = end + 1;
                self.line += 1;
                return Ok(true);
            }
            looked = unread.len();
            if !self.refill()? {
                return Ok(false);
            }
        }
    }

    /// Reads more of the input; says whether there was more.
    #[cold]
    fn refill(&mut self) -> Result<bool, TraceError> {
        self.buffer.copy_within(self.unread.clone(), 0);
        self.unread = 0..self.unread.len();
        self.current = 0..0;
        self.place = 0;
        let wrong = |what: String, help| TraceError::Line { line: self.line + 1, what, help: Some(help) };
        if self.unread.len() >= MAX_LINE {
            return Err(wrong(
                format!("the line has {MAX_LINE} bytes or more"),
                "a trace is a text with one event on each line",
            ));
        }
        self.buffer.resize(self.unread.len() + CHUNK, 0);
        loop {
            match self.input.read(&mut self.buffer[self.unread.end..]) {
                Ok(0) if self.unread.is_empty() => return Ok(false),
                Ok(0) => {
                    let help = "each line ends with a line feed; add one if the trace is whole";
                    return Err(wrong("the trace ends in the middle of the line".to_owned(), help));
                }
                Ok(n) => {
                    self.unread.end += n;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// An event that accesses nothing yet.
#[inline]
pub(super) fn event(thread: ThreadId, kind: EventKind, order: Order) -> Event {
    Event { kind, order, ..Event::blank(thread) }
}
