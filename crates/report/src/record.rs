//! A report as one line of JSON; `docs/json-schema.json` describes it.

use teetotal_explore::{Coverage, Replayed, Stats, Token, Violation, trace_of};
use teetotal_memory::{Event, EventKind, Source, Trace};
use teetotal_program::condition::Term;
use teetotal_program::ir::{Program, printer};
use teetotal_program::{ThreadId, Value};

use crate::finding;
use crate::herd::show_condition;
use crate::json::Json;
use crate::outcome::Report;
use crate::robustness;
use crate::state;
use crate::stop;
use crate::tally::Tally;
use crate::verdict::{Verdict, asks};
use crate::words;

/// Grows when the meaning of a field changes; more fields may come without that.
const FORMAT: u32 = 1;

impl Report<'_> {
    /// The report as one line of JSON, with its line feed.
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
            ("search", Json::text(outcome.search.info().name)),
            ("verdict", Json::text(self.one_word())),
            ("coverage", self.coverage()),
            ("condition", condition.map_or(Json::Null, |condition| Json::text(show_condition(program, condition)))),
            ("observation", condition.map_or(Json::Null, |_| self.observation(tally))),
            ("states", Json::List(states.into_iter().map(Json::Text).collect())),
            ("stats", stats(&outcome.stats, tally)),
        ];
        if options.asks_for_robustness() {
            members.push(("robustness", robustness::record(program, &outcome.violations)));
        }
        if let Some(violation) = outcome.violations.first() {
            members.push(("violation", self.violation(violation)));
        } else if let (true, Some(witness)) = (asks(program, options), &outcome.satisfying) {
            let Replayed { trace, token, values, .. } = trace_of(program, outcome.explored, witness);
            members.push(("witness", Json::Object(self.execution(&trace, &token, &values))));
        }
        format!("{}\n", Json::Object(members))
    }

    fn one_word(&self) -> &'static str {
        match self.verdict() {
            Verdict::Violated => "violated",
            Verdict::Holds | Verdict::NeverObserved => "holds",
            Verdict::Observed if self.outcome.coverage.is_complete() => "holds",
            Verdict::Observed | Verdict::NotObservedYet | Verdict::NotViolatedYet | Verdict::Vacuous => "unknown",
        }
    }

    /// A search that was stopped cannot say `never` or `always`.
    fn observation(&self, tally: Tally) -> Json {
        let mixed = tally.holding > 0 && tally.failing > 0;
        if mixed || self.outcome.coverage.is_complete() { Json::text(tally.word().to_lowercase()) } else { Json::Null }
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
        let events = trace.events().iter().map(|event| event_of(self.program, trace, event));
        vec![
            ("state", Json::text(state::state(self.program, values))),
            ("token", Json::text(token.to_string())),
            ("events", Json::List(events.collect())),
        ]
    }
}

fn stats(stats: &Stats, tally: Tally) -> Json {
    let Stats { executions, completed, blocked, discarded, failed, abandoned, states, steps, bytes, pending } = *stats;
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
    Json::Object(counts.into_iter().map(|(name, count)| (name, Json::number(count))).collect())
}

/// An event; what does not apply to it is left out. Steps count from 1, and step 0 is the beginning.
fn event_of(program: &Program, trace: &Trace, event: &Event) -> Json {
    let thread = event.thread;
    let name = |thread: ThreadId| program.threads[thread.index()].name.as_str();
    let mut members = vec![
        ("step", Json::number(u64::from(event.step) + 1)),
        ("thread", Json::text(name(thread))),
        ("kind", Json::text(kind(event.kind))),
    ];
    if (event.place as usize) < program.threads[thread.index()].code.len() {
        members.push(("statement", Json::text(printer::statement(program, thread, event.place as usize))));
    }
    members.extend(words::place(program, thread, event.place as usize).map(|place| ("place", Json::Text(place))));
    let show = |value: Value| {
        Json::Number(
            event.loc.map_or_else(|| (value as i64).to_string(), |loc| program.show_value(Term::Memory(loc), value)),
        )
    };
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

fn kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Load => "load",
        EventKind::Store => "store",
        EventKind::Rmw => "read-modify-write",
        EventKind::FailedRmw => "failed read-modify-write",
        EventKind::Fence => "fence",
        EventKind::GlobalFence => "global fence",
        EventKind::Lock => "lock",
        EventKind::Unlock => "unlock",
        EventKind::Spawn(_) => "spawn",
        EventKind::Join(_) => "join",
        EventKind::Choose => "choice",
    }
}
