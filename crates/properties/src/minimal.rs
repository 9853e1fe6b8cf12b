//! What is reported after minimization shows the same, and nothing that shows it is simpler.

use std::collections::BTreeMap;
use std::sync::Arc;

use teetotal_check::minimize::Cost;
use teetotal_check::{Options, Outcome, SearchId, check};
use teetotal_engine::driver::{self, Flow, Observer};
use teetotal_engine::stateless::Brute;
use teetotal_engine::{Limits, System, trace_of};
use teetotal_judge::{Ending, Finding, View};
use teetotal_memory::{Model, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};

use crate::everything::under_every_model;
use crate::{Case, Verdict};

/// So many executions of a random walk are looked at.
const SAMPLE: u64 = 100;

pub(super) fn holds(case: &Case) -> Verdict {
    under_every_model!(holds_under, case)
}

fn holds_under<M: Model>(case: &Case) -> Verdict {
    let program = &case.program;
    let all = case.everything::<M>();
    if all.failures.is_empty() && all.ends.iter().all(|end| end.kind != "blocked") {
        return Ok(());
    }
    let mut system = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    let mut least = Least::default();
    driver::run(&mut system, &mut Brute::default(), &mut least, &Limits::default(), &|| None);
    for search in [SearchId::Stateful, SearchId::Brute, SearchId::Random] {
        let is_sample = search == SearchId::Random;
        let limits = Limits { executions: is_sample.then_some(SAMPLE), ..Limits::default() };
        let options = Options { search, limits, ..Options::new(M::ID) };
        let outcome = check(program, &options, &|| None).map_err(|error| error.to_string())?;
        compare(program, &outcome, &least).map_err(|reason| format!("{search:?}: {reason}"))?;
        let n_found =
            outcome.violations.iter().filter(|violation| least.0.contains_key(&name(&violation.finding))).count();
        if !is_sample && n_found != least.0.len() {
            return Err(format!("{search:?} finds {n_found} failures and deadlocks, brute force {}", least.0.len()));
        }
    }
    Ok(())
}

/// Compares the costs of all findings with the least.
fn compare(program: &Arc<Program>, outcome: &Outcome, least: &Least) -> Verdict {
    for violation in &outcome.violations {
        let finding = &violation.finding;
        let again = trace_of(program, outcome.model, &violation.schedule);
        if !again.findings.contains(&(violation.monitor, finding.clone())) {
            return Err(format!("{finding:?} is not shown by its execution {}", violation.token));
        }
        let (cost, least) = (cost_of(&violation.trace), least.0.get(&name(finding)));
        let is_right = least.is_none_or(|least| if violation.is_minimal { cost == *least } else { cost >= *least });
        if !is_right {
            let said = if violation.is_minimal { "minimal" } else { "not minimal" };
            return Err(format!("{finding:?} costs {cost:?}, said to be {said}; brute force has {least:?}"));
        }
    }
    Ok(())
}

fn name(finding: &Finding) -> String {
    format!("{finding:?}")
}

/// The least cost of each failure and deadlock, by brute force.
#[derive(Default)]
struct Least(BTreeMap<String, Cost>);

impl Least {
    fn note(&mut self, finding: &Finding, trace: &Trace) {
        let cost = cost_of(trace);
        let least = self.0.entry(name(finding)).or_insert(cost);
        *least = cost.min(*least);
    }
}

impl Observer for Least {
    fn step(&mut self, view: &View<'_>) -> Flow {
        if let Some((thread, failure)) = view.failure {
            self.note(&Finding::Failure { thread, failure }, view.trace);
        }
        Flow::Continue
    }

    fn end(&mut self, view: &View<'_>, ending: &Ending) -> Flow {
        if let Ending::Blocked(blocked) = ending {
            self.note(&Finding::Deadlock { blocked: blocked.clone() }, view.trace);
        }
        Flow::Continue
    }
}

fn cost_of(trace: &Trace) -> Cost {
    let steps: Vec<Step> = trace.steps().iter().map(|record| record.step).collect();
    Cost::of(&steps)
}
