//! What litmus tests for C show under each model.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal_check::{Options, Outcome, SearchInfo, check};
use teetotal_frontends::litmus;
use teetotal_memory::BUFFER_MODELS;
use teetotal_program::ir::Program;

fn outcomes(text: &str) -> (Arc<Program>, Vec<Outcome>) {
    let program = litmus::read("test.litmus", text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let program = Arc::new(program);
    let outcome = |model| check(&program, &Options::new(model), &|| None).expect("it can be checked");
    let outcomes = BUFFER_MODELS.iter().map(|info| outcome(info.id)).collect();
    (program, outcomes)
}

/// What is observed of the formula inside the condition, and how many final states there are.
fn observed(outcome: &Outcome) -> String {
    assert!(outcome.coverage.is_complete());
    let word = match (&outcome.satisfying, &outcome.falsifying) {
        (None, _) => "never",
        (_, None) => "always",
        _ => "sometimes",
    };
    let wrong = if outcome.violations.is_empty() { "" } else { " violated" };
    format!("{word} {}{wrong}", outcome.states.len())
}

fn row(text: &str) -> String {
    let (program, outcomes) = outcomes(text);
    let cells: Vec<String> = outcomes.iter().map(observed).collect();
    format!("{:<28}{}\n", program.name, cells.iter().map(|cell| format!("{cell:<22}")).collect::<String>().trim_end())
}

#[test]
fn every_test_of_the_corpus_for_c_has_its_outcomes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus");
    let entries = fs::read_dir(folder).expect("the corpus is part of the repository");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("C-")));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "litmus"));
    paths.sort();
    let rows: String = paths.iter().map(|path| row(&fs::read_to_string(path).expect("tests are text"))).collect();
    expect![[r#"
        C-2+2W+fence-rels           never 3               never 3               never 3
        C-CAS+strong                always 2              always 2              always 2
        C-CAS+weak                  sometimes 2           sometimes 2           sometimes 2
        C-INC+plain                 sometimes 2           sometimes 2           sometimes 2
        C-INC+weak-loops            always 1              always 1              always 1
        C-IRIW                      never 15              never 15              never 15
        C-LB                        never 3               never 3               never 3
        C-LOCK+counter              always 1              always 1              always 1
        C-LOCK+trylock              never 4               never 4               never 4
        C-MP+filter                 always 1              always 1              always 1
        C-MP+na+rel+acq             never 2               never 2               never 2
        C-MP+onceassign+derefonce   never 2               never 2               never 2
        C-MP+poll+wmb               always 1              always 1              always 1
        C-MP                        never 3               never 3               sometimes 4
        C-REF+dec-and-test          always 2              always 2              always 2
        C-SB+fences                 never 3               never 3               never 3
        C-SB+mbonceonces            never 3               never 3               never 3
        C-SB+scs                    never 3               never 3               never 3
        C-SB+unlock+mb              never 3               sometimes 4           sometimes 4
        C-SB+xchg-relaxeds          never 3               never 3               sometimes 4
        C-SB                        never 3               sometimes 4           sometimes 4
        C-n6                        never 4               sometimes 5           sometimes 6
    "#]]
    .assert_eq(&rows);
}

/// Two threads, in which `{}` stands for something in the place of which each of `fillings` is put.
fn check_each(pattern: &str, fillings: &[(&str, &str)], expected: Expect) {
    let mut rows = String::new();
    for (name, filling) in fillings {
        let text = format!("C {name}\n{{}}\n{}", pattern.replace("{}", filling));
        rows.push_str(&row(&text));
    }
    expected.assert_eq(&rows);
}

#[test]
fn store_buffering_with_each_fence() {
    check_each(
        "P0(int *x, int *y, int *z) { WRITE_ONCE(*x, 1); {} int r0 = READ_ONCE(*y); }\n\
         P1(int *x, int *y, int *w) { WRITE_ONCE(*y, 1); {} int r0 = READ_ONCE(*x); }\nexists (0:r0=0 /\\ 1:r0=0)\n",
        &[
            ("nothing", ""),
            ("smp_mb", "smp_mb();"),
            ("smp_wmb", "smp_wmb();"),
            ("smp_rmb", "smp_rmb();"),
            ("barrier", "barrier();"),
            ("smp_mb__before_atomic", "smp_mb__before_atomic();"),
            ("fence-seq_cst", "atomic_thread_fence(memory_order_seq_cst);"),
            ("fence-acq_rel", "atomic_thread_fence(memory_order_acq_rel);"),
            ("signal-fence", "atomic_signal_fence(memory_order_seq_cst);"),
        ],
        expect![[r#"
            nothing                     never 3               sometimes 4           sometimes 4
            smp_mb                      never 3               never 3               never 3
            smp_wmb                     never 3               sometimes 4           sometimes 4
            smp_rmb                     never 3               sometimes 4           sometimes 4
            barrier                     never 3               sometimes 4           sometimes 4
            smp_mb__before_atomic       never 3               never 3               never 3
            fence-seq_cst               never 3               never 3               never 3
            fence-acq_rel               never 3               sometimes 4           sometimes 4
            signal-fence                never 3               sometimes 4           sometimes 4
        "#]],
    );
}

#[test]
fn message_passing_with_each_fence() {
    check_each(
        "P0(int *x, int *y) { *x = 1; {} *y = 1; }\n\
         P1(int *x, int *y) { int r0 = *y; int r1 = *x; }\nexists (1:r0=1 /\\ 1:r1=0)\n",
        &[
            ("nothing", ""),
            ("smp_wmb", "smp_wmb();"),
            ("smp_rmb", "smp_rmb();"),
            ("fence-release", "atomic_thread_fence(release);"),
            ("fence-acquire", "atomic_thread_fence(acquire);"),
            ("fence-relaxed", "atomic_thread_fence(relaxed);"),
        ],
        expect![[r#"
            nothing                     never 3               never 3               sometimes 4
            smp_wmb                     never 3               never 3               never 3
            smp_rmb                     never 3               never 3               sometimes 4
            fence-release               never 3               never 3               never 3
            fence-acquire               never 3               never 3               sometimes 4
            fence-relaxed               never 3               never 3               sometimes 4
        "#]],
    );
}

#[test]
fn message_passing_with_each_way_to_write_the_flag() {
    check_each(
        "P0(int *x, int *y) { int r9 = 0; WRITE_ONCE(*x, 1); {} }\n\
         P1(int *x, int *y) { int r0 = smp_load_acquire(y); int r1 = READ_ONCE(*x); }\nexists (1:r0=1 /\\ 1:r1=0)\n",
        &[
            ("plain", "*y = 1;"),
            ("smp_store_release", "smp_store_release(y, 1);"),
            ("smp_store_mb", "smp_store_mb(*y, 1);"),
            ("atomic_store", "atomic_store(y, 1);"),
            ("xchg", "xchg(y, 1);"),
            ("xchg_relaxed", "xchg_relaxed(y, 1);"),
            ("xchg_acquire", "xchg_acquire(y, 1);"),
            ("xchg_release", "xchg_release(y, 1);"),
            ("atomic_inc", "atomic_inc(y);"),
            ("wmb-atomic_inc", "smp_wmb(); atomic_inc(y);"),
            ("mb-atomic_inc", "smp_mb__before_atomic(); atomic_inc(y);"),
            ("atomic_inc_return", "atomic_inc_return(y);"),
            ("cmpxchg", "cmpxchg(y, 0, 1);"),
            ("cmpxchg_relaxed", "cmpxchg_relaxed(y, 0, 1);"),
            ("atomic_add_unless", "atomic_add_unless(y, 1, 5);"),
            ("cas-release", "atomic_compare_exchange_strong_explicit(y, &r9, 1, release, relaxed);"),
        ],
        expect![[r#"
            plain                       never 3               never 3               sometimes 4
            smp_store_release           never 3               never 3               never 3
            smp_store_mb                never 3               never 3               sometimes 4
            atomic_store                never 3               never 3               never 3
            xchg                        never 3               never 3               never 3
            xchg_relaxed                never 3               never 3               sometimes 4
            xchg_acquire                never 3               never 3               sometimes 4
            xchg_release                never 3               never 3               never 3
            atomic_inc                  never 3               never 3               sometimes 4
            wmb-atomic_inc              never 3               never 3               never 3
            mb-atomic_inc               never 3               never 3               never 3
            atomic_inc_return           never 3               never 3               never 3
            cmpxchg                     never 3               never 3               never 3
            cmpxchg_relaxed             never 3               never 3               sometimes 4
            atomic_add_unless           never 3               never 3               never 3
            cas-release                 never 3               never 3               never 3
        "#]],
    );
}

#[test]
fn a_failed_compare_exchange_orders_nothing_under_pso() {
    check_each(
        "P0(int *x, int *y, int *z) { int r9 = 3; WRITE_ONCE(*x, 1); {} int r0 = READ_ONCE(*y); }\n\
         P1(int *x, int *y, int *z) { WRITE_ONCE(*y, 1); smp_mb(); int r0 = READ_ONCE(*x); }\nexists (0:r0=0 /\\ 1:r0=0)\n",
        &[
            ("cmpxchg", "cmpxchg(z, 3, 1);"),
            ("atomic_add_unless", "atomic_add_unless(z, 1, 0);"),
            ("cas", "atomic_compare_exchange_strong(z, &r9, 1);"),
            ("weak", "atomic_compare_exchange_weak(z, &r9, 1);"),
            ("spin_trylock", "spin_trylock(z);"),
        ],
        expect![[r#"
            cmpxchg                     never 3               never 3               sometimes 4
            atomic_add_unless           never 3               never 3               sometimes 4
            cas                         never 3               never 3               sometimes 4
            weak                        never 3               never 3               sometimes 4
            spin_trylock                never 3               never 3               sometimes 4
        "#]],
    );
}

#[test]
fn coherence_and_reading_the_own_store() {
    check_each(
        "P0(int *x) { *x = 1; *x = 2; }\nP1(int *x) { int r0 = *x; int r1 = *x; }\n{}\n",
        &[("CoRR", "exists (1:r0=2 /\\ 1:r1=1)"), ("final", "forall (x=2)")],
        expect![[r#"
            CoRR                        never 6               never 6               never 6
            final                       always 1              always 1              always 1
        "#]],
    );
}

#[test]
fn numbers_have_the_signs_of_their_types_and_addresses_are_named() {
    let text = "C n\n{ int *p=&x; unsigned u=0; }\nP0(int **p, int *y, unsigned *u, int *x) { int *r0 = *p; *p = y; *u = -1; int r1 = -1; unsigned r2 = *u; *x = r2; }\n\
                locations [0:r0; 0:r1; 0:r2; p; u; x;]\n";
    let (program, outcomes) = outcomes(text);
    assert!(program.names_addresses);
    let mut shown = String::new();
    for values in outcomes[0].states.keys() {
        writeln!(shown, "{}", program.show_outcome(values)).expect("a string takes any text");
    }
    expect![[r#"
        0:r0=x; 0:r1=-1; 0:r2=4294967295; [p]=y; [u]=4294967295; [x]=-1;
    "#]]
    .assert_eq(&shown);
}

#[test]
fn a_filter_discards_executions_for_every_architecture() {
    let table = " P0 | P1 ;\n movl $1,(x) | movl (x),%eax ;\n";
    for (filter, expected) in [
        ("", expect!["sometimes 2, 2 completed, 0 discarded, vacuous: false"]),
        ("filter (1:rax=1)\n", expect!["never 1, 1 completed, 1 discarded, vacuous: false"]),
        ("filter (1:rax=2)\n", expect!["never 0, 0 completed, 2 discarded, vacuous: true"]),
    ] {
        let (_, outcomes) = outcomes(&format!("X86_64 n\n{{}}\n{table}{filter}exists (1:rax=0)\n"));
        let stats = outcomes[0].stats;
        expected.assert_eq(&format!(
            "{}, {} completed, {} discarded, vacuous: {}",
            observed(&outcomes[0]),
            stats.completed,
            stats.discarded,
            outcomes[0].is_vacuous()
        ));
    }
}

#[test]
fn deadlocks_of_spinlocks_are_found() {
    let text = "C n\n{}\nP0(spinlock_t *a, spinlock_t *b) { spin_lock(a); spin_lock(b); spin_unlock(b); spin_unlock(a); }\n\
                P1(spinlock_t *a, spinlock_t *b) { spin_lock(b); spin_lock(a); spin_unlock(a); spin_unlock(b); }\nforall (true)\n";
    assert!(outcomes(text).1.iter().all(|outcome| !outcome.violations.is_empty() && outcome.stats.blocked > 0));
}

#[test]
fn every_search_heeds_the_filter_and_weak_failures() {
    let texts = [
        "C n\n{}\nP0(int *x, int *y) { *x = 1; *y = 1; }\nP1(int *x, int *y) { int r0 = *y; int r1 = *x; }\n\
         locations [1:r0; 1:r1;]\nfilter (1:r0=1)\n",
        "C n\n{}\nP0(int *x) { int r0 = 0; int r1 = atomic_compare_exchange_weak(x, &r0, 1); }\nP1(int *x) { *x = 2; }\n\
         locations [0:r0; 0:r1; x;]\n",
    ];
    for text in texts {
        let (program, outcomes) = outcomes(text);
        for outcome in &outcomes {
            for search in SearchInfo::of_programs() {
                let options = Options { search: search.id, ..Options::new(outcome.model) };
                let other = check(&program, &options, &|| None).expect("it can be checked");
                let keys = |outcome: &Outcome| outcome.states.keys().cloned().collect::<Vec<_>>();
                assert_eq!(keys(outcome), keys(&other), "{} {}", search.name, outcome.model.info().name);
                assert!(other.stats.discarded > 0, "{}", search.name);
            }
        }
    }
}
