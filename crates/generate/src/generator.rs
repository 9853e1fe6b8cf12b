//! Random programs from a seed, small enough that all their executions can be counted.
//!
//! A program begins as a skeleton of reads and writes, most often a cycle of conflicts over few locations, since that
//! is where models differ. Then each place is filled at random with one of the operations that fit it.

use crate::generator::plan::plan;
use crate::generator::realize::realize;
use crate::rng::Rng;
use crate::shape::Shape;
use crate::size::interleavings_bound;
use teetotal_program::ir::{Builder, Instruction, Program};

mod expressions;
mod idioms;
mod plan;
mod realize;

/// After so many programs that were too large, a small one is made by hand.
const MAX_ATTEMPTS: usize = 200;

/// The program of `seed`, called `random-<seed>`. It keeps to the sizes of `shape`.
#[must_use]
pub fn generate(seed: u64, shape: &Shape) -> Program {
    let name = format!("random-{seed}");
    let mut rng = Rng::new(seed);
    for _ in 0..MAX_ATTEMPTS {
        let plan = plan(shape, &mut rng);
        let program = realize(&name, &plan, shape, &mut rng);
        if fits(&program, shape) {
            return program;
        }
    }
    smallest(&name)
}

fn fits(program: &Program, shape: &Shape) -> bool {
    let instructions = || program.threads.iter().flat_map(|thread| &thread.code);
    let stores = |i: &Instruction| match i {
        Instruction::Store { .. } => 1,
        Instruction::Guarded { options, .. } => options.iter().filter(|option| option.store.is_some()).count(),
        _ => 0,
    };
    let n_stores: usize = instructions().map(stores).sum();
    program.n_threads() <= shape.max_threads
        && program.n_operations() <= shape.max_operations
        && n_stores <= shape.max_stores
        && interleavings_bound(program, shape.max_interleavings) <= shape.max_interleavings
}

/// A store and a load, for shapes that let nothing larger through.
fn smallest(name: &str) -> Program {
    let mut p = Builder::new(name);
    let x = p.shared("x", 0);
    p.thread("P0", |t| t.store(x, 1));
    p.thread("P1", |t| {
        t.load("r0", x);
    });
    p.build().expect("two accesses to one location are well formed")
}
