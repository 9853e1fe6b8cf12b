//! Limits on the command line, and their table.

use std::time::Duration;

use teetotal::{Limits, SearchId, SearchInfo};

use crate::fault::Fault;
use crate::values::unknown;

/// What a limit bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    States,
    Executions,
    Steps,
    Buffer,
    Memory,
    Preemptions,
    Time,
}

/// The description of a limit.
#[derive(Debug)]
pub(crate) struct LimitInfo {
    what: What,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// A description in one line.
    pub(crate) summary: &'static str,
}

/// All limits.
pub(crate) const LIMITS: &[LimitInfo] = &[
    LimitInfo { what: What::States, name: "states", unit: "states", summary: "stored states" },
    LimitInfo {
        what: What::Executions,
        name: "executions",
        unit: "executions",
        summary: "executions; 10000 by default for random and pct",
    },
    LimitInfo { what: What::Steps, name: "steps", unit: "steps", summary: "steps in one execution" },
    LimitInfo { what: What::Buffer, name: "buffer", unit: "stores", summary: "stores in the buffer of one thread" },
    LimitInfo { what: What::Memory, name: "memory", unit: "MiB", summary: "memory of the stored states" },
    LimitInfo {
        what: What::Preemptions,
        name: "preemptions",
        unit: "preemptions",
        summary: "switches away from a thread that can continue; may be 0",
    },
    LimitInfo { what: What::Time, name: "time", unit: "seconds", summary: "seconds of running time" },
];

/// One `--limit WHAT=N`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    what: What,
    value: u64,
}

impl LimitInfo {
    /// Returns whether a search applies the limit.
    pub(crate) fn is_heeded_by(&self, search: &SearchInfo) -> bool {
        self.what == What::Time || search.limits.contains(&self.name)
    }

    /// Returns the default, in its unit.
    pub(crate) fn default(&self) -> Option<u64> {
        let defaults = Limits::default();
        match self.what {
            What::States => defaults.states,
            What::Executions => defaults.executions,
            What::Steps => defaults.steps,
            What::Buffer => defaults.buffer,
            What::Memory => defaults.memory.map(|bytes| bytes >> 20),
            What::Preemptions => defaults.preemptions,
            What::Time => None,
        }
    }
}

impl What {
    fn info(self) -> &'static LimitInfo {
        LIMITS.iter().find(|info| info.what == self).expect("every limit has a row")
    }
}

/// Parses `states=1000`.
pub(crate) fn limit(text: &str) -> Result<Limit, Fault> {
    let Some((name, number)) = text.split_once('=') else {
        return Err(
            Fault::new(format!("`{text}` is not a limit")).help("a limit has the form WHAT=N, such as states=100000")
        );
    };
    let Some(info) = LIMITS.iter().find(|info| info.name == name) else {
        let names: Vec<&str> = LIMITS.iter().map(|info| info.name).collect();
        return Err(unknown("limit", name, &names));
    };
    let digits = number.replace('_', "");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match digits.parse::<u64>() {
        Ok(0) if is_number && info.what != What::Preemptions => {
            Err(Fault::new(format!("the limit on {name} is 0, which leaves nothing to search")))
        }
        Ok(value) if is_number && (info.what != What::Memory || value <= u64::MAX >> 20) => {
            Ok(Limit { what: info.what, value })
        }
        _ if is_number => {
            Err(Fault::new(format!("the limit on {name} is larger than any search could reach: {number}"))
                .help(format!("leave the limit on {name} out, or use a smaller one")))
        }
        _ => Err(Fault::new(format!("the limit on {name} is not a whole number: `{number}`"))
            .help(format!("give it in {}, such as {name}=10", info.unit))),
    }
}

/// All limits of one command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllLimits {
    pub(crate) limits: Limits,
    pub(crate) time: Option<Duration>,
}

/// Combines the limits for a search.
pub(crate) fn gather(given: &[Limit], search: SearchId) -> Result<AllLimits, Fault> {
    let mut all = AllLimits { limits: Limits::default(), time: None };
    for (index, limit) in given.iter().enumerate() {
        let info = limit.what.info();
        if given[..index].iter().any(|earlier| earlier.what == limit.what) {
            return Err(Fault::new(format!("the limit on {} is given twice", info.name)));
        }
        if !info.is_heeded_by(search.info()) {
            let name = search.info().name;
            let fits = LIMITS.iter().filter(|info| info.is_heeded_by(search.info())).map(|info| info.name);
            return Err(Fault::new(format!("the search `{name}` does not support a limit on {}", info.name))
                .help(format!("its limits are {}", fits.collect::<Vec<_>>().join(", "))));
        }
        let value = Some(limit.value);
        match limit.what {
            What::States => all.limits.states = value,
            What::Executions => all.limits.executions = value,
            What::Steps => all.limits.steps = value,
            What::Buffer => all.limits.buffer = value,
            What::Memory => all.limits.memory = Some(limit.value << 20),
            What::Preemptions => all.limits.preemptions = value,
            What::Time => all.time = Some(Duration::from_secs(limit.value)),
        }
    }
    Ok(all)
}
