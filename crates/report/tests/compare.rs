//! Models side by side: every state that a weaker model adds has a reason.

use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal_check::{Options, Outcome, check};
use teetotal_generate::{Shape, generate};
use teetotal_memory::BUFFER_MODELS;
use teetotal_program::ir::{Builder, FetchOp, Program, Update};
use teetotal_program::{Loc, Order};
use teetotal_report::{Detail, Options as Drawing, Report, SideBySide, dot};

fn compare(program: Program, tell: impl FnOnce(&SideBySide<'_>) -> String) -> String {
    let program = Arc::new(program);
    let found: Vec<(Options, Outcome)> = BUFFER_MODELS
        .iter()
        .map(|info| Options::new(info.id))
        .map(|options| (options.clone(), check(&program, &options, &|| None).expect("it can be checked")))
        .collect();
    let reports: Vec<Report<'_>> =
        found.iter().map(|(options, outcome)| Report { program: &program, options, outcome }).collect();
    let side = SideBySide { program: &program, reports: &reports };
    side.confirm().expect("the axiomatic models agree");
    tell(&side)
}

/// What is said of a program with the locations `x` and `y` after the table.
fn check_reasons(build: impl FnOnce(&mut Builder, Loc, Loc), expected: Expect) {
    let mut p = Builder::new("test");
    let x = p.shared("x", 0);
    let y = p.shared("y", 0);
    build(&mut p, x, y);
    let text = compare(p.build().expect("well formed"), |side| side.render(Detail::Brief, Drawing::default()));
    let (_, reasons) = text.split_once(" adds").expect("something is added");
    let lines = reasons.lines().skip(1).filter(|line| line.starts_with("  ") && !line.contains("show:"));
    expected.assert_eq(&lines.map(|line| format!("{}\n", line.trim())).collect::<String>());
}

#[test]
fn a_relaxed_update_overtakes_a_store_under_pso() {
    check_reasons(
        |p, x, y| {
            p.thread("P0", |t| {
                t.store(x, 1);
                t.rmw("r", y, Update::Fetch(FetchOp::Add, 1.into()), Order::Relaxed);
            });
            p.thread("P1", |t| {
                t.load("a", y);
                t.load("b", x);
            });
        },
        expect![[r#"
            the read-modify-write of y overtook the buffered store of x in P0
        "#]],
    );
}

#[test]
fn a_load_of_the_own_store_does_not_hide_what_passed() {
    check_reasons(
        |p, x, y| {
            for (name, own, other) in [("P0", x, y), ("P1", y, x)] {
                p.thread(name, |t| {
                    t.store(own, 1);
                    t.load("a", own);
                    t.load("b", other);
                });
            }
        },
        expect![[r#"
            the load of y passed the buffered store of x in P0
        "#]],
    );
}

#[test]
fn a_store_that_leaves_an_exclusive_stretch_late_is_named() {
    check_reasons(
        |p, x, _| {
            for name in ["P0", "P1"] {
                p.thread(name, |t| {
                    t.exclusive(|t| {
                        let old = t.load("old", x);
                        t.store(x, old.plus(1));
                    });
                });
            }
        },
        expect![[r#"
            the store of x in P0 was still buffered when another thread continued
        "#]],
    );
}

#[test]
fn every_state_that_a_model_adds_to_a_random_program_has_a_reason() {
    let mut added = 0;
    for seed in 0..1_000 {
        let program = generate(seed, &Shape::full());
        // Why a stretch without a switch cannot be so under SC is not always found.
        if program.threads.iter().flat_map(|thread| &thread.places).any(|place| place.exclusive) {
            continue;
        }
        let shown = program.to_string();
        let text = compare(program, |side| side.json());
        assert!(!text.contains("\"reason\":null"), "{shown}\n{text}");
        added += text.matches("\"reason\":\"the ").count();
    }
    assert!(added > 200, "only {added} states were added");
}

#[test]
fn a_graph_has_the_edges_of_spawn_and_join() {
    let mut p = Builder::new("a \"fork\"");
    let x = p.shared("x", 0);
    let child = p.spawned("child", |t| {
        t.fetch_add("r", x, 1);
        t.store(x, 5);
    });
    p.thread("main", |t| {
        t.spawn(child);
        t.join(child);
        t.load("s", x);
    });
    let program = Arc::new(p.build().expect("well formed"));
    let options = Options::new(BUFFER_MODELS[0].id);
    let outcome = check(&program, &options, &|| None).expect("it can be checked");
    let schedule = outcome.states.values().next().expect("it ends");
    let again = teetotal_engine::trace_of(&program, options.model, schedule);
    expect![[r#"
        digraph "a \"fork\"" {
          label="once";
          node [shape=box, fontname=monospace];
          edge [fontname=monospace];
          subgraph cluster_0 {
            label="child";
            e1 [label="(2) r = fetch_add(x, 1)\nreads x=0 (initial)\nwrites x=1"];
            e2 [label="(3) x = 5\nwrites x=5"];
          }
          subgraph cluster_1 {
            label="main";
            e0 [label="(1) spawn child"];
            e3 [label="(4) join child"];
            e4 [label="(5) s = x\nreads x=5"];
          }
          e0 -> e1 [label=po, color=black, fontcolor=black];
          e1 -> e2 [label=po, color=black, fontcolor=black];
          e0 -> e3 [label=po, color=black, fontcolor=black];
          e2 -> e3 [label=po, color=black, fontcolor=black];
          e3 -> e4 [label=po, color=black, fontcolor=black];
          e2 -> e4 [label=rf, color=red, fontcolor=red];
          e1 -> e2 [label=co, color=blue, fontcolor=blue];
          e1 -> e2 [label=fr, color=darkorange, fontcolor=darkorange];
        }
    "#]]
    .assert_eq(&dot(&program, &again.trace, "once"));
}
