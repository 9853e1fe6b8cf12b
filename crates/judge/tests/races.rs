//! Races that are predicted from an execution that has none.

use std::sync::Arc;

use teetotal_generate::program;
use teetotal_judge::races::{DataRace, Watch, predict};
use teetotal_memory::models::{Sc, Tso};
use teetotal_memory::{Machine, Model, ModelId, Step, Trace};
use teetotal_program::ir::{Builder, Expr, Interpreter, Program};
use teetotal_program::{Loc, Subject, ThreadId};

/// The execution of SC in which these threads perform an operation each, one after the other.
fn execution(program: &Arc<Program>, steps: &[Step]) -> Trace {
    execution_under::<Sc>(program, steps)
}

fn execution_under<M: Model>(program: &Arc<Program>, steps: &[Step]) -> Trace {
    let mut subject = Interpreter::new(Arc::clone(program));
    subject.restart();
    let mut machine = Machine::<M>::new(&subject);
    let mut trace = Trace::default();
    for &step in steps {
        machine.perform(&mut subject, step, &mut trace);
    }
    trace
}

fn races(program: &Program, trace: &Trace) -> Vec<DataRace> {
    let mut races = Vec::new();
    Watch::default().follow(program, trace, &mut races);
    races
}

fn turns(threads: &[u16]) -> Vec<Step> {
    threads.iter().map(|&thread| Step::Issue { thread: ThreadId(thread), alternative: 0 }).collect()
}

/// The load reads what was released; it might as well read the same value from the other store.
#[test]
fn a_value_that_may_come_from_elsewhere_is_tried_from_there() {
    let program = Arc::new(program("d=1; f=rel 1 || f=rlx 1 || r0=acq f; if r0==1: r1=d"));
    let trace = execution(&program, &turns(&[1, 0, 0, 2, 2]));
    assert_eq!(races(&program, &trace), []);
    let prediction = predict(&program, ModelId::Sc, &trace, &|_| false);
    assert!(prediction.effort.questions > 0 && !prediction.is_partial);
    let [steps] = &prediction.schedules[..] else { panic!("one race is predicted: {prediction:?}") };
    let shown = races(&program, &execution(&program, steps));
    assert_eq!(shown.len(), 1, "{shown:?}");
    let known = predict(&program, ModelId::Sc, &trace, &|race| shown.contains(race));
    assert_eq!((known.schedules.len(), known.effort.questions), (0, 0));
}

#[test]
fn accesses_that_a_lock_keeps_apart_are_not_asked_about() {
    let program = Arc::new(program("lock l; d=1; unlock l || lock l; r0=d; unlock l"));
    let trace = execution(&program, &turns(&[0, 0, 0, 1, 1, 1]));
    let prediction = predict(&program, ModelId::Sc, &trace, &|_| false);
    assert_eq!((prediction.schedules.len(), prediction.effort.questions), (0, 0));
}

/// The critical sections may come in the other order, and then nothing orders what is done outside of them.
#[test]
fn accesses_beside_locks_are_tried_in_the_other_order() {
    let program = Arc::new(program("d=1; lock l; unlock l || lock l; unlock l; r0=d"));
    let trace = execution(&program, &turns(&[0, 0, 0, 1, 1, 1]));
    assert_eq!(races(&program, &trace), []);
    let prediction = predict(&program, ModelId::Sc, &trace, &|_| false);
    let [steps] = &prediction.schedules[..] else { panic!("one race is predicted: {prediction:?}") };
    assert_eq!(races(&program, &execution(&program, steps)).len(), 1);
}

/// Nobody can come between the await and the load. The await reads the same whether the update has come or not, but
/// synchronizes with it only in one of these.
#[test]
fn a_stretch_without_a_switch_is_not_interrupted_in_what_is_predicted() {
    let program = Arc::new(stretch_beside_an_update());
    let trace = execution(&program, &turns(&[0, 1, 1]));
    assert_eq!(races(&program, &trace), []);
    let prediction = predict(&program, ModelId::Sc, &trace, &|_| false);
    assert!(!prediction.is_partial);
    let [steps] = &prediction.schedules[..] else { panic!("one race is predicted: {prediction:?}") };
    assert_eq!(steps[..], turns(&[1, 1, 0]));
    assert_eq!(races(&program, &execution(&program, steps)).len(), 1);
}

fn stretch_beside_an_update() -> Program {
    let mut p = Builder::new("stretch");
    let y = p.shared("y", 0);
    p.thread("P0", |t| {
        t.fetch_add("r1", y, 0);
    });
    p.thread("P1", |t| {
        t.exclusive(|t| {
            t.await_until("r2", y, |_| Expr::from(1));
            t.load("r3", y);
        });
    });
    p.build().expect("the program is right")
}

/// Next to a store that is still buffered, the compare-exchange fails and writes nothing; that is another race.
#[test]
fn a_compare_exchange_writes_in_the_race_that_is_predicted_of_it() {
    let mut p = Builder::new("exchanges");
    let x = p.shared("x", 0);
    p.thread("P0", |t| {
        t.store(x, 1);
        t.exchange("r1", x, 1);
    });
    p.thread("P1", |t| {
        t.compare_exchange("r2", x, 1, 1);
    });
    let program = Arc::new(p.build().expect("the program is right"));
    let commit = Step::Commit { thread: ThreadId(0), loc: Loc(0) };
    let steps = [&turns(&[0])[..], &[commit], &turns(&[0, 1])].concat();
    let trace = execution_under::<Tso>(&program, &steps);
    assert_eq!(races(&program, &trace), []);
    let prediction = predict(&program, ModelId::Tso, &trace, &|_| false);
    let found = prediction.schedules.iter().map(|steps| races(&program, &execution_under::<Tso>(&program, steps)));
    let both_write = |race: &DataRace| race.accesses.iter().all(|access| access.is_write);
    assert!(found.flatten().any(|race| both_write(&race)), "{prediction:?}");
}
