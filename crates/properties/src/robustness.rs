//! The monitor of robustness, on executions of sequential consistency, says what a search of the model says.

use std::sync::Arc;

use teetotal_check::{Options, SearchId, check};
use teetotal_dpor as dpor;
use teetotal_engine::stateless::Replay;
use teetotal_engine::{Collector, Coverage, Limits, Schedule, StopReason, System, driver};
use teetotal_judge::MonitorId;
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Model, ModelId, relations};
use teetotal_program::ir::Interpreter;
use teetotal_robustness::{Constructor, search_model};

use crate::{Case, Verdict};

/// A delay is reported exactly if some execution of the model that counts has a cycle in happens-before.
pub(super) fn agrees_with_the_model(case: &Case) -> Verdict {
    if dpor::unsupported(&case.program).is_some() {
        return Ok(());
    }
    agrees_under::<Tso>(case)?;
    agrees_under::<Pso>(case)
}

/// A search that performs only executions with new delays finds the same, and as often, as if it performed them all.
pub(super) fn passes_over_nothing(case: &Case) -> Verdict {
    if dpor::unsupported(&case.program).is_some() {
        return Ok(());
    }
    for model in [ModelId::Tso, ModelId::Pso] {
        let options = Options { search: SearchId::Dpor, monitors: vec![MonitorId::Robustness], ..Options::new(model) };
        let outcome = check(&case.program, &options, &|| None).map_err(|error| error.to_string())?;
        let found: Vec<_> = outcome.violations.iter().map(|v| (&v.finding, v.executions)).collect();
        let all = perform_all(case, model);
        let all: Vec<_> = all.findings.iter().map(|found| (&found.finding, found.executions)).collect();
        let is_same = found.len() == all.len() && found.iter().zip(&all).all(|(a, b)| a.0.is_like(b.0) && a.1 == b.1);
        if !is_same {
            return Err(format!("under {} dpor finds {found:?}, and there are {all:?}", model.info().name));
        }
    }
    Ok(())
}

/// What the monitor finds if every execution of sequential consistency is performed.
fn perform_all(case: &Case, model: ModelId) -> Collector {
    let constructor = Box::new(Constructor::new(&case.program, model));
    let collector = Collector::new(&case.program, model, &[MonitorId::Robustness], false);
    let mut collector = collector.constructing(Some(constructor));
    let subject = Interpreter::new(Arc::clone(&case.program));
    let mut system = System::<_, Sc>::new(subject.clone());
    let limits = Limits::default();
    dpor::visit(ModelId::Sc, &subject, &limits, &mut |steps| {
        let schedule = Schedule::Steps(steps);
        driver::run(&mut system, &mut Replay::of_schedule(&schedule), &mut collector, &limits, &|| None);
    });
    collector
}

/// A search of the model itself finds something exactly if the model has a trace that counts and is not one of sequential
/// consistency.
pub(super) fn is_inclusion(case: &Case) -> Verdict {
    is_inclusion_under::<Tso>(case)?;
    is_inclusion_under::<Pso>(case)
}

fn is_inclusion_under<M: Model>(case: &Case) -> Verdict {
    let sc = &case.everything::<Sc>().traces;
    let traces = &case.everything::<M>().traces;
    let other = traces.iter().find(|(key, (_, end))| end.kind != "discarded" && !sc.contains_key(*key));
    let decided =
        search_model(&case.program, M::ID, &Limits::default(), &|| None).map_err(|error| format!("{error:?}"))?;
    let undecided = Coverage::Stopped(StopReason::AtomicSection);
    let may_be_undecided = case.program.may_divide_sections() && decided.coverage == undecided;
    if may_be_undecided && decided.violations.is_empty() {
        return Ok(());
    }
    if !decided.coverage.is_complete() && !may_be_undecided {
        return Err(format!("the search of {} stopped: {:?}", M::ID.info().name, decided.coverage));
    }
    match (other, decided.violations.first()) {
        (Some((_, (trace, _))), None) => {
            let steps: Vec<_> = trace.steps().iter().map(|record| record.step).collect();
            Err(format!("the search of {} misses {steps:?}, which is not of sc", M::ID.info().name))
        }
        (None, Some(shown)) => {
            Err(format!("the search of {} finds {:?}, but every trace is of sc", M::ID.info().name, shown.relaxed))
        }
        _ => Ok(()),
    }
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
