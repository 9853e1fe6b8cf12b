//! The filter lock: Peterson's algorithm for any number of threads.

use super::{Guard, critical_section};
use crate::variant::finish;
use teetotal_program::ir::{Builder, Expr, Instruction, Program};

/// `n` threads enter again and again, through `n - 1` levels.
#[must_use]
pub fn filter_lock(n: u32, guard: Guard) -> Program {
    let mut p = Builder::new(&super::HowOften::Repeated.name(&format!("filter-lock-{n}"), guard));
    let level = p.array("level", n);
    let last = p.array("last", n);
    let section = p.shared("cs", 0);
    for i in 0..n {
        p.thread(&format!("P{i}"), |t| {
            let seen: Vec<_> = (0..n).map(|_| t.temporary()).collect();
            t.repeat(|t, _| {
                for l in 1..n {
                    t.store(level.element(i), u64::from(l));
                    guard.before_leaving(t);
                    t.store(last.element(l), u64::from(i));
                    guard.on_entry(t);
                    // Another thread came later, or nobody is as far.
                    let others = (0..n).filter(|&other| other != i);
                    let mut loads = vec![(seen[i as usize], last.element(l).into())];
                    loads.extend(others.clone().map(|other| (seen[other as usize], level.element(other).into())));
                    let is_behind = |other: u32| seen[other as usize].lt(u64::from(l));
                    let all_behind = others.map(is_behind).fold(Expr::from(1), Expr::and);
                    let until = seen[i as usize].ne(u64::from(i)).or(all_behind);
                    t.push(Instruction::Await { loads, until });
                    seen.iter().for_each(|&register| t.set(register, 0));
                }
                critical_section(t, seen[0], section, i + 1);
                guard.before_leaving(t);
                t.store(level.element(i), 0);
            });
        });
    }
    finish(p)
}
