//! The solver against every interleaving of what the threads did.

use teetotal_generate::{Shape, generate, program};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{EventId, Machine, Model, Source, Step, Trace};
use teetotal_program::ir::{Interpreter, Program};
use teetotal_program::{Loc, Subject};

use super::candidates::Part;
use super::layout::Layout;
use super::script::{Script, meets};
use super::*;

/// Small numbers that look random.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides.max(1) as u64) as usize
    }
}

/// Some execution of `program`.
fn execution<M: Model>(program: &Program, dice: &mut Dice) -> Trace {
    let mut subject = Interpreter::new(std::sync::Arc::new(program.clone()));
    subject.restart();
    let mut machine = Machine::<M>::new(&subject);
    let (mut trace, mut enabled) = (Trace::default(), Vec::new());
    loop {
        enabled.clear();
        machine.enabled(&subject, &mut enabled);
        if enabled.is_empty() || trace.steps().len() > 40 {
            return trace;
        }
        let step = enabled[dice.throw(enabled.len())];
        machine.perform(&mut subject, step, &mut trace);
    }
}

/// Whether some interleaving of the script meets the demands, by trying all; nothing if they are too many.
fn by_force<M: Model>(layout: &Layout<'_>, question: &Question<'_>) -> Option<bool> {
    let part = Part::new(layout, question);
    let script = Script::new(layout, &part, question);
    let machine = Machine::<M>::new(&script);
    let mut stack = vec![(machine, script, Trace::default())];
    let mut enabled = Vec::new();
    let mut steps = 0;
    while let Some((mut machine, script, trace)) = stack.pop() {
        enabled.clear();
        machine.enabled(&script, &mut enabled);
        if script.is_over() && machine.is_drained() && meets(layout, &trace, question.demands) {
            return Some(true);
        }
        steps += 1;
        if steps > 20_000 {
            return None;
        }
        for &step in &enabled {
            let mut next = (machine.clone(), script.clone(), trace.clone());
            next.0.perform(&mut next.1, step, &mut next.2);
            stack.push(next);
        }
    }
    Some(false)
}

/// A demand about events of the trace.
fn demand(trace: &Trace, dice: &mut Dice) -> Option<Demand> {
    let any = |dice: &mut Dice| EventId::at(dice.throw(trace.events().len()));
    let reads: Vec<EventId> = trace.ids().filter(|(_, event)| event.is_read()).map(|(id, _)| id).collect();
    if dice.throw(3) == 0 || reads.is_empty() {
        return Some(Demand::Before { earlier: any(dice), later: any(dice) });
    }
    let read = reads[dice.throw(reads.len())];
    if dice.throw(2) == 0 {
        return Some(Demand::Value { read, value: dice.throw(3) as u64 });
    }
    let is_like = |id: &EventId| {
        let write = trace.event(*id);
        write.is_write() && write.loc == trace.event(read).loc && *id != read
    };
    let writes: Vec<EventId> = trace.ids().map(|(id, _)| id).filter(is_like).collect();
    let source = writes.get(dice.throw(writes.len() + 1)).map_or(Source::Initial, |&id| Source::Write(id));
    Some(Demand::Source { read, source })
}

/// Asks questions about some execution; gives how many were possible and how many were not.
fn compare<M: Model>(program: &Program, by: By, dice: &mut Dice, counts: &mut [u32; 2]) {
    let trace = execution::<M>(program, dice);
    if trace.events().is_empty() || trace.events().len() > 9 {
        return;
    }
    let initial = |loc: Loc| program.locations[loc.index()].initial;
    let layout = Layout::new(M::ID, &trace, initial);
    let mut solver = Solver::new(M::ID, &trace, initial);
    if by == By::Learning {
        solver.learn_only();
    }
    for _ in 0..6 {
        let events: Vec<u32> = layout
            .threads
            .iter()
            .map(|events| if dice.throw(2) == 0 { events.len() } else { dice.throw(events.len() + 1) } as u32)
            .collect();
        let demands: Vec<Demand> = (0..dice.throw(3)).filter_map(|_| demand(&trace, dice)).collect();
        // A read that returns something else changes what its thread does next, unless it is the last.
        let question = Question { events: &events, demands: &demands };
        let Some(expected) = by_force::<M>(&layout, &question) else { continue };
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| solver.ask(&question)));
        let answer = answer.unwrap_or_else(|_| panic!("{program}\n{:#?}", trace.events()));
        let found = match answer {
            Answer::Possible(_) => true,
            Answer::Impossible => false,
            Answer::Unknown => panic!("{program}\nquestion {question:?} is given up"),
        };
        assert_eq!(found, expected, "under {:?}\n{program}\n{:#?}\n{question:?}", M::ID, trace.events());
        counts[usize::from(found)] += 1;
    }
}

/// Which part of the solver answers what the rules leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Frontiers,
    Learning,
}

