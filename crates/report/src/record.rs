//! A report as one line of JSON; `docs/json-schema.json` describes it.

use teetotal_check::{Violation, Witness};
use teetotal_engine::{Coverage, Stats, Token};
use teetotal_memory::{Event, Source, Trace};
use teetotal_program::ir::{Program, printer};
use teetotal_program::{ThreadId, Type, Value};

use crate::finding;
use crate::json::Json;
use crate::outcome::Report;
use crate::robustness;
use crate::state;
use crate::stop;
use crate::tally::Tally;
use crate::verdict::{Verdict, asks, is_sampled};
use crate::words;

/// The version of the format. It grows if the meaning of a field changes; new fields do not change it.
pub(crate) const FORMAT: u32 = 1;

impl Report<'_> {
    /// Renders the report as one line of JSON, with its line feed.
    #[must_use]
    pub fn json(&self, tally: Tally) -> String {
        let Report { program, options, outcome } = self;
        let states = state::states(program, outcome);
        let condition = program.condition.as_ref();
        let mut members = vec![
            ("format", Json::number(FORMAT)),
            ("file", words::file(program).map_or(Json::Null, Json::text)),
            ("test", Json::text(&program.name)),
            ("model", Json::text(outcome.model.info().name)),
            ("check", Json::List(options.monitors.iter().map(|id| Json::text(id.info().name)).collect())),
            ("search", Json::text(outcome.search.name())),
            ("search_reason", Json::text(outcome.search_reason)),
            ("verdict", Json::text(self.one_word())),
            ("coverage", self.coverage()),
            ("condition", condition.map_or(Json::Null, |condition| Json::text(printer::condition(program, condition)))),
            ("observation", condition.map_or(Json::Null, |_| self.observation(tally))),
            ("ends", self.ends()),
            ("states", Json::List(states.into_iter().map(Json::Text).collect())),
            ("stats", stats(&outcome.stats, tally)),
        ];
        if options.question().is_robustness() {
            members.push(("robustness", robustness::record(program, outcome)));
        }
        if is_sampled(outcome) {
            members.push(("seed", Json::number(options.seed)));
        }
        if let Some(filter) = &program.filter {
            members.push(("filter", Json::text(printer::proposition(program, filter))));
        }
        if let Some(violation) = outcome.violations.first() {
            members.push(("violation", self.violation(violation)));
        } else if let (true, Some(witness)) = (asks(program, options), &outcome.satisfying) {
            let Witness { trace, token, values, .. } = witness;
            members.push(("witness", Json::Object(self.execution(trace, token, values))));
        }
        format!("{}\n", Json::Object(members))
    }

    /// Returns the model and the search, without the findings.
    pub(crate) fn json_of_search(&self) -> Json {
        let Stats { states, executions, .. } = self.outcome.stats;
        let stats = vec![("states", Json::number(states)), ("executions", Json::number(executions))];
        Json::Object(vec![
            ("model", Json::text(self.outcome.model.info().name)),
            ("search", Json::text(self.outcome.search.name())),
            ("coverage", self.coverage()),
            ("stats", Json::Object(stats)),
        ])
    }

    fn one_word(&self) -> &'static str {
        match self.verdict() {
            Verdict::Violated => "violated",
            Verdict::Holds | Verdict::NeverObserved => "holds",
            Verdict::Observed if self.outcome.coverage.is_complete() => "holds",
            Verdict::Observed | Verdict::NotObservedYet | Verdict::NotViolatedYet | Verdict::Vacuous => "unknown",
        }
    }

    /// Returns the observation; an incomplete search cannot claim `never` or `always`.
    fn observation(&self, tally: Tally) -> Json {
        let mixed = tally.holding > 0 && tally.failing > 0;
        if mixed || self.outcome.coverage.is_complete() { Json::text(tally.word().to_lowercase()) } else { Json::Null }
    }

    /// Returns whether executions end instead of being blocked forever, as far as that is known.
    fn ends(&self) -> Json {
        let Stats { completed, blocked, failed, .. } = self.outcome.stats;
        match (completed, blocked) {
            (1.., 1..) => Json::text("sometimes"),
            _ if !self.outcome.coverage.is_complete() || self.outcome.is_vacuous() => Json::Null,
            (0, _) if failed == 0 => Json::text("never"),
            (0, 1..) => Json::text("sometimes"),
            _ => Json::text("always"),
        }
    }

    fn coverage(&self) -> Json {
        let stopped = match self.outcome.coverage {
            Coverage::Complete => Json::Null,
            Coverage::Stopped(reason) => Json::text(stop::reason(self.program, reason)),
        };
        Json::Object(vec![("complete", Json::Bool(self.outcome.coverage.is_complete())), ("stopped", stopped)])
    }

    fn violation(&self, violation: &Violation) -> Json {
        let lines = finding::describe(self.program, &violation.finding, &violation.trace);
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_start()).collect();
        let mut members =
            vec![("check", Json::text(violation.monitor.info().name)), ("message", Json::text(lines.join("\n")))];
        members.extend(self.execution(&violation.trace, &violation.token, &violation.values));
        Json::Object(members)
    }

    fn execution(&self, trace: &Trace, token: &Token, values: &[Value]) -> Vec<(&'static str, Json)> {
        vec![
            ("state", Json::text(self.program.show_outcome(values))),
            ("token", Json::text(token.to_string())),
            ("events", events(self.program, trace)),
        ]
    }
}

