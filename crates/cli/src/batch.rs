//! Processes every program that the arguments name, and continues after errors.

use teetotal::parts::frontends::Settings;
use teetotal::{CheckError, exit};

use crate::fault::Fault;
use crate::interrupt;
use crate::output::{self, Output};
use crate::program::{self, Loaded};

/// Calls `one` with each program and returns the most serious of the exit codes.
pub(crate) fn each(
    arguments: &[String],
    settings: &Settings,
    out: &mut Output,
    mut one: impl FnMut(&Loaded, &mut Output) -> Result<Vec<u8>, Fault>,
) -> Result<u8, Fault> {
    let targets = program::targets(arguments)?;
    interrupt::listen();
    let mut codes = Vec::new();
    for (done, target) in targets.iter().enumerate() {
        if interrupt::is_requested() {
            out.flush()?;
            output::note(&format!("interrupted; {} of {} not checked", targets.len() - done, targets.len()));
            codes.push(exit::INCOMPLETE);
            break;
        }
        match target.load(settings) {
            Ok(loaded) => codes.extend(one(&loaded, out)?),
            Err(fault) => codes.push(tell(&fault, out)?),
        }
    }
    Ok(exit::worst(codes))
}

/// Prints an error after the output so far, and returns its exit code.
pub(crate) fn tell(fault: &Fault, out: &mut Output) -> Result<u8, Fault> {
    out.flush()?;
    output::tell(fault);
    Ok(fault.code())
}

/// Returns the error for a program that was not checked.
pub(crate) fn fault_of(error: &CheckError) -> Fault {
    let text = error.to_string();
    match error {
        CheckError::NothingToCheck { .. } => Fault::NothingToCheck(text),
        CheckError::Unfit { .. } => {
            Fault::new(text).help("`teetotal list checks` shows which search answers which check")
        }
        CheckError::Checkpoint(_) => Fault::new(text).help("name another file, or remove this one to start over"),
        CheckError::Limit(_)
        | CheckError::NoCheckpoints { .. }
        | CheckError::NotKept { .. }
        | CheckError::NotRecorded { .. }
        | CheckError::NoJobs
        | CheckError::NoDepth
        | CheckError::UnknownModel { .. }
        | CheckError::Undefined { .. }
        | CheckError::Unbounded { .. }
        | CheckError::Undecided { .. }
        | CheckError::NoPrograms { .. }
        | CheckError::Unsupported { .. }
        | CheckError::Disagreement { .. } => Fault::new(text),
    }
}
