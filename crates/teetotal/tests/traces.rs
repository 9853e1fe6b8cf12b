//! Executions that are written as traces and monitored give what the monitor of the search gives.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::sync::Arc;

use expect_test::{Expect, expect};
use teetotal::parts::check::{Waiter, each_execution};
use teetotal::parts::dpor;
use teetotal::parts::engine::driver::Flow;
use teetotal::parts::judge::monitors::robustness::{Attempt, Borderline, Waits};
use teetotal::traces::Format;
use teetotal::{Limits, ModelId, Monitored, Monitoring, Program, Trace, monitor, record};
use teetotal_generate::{Shape, generate};

/// A thread and a place in its code, of a store and of an access.
type Sites = ((String, u32), (String, u32));

fn limits() -> Limits {
    Limits { executions: Some(60), ..Limits::default() }
}

/// What the monitor of the search finds in an execution.
fn online(program: &Program, model: ModelId, trace: &Trace, waiters: &[Waiter]) -> BTreeSet<Sites> {
    let mut algorithm = Borderline::new(program, model);
    let name = |thread: teetotal::ThreadId| program.threads[thread.index()].name.clone();
    let mut found = BTreeSet::new();
    let mut add = |store: Option<_>, access| {
        let store = store.map(|id| trace.event(id));
        found.extend(store.map(|store| ((name(store.thread), store.place), access)));
    };
    for (id, event) in trace.ids() {
        let attempt = Attempt::of(model, event);
        let store = attempt.and_then(|attempt| algorithm.overtaken(&attempt));
        add(store, (name(event.thread), event.place));
        algorithm.perform(id, event);
    }
    for &Waiter { thread, loc, kind, order, place } in waiters {
        let waits = Waits::of_kind(model, kind, order);
        let attempt = Attempt { thread, loc, waits, waits_to_write: waits, is_store: false };
        add(algorithm.overtaken(&attempt), (name(thread), place));
    }
    found
}

fn monitored(trace: impl Read, model: ModelId) -> Monitored {
    let (found, error) = monitor(trace, &Monitoring { name: "trace".to_owned(), model, window: None }, &|| false);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(found.gap, None);
    found
}

fn sites(found: &Monitored) -> BTreeSet<Sites> {
    let site = |spot: &teetotal::Spot| {
        let place = spot.place.as_deref().and_then(|place| place.split_once(':')).expect("it begins with its position");
        (spot.thread.clone(), place.0.parse().expect("a position is a number"))
    };
    found.pairs.iter().map(|pair| (site(&pair.store), site(&pair.access))).collect()
}

#[test]
fn a_recorded_execution_is_monitored_as_the_search_does() {
    let (mut executions, mut with_delays) = (0, 0);
    for seed in 0..1_000 {
        let program = Arc::new(generate(seed, &Shape::full()));
        if dpor::unsupported(&program).is_some() || program.n_operations() == 0 {
            continue;
        }
        let mut texts = Vec::new();
        let (written, _) = record(&program, &limits(), &|| None, Format::Own, &mut |_, text| {
            texts.push(text.to_vec());
            Ok(())
        })
        .expect("it can be recorded");
        assert_eq!(written.expect("nothing goes wrong"), texts.len() as u64);
        let mut index = 0;
        let mut compare = |trace: &Trace, waiters: &[Waiter]| {
            for model in [ModelId::Tso, ModelId::Pso] {
                let expected = online(&program, model, trace, waiters);
                let found = monitored(&texts[index][..], model);
                assert_eq!(found.events, trace.events().len() as u64);
                assert_eq!(sites(&found), expected, "seed {seed}\n{}", String::from_utf8_lossy(&texts[index]));
                with_delays += u32::from(!expected.is_empty());
            }
            index += 1;
            executions += 1;
            Flow::Continue
        };
        each_execution(&program, &limits(), &|| None, &mut compare).expect("it can be searched");
    }
    assert!(executions > 1_000 && with_delays > 300, "{executions} executions, {with_delays} with delays");
}

#[test]
fn executions_in_one_file_are_told_apart() {
    let program = Arc::new(teetotal::gallery::store_buffering());
    let mut text = Vec::new();
    let keep = &mut |_, execution: &[u8]| {
        text.extend_from_slice(execution);
        Ok(())
    };
    let (written, _) = record(&program, &limits(), &|| None, Format::Own, keep).expect("it can be recorded");
    assert_eq!(written.expect("nothing goes wrong"), 3);
    let found = monitored(&text[..], ModelId::Tso);
    assert_eq!((found.executions, found.pairs.len()), (3, 2));
}

