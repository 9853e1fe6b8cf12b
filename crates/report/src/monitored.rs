//! The report on a monitored trace.

use teetotal_memory::ModelId;

use crate::json::Json;
use crate::words::count;

/// The results of monitoring a trace.
#[derive(Clone, Debug)]
pub struct Monitored {
    /// The name of the trace.
    pub name: String,
    /// The memory model.
    pub model: ModelId,
    /// The format of the trace, if a line could be read.
    pub format: Option<&'static str>,
    pub executions: u64,
    pub events: u64,
    /// Events that access memory.
    pub accesses: u64,
    pub n_threads: usize,
    pub n_locations: usize,
    /// The pairs of places that are not robust, in the order in which they were found.
    pub pairs: Vec<Pair>,
    /// The number of further reorderings, of pairs beyond the maximum that is kept.
    pub unlisted: u64,
    /// Why there may be more pairs.
    pub gap: Option<Gap>,
}

/// A store and an access that can overtake it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    pub store: Spot,
    pub access: Spot,
    /// The location of both.
    pub location: String,
    /// The number of times that it was found.
    pub times: u64,
    /// Whether the access overtakes the store only if the value that it then reads enables it.
    pub depends_on_value: bool,
}

/// A place in a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spot {
    pub thread: String,
    /// The first line that shows the reordering.
    pub line: u64,
    /// The operation: `store`, `load` and so on.
    pub does: &'static str,
    /// The place in the source, if the trace has it.
    pub place: Option<String>,
}

/// Why the result is incomplete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Gap {
    /// Stores were forgotten that a thread may have needed later.
    Window,
    /// A limit was reached.
    Limit(String),
    /// The user interrupted it.
    Interrupted,
    /// The rest of the trace could not be read.
    BadInput,
}

impl Monitored {
    /// Returns whether the trace shows that its program is not robust.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        !self.pairs.is_empty()
    }

    /// Returns the verdict as a line, without a line feed.
    #[must_use]
    pub fn verdict_line(&self) -> String {
        let Monitored { name, model, .. } = self;
        let model = model.info().name;
        let seen = self.seen();
        match (self.pairs.len() as u64, &self.gap) {
            (0, None) if self.accesses == 0 => format!("{name}: nothing to check: no access to memory"),
            (0, None) => format!("{name}: no violation of robustness under {model} in this trace ({seen})"),
            (0, Some(gap)) => format!("{name}: no violation found under {model} ({}; {seen})", said(gap)),
            (n, None) => format!("{name}: not robust under {model}: {} ({seen})", count(n, "pair")),
            (n, Some(gap)) => format!("{name}: not robust under {model}: {} ({}; {seen})", count(n, "pair"), said(gap)),
        }
    }

    fn seen(&self) -> String {
        let mut seen = vec![
            count(self.events, "event"),
            count(self.n_threads as u64, "thread"),
            count(self.n_locations as u64, "location"),
        ];
        if self.executions > 1 {
            seen.insert(0, count(self.executions, "execution"));
        }
        seen.join(", ")
    }

    /// Renders the verdict, at most `max_pairs` pairs of places, and what the verdict is about.
    #[must_use]
    pub fn render(&self, max_pairs: usize) -> String {
        let mut out = self.verdict_line() + "\n";
        for pair in self.pairs.iter().take(max_pairs) {
            out.push_str(&format!("\n{}", pair.render()));
        }
        let left = self.pairs.len().saturating_sub(max_pairs) as u64;
        if left > 0 {
            out.push_str(&format!("\nand {} more; `--all` lists them\n", count(left, "pair")));
        }
        if self.unlisted > 0 {
            out.push_str(&format!("\nand {} of further pairs\n", count(self.unlisted, "occurrence")));
        }
        out.extend(self.scope().map(|line| format!("\n{line}\n")));
        out
    }

    /// Returns what the verdict is about.
    fn scope(&self) -> Option<&'static str> {
        match (self.pairs.is_empty(), self.accesses) {
            (true, 0) => None,
            (true, _) => Some(
                "This holds for the trace class only: executions with the same reads and the same order of writes.\n\
                 Other executions of the program may not be robust; `teetotal check --check robustness` covers them all.",
            ),
            (false, _) => {
                Some("A pair shows that the program is not robust; the list is complete for this trace class only.")
            }
        }
    }

    /// Renders one JSON object on one line.
    #[must_use]
    pub fn json(&self) -> String {
        let verdict = match (self.pairs.is_empty(), &self.gap) {
            (false, _) => "violated",
            (true, Some(_)) => "no violation found",
            (true, None) if self.accesses == 0 => "nothing to check",
            (true, None) => "holds",
        };
        let object = Json::Object(vec![
            ("format", Json::number(1)),
            ("trace", Json::text(&self.name)),
            ("trace_format", self.format.map_or(Json::Null, Json::text)),
            ("model", Json::text(self.model.info().name)),
            ("verdict", Json::text(verdict)),
            ("speaks_of", Json::text(if self.pairs.is_empty() { "trace class" } else { "program" })),
            ("complete", Json::Bool(self.gap.is_none())),
            ("gap", self.gap.as_ref().map_or(Json::Null, |gap| Json::Text(said(gap)))),
            ("executions", Json::number(self.executions)),
            ("events", Json::number(self.events)),
            ("threads", Json::number(self.n_threads)),
            ("locations", Json::number(self.n_locations)),
            ("pairs", Json::List(self.pairs.iter().map(Pair::json).collect())),
            ("unlisted", Json::number(self.unlisted)),
        ]);
        format!("{object}\n")
    }
}

fn said(gap: &Gap) -> String {
    match gap {
        Gap::Window => "stores that did not fit into the window were forgotten".to_owned(),
        Gap::Limit(what) => format!("stopped: {what}"),
        Gap::Interrupted => "interrupted".to_owned(),
        Gap::BadInput => "the trace could not be read to its end".to_owned(),
    }
}

impl Pair {
    fn render(&self) -> String {
        let Pair { store, access, location, times, .. } = self;
        let (by, of) = (&access.thread, &store.thread);
        let mut out = format!(
            "the store of {of} to `{location}` (line {}) can still be in its buffer at the {} of {by} (line {})\n",
            store.line, access.does, access.line
        );
        let times = if *times == 1 { String::new() } else { format!("; found {times} times") };
        let condition = if self.depends_on_value { ", if the older value enables it" } else { "" };
        out.push_str(&format!("  although it happened before{condition}{times}\n"));
        for (spot, name) in [(store, "the store"), (access, "the access")] {
            out.extend(spot.place.iter().map(|place| format!("  --> {place}, {name}\n")));
        }
        out
    }

    fn json(&self) -> Json {
        let spot = |spot: &Spot| {
            Json::Object(vec![
                ("thread", Json::text(&spot.thread)),
                ("line", Json::number(spot.line)),
                ("does", Json::text(spot.does)),
                ("place", spot.place.as_ref().map_or(Json::Null, Json::text)),
            ])
        };
        Json::Object(vec![
            ("store", spot(&self.store)),
            ("access", spot(&self.access)),
            ("location", Json::text(&self.location)),
            ("times", Json::number(self.times)),
            ("depends_on_value", Json::Bool(self.depends_on_value)),
        ])
    }
}
