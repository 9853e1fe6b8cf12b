//! The monitor of robustness, on executions of sequential consistency, says what a search of the model says.

use teetotal_explore::{Options, SearchId, check, dpor};
use teetotal_judge::MonitorId;
use teetotal_memory::models::{Pso, Tso};
use teetotal_memory::{Model, ModelId, relations};

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
    let all = [
        (MonitorId::Robustness, SearchId::Dpor),
        (MonitorId::Robustness, SearchId::Stateful),
        (MonitorId::Sober, SearchId::Dpor),
        (MonitorId::Buffers, SearchId::Brute),
    ];
    for (monitor, search) in all.into_iter().filter(|(id, _)| *id != MonitorId::Sober || M::ID == ModelId::Tso) {
        let options = Options { search, monitors: vec![monitor], ..Options::new(M::ID) };
        let outcome = check(&case.program, &options, &|| None).map_err(|error| error.to_string())?;
        // Where assumptions rule out what was found, the search over states says that it does not know.
        if search == SearchId::Stateful && !outcome.coverage.is_complete() && outcome.violations.is_empty() {
            continue;
        }
        let name = format!("{} --search {}", monitor.info().name, search.info().name);
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
