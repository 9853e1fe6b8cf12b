//! Data races that are predicted are those of all executions.

use std::collections::BTreeSet;

use teetotal_check::{Options, SearchId, check};
use teetotal_engine::{Coverage, StopReason};
use teetotal_judge::races::{DataRace, Watch};
use teetotal_judge::{Finding, MonitorId};
use teetotal_memory::Model;

use crate::everything::{difference, under_every_model};
use crate::{Case, Verdict};

pub(super) fn are_predicted(case: &Case) -> Verdict {
    under_every_model!(agrees, case)
}

fn agrees<M: Model>(case: &Case) -> Verdict {
    let mut all = BTreeSet::new();
    for (trace, _) in case.everything::<M>().traces.values() {
        let mut races = Vec::new();
        Watch::default().follow(&case.program, trace, &mut races);
        all.extend(races);
    }
    let monitors = vec![MonitorId::Races];
    let options = Options { search: SearchId::Mcr, monitors, minimize: false, ..Options::new(M::ID) };
    let outcome = check(&case.program, &options, &|| None).map_err(|error| error.to_string())?;
    let findings = outcome.violations.iter().map(|violation| &violation.finding);
    let races = findings.filter_map(|finding| if let Finding::Race(race) = finding { Some(*race) } else { None });
    let found: BTreeSet<DataRace> = races.collect();
    if outcome.coverage == Coverage::Stopped(StopReason::Undecided) && found.is_subset(&all) {
        return Ok(());
    }
    difference(&found, &all, ("predicted", "of brute force"))
}