fn compare_all(shape: fn() -> Shape, by: By, seeds: std::ops::Range<u64>) -> [[u32; 2]; 3] {
    let mut counts = [[0; 2]; 3];
    for seed in seeds {
        let program = generate(seed, &Shape { max_interleavings: 2_000, ..shape() });
        let mut dice = Dice(seed.wrapping_mul(77) + 1);
        compare::<Sc>(&program, by, &mut dice, &mut counts[0]);
        compare::<Tso>(&program, by, &mut dice, &mut counts[1]);
        compare::<Pso>(&program, by, &mut dice, &mut counts[2]);
    }
    counts
}

#[test]
fn answers_are_those_of_brute_force() {
    for shape in [Shape::litmus as fn() -> Shape, Shape::full] {
        let counts = compare_all(shape, By::Frontiers, 0..400);
        assert!(counts.iter().flatten().all(|&count| count > 200), "too few questions of a kind: {counts:?}");
    }
}

#[test]
fn answers_by_learning_alone_are_those_of_brute_force() {
    for shape in [Shape::litmus as fn() -> Shape, Shape::full] {
        let counts = compare_all(shape, By::Learning, 1_000..1_800);
        assert!(counts.iter().flatten().all(|&count| count > 400), "too few questions of a kind: {counts:?}");
    }
}

/// Whether all loads may return what they do in some execution of `text`, every thread done.
fn possible(model: teetotal_memory::ModelId, text: &str, reads: &[(usize, u64)]) -> bool {
    let program = program(text);
    let trace = execution::<Sc>(&program, &mut Dice(1));
    let mut solver = Solver::new(model, &trace, |loc| program.locations[loc.index()].initial);
    let events = vec![u32::MAX; trace.n_threads()];
    let loads: Vec<EventId> = trace.ids().filter(|(_, event)| event.is_read()).map(|(id, _)| id).collect();
    let thread_of = |id: &EventId| trace.event(*id).thread.index();
    let mut demands = Vec::new();
    for (position, &(thread, value)) in reads.iter().enumerate() {
        let earlier = reads[..position].iter().filter(|(other, _)| *other == thread).count();
        let mut own = loads.iter().copied().filter(|id| thread_of(id) == thread);
        let read = own.nth(earlier).expect("the thread reads so often");
        demands.push(Demand::Value { read, value });
    }
    solver.ask(&Question { events: &events, demands: &demands }).steps().is_some()
}

#[test]
fn store_buffering_needs_a_buffer() {
    use teetotal_memory::ModelId::{Pso, Sc, Tso};
    let text = "x=1; r0=y || y=1; r1=x";
    assert_eq!([Sc, Tso, Pso].map(|model| possible(model, text, &[(0, 0), (1, 0)])), [false, true, true]);
}

/// What the printed encoding misses: a load that takes its value from a store that is still pending.
#[test]
fn a_load_may_return_a_pending_store_of_its_own_thread() {
    use teetotal_memory::ModelId::{Pso, Sc, Tso};
    let text = "x=1; r0=x; r1=y || y=1; r2=y; r3=x";
    let reads = [(0, 1), (0, 0), (1, 1), (1, 0)];
    assert_eq!([Sc, Tso, Pso].map(|model| possible(model, text, &reads)), [false, true, true]);
}

#[test]
fn a_question_that_costs_too_much_is_given_up_and_not_denied() {
    let program = program("x=1; x=2; x=3; r0=x || x=4; x=5; x=6; r1=x || x=7; x=8; r2=x");
    let trace = execution::<Sc>(&program, &mut Dice(3));
    let mut solver = Solver::new(teetotal_memory::ModelId::Sc, &trace, |_| 0);
    let (read, event) = trace.ids().find(|(_, event)| event.is_read()).expect("three events read");
    let value = if event.read == Some(5) { 8 } else { 5 };
    let (events, demands) = ([4, 4, 3], [Demand::Value { read, value }]);
    let question = Question { events: &events, demands: &demands };
    solver.set_budget(0);
    assert_eq!(solver.ask(&question), Answer::Unknown);
    assert_eq!(solver.effort().unknown, 1);
    solver.set_budget(1_000);
    assert!(matches!(solver.ask(&question), Answer::Possible(_)));
}

#[test]
fn steps_lead_the_machine_through_the_beginning_that_was_asked_for() {
    let program = program("x=1; y=1 || r0=y; r1=x");
    let trace = execution::<Sc>(&program, &mut Dice(1));
    let mut solver = Solver::new(teetotal_memory::ModelId::Sc, &trace, |_| 0);
    let answer = solver.ask(&Question { events: &[1, 0], demands: &[] });
    assert_eq!(answer, Answer::Possible(vec![Step::Issue { thread: teetotal_program::ThreadId(0), alternative: 0 }]));
}

#[test]
fn a_question_can_be_put_to_an_smt_solver() {
    let program = program("x=1; r0=x || x=2");
    let trace = execution::<Sc>(&program, &mut Dice(1));
    let solver = Solver::new(teetotal_memory::ModelId::Tso, &trace, |_| 0);
    let formula = solver.formula(&Question { events: &[u32::MAX, u32::MAX], demands: &[] });
    let depth = formula.chars().map(|c| i32::from(c == '(') - i32::from(c == ')')).sum::<i32>();
    assert_eq!((depth, formula.lines().last()), (0, Some("(check-sat)")));
    assert_eq!(formula.matches("declare-const").count(), 3);
}
