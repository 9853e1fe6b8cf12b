//! The symbolic search reaches exactly what the machine reaches.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use teetotal_explore::symbolic::{Concrete, Reached, Settings};
use teetotal_explore::{Collector, Coverage, Limits, System};
use teetotal_memory::models::{Pso, Sc, Tso};
use teetotal_memory::{Model, Unrecorded};
use teetotal_program::ir::{Instruction, Interpreter, Program};
use teetotal_program::testing::{Shape, generate, rebuild};

/// Every state of the machine with at most `buffer` stores in each buffer, or `None` if there are too many.
fn explicit<M: Model>(program: &Arc<Program>, buffer: usize, at_most: usize) -> Option<BTreeSet<Concrete>> {
    let mut start = System::<Interpreter, M>::new(Interpreter::new(Arc::clone(program)));
    start.limit_buffers(buffer);
    let mut seen = BTreeSet::from([Concrete::of(&start)]);
    let mut queue = VecDeque::from([start]);
    let mut steps = Vec::new();
    while let Some(mut system) = queue.pop_front() {
        system.enabled(&mut steps);
        for &step in &steps {
            let mut next = system.clone();
            next.perform(step, &mut Unrecorded);
            if seen.insert(Concrete::of(&next)) {
                queue.push_back(next);
            }
        }
        if seen.len() > at_most {
            return None;
        }
    }
    Some(seen)
}

/// How a comparison went.
#[derive(Debug, PartialEq, Eq)]
enum Compared {
    Equal,
    /// Too many states, or the search did not end.
    Unknown,
}

fn compare<M: Model>(program: &Arc<Program>, buffer: usize) -> Compared {
    let Some(states) = explicit::<M>(program, buffer, 4_000) else { return Compared::Unknown };
    let settings = Settings::new(Limits { states: Some(1_500), ..Limits::default() });
    let mut collector = Collector::new(program, &[], false);
    let subject = Interpreter::new(Arc::clone(program));
    let mut reached = Reached::<_, M>::by(subject, &mut collector, &settings, &|| None);
    let complete = reached.coverage == Coverage::Complete;
    let model = M::ID.info().name;
    for state in states.iter().filter(|_| complete) {
        assert!(reached.contains(state), "missing under {model}: {state:?}\n{program}");
    }
    // Contents that are short enough can be reached without longer ones on the way.
    for state in reached.concrete(buffer.min(3)) {
        assert!(states.contains(&state), "not reachable under {model}: {state:?}\n{program}");
    }
    if complete { Compared::Equal } else { Compared::Unknown }
}

/// The program with every thread beginning again where it ends.
fn looped(program: &Program) -> Program {
    let mut looped = program.clone();
    for thread in looped.threads.iter_mut().filter(|thread| thread.starts) {
        thread.places.push(*thread.places.last().unwrap_or(&Default::default()));
        thread.code.push(Instruction::Jump { target: 0 });
    }
    rebuild(&looped).expect("a jump to the beginning is well formed")
}

fn agree(shapes: &[fn() -> Shape], change: impl Fn(&Program) -> Program, seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut equal, mut unknown) = (0, 0);
    for seed in seeds {
        let shape = shapes[seed as usize % shapes.len()]();
        let program = generate(seed, &Shape { max_interleavings: 10_000, ..shape });
        let program = Arc::new(change(&program));
        for compared in [compare::<Sc>(&program, 5), compare::<Tso>(&program, 5), compare::<Pso>(&program, 5)] {
            match compared {
                Compared::Equal => equal += 1,
                Compared::Unknown => unknown += 1,
            }
        }
    }
    (equal, unknown)
}

#[test]
fn the_states_of_random_programs_are_those_of_the_machine() {
    let (equal, unknown) = agree(&[Shape::litmus, Shape::full, Shape::loops, Shape::spins], Program::clone, 0..200);
    println!("{equal} equal, {unknown} unknown");
    assert!(unknown * 20 < equal, "{unknown} of {} did not end", equal + unknown);
}

#[test]
fn the_states_of_endless_programs_are_those_of_the_machine() {
    let (equal, unknown) = agree(&[Shape::litmus, Shape::full, Shape::spins], looped, 1_000..1_150);
    println!("{equal} equal, {unknown} unknown");
    assert!(unknown < equal, "{unknown} of {} did not end", equal + unknown);
}
