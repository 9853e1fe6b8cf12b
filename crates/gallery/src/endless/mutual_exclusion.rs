//! Dekker's and Peterson's algorithms, entered once or again and again.

use super::{Guard, HowOften, critical_section, wait};
use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Instruction, Program};

/// Dekker's algorithm. [LINDEN, Table 2]
#[must_use]
pub fn dekker_entry(entry: HowOften, guard: Guard) -> Program {
    let mut p = Builder::new(&entry.name("dekker", guard));
    let flag = p.array("flag", 2);
    let [turn, section] = [p.shared("turn", 0), p.shared("cs", 0)];
    for i in 0..2 {
        let (own, other) = (flag.element(i), flag.element(1 - i));
        p.thread(&format!("P{i}"), |t| {
            let seen = t.temporary();
            entry.run(t, |t| {
                t.store(own, 1);
                guard.on_entry(t);
                t.repeat(|t, labels| {
                    let wanted = t.label();
                    fetch(t, seen, other);
                    t.branch(seen, wanted);
                    t.jump(labels.exit);
                    t.place(wanted);
                    fetch(t, seen, turn);
                    t.when_else(
                        seen.ne(u64::from(i)),
                        |t| {
                            t.set(seen, 0);
                            t.store(own, 0);
                            wait(t, seen, turn, seen.eq(u64::from(i)));
                            t.store(own, 1);
                            guard.on_entry(t);
                        },
                        |t| t.set(seen, 0),
                    );
                });
                critical_section(t, seen, section, i + 1);
                guard.before_leaving(t);
                t.store(turn, u64::from(1 - i));
                guard.before_leaving(t);
                t.store(own, 0);
            });
        });
    }
    finish(p)
}

/// Peterson's algorithm. [LINDEN, Table 2]
#[must_use]
pub fn peterson_entry(entry: HowOften, guard: Guard) -> Program {
    let mut p = Builder::new(&entry.name("peterson", guard));
    let flag = p.array("flag", 2);
    let [turn, section] = [p.shared("turn", 0), p.shared("cs", 0)];
    for i in 0..2 {
        p.thread(&format!("P{i}"), |t| {
            let [seen, whose] = [t.temporary(), t.temporary()];
            entry.run(t, |t| {
                t.store(flag.element(i), 1);
                guard.before_leaving(t);
                t.store(turn, u64::from(1 - i));
                guard.on_entry(t);
                let loads = vec![(seen, flag.element(1 - i).into()), (whose, turn.into())];
                let until = seen.eq(0).or(whose.eq(u64::from(i)));
                t.push(Instruction::Await { loads, until });
                t.set(seen, 0);
                t.set(whose, 0);
                critical_section(t, seen, section, i + 1);
                guard.before_leaving(t);
                t.store(flag.element(i), 0);
            });
        });
    }
    finish(p)
}
