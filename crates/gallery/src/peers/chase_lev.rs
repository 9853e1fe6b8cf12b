//! The work-stealing deque of Chase and Lev on an array that never grows.

use super::swap::{Exchange, Swapper};
use super::{Swap, temporaries};
use crate::variant::{Variant, fetch, finish};
use teetotal_program::Order;
use teetotal_program::ir::{Array, Builder, Expr, FetchOp, Instruction, Program, ThreadBuilder, Update};
use teetotal_program::{Loc, Reg};

/// How much is done to the deque.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Deque {
    /// How many tasks the owner pushes.
    pub pushes: u32,
    /// How often it then takes one.
    pub takes: u32,
    /// How many thieves steal once each.
    pub thieves: u32,
}

/// No task may be done twice. From `chaselev.c`.
///
/// Without fences a task is done twice under TSO, which takes two tasks and two thieves, and under PSO a thief may find
/// a slot that is still empty.
#[must_use]
pub fn chase_lev(size: Deque, variant: Variant) -> Program {
    let Deque { pushes, takes, thieves } = size;
    let mut p = Builder::new(&variant.name("chase-lev", format_args!("{pushes}-{takes}-{thieves}")));
    let [top, bottom] = [p.shared("top", 0), p.shared("bot", 0)];
    let tasks = p.array("arr", pushes + 1);
    let got = p.array("got", pushes + 2);
    let swapper = Swapper::new(&mut p, Swap::Instruction, variant);
    let deque = Shared { top, bottom, tasks, got, swapper, variant };
    p.thread("owner", |t| {
        let [slot, task, seen] = temporaries(t);
        for i in 1..=pushes {
            deque.push(t, slot, u64::from(i));
        }
        for _ in 0..takes {
            deque.take(t, [slot, task, seen]);
            deque.mark(t, task);
        }
    });
    for i in 1..=thieves {
        p.thread(&format!("thief{i}"), |t| {
            let task = deque.steal(t);
            deque.mark(t, task);
        });
    }
    finish(p)
}

#[derive(Clone, Copy)]
struct Shared {
    top: Loc,
    bottom: Loc,
    tasks: Array,
    /// How often each task was done.
    got: Array,
    swapper: Swapper,
    variant: Variant,
}

impl Shared {
    fn push(self, t: &mut ThreadBuilder<'_>, slot: Reg, task: u64) {
        fetch(t, slot, self.bottom);
        t.store(self.tasks.at(slot), task);
        self.variant.fence(t);
        t.store(self.bottom, slot.plus(1));
    }

    /// Takes the newest task into `task`, or -1.
    fn take(self, t: &mut ThreadBuilder<'_>, [slot, task, seen]: [Reg; 3]) {
        let end = t.label();
        fetch(t, slot, self.bottom);
        t.set(slot, slot.minus(1));
        t.store(self.bottom, slot);
        self.variant.fence(t);
        fetch(t, seen, self.top);
        t.when(seen.lt(slot), |t| {
            fetch(t, task, self.tasks.at(slot));
            t.jump(end);
        });
        t.set(task, -1);
        t.when(seen.eq(slot), |t| {
            fetch(t, task, self.tasks.at(slot));
            let won = self.advance(t, seen);
            t.when(won.negated(), |t| t.set(task, -1));
        });
        t.store(self.bottom, slot.plus(1));
        t.place(end);
    }

    /// Takes the oldest task, or a negative number, into the register that it gives.
    fn steal(self, t: &mut ThreadBuilder<'_>) -> Reg {
        let [task, seen, bottom] = temporaries(t);
        let end = t.label();
        fetch(t, seen, self.top);
        self.variant.fence(t);
        fetch(t, bottom, self.bottom);
        self.variant.fence(t);
        t.set(task, -1);
        t.branch(seen.ge(bottom), end);
        fetch(t, task, self.tasks.at(seen));
        let won = self.advance(t, seen);
        t.when(won.negated(), |t| t.set(task, -2));
        t.place(end);
        task
    }

    /// Moves the top on from `seen`, unless somebody else did.
    fn advance(self, t: &mut ThreadBuilder<'_>, seen: Reg) -> Expr {
        self.swapper.perform(t, Exchange { at: self.top.into(), expected: seen.into(), new: seen.plus(1) })
    }

    /// Takes note that a task was done.
    fn mark(self, t: &mut ThreadBuilder<'_>, task: Reg) {
        let before = t.temporary();
        t.when(task.ge(0), |t| {
            let (at, update) = (self.got.at(task), Update::Fetch(FetchOp::Add, 1.into()));
            t.push(Instruction::Rmw { old: before, at, update, order: Order::SeqCst });
            self.variant.assert(t, before.eq(0).and(task.gt(0)), "a task was done twice, or before it was there");
        });
    }
}
