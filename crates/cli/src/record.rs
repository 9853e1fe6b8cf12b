//! Recording of explored executions.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use teetotal::traces::Format;
use teetotal::{CheckError, Limits, Program, StopSignal, record};

use crate::fault::Fault;

/// How executions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum RecordFormat {
    /// Everything that a monitor uses
    Teetotal,
    /// `thread|operation(location)|place`
    Std,
}

impl RecordFormat {
    fn format(self) -> Format {
        match self {
            RecordFormat::Teetotal => Format::Own,
            RecordFormat::Std => Format::Std,
        }
    }
}

/// A file for all executions, or a folder with a file for each.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    format: Format,
    is_folder: bool,
}

/// The error in writing executions.
pub(crate) enum NotRecorded {
    Refused(CheckError),
    Unwritable(Fault),
}

impl Recorder {
    /// Prepares to write the executions of `n_programs` programs; creates the folder if it does not exist.
    pub(crate) fn new(path: &str, format: RecordFormat, n_programs: usize) -> Result<Self, Fault> {
        let is_folder = path.ends_with(['/', std::path::MAIN_SEPARATOR]) || Path::new(path).is_dir();
        if !is_folder && format == RecordFormat::Std {
            return Err(Fault::new("a file of the format std holds one execution")
                .help(format!("name a folder, as in `--record {path}/`")));
        }
        if !is_folder && n_programs != 1 {
            return Err(Fault::new("a file has the executions of one program")
                .help(format!("name a folder, as in `--record {path}/`")));
        }
        let recorder = Recorder { path: path.into(), format: format.format(), is_folder };
        if is_folder {
            fs::create_dir_all(path).map_err(|error| recorder.unwritable(&recorder.path, &error))?;
        }
        Ok(recorder)
    }

    fn unwritable(&self, path: &Path, error: &std::io::Error) -> Fault {
        Fault::new(format!("`{}` cannot be written: {error}", path.display()))
    }

    /// Writes the sequentially consistent executions of `program`; returns the message about them.
    pub(crate) fn record(
        &self,
        program: &Arc<Program>,
        limits: &Limits,
        signal: StopSignal<'_>,
    ) -> Result<String, NotRecorded> {
        let unwritable = |error: &std::io::Error| NotRecorded::Unwritable(self.unwritable(&self.path, error));
        let mut file = match self.is_folder {
            true => None,
            false => Some(BufWriter::new(File::create(&self.path).map_err(|error| unwritable(&error))?)),
        };
        let mut keep = |number: u64, text: &[u8]| match &mut file {
            Some(file) => file.write_all(text),
            None => fs::write(self.path.join(self.file_name(program, number)), text),
        };
        let recorded = record(program, limits, signal, self.format, &mut keep);
        let (written, coverage) = recorded.map_err(NotRecorded::Refused)?;
        let n = written.map_err(|error| unwritable(&error))?;
        if let Some(mut file) = file {
            file.flush().map_err(|error| unwritable(&error))?;
        }
        let all = if coverage.is_complete() { "all" } else { "not all" };
        let noun = if n == 1 { "execution" } else { "executions" };
        Ok(format!("{n} {noun} of {} under sc written to `{}`, which are {all}", program.name, self.path.display()))
    }

    fn file_name(&self, program: &Program, number: u64) -> String {
        let plain = |c: char| if c.is_alphanumeric() || "+-_.".contains(c) { c } else { '_' };
        let name: String = program.name.chars().map(plain).collect();
        let ending = if self.format == Format::Std { "std" } else { "trace" };
        format!("{name}-{number:06}.{ending}")
    }
}
