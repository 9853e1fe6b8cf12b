//! The pages of `teetotal explain`.

use teetotal::parts::frontends::FRONTENDS;
use teetotal::{MODELS, MONITORS, SEARCHES};

/// The kind of topic of a page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    Model,
    Check,
    Search,
    Stop,
    Frontend,
    Other,
}

/// One page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    /// The text, whose first line has the name and a summary.
    pub(crate) text: &'static str,
}

/// Declares rows of the table, each with the page of the same name.
macro_rules! pages {
    ($($kind:ident: $($name:literal)*;)*) => {
        &[$($(Page { kind: Kind::$kind, name: $name, text: include_str!(concat!("pages/", $name, ".txt")) },)*)*]
    };
}

/// All pages, in the order in which they are listed.
const PAGES: &[Page] = pages! {
    Model: "sc" "tso" "pso" "rc11";
    Check: "assertion" "condition" "deadlock" "races" "robustness" "sober" "sober-as-printed" "buffers";
    Search: "auto" "stateful" "symbolic" "brute" "dpor" "rf" "mcr" "bounded" "random" "pct";
    Stop: "violation" "executions" "states" "steps" "buffer" "memory" "preemptions" "endless-loop" "unbounded-loop"
        "not-deterministic" "unrepeatable" "turns" "unconfirmed" "time" "interrupted" "continuation" "atomic-section"
        "undecided";
    Frontend: "litmus" "promela";
    Other: "formats" "exit-codes" "tokens" "traces";
};

impl Kind {
    /// Returns the heading.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Kind::Model => "Models",
            Kind::Check => "Checks",
            Kind::Search => "Searches",
            Kind::Stop => "Why a search stops",
            Kind::Frontend => "Files",
            Kind::Other => "Results",
        }
    }
}

impl Page {
    /// Returns the summary: the first line after the name.
    pub(crate) fn summary(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.split_once(": ").map_or("", |(_, summary)| summary)
    }

    /// Returns whether its topic exists; a page may be written before.
    fn is_current(&self) -> bool {
        match self.kind {
            Kind::Model => MODELS.iter().any(|info| info.name == self.name),
            Kind::Check => MONITORS.iter().any(|info| info.name == self.name),
            Kind::Search => SEARCHES.iter().any(|info| info.name == self.name),
            Kind::Frontend => FRONTENDS.iter().any(|frontend| frontend.name == self.name),
            Kind::Stop | Kind::Other => true,
        }
    }
}

/// Returns every page whose topic exists.
pub(crate) fn current() -> impl Iterator<Item = &'static Page> {
    PAGES.iter().filter(|page| page.is_current())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use teetotal::{SearchId, StopReason, ThreadId};

    use super::*;

    /// Every stop reason, with arbitrary numbers.
    const REASONS: [StopReason; 18] = [
        StopReason::Violation,
        StopReason::Executions(1),
        StopReason::States(1),
        StopReason::Steps(1),
        StopReason::Buffer(1),
        StopReason::Memory(1),
        StopReason::Preemptions(1),
        StopReason::EndlessLoop { thread: ThreadId(0), instruction: 0 },
        StopReason::UnboundedLoop { thread: ThreadId(0), instruction: 0 },
        StopReason::NotDeterministic,
        StopReason::Unrepeatable(1),
        StopReason::Turns,
        StopReason::Unconfirmed(1),
        StopReason::Time,
        StopReason::Interrupted,
        StopReason::Continuation,
        StopReason::AtomicSection,
        StopReason::Undecided,
    ];

    /// Returns the page for a stop reason; a new reason must be added to `REASONS` too.
    fn page_of(reason: StopReason) -> &'static str {
        match reason {
            StopReason::Violation => "violation",
            StopReason::Executions(_) => "executions",
            StopReason::States(_) => "states",
            StopReason::Steps(_) => "steps",
            StopReason::Buffer(_) => "buffer",
            StopReason::Memory(_) => "memory",
            StopReason::Preemptions(_) => "preemptions",
            StopReason::EndlessLoop { .. } => "endless-loop",
            StopReason::UnboundedLoop { .. } => "unbounded-loop",
            StopReason::NotDeterministic => "not-deterministic",
            StopReason::Unrepeatable(_) => "unrepeatable",
            StopReason::Turns => "turns",
            StopReason::Unconfirmed(_) => "unconfirmed",
            StopReason::Time => "time",
            StopReason::Superseded => unreachable!("no result is reported with it"),
            StopReason::Interrupted => "interrupted",
            StopReason::Continuation => "continuation",
            StopReason::AtomicSection => "atomic-section",
            StopReason::Undecided => "undecided",
        }
    }

    fn check(kind: Kind, name: &str) {
        assert!(PAGES.iter().any(|page| page.kind == kind && page.name == name), "no page explains `{name}`");
    }

    #[test]
    fn every_row_of_every_table_has_a_page() {
        MODELS.iter().for_each(|info| check(Kind::Model, info.name));
        MONITORS.iter().for_each(|info| check(Kind::Check, info.name));
        let asked_for = SEARCHES.iter().filter(|info| info.id != SearchId::Replay);
        asked_for.for_each(|info| check(Kind::Search, info.name));
        FRONTENDS.iter().for_each(|frontend| check(Kind::Frontend, frontend.name));
        REASONS.into_iter().for_each(|reason| check(Kind::Stop, page_of(reason)));
    }

    #[test]
    fn every_file_of_pages_is_in_the_table() {
        let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages")).expect("the folder is there");
        for file in files {
            let name = file.expect("readable").file_name().into_string().expect("plain name");
            let stem = name.strip_suffix(".txt").expect("only text is there");
            assert!(PAGES.iter().any(|page| page.name == stem), "pages/{name} is in no row");
        }
    }

    #[test]
    fn names_are_told_apart() {
        for (index, page) in PAGES.iter().enumerate() {
            assert!(PAGES[..index].iter().all(|other| other.name != page.name), "two pages are called {}", page.name);
        }
    }

    #[test]
    fn pages_fit_on_a_screen() {
        for page in PAGES {
            assert!(page.text.starts_with(&format!("{}: ", page.name)), "{} does not open with its name", page.name);
            assert!(page.text.ends_with('\n') && !page.text.ends_with("\n\n"), "{} does not end well", page.name);
            assert!(page.text.lines().count() <= 50, "{} is longer than a page", page.name);
            let wide = page.text.lines().find(|line| line.chars().count() > 80 || line.ends_with(' '));
            assert_eq!(wide, None, "in {}", page.name);
        }
    }

    #[test]
    fn every_model_says_what_it_leaves_out() {
        for page in PAGES.iter().filter(|page| page.kind == Kind::Model) {
            assert!(page.text.contains("\nNot modeled:"), "{} does not say what is not modeled", page.name);
        }
    }
}