#[test]
fn what_std_has_words_for_is_monitored_as_in_our_own_format() {
    for program in [teetotal::gallery::store_buffering(), teetotal::gallery::message_passing()] {
        let program = Arc::new(program);
        let mut formats = [Format::Own, Format::Std].map(|format| {
            let mut found = Vec::new();
            let keep = &mut |_, text: &[u8]| {
                for model in [ModelId::Tso, ModelId::Pso] {
                    found.push(sites(&monitored(text, model)));
                }
                Ok(())
            };
            let (written, _) = record(&program, &limits(), &|| None, format, keep).expect("it can be recorded");
            written.expect("nothing goes wrong");
            found
        });
        assert_eq!(std::mem::take(&mut formats[0]), formats[1]);
    }
}

/// A reader that gives one byte at a time.
struct Dribble<'t>(&'t [u8]);

impl Read for Dribble<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.0.len().min(into.len()).min(1);
        into[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

#[test]
fn pieces_of_a_stream_may_end_anywhere() {
    let text = b"# SB\r\n\nT0|w(x)|3\r\nT0|r(y)|4\nT1|w(y)|7\nT1|r(x)|8\n";
    let whole = monitored(&text[..], ModelId::Tso);
    assert_eq!(monitored(Dribble(text), ModelId::Tso).json(), whole.json());
    assert_eq!(whole.pairs.len(), 1);
}

/// What is wrong with each trace that begins so, after how many events and pairs.
fn refuse(beginning: &str, endings: &[&str], expected: Expect) {
    let options = Monitoring { name: "trace".to_owned(), model: ModelId::Tso, window: None };
    let mut lines = String::new();
    for ending in endings {
        let (found, error) = monitor(format!("{beginning}{ending}").as_bytes(), &options, &|| false);
        let error = error.expect("something is wrong");
        lines.push_str(&format!("{error} ({}, {})\n", found.events, found.pairs.len()));
    }
    expected.assert_eq(&lines);
}

#[test]
fn traces_of_the_format_std_that_are_no_executions_are_refused_and_what_was_found_is_kept() {
    let endings = [
        "T0|r(x",
        "T0|acq(m)|1\nT1|acq(m)|1\n",
        "T0|rel(m)|1\n",
        "T0|join(T7)|1\n",
        "T0|join(T1)|1\nT1|r(x)|1\n",
        "T0|fork(T1)|1\n",
        "T0|jump(T1)|1\n",
        "T0|r()|1\n",
        "T0 load x 1\n",
        "teetotal trace 1\n",
    ];
    refuse(
        "T0|w(x)|3\nT0|r(y)|4\nT1|w(y)|7\nT1|r(x)|8\n",
        &endings,
        expect![[r#"
        line 5: the trace ends in the middle of the line (4, 1)
        line 6: lock(m) is taken while `T0` holds it (5, 1)
        line 5: lock(m) is released by a thread that does not hold it (4, 1)
        line 5: unknown thread `T7` is joined (4, 1)
        line 6: `T1` continues after it was joined (5, 1)
        line 5: `T1` is started after it has begun (4, 1)
        line 5: there is no operation `jump` (4, 1)
        line 5: not of the form `thread|operation(location)|place` (4, 1)
        line 5: a trace of the format std has no line such as `T0 load x 1` (4, 1)
        line 5: a trace of the format std has no line such as `teetotal trace 1` (4, 1)
    "#]],
    );
    refuse(
        "",
        &["hello\n"],
        expect![[r#"
        line 1: `hello` does not begin a trace (0, 0)
    "#]],
    );
}

#[test]
fn traces_of_our_own_format_that_are_no_executions_are_refused() {
    let long = "x".repeat(100_000);
    let endings = [
        "B load x 0\n",
        "B load y 5\n",
        "C load x 1\n",
        "A|w(x)|1\n",
        "A store x\n",
        "A store x -1\n",
        "A store x 1 strongly\n",
        "A store x 1 relaxed now\n",
        "A leap x\n",
        "A\n",
        "A spawn B\n",
        "A waits store x\n",
        "threads A\n",
        "initial x 1\n",
        &format!("{}\n", &long[..50_000]),
        &format!("{long}\n"),
    ];
    refuse(
        "teetotal trace 1\nthreads A B\nA store x 1\n",
        &endings,
        expect![[r#"
        line 4: 0 is read from `x`, which holds 1 since line 3 (1, 0)
        line 4: 5 is read from `y`, which was never written: its initial value is 0 (1, 0)
        line 4: unknown thread `C` (1, 0)
        line 4: a line of the format std in a trace that began in another format (1, 0)
        line 4: `store` needs a value (1, 0)
        line 4: `-1` is not a value from 0 to 18446744073709551615 (1, 0)
        line 4: `strongly` is not an ordering (1, 0)
        line 4: unexpected `now` after `store` (1, 0)
        line 4: there is no operation `leap` (1, 0)
        line 4: an operation is missing (1, 0)
        line 4: `B` is started twice (1, 0)
        line 4: no thread can be blocked at `store` (1, 0)
        line 4: the thread `A` is already named (1, 0)
        line 4: `x` is already written (1, 0)
        line 4: unknown thread `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` (1, 0)
        line 4: unknown thread `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` (1, 0)
    "#]],
    );
}
