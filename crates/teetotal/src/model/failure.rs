//! From a finding of a search to its report: replayed, confirmed by the axioms, reduced, described.

use teetotal_engine::{Schedule, SearchId};
use teetotal_judge::axiomatic;
use teetotal_live::{Access, Complaint, Ledger, Live, Place, WaitsFor};
use teetotal_memory::{Event, MODELS, ModelId};
use teetotal_program::{Op, Source, Span, Status, Subject, ThreadId};
use teetotal_timeline::{Options, Snippet, Timeline};

use super::between;
use super::memory;
use super::perform::{Performed, perform};
use super::problem::Problem;
use super::relevant;
use super::robustness::test_name;
use super::search::{Found, ModelSearch, Wrong};
use super::source_text::SourceTexts;
use super::storyboard::{self, thread_name};
use super::strengthen;
use super::violation::{Violation, ViolationKind};
use super::{Builder, environment};

/// The maximum number of executions for finding out what happens under a stronger model.
const EXECUTIONS_ELSEWHERE: usize = 10_000;

/// The width of a timeline in columns.
const WIDTH: usize = 110;

/// Describes the failure and shows the execution.
pub(super) struct Failing<'f> {
    pub(super) builder: &'f Builder,
    pub(super) body: &'f teetotal_live::Model,
    pub(super) wrong: &'f Wrong,
    pub(super) ledger: &'f Ledger,
    /// The number of executions up to and including this one.
    pub(super) executions: u64,
    /// The search that found it.
    pub(super) search: SearchId,
}

impl Failing<'_> {
    pub(super) fn shown(&self) -> Violation {
        self.shown_by(&|live, schedule| perform(self.builder.model, live, schedule))
    }

    fn shown_by(&self, perform: &dyn Fn(Live, &Schedule) -> Performed) -> Violation {
        let model = self.builder.model;
        let live = || self.builder.live(self.body, self.ledger);
        let whole = perform(live(), &self.wrong.schedule);
        let performed = match reduced(&|needed| perform(live(), needed), &whole, &self.wrong.problem) {
            Some(smaller) => smaller,
            None => whole,
        };
        confirm(&performed);
        let problem = performed.problem.as_ref().unwrap_or(&self.wrong.problem);
        let mut text = describe(&performed, problem);
        if performed.problem.is_none() {
            text.push_str("The execution did not fail when it was replayed: the model is not deterministic.\n");
        }
        let (name, n) = (model.info().name, self.executions);
        let search = if self.search == SearchId::ReadsFrom { " `rf`" } else { "" };
        text.push_str(&format!("\nIt happens in execution {n} of the search{search}, under {name}:\n\n"));
        text.push_str(&timeline(&performed));
        text.push_str(&self.elsewhere(&performed));
        text.push_str(&strengthen::advice(&performed).unwrap_or_default());
        text.push_str(&again(&performed, self.builder.preemption_bound));
        let (kind, places, token) = (kind_of(problem), places_of(&performed, problem), performed.token.to_string());
        Violation { kind, places, model, execution: Some(performed.trace), token: Some(token), text }
    }
}

/// Checks that the axioms of the model accept an execution that its machine performed.
///
/// # Panics
/// If they do not: one of the two definitions is wrong.
pub(super) fn confirm(performed: &Performed) {
    let model = performed.model;
    let live = &performed.live;
    if let Err(why) = axiomatic::accepts_code(model, &performed.trace, |loc| live.initial(loc)) {
        let (name, token) = (model.info().name, &performed.token);
        panic!(
            "internal error: the machine of {name} performs an execution that its axioms forbid: {why:?}\n\
             help: this is a bug in teetotal, not in the model; report it with the model and this token: {token}"
        );
    }
}

/// Returns the failure of a model that uses an object of another execution if no execution can be shown, because none
/// could be replayed.
pub(super) fn misused(ledger: &Ledger, model: ModelId) -> Option<Violation> {
    let (message, place) = ledger.misuse()?;
    let text = snippet(&message, &place, None, &mut SourceTexts::default());
    let (kind, places) = (ViolationKind::Panic, vec![place]);
    Some(Violation { kind, places, model, execution: None, token: None, text })
}

