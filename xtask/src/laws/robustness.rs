//! The monitor of robustness, on executions of sequential consistency, says what a search of the model says.

use teetotal_explore::{Options, SearchId, check, dpor};
use teetotal_judge::MonitorId;
use teetotal_memory::models::{Pso, Tso};
use teetotal_memory::{Model, relations};

use crate::laws::{Case, Verdict};

/// A delay is reported exactly if some execution of the model that counts has a cycle in happens-before.
pub(super) fn agrees_with_the_model(case: &Case) -> Verdict {
    if dpor::unsupported(&case.program).is_some() {
        return Ok(());
    }
    agrees_under::<Tso>(case)?;
    agrees_under::<Pso>(case)
}

fn agrees_under<M: Model>(case: &Case) -> Verdict {
    let traces = case.everything::<M>().traces.values();
    let cyclic = traces
        .filter(|(_, end)| end.kind != "discarded")
        .find(|(trace, _)| !relations::is_sequentially_consistent(trace));
    let all = [MonitorId::Robustness, MonitorId::Sober, MonitorId::Buffers];
    for monitor in all.into_iter().filter(|&id| id != MonitorId::Sober || M::ID == teetotal_memory::ModelId::Tso) {
        let search = if monitor == MonitorId::Buffers { SearchId::Brute } else { SearchId::Dpor };
        let options = Options { search, monitors: vec![monitor], ..Options::new(M::ID) };
        let outcome = check(&case.program, &options, &|| None).map_err(|error| error.to_string())?;
        let name = monitor.info().name;
        let model = M::ID.info().name;
        match (cyclic, outcome.violations.first()) {
            (Some((trace, _)), None) => {
                let steps: Vec<_> = trace.steps().iter().map(|record| record.step).collect();
                return Err(format!("`{name}` misses an execution of {model} that is not of sc: {steps:?}"));
            }
            (None, Some(violation)) => {
                let token = &violation.token;
                return Err(format!("`{name}` finds {token}, but every execution of {model} that counts is of sc"));
            }
            _ => {}
        }
        if let Some(bad) = outcome.violations.iter().find(|v| relations::is_sequentially_consistent(&v.trace)) {
            return Err(format!("`{name}` shows an execution of {model} that is of sc: {}", bad.token));
        }
    }
    Ok(())
}
