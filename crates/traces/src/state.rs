//! Whether a trace can be an execution of sequential consistency: what memory holds, who runs, who has which lock.

use teetotal_program::{Loc, ThreadId};

use super::registry::{Registry, shown};

/// More threads have no numbers.
const MAX_THREADS: usize = u16::MAX as usize;

/// Everything that the lines so far say.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) threads: Registry,
    pub(super) locations: Registry,
    /// Locks of the format std, whose names are not those of locations: which location each is.
    pub(super) locks: Registry,
    lock_locations: Vec<u32>,
    lives: Vec<Life>,
    cells: Vec<Cell>,
}

/// What is known of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Life {
    /// Named, but it was never started.
    #[default]
    NotStarted,
    /// Started, or there from the beginning.
    Started,
    Acted,
    Joined,
}

/// What a location holds.
#[derive(Clone, Copy, Default, Debug)]
struct Cell {
    value: u64,
    /// The line of the newest write; 0 if there is none.
    line: u64,
    /// Of a lock in the format std: who holds it, and how often.
    holder: Option<(ThreadId, u32)>,
}

/// What is wrong with a line, and what to do about it.
pub(super) type Wrong = (String, Option<&'static str>);

impl State {
    /// Another execution begins; names keep their numbers.
    pub(super) fn begin(&mut self) {
        self.lives.fill(Life::NotStarted);
        self.cells.fill(Cell::default());
    }

    /// A thread that is there from the beginning.
    pub(super) fn declare(&mut self, name: &[u8]) -> Result<ThreadId, Wrong> {
        let thread = self.named(name)?;
        match &mut self.lives[thread.index()] {
            life @ Life::NotStarted => *life = Life::Started,
            _ => return Err((format!("the thread `{}` is already named", shown(name)), None)),
        }
        Ok(thread)
    }

    fn named(&mut self, name: &[u8]) -> Result<ThreadId, Wrong> {
        let thread = ThreadId::at(self.threads.number(name) as usize);
        if self.threads.len() > MAX_THREADS {
            return Err((format!("there are more than {MAX_THREADS} threads"), None));
        }
        if self.lives.len() < self.threads.len() {
            self.lives.resize(self.threads.len(), Life::NotStarted);
        }
        Ok(thread)
    }

    /// The threads that are there and did nothing yet.
    pub(super) fn idle_threads(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let idle = self.lives.iter().enumerate().filter(|(_, life)| **life == Life::Started);
        idle.map(|(index, _)| ThreadId::at(index))
    }

    /// The thread of a line, which has to be there.
    #[inline]
    pub(super) fn acts(&mut self, name: &[u8]) -> Result<ThreadId, Wrong> {
        let thread = self.threads.get(name).map(|number| ThreadId::at(number as usize));
        match thread.map(|thread| &mut self.lives[thread.index()]) {
            Some(life @ (Life::Started | Life::Acted)) => *life = Life::Acted,
            Some(Life::Joined) => return Err((format!("`{}` continues after it was joined", shown(name)), None)),
            Some(Life::NotStarted) | None => {
                let help = "name it in a line `threads`, or let another thread `spawn` it";
                return Err((format!("unknown thread `{}`", shown(name)), Some(help)));
            }
        }
        thread.ok_or_else(|| (String::new(), None))
    }

    /// The same where threads appear by themselves.
    #[inline]
    pub(super) fn acts_or_appears(&mut self, name: &[u8]) -> Result<ThreadId, Wrong> {
        let is_new = match self.threads.get(name) {
            Some(number) => self.lives[number as usize] == Life::NotStarted,
            None => true,
        };
        if is_new {
            self.declare(name)?;
        }
        self.acts(name)
    }

    /// The thread that another one starts.
    pub(super) fn spawns(&mut self, name: &[u8]) -> Result<ThreadId, Wrong> {
        let thread = self.named(name)?;
        match &mut self.lives[thread.index()] {
            life @ Life::NotStarted => *life = Life::Started,
            Life::Acted => return Err((format!("`{}` is started after it has begun", shown(name)), None)),
            _ => return Err((format!("`{}` is started twice", shown(name)), None)),
        }
        Ok(thread)
    }

    /// The thread that another one waits for.
    pub(super) fn joins(&mut self, name: &[u8]) -> Result<ThreadId, Wrong> {
        let thread = self.threads.get(name).map(|number| ThreadId::at(number as usize));
        match thread.map(|thread| (thread, &mut self.lives[thread.index()])) {
            Some((thread, life)) if *life != Life::NotStarted => {
                *life = Life::Joined;
                Ok(thread)
            }
            _ => Err((format!("unknown thread `{}` is joined", shown(name)), None)),
        }
    }

    /// A location.
    #[inline]
    pub(super) fn location(&mut self, name: &[u8]) -> Loc {
        let loc = self.locations.number(name);
        if self.cells.len() <= loc as usize {
            self.cells.resize(loc as usize + 1, Cell::default());
        }
        Loc(loc)
    }

    /// The location of a lock of the format std.
    pub(super) fn lock(&mut self, name: &[u8]) -> Loc {
        let lock = self.locks.number(name) as usize;
        if self.lock_locations.len() <= lock {
            // No location has such a name, since a name ends before a parenthesis.
            let loc = self.location(&[b"lock(", name, b")"].concat());
            self.lock_locations.push(loc.0);
        }
        Loc(self.lock_locations[lock])
    }

    /// A location holds `value` from the beginning.
    pub(super) fn holds(&mut self, loc: Loc, value: u64) -> Result<(), Wrong> {
        let cell = &mut self.cells[loc.index()];
        if cell.line != 0 {
            return Err((format!("`{}` is already written", self.locations.name(loc.index())), None));
        }
        cell.value = value;
        Ok(())
    }

    /// Something reads `value`.
    #[inline]
    pub(super) fn reads(&self, loc: Loc, value: u64) -> Result<(), Wrong> {
        let cell = &self.cells[loc.index()];
        if cell.value == value { Ok(()) } else { Err(self.misread(loc, value)) }
    }

    #[cold]
    fn misread(&self, loc: Loc, value: u64) -> Wrong {
        let Cell { value: held, line, .. } = self.cells[loc.index()];
        let name = self.locations.name(loc.index());
        match line {
            0 => (
                format!("{value} is read from `{name}`, which was never written: its initial value is {held}"),
                Some("a line `initial LOCATION VALUE` sets the initial value of a location"),
            ),
            line => (
                format!("{value} is read from `{name}`, which holds {held} since line {line}"),
                Some("a trace is an execution of sequential consistency, in which a read returns the newest write"),
            ),
        }
    }

    /// Something writes `value`.
    #[inline]
    pub(super) fn writes(&mut self, loc: Loc, value: u64, line: u64) {
        let cell = &mut self.cells[loc.index()];
        (cell.value, cell.line) = (value, line);
    }

    /// `thread` takes a lock of the format std; not an event if it has it already.
    pub(super) fn acquires(&mut self, thread: ThreadId, loc: Loc) -> Result<bool, Wrong> {
        let holder = &mut self.cells[loc.index()].holder;
        match holder {
            None => *holder = Some((thread, 1)),
            Some((own, depth)) if *own == thread => {
                *depth += 1;
                return Ok(false);
            }
            Some((other, _)) => {
                let name = self.threads.name(other.index());
                let lock = self.locations.name(loc.index());
                return Err((format!("{lock} is taken while `{name}` holds it"), None));
            }
        }
        Ok(true)
    }

    /// `thread` gives a lock of the format std back; not an event if it keeps it.
    pub(super) fn releases(&mut self, thread: ThreadId, loc: Loc) -> Result<bool, Wrong> {
        let holder = &mut self.cells[loc.index()].holder;
        match holder {
            Some((own, depth)) if *own == thread => {
                *depth -= 1;
                let is_last = *depth == 0;
                if is_last {
                    *holder = None;
                }
                Ok(is_last)
            }
            _ => Err((
                format!("{} is released by a thread that does not hold it", self.locations.name(loc.index())),
                None,
            )),
        }
    }
}