fn kind_of(problem: &Problem) -> ViolationKind {
    match problem {
        Problem::Failed(_, Complaint::Panic { .. }) => ViolationKind::Panic,
        Problem::Failed(_, Complaint::Race(_)) => ViolationKind::DataRace,
        Problem::Failed(_, Complaint::Memory(fault)) => memory::kind_of(fault.kind),
        Problem::Deadlock(_) => ViolationKind::Deadlock,
        Problem::Livelock(_) => ViolationKind::Livelock,
        Problem::Leak(_) => ViolationKind::Leak,
    }
}

fn places_of(performed: &Performed, problem: &Problem) -> Vec<Place> {
    let live = &performed.live;
    match problem {
        Problem::Failed(_, Complaint::Panic { place, .. }) => place.iter().cloned().collect(),
        Problem::Failed(_, Complaint::Race(race)) => vec![race.first.place.into(), race.second.place.into()],
        Problem::Failed(_, Complaint::Memory(fault)) => memory::places_of(fault),
        Problem::Deadlock(blocked) | Problem::Livelock(blocked) => {
            blocked.iter().filter_map(|&thread| live.source_place(thread)).map(Place::from).collect()
        }
        Problem::Leak(leaks) => leaks.iter().filter_map(|leak| leak.place.clone()).collect(),
    }
}

/// Returns the failure of a replayed execution, with the execution.
pub(super) fn show_again(performed: &Performed, problem: &Problem) -> String {
    let mut text = describe(performed, problem);
    text.push('\n');
    text.push_str(&timeline(performed));
    text
}

/// Describes a replayed execution that is not sequentially consistent.
pub(super) fn show_relaxed(performed: &Performed) -> String {
    let name = performed.model.info().name;
    format!("not robust: this execution of {name} is not sequentially consistent\n\n{}", timeline(performed))
}

/// Returns the part of an execution that its failure needs, if that fails in the same way.
fn reduced(perform: &dyn Fn(&Schedule) -> Performed, whole: &Performed, problem: &Problem) -> Option<Performed> {
    // The search may number threads differently from the machine, so the machine is used.
    let found = whole.problem.as_ref().filter(|found| found.is_like(problem))?;
    let threads = match found {
        Problem::Failed(_, Complaint::Race(race)) => vec![race.first.thread, race.second.thread],
        Problem::Failed(_, Complaint::Memory(fault)) => memory::threads_of(fault),
        Problem::Failed(thread, Complaint::Panic { .. }) => vec![*thread],
        Problem::Deadlock(_) | Problem::Livelock(_) | Problem::Leak(_) => return None,
    };
    let needed = Schedule::Moves(relevant::past_of(whole.model, &threads, &whole.trace));
    let smaller = perform(&needed);
    let is_whole = smaller.trace.steps().len() == needed.len();
    (is_whole && smaller.problem.as_ref().is_some_and(|found| found.is_like(problem))).then_some(smaller)
}

/// Returns whether this is the panic of a `RefCell` of the standard library that is already borrowed.
fn is_of_borrow(text: &str) -> bool {
    text.contains("already borrowed") || text.contains("already mutably borrowed")
}

/// Returns a note on a borrow that another execution may have left.
const HELP_ON_BORROWS: &str = "\
help: a discarded execution may hold this borrow forever, if the `RefCell` outlives executions
help: make the `RefCell` inside of the model, or use `teetotal::thread_local!` in place of `std::thread_local!`
";

/// Describes the problem, with its places in the source.
pub(super) fn describe(performed: &Performed, problem: &Problem) -> String {
    let mut texts = SourceTexts::default();
    match problem {
        Problem::Failed(thread, Complaint::Panic { text, place }) => {
            let message = format!("{} panicked: {text}", thread_name(*thread));
            let mut out = match place {
                Some(place) => snippet(&message, place, None, &mut texts),
                None => format!("{message}\n"),
            };
            if is_of_borrow(text) && teetotal_live::has_discarded() {
                out.push_str(HELP_ON_BORROWS);
            }
            out
        }
        Problem::Failed(_, Complaint::Race(race)) => {
            let label = |access: &Access| format!("{} {} here", thread_name(access.thread), access.kind.verb());
            let message = "data race: nothing orders these two accesses";
            let first = snippet(message, &race.first.place.into(), Some(&label(&race.first)), &mut texts);
            let second = snippet(message, &race.second.place.into(), Some(&label(&race.second)), &mut texts);
            first + after_message(&second)
        }
        Problem::Failed(_, Complaint::Memory(fault)) => memory::describe(fault, &mut texts),
        Problem::Deadlock(blocked) | Problem::Livelock(blocked) => deadlock(performed, blocked, &mut texts),
        Problem::Leak(leaks) => {
            let mut out = "leak: not freed when the execution ends\n".to_owned();
            for leak in leaks {
                let label = format!("this {} was created here", leak.what);
                match &leak.place {
                    Some(place) => out.push_str(after_message(&snippet("", place, Some(&label), &mut texts))),
                    None => out.push_str(&format!("  a {} (the place in the source is not known)\n", leak.what)),
                }
            }
            out
        }
    }
}

