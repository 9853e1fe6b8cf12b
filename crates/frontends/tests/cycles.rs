//! Cycles of edges: what they are called, which tests they make, and what each model says.

use expect_test::{Expect, expect};
use teetotal_frontends::litmus::cycles::{Access, Barrier, Cycle, CycleError, Edge, Relation, Whereto, cycles};
use teetotal_frontends::litmus::{self, Flavor};

mod common;

use common::without_places;

fn cycle(text: &str) -> Cycle {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The models that allow a cycle.
fn allowing(text: &str) -> String {
    let prediction = cycle(text).prediction();
    let models = [(prediction.sc, "sc"), (prediction.tso, "tso"), (prediction.pso, "pso")];
    models.iter().filter(|(allowed, _)| *allowed).map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

fn check(cycle_text: &str, flavor: Flavor, expected: Expect) {
    expected.assert_eq(&cycle(cycle_text).text("test", Some("What it is about"), flavor));
}

#[test]
fn the_classics_are_made_of_their_cycles() {
    check(
        "PodWR Fre PodWR Fre",
        Flavor::X86_64,
        expect![[r#"
        X86_64 test
        "What it is about"
        Cycle=PodWR Fre PodWR Fre
        { uint64_t x; uint64_t y; uint64_t 0:rax; uint64_t 1:rax; }
         P0            | P1            ;
         movq $1,(x)   | movq $1,(y)   ;
         movq (y),%rax | movq (x),%rax ;
        exists (0:rax=0 /\ 1:rax=0)
    "#]],
    );
    check(
        "Rfe MFencedRR FreRU PodUR Fre",
        Flavor::X86,
        expect![[r#"
        X86 test
        "What it is about"
        Cycle=Rfe MFencedRR FreRU PodUR Fre
        { x=0; y=0; 2:EAX=1; }
         P0         | P1          | P2           ;
         MOV [x],$1 | MOV EAX,[x] | XCHG [y],EAX ;
                    | MFENCE      | MOV EBX,[x]  ;
                    | MOV EBX,[y] |              ;
        exists (1:EAX=1 /\ 1:EBX=0 /\ 2:EBX=0)
    "#]],
    );
    check(
        "SFencedWW Coe Rfi PodRW Coe",
        Flavor::X86_64,
        expect![[r#"
        X86_64 test
        "What it is about"
        Cycle=SFencedWW Coe Rfi PodRW Coe
        { uint64_t x; uint64_t y; uint64_t 1:rax; }
         P0          | P1            ;
         movq $2,(x) | movq $2,(y)   ;
         sfence      | movq (y),%rax ;
         movq $1,(y) | movq $1,(x)   ;
        exists (1:rax=2 /\ [x]=2 /\ [y]=2)
    "#]],
    );
    check(
        "PodWU RfeUR PodRU CoeUW",
        Flavor::X86_64,
        expect![[r#"
        X86_64 test
        "What it is about"
        Cycle=PodWU RfeUR PodRU CoeUW
        { uint64_t x; uint64_t y; uint64_t 0:rax=1; uint64_t 1:rax; uint64_t 1:rbx=1; }
         P0             | P1             ;
         movq $2,(x)    | movq (y),%rax  ;
         xchgq %rax,(y) | xchgq %rbx,(x) ;
        exists (1:rax=1 /\ [x]=2)
    "#]],
    );
}

#[test]
fn a_relaxed_edge_allows_a_cycle_that_has_no_other_way_round() {
    for (text, models) in [
        ("PodWR Fre PodWR Fre", "tso pso"),
        ("MFencedWR Fre PodWR Fre", "tso pso"),
        ("SFencedWR Fre LFencedWR Fre", "tso pso"),
        ("MFencedWR Fre MFencedWR Fre", ""),
        ("PodUR FreRU PodUR FreRU", ""),
        ("PodWR FreRU PodUR Fre", "tso pso"),
        ("PodWW Rfe PodRR Fre", "pso"),
        ("SFencedWW Rfe PodRR Fre", ""),
        ("LFencedWW Rfe LFencedRR Fre", "pso"),
        ("PodWU RfeUR PodRR Fre", ""),
        ("PodRW Rfe PodRW Rfe", ""),
        ("PodWW Coe PodWW Coe", "pso"),
        ("PodWW Coe PodWR Fre", "tso pso"),
        ("Rfe PodRR Fre Rfe PodRR Fre", ""),
        ("Rfe PodRW Rfe PodRR Fre", ""),
    ] {
        assert_eq!(allowing(text), models, "{text}");
    }
}

#[test]
fn a_load_may_see_the_store_of_its_own_thread_before_the_others_do() {
    // The load that forwards is kept before the next load, and not after the store.
    assert_eq!(allowing("Rfi PodRR Fre Rfi PodRR Fre"), "tso pso");
    assert_eq!(allowing("Rfi PodRR Fre PodWW Coe"), "tso pso");
    assert_eq!(allowing("Rfi PodRR Fre Rfe PodRR Fre"), "tso pso");
    // With a fence on either side of it nothing is left to see.
    assert_eq!(allowing("Rfi MFencedRR Fre Rfi MFencedRR Fre"), "");
    assert_eq!(allowing("MFencesWR PodRR Fre MFencesWR PodRR Fre"), "");
    // Two stores with a forwarding load between them are kept in order only where stores are.
    assert_eq!(allowing("Rfi PodRW Rfe PodRR Fre"), "pso");
    // Coherence keeps what goes round one location, whatever forwards.
    assert_eq!(allowing("Rfi PosRR Fre PosWR Fre"), "");
}

#[test]
fn what_leads_from_a_load_keeps_more_than_its_steps() {
    // The store in the middle may be late, but the loads around it are in order.
    assert_eq!(allowing("Rfe PodRW PosWR Fre PodWR Fre"), "tso pso");
    assert_eq!(allowing("Rfe PodRW PodWR Fre Rfe PodRW PodWR Fre"), "");
}

/// With two accesses in each thread the verdict can be read off the edges one by one.
#[test]
fn two_accesses_a_thread_are_judged_edge_by_edge() {
    let steps = |edge: &Edge| matches!(edge.relation(), Relation::ProgramOrder(Whereto::OtherLocation, _));
    let vocabulary: Vec<Edge> = Edge::all().into_iter().filter(|edge| steps(edge) || edge.is_external()).collect();
    let mut n_checked = 0;
    for cycle in cycles(&vocabulary, 4, 4) {
        let edges = cycle.edges();
        if edges.windows(2).any(|pair| steps(&pair[0]) == steps(&pair[1])) {
            continue;
        }
        n_checked += 1;
        let relaxed = |edge: &Edge, weak: bool| match (edge.relation(), edge.ends()) {
            (Relation::ProgramOrder(_, Some(Barrier::Full)), _) => false,
            (Relation::ProgramOrder(..), (Access::Write, Access::Read)) => true,
            (Relation::ProgramOrder(_, barrier), (Access::Write, Access::Write)) => {
                weak && barrier != Some(Barrier::Stores)
            }
            _ => false,
        };
        let prediction = cycle.prediction();
        assert!(!prediction.sc, "{cycle}");
        assert_eq!(prediction.tso, edges.iter().any(|edge| relaxed(edge, false)), "{cycle}");
        assert_eq!(prediction.pso, edges.iter().any(|edge| relaxed(edge, true)), "{cycle}");
    }
    assert!(n_checked > 500, "only {n_checked} cycles were looked at");
}

#[test]
fn every_edge_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<String> = Edge::all().iter().map(Edge::to_string).collect();
    assert_eq!(names.len(), Edge::all().len());
    assert_eq!(cycle("PodWW Wse PodWW Wse"), cycle("PodWW Coe PodWW Coe"));
    assert_eq!(cycle("Fre PodWR Fre PodWR").to_string(), "PodWR Fre PodWR Fre");
}

#[test]
fn what_is_no_cycle_says_why() {
    let wrong = |text: &str| text.parse::<Cycle>().expect_err("this is no cycle");
    assert_eq!(wrong("PodWR Fro"), CycleError::UnknownEdge("Fro".into()));
    assert_eq!(wrong("PodWR Rfe").to_string(), "`Rfe` cannot follow `PodWR`");
    assert_eq!(wrong(""), CycleError::OneThread);
    assert_eq!(wrong("PodWR Fri"), CycleError::OneThread);
    assert_eq!(wrong("PodWR Fre Coe"), CycleError::NoWayBack);
    assert_eq!(wrong("Coe Coe"), CycleError::Contradiction);
    assert_eq!(wrong("Rfe Fre"), CycleError::Contradiction);
    assert_eq!(wrong("Coe Coe PodWW Coe PodWW"), CycleError::ManyWrites);
    assert_eq!(wrong(&"PodWR Fre ".repeat(7)), CycleError::TooLong(14));
}

/// A file of the corpus with a line `Cycle=` is what its head says; `UPDATE_EXPECT=1` makes it so.
#[test]
fn the_corpus_has_the_tests_of_its_cycles() {
    let mut n_made = 0;
    for file in common::corpus() {
        let Some(line) = file.text.lines().find_map(|line| line.strip_prefix("Cycle=")) else { continue };
        let (architecture, name) = file.text.lines().next().and_then(|line| line.split_once(' ')).expect("a header");
        let flavor = if architecture == "X86" { Flavor::X86 } else { Flavor::X86_64 };
        let remark = file.text.split('"').nth(1);
        expect_test::expect_file![&file.path].assert_eq(&cycle(line).text(name, remark, flavor));
        n_made += 1;
    }
    assert!(n_made >= 30, "only {n_made} tests are made of cycles");
}

#[test]
fn what_is_made_is_printed_as_the_same_program() {
    let vocabulary: Vec<Edge> = Edge::all();
    for cycle in cycles(&vocabulary, 4, 4) {
        for flavor in [Flavor::X86, Flavor::X86_64] {
            let text = cycle.text("test", None, flavor);
            let printed = litmus::print(&text).unwrap_or_else(|errors| panic!("{cycle}: {}", errors[0]));
            let [first, second] = [&text, &printed].map(|text| {
                litmus::read("test", text).map(without_places).unwrap_or_else(|e| panic!("{cycle}: {}", e[0]))
            });
            assert_eq!(first, second, "{cycle}");
        }
    }
}
