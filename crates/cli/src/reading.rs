//! Options for reading files.

use clap::Args;
use teetotal::parts::frontends::Settings;

use crate::values;

/// Options that every command that reads files has.
#[derive(Clone, Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Promela: make each shared access of a statement its own step
    #[arg(long, env = "TEETOTAL_SPLIT", hide_env = true, value_parser = values::flag())]
    split: bool,

    /// Promela: report a process that reaches LABEL or PROCESS@LABEL
    #[arg(long, value_name = "LABEL", value_delimiter = ',', env = "TEETOTAL_LABEL", hide_env = true)]
    label: Vec<String>,
}

impl ReadingArgs {
    pub(crate) fn settings(&self) -> Settings {
        Settings { split: self.split, labels: self.label.clone() }
    }
}