/// Describes what a thread that is blocked forever waits for.
fn what_for(performed: &Performed, thread: ThreadId) -> String {
    let live = &performed.live;
    let loc = match live.status(thread) {
        Status::Ready(Op::Join { thread: other, .. }) => return format!("for {} to end", thread_name(other)),
        Status::Ready(Op::Lock { loc, .. }) => Some(loc),
        _ => None,
    };
    let holder = loc.and_then(|loc| performed.memory.get(loc.index())?.checked_sub(1));
    let holder = holder.map(|holder| holder as usize).filter(|&holder| holder < live.n_threads());
    match (live.waits_for(thread), holder.map(|holder| thread_name(ThreadId::at(holder)))) {
        (Some(WaitsFor::SecondRead), _) => {
            "to read a lock that it already reads, since a writer waits for that lock".to_owned()
        }
        (Some(WaitsFor::Unpark), _) => "to be unparked".to_owned(),
        (Some(WaitsFor::Notification), _) => "to be notified".to_owned(),
        (Some(WaitsFor::Message), _) => "for a message".to_owned(),
        (Some(WaitsFor::Room), _) => "for room in a channel".to_owned(),
        (Some(WaitsFor::Value), Some(maker)) => format!("for a value that {maker} initializes"),
        (Some(WaitsFor::Value), None) => "for a value that another thread initializes".to_owned(),
        (Some(WaitsFor::Lock), Some(holder)) => format!("for a lock that {holder} holds"),
        (Some(WaitsFor::Lock), None) => "for a lock".to_owned(),
        (None, _) => "to be woken".to_owned(),
    }
}

/// Describes which thread waits for which.
fn deadlock(performed: &Performed, blocked: &[ThreadId], texts: &mut SourceTexts) -> String {
    let live = &performed.live;
    let names: Vec<String> = blocked.iter().map(|&thread| thread_name(thread)).collect();
    // A thread whose operation is always possible is not blocked: it was in a failed await.
    let spins = |thread: ThreadId| match live.status(thread) {
        Status::FailedAwait(_) => true,
        Status::Ready(op) => !matches!(op, Op::Lock { .. } | Op::Await { .. } | Op::Join { .. }),
        _ => false,
    };
    let what = if blocked.iter().any(|&thread| spins(thread)) { "livelock" } else { "deadlock" };
    let message = match names.as_slice() {
        [one] => format!("{what}: {one} is blocked forever"),
        several => format!("{what}: {} are blocked forever", several.join(", ")),
    };
    let mut out = format!("{message}\n");
    for &thread in blocked {
        let why = if spins(thread) {
            format!("{} repeats this loop, and reads the same each time", thread_name(thread))
        } else {
            format!("{} waits {}", thread_name(thread), what_for(performed, thread))
        };
        match live.source_place(thread) {
            Some(place) => {
                let shown = snippet("", &place.into(), Some(&why), texts);
                out.push_str(after_message(&shown));
            }
            None => out.push_str(&format!("  {why}\n")),
        }
        for (text, place) in live.panics(thread) {
            let message = format!("{} panicked before: {text}", thread_name(thread));
            out.push_str(&match place {
                Some(place) => snippet(&message, &place, None, texts),
                None => format!("{message}\n"),
            });
        }
    }
    out
}