/// Returns the events of an execution in the order of issue.
pub(crate) fn events(program: &Program, trace: &Trace) -> Json {
    Json::List(trace.events().iter().map(|event| event_of(program, trace, event)).collect())
}

fn stats(stats: &Stats, tally: Tally) -> Json {
    let Stats { executions, completed, blocked, discarded, failed, abandoned, .. } = *stats;
    let Stats { classes, solver_calls, solver_work, states, coarse, steps, bytes, pending, .. } = *stats;
    // Other searches have no classes.
    let redundant = executions.saturating_sub(classes);
    let solver = [("solver_calls", solver_calls), ("solver_work", solver_work)];
    let by_class = [("classes", classes), ("redundant", redundant)].into_iter().chain(solver);
    let by_class = by_class.filter(|_| classes > 0);
    let coarse = [("coarse", coarse)].into_iter().filter(|&(_, states)| states > 0);
    let counts = [
        ("states", states),
        ("executions", executions),
        ("completed", completed),
        ("blocked", blocked),
        ("discarded", discarded),
        ("failed", failed),
        ("abandoned", abandoned),
        ("steps", steps),
        ("bytes", bytes),
        ("pending", pending),
        ("satisfying", tally.holding),
        ("falsifying", tally.failing),
    ];
    Json::Object(
        counts.into_iter().chain(by_class).chain(coarse).map(|(name, count)| (name, Json::number(count))).collect(),
    )
}

/// Returns an event; fields that do not apply are omitted. Steps count from 1, and step 0 is the initial state.
fn event_of(program: &Program, trace: &Trace, event: &Event) -> Json {
    let thread = event.thread;
    let name = |thread: ThreadId| program.threads[thread.index()].name.as_str();
    let mut members = vec![
        ("step", Json::number(u64::from(event.step) + 1)),
        ("thread", Json::text(name(thread))),
        ("kind", Json::text(words::kind(event.kind))),
    ];
    if (event.place as usize) < program.threads[thread.index()].code.len() {
        let alternative = teetotal_timeline::alternative(trace, event);
        let statement = printer::shown(program, thread, event.place as usize, alternative);
        members.push(("statement", Json::text(statement)));
    }
    members.extend(words::place(program, thread, event.place as usize).map(|place| ("place", Json::Text(place))));
    let ty = event.loc.map_or(Type::I64, |loc| program.locations[loc.index()].ty);
    let show = |value: Value| Json::Number(ty.show(value));
    members.extend(event.loc.map(|loc| ("location", Json::text(program.location_name(loc)))));
    members.extend(event.read.map(|value| ("read", show(value))));
    members.extend(event.source.map(|source| match source {
        Source::Initial => ("from", Json::number(0)),
        Source::Write(id) => ("from", Json::number(u64::from(trace.event(id).step) + 1)),
    }));
    members.extend(event.written.map(|value| ("written", show(value))));
    members.extend(event.committed.map(|step| ("reaches_memory", Json::number(u64::from(step) + 1))));
    Json::Object(members)
}
