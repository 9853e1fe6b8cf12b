//! Compare-exchange, as an instruction or made from a spinlock.

use crate::variant::{Variant, Waiting, fetch};
use teetotal_program::ir::{Address, Builder, Expr, Instruction, ThreadBuilder, Update};
use teetotal_program::{Loc, Reg};
use teetotal_program::{OnFailure, Order};

/// How a compare-exchange is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Swap {
    /// By a locked instruction.
    Instruction,
    /// Under one spinlock, which a plain store frees, so that PSO lets that store pass those before it.
    ///
    /// `-DLOCKCAS` of the C sources, after CheckFence.
    Spinlock,
}

impl Swap {
    /// The name that fits.
    pub(super) fn name(self, instruction: &'static str, spinlock: &'static str) -> &'static str {
        match self {
            Swap::Instruction => instruction,
            Swap::Spinlock => spinlock,
        }
    }
}

/// A way to compare and exchange, ready for use in threads.
#[derive(Clone, Copy)]
pub(super) struct Swapper {
    spinlock: Option<Loc>,
    variant: Variant,
}

/// What is swapped.
pub(super) struct Exchange {
    pub(super) at: Address,
    pub(super) expected: Expr,
    pub(super) new: Expr,
}

impl Swapper {
    pub(super) fn new(p: &mut Builder, swap: Swap, variant: Variant) -> Self {
        let spinlock = (swap == Swap::Spinlock).then(|| p.shared("L", 0));
        Swapper { spinlock, variant }
    }

    /// Compares and exchanges; the result says whether it exchanged.
    #[track_caller]
    pub(super) fn perform(self, t: &mut ThreadBuilder<'_>, exchange: Exchange) -> Expr {
        let old = t.temporary();
        let Exchange { at, expected, new } = exchange;
        let Some(spinlock) = self.spinlock else {
            let same = old.eq(expected.clone());
            let update = Update::CompareExchange { expected, new, on_failure: OnFailure::Locked };
            t.push(Instruction::Rmw { old, at, update, order: Order::SeqCst });
            return same;
        };
        self.acquire(t, spinlock, old);
        let done = t.temporary();
        t.set(done, 0);
        fetch(t, old, at.clone());
        t.when(old.eq(expected), |t| {
            t.store(at, new);
            t.set(done, 1);
        });
        self.variant.fence(t);
        t.store(spinlock, 0);
        done.into()
    }

    /// Takes the spinlock. Where it is taken, an await waits for it and tries again.
    #[track_caller]
    fn acquire(self, t: &mut ThreadBuilder<'_>, spinlock: Loc, old: Reg) {
        let (at, update) = (Address::from(spinlock), Update::Exchange(1.into()));
        let exchange = Instruction::Rmw { old, at, update, order: Order::SeqCst };
        if self.variant.waiting == Waiting::Assume {
            t.push(exchange);
            return t.assume(old.eq(0));
        }
        t.repeat(|t, labels| {
            t.push(exchange);
            t.branch(old.eq(0), labels.exit);
            if self.variant.waiting == Waiting::Await {
                self.variant.spin(t, old, spinlock, old.eq(0));
            }
        });
    }
}