/// Returns the steps that threads in a failed await repeat, if any.
fn cycle(performed: &Performed) -> String {
    let live = &performed.live;
    let mut out = String::new();
    for thread in (0..live.n_threads()).map(ThreadId::at) {
        let Status::FailedAwait(failed) = live.status(thread) else { continue };
        let is_repeated = |event: &&Event| event.thread == thread && event.index >= failed.since;
        let steps: Vec<String> =
            performed.trace.events().iter().filter(is_repeated).map(|event| (event.step + 1).to_string()).collect();
        let name = thread_name(thread);
        match steps.as_slice() {
            [] => {}
            [one] => out.push_str(&format!("{name} repeats step {one} forever.\n")),
            several => out.push_str(&format!("{name} repeats steps {} forever.\n", several.join(", "))),
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Renders a snippet without its first line.
pub(super) fn after_message(snippet: &str) -> &str {
    snippet.split_once('\n').map_or("", |(_, rest)| rest)
}

/// Renders a message with the source line that it refers to.
pub(super) fn snippet(message: &str, place: &Place, label: Option<&str>, texts: &mut SourceTexts) -> String {
    let length = texts.call(place).map_or(1, |call| call.length);
    let source = Source { name: place.file.clone(), text: texts.text(&place.file).map(str::to_owned) };
    let span = Span { source: 0, line: place.line, column: place.column, length };
    let shown = Snippet { message, source: &source, span, label, help: None }.render();
    // The text becomes the message of a panic, so it needs no `error:`.
    shown.strip_prefix("error: ").map_or(shown.clone(), str::to_owned)
}

pub(super) fn timeline(performed: &Performed) -> String {
    let live = &performed.live;
    let mut texts = SourceTexts::default();
    match storyboard::draw(live, &performed.trace, &mut texts) {
        Some(board) => {
            let timeline =
                Timeline { program: &board.program, trace: &board.trace, model: performed.model, outcome: None };
            let options = Options { width: WIDTH, ..Options::default() };
            let is_sequential =
                axiomatic::accepts_code(ModelId::STRONGEST, &performed.trace, |loc| live.initial(loc)).is_ok();
            let words = if is_sequential { String::new() } else { timeline.render_words(options) + "\n" };
            let notes =
                performed.problem.as_ref().map_or_else(Vec::new, |problem| between::rows(problem, &board, &mut texts));
            let why = performed.problem.as_ref().and_then(|problem| between::why(problem, &board));
            let why = why.map_or_else(String::new, |why| why + "\n");
            format!("{}\n{why}{}{words}", timeline.render_steps_with(&notes, options), cycle(performed))
        }
        None => "(the execution cannot be shown)\n".to_owned(),
    }
}

impl Failing<'_> {
    /// Describes what happens under the stronger models.
    fn elsewhere(&self, performed: &Performed) -> String {
        let live = &performed.live;
        let allows = |model| axiomatic::accepts_code(model, &performed.trace, |loc| live.initial(loc)).is_ok();
        let stronger: Vec<ModelId> =
            MODELS.iter().map(|info| info.id).take_while(|&id| id != performed.model).collect();
        let (possible, impossible): (Vec<ModelId>, Vec<ModelId>) = stronger.into_iter().partition(|&id| allows(id));
        let mut out = String::new();
        if possible.contains(&ModelId::STRONGEST) {
            out.push_str(&format!(
                "It needs no store buffer: this execution is possible under {} too.\n",
                names(&possible)
            ));
        } else if !possible.is_empty() {
            out.push_str(&format!("This execution is possible under {} too.\n", names(&possible)));
        }
        for model in impossible {
            let name = model.info().name;
            let builder = Builder {
                model,
                max_permutations: Some(EXECUTIONS_ELSEWHERE),
                jobs: 1,
                checkpoint_file: None,
                ..self.builder.clone()
            };
            let search = ModelSearch::new(&builder, self.body, &Ledger::default());
            let Found { wrong, coverage, .. } = search.run().found;
            out.push_str(&match (wrong, coverage.is_complete()) {
                (Some(_), _) => format!("Under {name} it is not possible, but another execution fails there.\n"),
                (None, true) => format!("No execution under {name} fails.\n"),
                (None, false) => format!("Under {name} it is not possible.\n"),
            });
        }
        out
    }
}

fn names(models: &[ModelId]) -> String {
    models.iter().map(|model| model.info().name).collect::<Vec<_>>().join(" and ")
}

/// Returns the environment variable that replays an execution, to be put before the command.
pub(super) fn replay_line(token: &str) -> String {
    match test_name() {
        Some(test) => format!("TEETOTAL_REPLAY={token} cargo test {test}"),
        None => format!("TEETOTAL_REPLAY={token} before the same command"),
    }
}

/// Returns the command that replays the execution; loops that yield depend on the preemption bound, so it is set too.
fn again(performed: &Performed, bound: Option<usize>) -> String {
    let bound = bound.map_or_else(String::new, |bound| format!("TEETOTAL_MAX_PREEMPTIONS={bound} "));
    let spurious = environment::spurious().map_or_else(String::new, |text| format!("TEETOTAL_SPURIOUS={text} "));
    let reuse = environment::reuse().map_or_else(String::new, |text| format!("TEETOTAL_REUSE={text} "));
    format!(
        "\nTo run this execution again:\n    {bound}{spurious}{reuse}{}\n",
        replay_line(&performed.token.to_string())
    )
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    use teetotal_live::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use teetotal_live::thread;
    use teetotal_memory::models::Pso;
    use teetotal_memory::{Access, Model, StoreBuffer};
    use teetotal_program::{Loc, Order};

    use super::super::perform::perform_on;
    use super::*;

    /// A machine with wrong rules: that of PSO under the name of another model.
    macro_rules! broken {
        ($name:ident, $id:expr) => {
            #[derive(Clone, Copy)]
            struct $name;

            impl Model for $name {
                const ID: ModelId = $id;
                const BUFFERS: bool = Pso::BUFFERS;
                const BARRIERS: bool = Pso::BARRIERS;
                const FAILURE_IS_LOAD: bool = Pso::FAILURE_IS_LOAD;

                fn may_leave(buffer: &StoreBuffer, index: usize) -> bool {
                    Pso::may_leave(buffer, index)
                }

                fn may_update(buffer: &StoreBuffer, loc: Option<Loc>, order: Order) -> bool {
                    Pso::may_update(buffer, loc, order)
                }

                fn keeps_order(earlier: Access, later: Access) -> bool {
                    Pso::keeps_order(earlier, later)
                }
            }
        };
    }

    broken!(BrokenSc, ModelId::Sc);
    broken!(BrokenTso, ModelId::Tso);

    /// Fails if a thread sees the second store of another before the first.
    fn message_passing() {
        let cells = teetotal_live::sync::Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let other = teetotal_live::sync::Arc::clone(&cells);
        let thread = thread::spawn(move || {
            other[0].store(1, Relaxed);
            other[1].store(1, Relaxed);
        });
        let seen = (cells[1].load(Relaxed), cells[0].load(Relaxed));
        thread.join().expect("it ends");
        assert_ne!(seen, (1, 0), "the second store came first");
    }

    /// Returns the report on the model under the machine `M`.
    fn told<M: Model>() -> Violation {
        let builder = Builder { model: M::ID, ..Builder::new() };
        let (body, ledger): (teetotal_live::Model, _) = (Arc::new(message_passing), Ledger::default());
        // The broken machines are that of PSO, so its search finds what they allow.
        let searched = Builder { model: ModelId::Pso, ..builder.clone() };
        let outcome = ModelSearch::new(&searched, &body, &ledger).run();
        let wrong = outcome.found.wrong.expect("the machine lets stores pass each other");
        let (executions, search) = (1, outcome.choice.search);
        Failing { builder: &builder, body: &body, wrong: &wrong, ledger: &ledger, executions, search }
            .shown_by(&perform_on::<M>)
    }

    #[test]
    fn a_counterexample_that_the_axioms_of_its_model_forbid_is_an_internal_error() {
        assert!(told::<Pso>().contains("the second store came first"));
        for (name, told) in [("sc", told::<BrokenSc> as fn() -> Violation), ("tso", told::<BrokenTso>)] {
            let failed = catch_unwind(AssertUnwindSafe(told)).expect_err("the axioms forbid it");
            let text = failed.downcast_ref::<String>().expect("a text");
            let said = format!("internal error: the machine of {name} performs an execution that its axioms forbid");
            assert!(text.starts_with(&said), "{text}");
        }
    }
}
