//! Litmus tests made of cycles of edges: what the edges predict, the machine finds, and so does the axiomatic model.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use teetotal_check::{Options, check};
use teetotal_engine::Coverage;
use teetotal_frontends::litmus::cycles::{Cycle, Edge, Relation, cycles};
use teetotal_frontends::litmus::{self, Flavor};
use teetotal_judge::axiomatic::visit_executions;
use teetotal_memory::{BUFFER_MODELS, ModelId};
use teetotal_program::ir::Program;

use crate::Verdict;

/// Some edges, and how long the cycles over them are.
struct Family {
    name: &'static str,
    has: fn(&Edge) -> bool,
    most_edges: usize,
    /// In ordinary tests, where time is short.
    #[cfg_attr(not(test), expect(dead_code, reason = "only for tests"))]
    most_edges_in_tests: usize,
}

const MOST_THREADS: usize = 4;

const FAMILIES: &[Family] = &[
    Family { name: "without fences", has: is_plain, most_edges: 8, most_edges_in_tests: 5 },
    Family { name: "with every fence", has: |edge| !edge.has_update(), most_edges: 6, most_edges_in_tests: 4 },
    Family { name: "with exchanges", has: is_unfenced, most_edges: 6, most_edges_in_tests: 4 },
    Family { name: "with everything", has: |_| true, most_edges: 5, most_edges_in_tests: 3 },
];

fn is_unfenced(edge: &Edge) -> bool {
    !matches!(edge.relation(), Relation::ProgramOrder(_, Some(_)))
}

fn is_plain(edge: &Edge) -> bool {
    is_unfenced(edge) && !edge.has_update()
}

impl Family {
    fn cycles(&self, most_edges: usize) -> Vec<Cycle> {
        let vocabulary: Vec<Edge> = Edge::all().into_iter().filter(self.has).collect();
        cycles(&vocabulary, most_edges, MOST_THREADS)
    }
}

/// Compares every cycle of every family; prints a line for each and gives how many cycles break the law.
pub fn report(jobs: usize) -> u64 {
    let mut broken = 0;
    for family in FAMILIES {
        let started = Instant::now();
        let cycles = family.cycles(family.most_edges);
        let wrong = all_broken(&cycles, jobs);
        wrong.iter().take(3).for_each(|reason| println!("BROKEN {reason}"));
        let allowed = |model| cycles.iter().filter(|cycle| predicted(cycle, model)).count();
        let [sc, tso, pso] = [ModelId::Sc, ModelId::Tso, ModelId::Pso].map(allowed);
        println!(
            "cycles of at most {} edges {}: {} of them, allowed under sc {sc}, tso {tso}, pso {pso}, {} broken ({:.0} s)",
            family.most_edges,
            family.name,
            cycles.len(),
            wrong.len(),
            started.elapsed().as_secs_f64()
        );
        broken += wrong.len() as u64;
    }
    broken
}

/// What is wrong with those that break the law, the shortest first.
fn all_broken(cycles: &[Cycle], jobs: usize) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut broken = Vec::new();
        while let Some(cycle) = cycles.get(next.fetch_add(1, Ordering::Relaxed)) {
            broken.extend(agrees(cycle).err().map(|reason| (cycle, reason)));
        }
        broken
    };
    let mut broken: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    broken.sort_by_key(|(cycle, _)| (cycle.edges().len(), *cycle));
    broken.into_iter().map(|(cycle, reason)| format!("{cycle}: {reason}")).collect()
}

fn predicted(cycle: &Cycle, model: ModelId) -> bool {
    let prediction = cycle.prediction();
    match model {
        ModelId::Sc => prediction.sc,
        ModelId::Tso => prediction.tso,
        ModelId::Pso => prediction.pso,
        ModelId::Rc11 => unreachable!("cycles are of instructions of x86"),
    }
}

/// Prediction, machine and axioms agree on one cycle, the cycle is forbidden under SC, and its text reads as it prints.
fn agrees(cycle: &Cycle) -> Verdict {
    for flavor in [Flavor::X86_64, Flavor::X86] {
        let text = cycle.text("cycle", None, flavor);
        let program = read(&text)?;
        let printed = litmus::print(&text).map_err(|errors| format!("{}\n{text}", errors[0]))?;
        if read(&printed)?.fingerprint() != program.fingerprint() {
            return Err(format!("another program is printed of\n{text}"));
        }
        if flavor == Flavor::X86_64 {
            agrees_on(cycle, &Arc::new(program)).map_err(|reason| format!("{reason}\n{text}"))?;
        }
    }
    Ok(())
}

fn read(text: &str) -> Result<Program, String> {
    litmus::read("cycle", text).map_err(|errors| format!("{}\n{text}", errors[0]))
}

fn agrees_on(cycle: &Cycle, program: &Arc<Program>) -> Verdict {
    for model in BUFFER_MODELS.iter().map(|info| info.id) {
        let outcome = check(program, &Options::new(model), &|| None).map_err(|error| error.to_string())?;
        if outcome.coverage != Coverage::Complete {
            return Err(format!("the search stopped: {:?}", outcome.coverage));
        }
        let (edges, machine) = (predicted(cycle, model), outcome.satisfying.is_some());
        let twin = is_found_by_twin(model, program)?;
        if edges != machine || edges != twin {
            let name = model.info().name;
            return Err(format!("allowed under {name}: by its edges {edges}, machine {machine}, twin {twin}"));
        }
    }
    if predicted(cycle, ModelId::Sc) { Err("its condition does not tell the cycle".to_owned()) } else { Ok(()) }
}

fn is_found_by_twin(model: ModelId, program: &Program) -> Result<bool, String> {
    let condition = program.condition.as_ref().ok_or("there is no condition")?;
    let mut found = false;
    visit_executions(model, program, |execution| {
        found |= condition.formula().holds(&execution);
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .map_err(|error| error.to_string())?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_machine_and_twin_agree_on_short_cycles() {
        for family in FAMILIES {
            let cycles = family.cycles(family.most_edges_in_tests);
            assert!(!cycles.is_empty(), "there are no cycles {}", family.name);
            assert_eq!(all_broken(&cycles, 2), Vec::<String>::new(), "cycles {}", family.name);
        }
    }
}
