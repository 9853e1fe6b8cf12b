//! Two threads add to each other's number, which never outgrows the Fibonacci numbers.

use super::temporaries;
use crate::variant::{Variant, fetch, finish};
use teetotal_program::condition::{Comparison, Formula, Operand, Term};
use teetotal_program::ir::{Builder, Program};

/// `rounds` additions in each thread. From `fib.c`, the correct version.
#[must_use]
pub fn fibonacci(rounds: u32, variant: Variant) -> Program {
    let mut p = Builder::new(&variant.name("fib", rounds));
    let numbers = [p.shared("i", 1), p.shared("j", 1)];
    for i in 0..2 {
        p.thread(&format!("T{}", i + 1), |t| {
            let [own, other] = temporaries(t);
            for _ in 0..rounds {
                fetch(t, own, numbers[i]);
                fetch(t, other, numbers[1 - i]);
                t.store(numbers[i], own.plus(other));
                variant.fence(t);
            }
        });
    }
    let limit = Operand::Constant(largest(rounds));
    let below = |loc| Formula::Compare(Operand::Term(Term::Memory(loc)), Comparison::LessOrEqual, limit);
    variant.demand(&mut p, Formula::And(numbers.map(below).to_vec()));
    finish(p)
}

/// The Fibonacci number of 2 + 2 `rounds`.
fn largest(rounds: u32) -> u64 {
    let (mut current, mut previous) = (1_u64, 0_u64);
    for _ in 0..2 + 2 * rounds {
        (current, previous) = (current.wrapping_add(previous), current);
    }
    previous
}
