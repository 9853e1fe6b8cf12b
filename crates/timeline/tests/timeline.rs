//! Executions as they are shown, each driven step by step; the text that each test expects is in `timeline/`.

use std::sync::Arc;

use expect_test::expect_file;
use teetotal_gallery as gallery;
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Machine, Model, ModelId, Step, Trace};
use teetotal_program::Subject;
use teetotal_program::condition::Term;
use teetotal_program::ir::{Builder, Expr, Interpreter, Program};
use teetotal_program::{Loc, Order, ThreadId, Value};
use teetotal_timeline::{Options, Style, Timeline};

/// Steps as text: `0` lets thread 0 go on, `0.2` takes alternative 2, `0x` lets its oldest store to `x` leave.
fn run<M: Model>(program: &Program, steps: &str) -> (Trace, Vec<Value>) {
    let mut subject = Interpreter::new(Arc::new(program.clone()));
    let mut machine = Machine::<M>::new(&subject);
    let mut trace = Trace::default();
    for word in steps.split(' ') {
        let (thread, rest) = word.split_at(1);
        let thread = ThreadId(thread.parse().expect("a thread"));
        let step = match rest.strip_prefix('.') {
            Some(alternative) => Step::Issue { thread, alternative: alternative.parse().expect("an alternative") },
            None if rest.is_empty() => Step::Issue { thread, alternative: 0 },
            None => {
                let loc = program.locations.iter().position(|l| l.name == rest).expect("a location");
                Step::Commit { thread, loc: Loc::at(loc) }
            }
        };
        let mut enabled = Vec::new();
        machine.enabled(&subject, &mut enabled);
        assert!(enabled.contains(&step), "{word} is not possible, only {enabled:?}");
        machine.perform(&mut subject, step, &mut trace);
    }
    let outcome = program.observed.iter().map(|&term| match term {
        Term::Register(thread, reg) => subject.register(thread, reg),
        Term::Memory(loc) => machine.memory(loc),
    });
    (trace, outcome.collect())
}

fn check_with<M: Model>(program: &Program, steps: &str, options: Options, name: &str) {
    let (trace, outcome) = run::<M>(program, steps);
    let timeline = Timeline { program, trace: &trace, model: M::ID, outcome: Some(&outcome) };
    let text = timeline.render(options);
    for line in text.lines().filter(|_| !options.style.color) {
        assert!(line.chars().count() <= options.width, "too wide: {line}");
    }
    expect_file![format!("timeline/{name}.txt")].assert_eq(&text);
}

fn check<M: Model>(_: M, program: &Program, steps: &str, name: &str) {
    check_with::<M>(program, steps, Options::default(), name);
}

fn program(build: impl FnOnce(&mut Builder)) -> Program {
    let mut p = Builder::new("test");
    build(&mut p);
    p.build().expect("well formed")
}

#[test]
fn tso_lets_both_threads_of_store_buffering_read_0() {
    check(Tso, &gallery::store_buffering(), "0 1 0 1 0x 1y", "tso_lets_both_threads_of_store_buffering_read_0");
}

#[test]
fn one_stale_read_is_enough_for_store_buffering() {
    check(Tso, &gallery::store_buffering(), "0 0 1 1y 1 0x", "one_stale_read_is_enough_for_store_buffering");
}

#[test]
fn an_execution_that_sc_allows_says_so() {
    check(Tso, &gallery::store_buffering(), "0 1 0 0x 1 1y", "an_execution_that_sc_allows_says_so");
}

#[test]
fn sc_has_no_buffers_to_show() {
    check(Sc, &gallery::store_buffering(), "0 0 1 1", "sc_has_no_buffers_to_show");
}

#[test]
fn pso_lets_the_flag_overtake_the_data() {
    check(Pso, &gallery::message_passing(), "0 0 0flag 1 1 0data", "pso_lets_the_flag_overtake_the_data");
}

#[test]
fn a_forwarded_load_names_its_buffer() {
    check(Tso, &gallery::n6(), "0 0 0 1 1 1y 1x 0x", "a_forwarded_load_names_its_buffer");
}

#[test]
fn two_plus_two_writes_has_no_reads_to_explain() {
    check(Pso, &gallery::two_plus_two_writes(), "0 0 1 1 0y 1x 0x 1y", "two_plus_two_writes_has_no_reads_to_explain");
}

#[test]
fn stores_that_never_leave_are_pending_at_the_end() {
    check(Pso, &gallery::message_passing(), "0 0 0flag 1 1", "stores_that_never_leave_are_pending_at_the_end");
}

fn counter() -> Program {
    program(|p| {
        let m = p.shared("m", 0);
        let x = p.shared("x", 0);
        for name in ["P0", "P1"] {
            p.thread(name, |t| {
                t.lock(m);
                let r = t.load("r", x);
                t.store(x, Expr::from(r).plus(1));
                t.unlock(m);
            });
        }
        p.observe([Term::Memory(x)]);
    })
}

#[test]
fn a_lock_is_free_or_held_by_a_thread() {
    check(Tso, &counter(), "0 0 0 0x 0 1 1 1 1x 1", "a_lock_is_free_or_held_by_a_thread");
}

