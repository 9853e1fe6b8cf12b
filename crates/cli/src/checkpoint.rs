//! The file in which a search is saved, and from which it resumes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use teetotal::{CheckError, Checkpoints, Coverage, Options, Outcome, Program, StopReason, StopSignal};

use crate::fault::Fault;
use crate::output;

/// The time until the first checkpoint; short, so that there is one soon.
const FIRST: Duration = Duration::from_secs(1);

/// The time between two checkpoints.
const PACE: Duration = Duration::from_secs(10);

/// The number of steps of a worker between two readings of the clock.
const INTERVAL: u64 = 4_096;

/// A checkpoint file, which need not exist yet.
#[derive(Debug)]
pub(crate) struct Keeper {
    path: PathBuf,
    /// The checkpoint in the file, if the file exists.
    from: Option<String>,
    /// When the next checkpoint is due.
    next: Mutex<Instant>,
    /// The last error in writing the file.
    failed: Mutex<Option<String>>,
}

impl Keeper {
    /// Reads the checkpoint at `path`, if the file exists.
    pub(crate) fn open(path: &str) -> Result<Self, Fault> {
        let from = match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(Fault::new(format!("the checkpoint `{path}` cannot be read: {error}"))),
        };
        let next = Mutex::new(Instant::now() + FIRST);
        Ok(Keeper { path: PathBuf::from(path), from, next, failed: Mutex::new(None) })
    }

    /// Resumes the search from the checkpoint, and saves new ones.
    pub(crate) fn check(
        &self,
        program: &std::sync::Arc<Program>,
        options: &Options,
        signal: StopSignal<'_>,
    ) -> Result<Outcome, CheckError> {
        let due = || *lock(&self.next) <= Instant::now();
        let save = |text: &str| {
            *lock(&self.failed) = self.write(text).err().map(|error| error.to_string());
            *lock(&self.next) = Instant::now() + PACE;
        };
        let checkpoints = Checkpoints { from: self.from.as_deref(), interval: INTERVAL, due: &due, save: &save };
        let outcome = teetotal::check_with(program, options, signal, Some(&checkpoints))?;
        self.finish(&outcome.coverage);
        Ok(outcome)
    }

    /// Replaces the file atomically, so that there is always a complete checkpoint.
    fn write(&self, text: &str) -> io::Result<()> {
        let mut name = self.path.clone().into_os_string();
        name.push(".new");
        let new = PathBuf::from(name);
        let mut file = File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)
    }

    /// Reports whether the file was saved or removed: it stays only while the search is unfinished.
    fn finish(&self, coverage: &Coverage) {
        let path = self.path.display();
        match coverage {
            Coverage::Stopped(StopReason::Time | StopReason::Interrupted | StopReason::Executions(_)) => {
                match lock(&self.failed).take() {
                    None => output::note(&format!(
                        "the search is saved in `{path}`; run the same command again to resume it"
                    )),
                    Some(error) => output::note(&format!("the search could not be saved in `{path}`: {error}")),
                }
            }
            Coverage::Complete | Coverage::Stopped(_) => match fs::remove_file(&self.path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    output::note(&format!(
                        "the checkpoint `{path}` is no longer needed and cannot be removed: {error}"
                    ));
                }
                _ => {}
            },
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