#[test]
fn barriers_stand_in_the_buffer() {
    let program = program(|p| {
        let (x, y, z) = (p.shared("x", 0), p.shared("y", 0), p.shared("z", 0));
        p.thread("writer", |t| {
            t.store(x, 1);
            t.store_store_fence();
            t.store(y, 1);
            t.store_with(z, 1, Order::Release);
            t.fence();
        });
    });
    check(Pso, &program, "0 0 0 0 0x 0y 0z 0", "barriers_stand_in_the_buffer");
}

#[test]
fn every_other_statement_says_what_came_of_it() {
    let program = program(|p| {
        let x = p.shared("x", 5);
        let a = p.array("a", 3);
        let child = p.spawned("child", |t| {
            t.fetch_add("old", x, 2);
            t.compare_exchange("seen", x, 1, 2);
            t.exchange("last", x, -1);
        });
        p.thread("main", |t| {
            let c = t.choose("c", 3);
            t.store(a.at(c), 4);
            t.load("r", a.at(c));
            t.spawn(child);
            t.join(child);
            t.await_until("w", x, |w| Expr::from(w).eq(-1));
        });
        p.observe([Term::Memory(x)]);
    });
    check(Tso, &program, "1.2 1 1 1a[2] 1 0 0 0 1 1", "every_other_statement_says_what_came_of_it");
}

fn sized(width: usize, style: Style, program: &Program, steps: &str, name: &str) {
    check_with::<Tso>(program, steps, Options { width, style }, name);
}

#[test]
fn a_terminal_of_80_columns_has_room_for_two_threads() {
    sized(
        80,
        Style::default(),
        &gallery::store_buffering(),
        "0 1 0 1 0x 1y",
        "a_wide_terminal_has_room_for_the_buffers",
    );
}

#[test]
fn a_narrow_timeline_stacks_its_cells() {
    sized(60, Style::default(), &gallery::store_buffering(), "0 1 0 1 0x 1y", "a_narrow_timeline_stacks_its_cells");
}

#[test]
fn a_very_narrow_timeline_is_a_list() {
    sized(40, Style::default(), &gallery::store_buffering(), "0 1 0 1 0x 1y", "a_very_narrow_timeline_is_a_list");
}

#[test]
fn ascii_needs_no_special_characters() {
    let style = Style { ascii: true, color: false };
    let (trace, _) = run::<Tso>(&counter(), "0 0 0 0x 0");
    let timeline = Timeline { program: &counter(), trace: &trace, model: ModelId::Tso, outcome: None };
    for width in [120, 50, 30] {
        assert!(timeline.render(Options { width, style }).is_ascii());
    }
    sized(80, style, &gallery::store_buffering(), "0 1 0 1 0x 1y", "ascii_needs_no_special_characters");
}

#[test]
fn every_prefix_fits_every_width() {
    let program = gallery::n6();
    let steps = "0 0 0 1 1 1y 1x 0x";
    for end in (1..=steps.len()).filter(|&end| steps[end..].starts_with(' ') || end == steps.len()) {
        let (trace, _) = run::<Tso>(&program, &steps[..end]);
        let timeline = Timeline { program: &program, trace: &trace, model: ModelId::Tso, outcome: None };
        for width in 24..120 {
            let text = timeline.render(Options { width, style: Style::default() });
            assert!(text.lines().all(|line| line.chars().count() <= width), "wider than {width}:\n{text}");
        }
    }
}

#[test]
fn an_execution_without_steps_has_a_start_and_an_end() {
    let program = gallery::store_buffering();
    let timeline = Timeline { program: &program, trace: &Trace::default(), model: ModelId::Pso, outcome: None };
    expect_file!["timeline/an_execution_without_steps_has_a_start_and_an_end.txt"]
        .assert_eq(&timeline.render(Options::default()));
}

/// Reads of two writers in opposite orders.
#[test]
fn four_threads_fit_as_a_list() {
    let program = program(|p| {
        let (x, y) = (p.shared("x", 0), p.shared("y", 0));
        p.thread("writer_x", |t| t.store(x, 1));
        p.thread("writer_y", |t| t.store(y, 1));
        for (name, first, second) in [("reader_xy", x, y), ("reader_yx", y, x)] {
            p.thread(name, |t| {
                t.load("r0", first);
                t.load("r1", second);
            });
        }
    });
    sized(80, Style::default(), &program, "0 1 0x 2 2 1y 3 3", "four_threads_fit_as_a_list");
}

#[test]
fn color_only_adds_to_the_text() {
    let program = gallery::n6();
    let (trace, outcome) = run::<Tso>(&program, "0 0 0 1 1 1y 1x 0x");
    let timeline = Timeline { program: &program, trace: &trace, model: ModelId::Tso, outcome: Some(&outcome) };
    let [plain, colored] =
        [false, true].map(|color| timeline.render(Options { width: 80, style: Style { ascii: false, color } }));
    let mut stripped = String::new();
    let mut inside = false;
    for c in colored.chars() {
        match c {
            '\x1b' => inside = true,
            'm' if inside => inside = false,
            _ if inside => {}
            _ => stripped.push(c),
        }
    }
    assert_ne!(plain, colored);
    assert_eq!(plain, stripped);
}
