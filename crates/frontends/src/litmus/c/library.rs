//! The functions that are understood: those of C11, and those of the Linux kernel.
//!
//! A row says what a function takes, what it does, and how strongly it is ordered; `docs/guide/litmus.md` says what that
//! is under each model. A row with [`Variants::Explicit`] also stands for the function with `_explicit` after its name
//! and its orderings after its arguments; one with [`Variants::Suffixed`] also for those with `_relaxed`, `_acquire` and
//! `_release` after their names. What the kernel calls `atomic_`, it also has as `atomic64_` and `atomic_long_`.

use teetotal_program::Order;
use teetotal_program::ir::FetchOp;

/// A function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) takes: &'static [Argument],
    pub(super) does: Action,
    /// Its order, unless the call says another.
    pub(super) order: Order,
    pub(super) variants: Variants,
}

/// What stands for an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// A shared location itself: `*x`.
    Place,
    /// A pointer to one: `x`.
    Pointer,
    Value,
    /// A pointer to what is expected, which a failure changes: `&r0`, or a pointer to a shared location.
    Expected,
    /// `memory_order_relaxed` and so on.
    Order,
    /// The same for a compare-exchange that fails.
    FailureOrder,
}

/// Which other functions a row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Variants {
    None,
    Explicit,
    Suffixed,
    Both,
}

/// What a function does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Action {
    Load,
    Store,
    /// Stores, then a full fence.
    StoreAndFence,
    /// Writes a value in one step with reading; gives what was there.
    Exchange,
    /// Writes 1 in one step with reading; gives whether it was 1.
    TestAndSet,
    /// Writes 0.
    Clear,
    /// Combines in one step with reading.
    Update(FetchOp, Operand, Gives),
    /// Writes the last argument over what is expected; gives whether it did, and changes what is expected if not.
    CompareExchange(Strength),
    /// Writes the last argument over the one before it; gives what was there.
    CompareAndSwap,
    /// Adds an amount unless the location holds a value.
    AddUnless(Gives),
    /// Adds 1 unless the location holds 0.
    IncrementNotZero,
    /// Waits until a lock is free and takes it.
    Lock,
    /// Takes a lock if it is free; gives whether it did.
    TryLock,
    Unlock,
    IsLocked,
    Fence,
    /// Nothing that hardware knows of.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operand {
    Argument,
    Complemented,
    One,
}

/// What an update returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gives {
    Nothing,
    Old,
    New,
    NewIsZero,
    NewIsNegative,
    /// Whether it wrote.
    Success,
}

/// Whether a compare-exchange may fail although it finds what it expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Strength {
    Strong,
    Weak,
}

const fn row(
    name: &'static str,
    takes: &'static [Argument],
    does: Action,
    order: Order,
    variants: Variants,
) -> Function {
    Function { name, takes, does, order, variants }
}

use Action::{Clear, CompareExchange, Exchange, Fence, Load, Nothing, Store, TestAndSet, Update};
use Argument::{Expected, Place, Pointer, Value};
use Order::{AcqRel, Acquire, Plain, Relaxed, Release, SeqCst};
use Variants::{Both, Explicit, Suffixed};

/// The operations of C11; without an ordering they are sequentially consistent.
const C11: &[Function] = &[
    row("atomic_load", &[Pointer], Load, SeqCst, Explicit),
    row("atomic_store", &[Pointer, Value], Store, SeqCst, Explicit),
    row("atomic_init", &[Pointer, Value], Store, Plain, Variants::None),
    row("atomic_exchange", &[Pointer, Value], Exchange, SeqCst, Explicit),
    row(
        "atomic_compare_exchange_strong",
        &[Pointer, Expected, Value],
        CompareExchange(Strength::Strong),
        SeqCst,
        Explicit,
    ),
    row("atomic_compare_exchange_weak", &[Pointer, Expected, Value], CompareExchange(Strength::Weak), SeqCst, Explicit),
    row("atomic_flag_test_and_set", &[Pointer], TestAndSet, SeqCst, Explicit),
    row("atomic_flag_clear", &[Pointer], Clear, SeqCst, Explicit),
    row("atomic_thread_fence", &[Argument::Order], Fence, SeqCst, Variants::None),
    row("atomic_signal_fence", &[Argument::Order], Nothing, SeqCst, Variants::None),
];

/// Those that C11 and the kernel share, save for the order of arguments, which the types tell apart.
const SHARED: &[Function] = &[
    row("atomic_fetch_add", &[Pointer, Value], fetched(FetchOp::Add), SeqCst, Both),
    row("atomic_fetch_sub", &[Pointer, Value], fetched(FetchOp::Subtract), SeqCst, Both),
    row("atomic_fetch_and", &[Pointer, Value], fetched(FetchOp::And), SeqCst, Both),
    row("atomic_fetch_or", &[Pointer, Value], fetched(FetchOp::Or), SeqCst, Both),
    row("atomic_fetch_xor", &[Pointer, Value], fetched(FetchOp::Xor), SeqCst, Both),
];

const fn fetched(op: FetchOp) -> Action {
    Update(op, Operand::Argument, Gives::Old)
}

const fn given(op: FetchOp, gives: Gives) -> Action {
    Update(op, Operand::Argument, gives)
}

const fn by_one(op: FetchOp, gives: Gives) -> Action {
    Update(op, Operand::One, gives)
}

/// Accesses, fences and locks of the kernel.
const KERNEL: &[Function] = &[
    row("READ_ONCE", &[Place], Load, Relaxed, Variants::None),
    row("WRITE_ONCE", &[Place, Value], Store, Relaxed, Variants::None),
    row("smp_load_acquire", &[Pointer], Load, Acquire, Variants::None),
    row("smp_store_release", &[Pointer, Value], Store, Release, Variants::None),
    row("smp_store_mb", &[Place, Value], Action::StoreAndFence, Relaxed, Variants::None),
    row("rcu_dereference", &[Place], Load, Relaxed, Variants::None),
    row("lockless_dereference", &[Place], Load, Relaxed, Variants::None),
    row("rcu_assign_pointer", &[Place, Value], Store, Release, Variants::None),
    row("smp_mb", &[], Fence, SeqCst, Variants::None),
    row("smp_wmb", &[], Fence, Release, Variants::None),
    row("smp_rmb", &[], Fence, Acquire, Variants::None),
    row("smp_mb__before_atomic", &[], Fence, SeqCst, Variants::None),
    row("smp_mb__after_atomic", &[], Fence, SeqCst, Variants::None),
    row("smp_mb__after_spinlock", &[], Fence, SeqCst, Variants::None),
    row("smp_mb__after_unlock_lock", &[], Fence, SeqCst, Variants::None),
    row("smp_acquire__after_ctrl_dep", &[], Fence, Acquire, Variants::None),
    row("smp_read_barrier_depends", &[], Nothing, Relaxed, Variants::None),
    row("barrier", &[], Nothing, Relaxed, Variants::None),
    row("cpu_relax", &[], Nothing, Relaxed, Variants::None),
    row("spin_lock", &[Pointer], Action::Lock, Acquire, Variants::None),
    row("spin_unlock", &[Pointer], Action::Unlock, Release, Variants::None),
    row("spin_trylock", &[Pointer], Action::TryLock, Acquire, Variants::None),
    row("spin_is_locked", &[Pointer], Action::IsLocked, Relaxed, Variants::None),
    row("xchg", &[Pointer, Value], Exchange, SeqCst, Suffixed),
    row("cmpxchg", &[Pointer, Value, Value], Action::CompareAndSwap, SeqCst, Suffixed),
    row("try_cmpxchg", &[Pointer, Expected, Value], CompareExchange(Strength::Strong), SeqCst, Suffixed),
];

/// The kernel's operations on `atomic_t`: those that give nothing are relaxed, the others fully ordered.
const KERNEL_ATOMICS: &[Function] = &[
    row("atomic_read", &[Pointer], Load, Relaxed, Suffixed),
    row("atomic_set", &[Pointer, Value], Store, Relaxed, Suffixed),
    row("atomic_add", &[Value, Pointer], given(FetchOp::Add, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_sub", &[Value, Pointer], given(FetchOp::Subtract, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_and", &[Value, Pointer], given(FetchOp::And, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_or", &[Value, Pointer], given(FetchOp::Or, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_xor", &[Value, Pointer], given(FetchOp::Xor, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_andnot", &[Value, Pointer], and_not(Gives::Nothing), Relaxed, Variants::None),
    row("atomic_inc", &[Pointer], by_one(FetchOp::Add, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_dec", &[Pointer], by_one(FetchOp::Subtract, Gives::Nothing), Relaxed, Variants::None),
    row("atomic_add_return", &[Value, Pointer], given(FetchOp::Add, Gives::New), SeqCst, Suffixed),
    row("atomic_sub_return", &[Value, Pointer], given(FetchOp::Subtract, Gives::New), SeqCst, Suffixed),
    row("atomic_inc_return", &[Pointer], by_one(FetchOp::Add, Gives::New), SeqCst, Suffixed),
    row("atomic_dec_return", &[Pointer], by_one(FetchOp::Subtract, Gives::New), SeqCst, Suffixed),
    row("atomic_fetch_inc", &[Pointer], by_one(FetchOp::Add, Gives::Old), SeqCst, Suffixed),
    row("atomic_fetch_dec", &[Pointer], by_one(FetchOp::Subtract, Gives::Old), SeqCst, Suffixed),
    row("atomic_fetch_andnot", &[Value, Pointer], and_not(Gives::Old), SeqCst, Suffixed),
    row("atomic_sub_and_test", &[Value, Pointer], given(FetchOp::Subtract, Gives::NewIsZero), SeqCst, Variants::None),
    row("atomic_inc_and_test", &[Pointer], by_one(FetchOp::Add, Gives::NewIsZero), SeqCst, Variants::None),
    row("atomic_dec_and_test", &[Pointer], by_one(FetchOp::Subtract, Gives::NewIsZero), SeqCst, Variants::None),
    row("atomic_add_negative", &[Value, Pointer], given(FetchOp::Add, Gives::NewIsNegative), SeqCst, Suffixed),
    row("atomic_add_unless", &[Pointer, Value, Value], Action::AddUnless(Gives::Success), SeqCst, Variants::None),
    row("atomic_fetch_add_unless", &[Pointer, Value, Value], Action::AddUnless(Gives::Old), SeqCst, Variants::None),
    row("atomic_inc_not_zero", &[Pointer], Action::IncrementNotZero, SeqCst, Variants::None),
    row("atomic_xchg", &[Pointer, Value], Exchange, SeqCst, Suffixed),
    row("atomic_cmpxchg", &[Pointer, Value, Value], Action::CompareAndSwap, SeqCst, Suffixed),
    row("atomic_try_cmpxchg", &[Pointer, Expected, Value], CompareExchange(Strength::Strong), SeqCst, Suffixed),
];

const fn and_not(gives: Gives) -> Action {
    Update(FetchOp::And, Operand::Complemented, gives)
}

/// Functions that are refused, by how their names begin, and what to do about it.
pub(super) const REFUSED: &[(&str, &str)] = &[
    (
        "rcu_",
        "grace periods of RCU are not part of the models; `rcu_dereference` and `rcu_assign_pointer` are supported",
    ),
    ("srcu_", "grace periods of SRCU are not part of the models"),
    ("synchronize_", "grace periods of RCU are not part of the models"),
    ("call_rcu", "grace periods of RCU are not part of the models"),
    ("smp_mb__after_srcu_read_unlock", "grace periods of SRCU are not part of the models"),
    ("malloc", "declare every location in the initial state"),
    ("free", "declare every location in the initial state"),
    ("kmalloc", "declare every location in the initial state"),
    ("kfree", "declare every location in the initial state"),
    ("printf", "name what outcomes are to show: `locations [x; 0:r0;]`"),
    ("printk", "name what outcomes are to show: `locations [x; 0:r0;]`"),
    ("mtx_", "locks are `spinlock_t`, with `spin_lock` and `spin_unlock`"),
    ("mutex_", "locks are `spinlock_t`, with `spin_lock` and `spin_unlock`"),
    ("pthread_", "locks are `spinlock_t`, with `spin_lock` and `spin_unlock`"),
];

/// The orderings of C11 by name, with `memory_order_` before it or without.
const ORDERS: &[(&str, Order)] = &[
    ("relaxed", Relaxed),
    ("consume", Acquire),
    ("acquire", Acquire),
    ("release", Release),
    ("acq_rel", AcqRel),
    ("seq_cst", SeqCst),
];

/// The ordering called `name`.
pub(super) fn order(name: &str) -> Option<Order> {
    let short = name.strip_prefix("memory_order_").unwrap_or(name);
    ORDERS.iter().find(|(known, _)| *known == short).map(|(_, order)| *order)
}

/// The names of orderings, in full.
pub(super) fn order_names() -> impl Iterator<Item = &'static str> {
    ["relaxed", "acquire", "release", "acq_rel", "seq_cst"].into_iter()
}

/// All rows.
fn rows() -> impl Iterator<Item = &'static Function> {
    [C11, SHARED, KERNEL, KERNEL_ATOMICS].into_iter().flatten()
}

/// The names of all rows.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|function| function.name)
}

/// A function as a call names it.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub(super) takes: Vec<Argument>,
    pub(super) does: Action,
    pub(super) order: Order,
    /// Whether only the Linux kernel has it.
    pub(super) is_of_kernel: bool,
}

/// The function called `name`.
pub(super) fn function(name: &str) -> Option<Called> {
    let usual = ["atomic64_", "atomic_long_"].into_iter().find_map(|prefix| name.strip_prefix(prefix));
    let name = usual.map_or_else(|| name.to_owned(), |rest| format!("atomic_{rest}"));
    let row = |name: &str, allowed: &[Variants]| {
        rows().find(|row| row.name == name && (allowed.is_empty() || allowed.contains(&row.variants)))
    };
    let is_of_kernel = |row: &Function| [KERNEL, KERNEL_ATOMICS].into_iter().flatten().any(|own| own.name == row.name);
    if let Some(row) = row(&name, &[]) {
        let is_of_kernel = is_of_kernel(row);
        return Some(Called { takes: row.takes.to_vec(), does: row.does, order: row.order, is_of_kernel });
    }
    if let Some(row) = name.strip_suffix("_explicit").and_then(|name| row(name, &[Explicit, Both])) {
        let mut takes = row.takes.to_vec();
        takes.push(Argument::Order);
        if matches!(row.does, CompareExchange(_)) {
            takes.push(Argument::FailureOrder);
        }
        return Some(Called { takes, does: row.does, order: row.order, is_of_kernel: false });
    }
    let suffixes = [("_relaxed", Relaxed), ("_acquire", Acquire), ("_release", Release)];
    suffixes.into_iter().find_map(|(suffix, order)| {
        let row = row(name.strip_suffix(suffix)?, &[Suffixed, Both])?;
        let fits = match row.does {
            Load => order == Acquire,
            Store => order == Release,
            _ => true,
        };
        fits.then(|| Called { takes: row.takes.to_vec(), does: row.does, order, is_of_kernel: true })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_stands_twice() {
        let mut names: Vec<&str> = names().collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn variants_are_found_and_others_are_not() {
        let order = |name: &str| function(name).map(|called| called.order);
        assert_eq!(order("atomic_fetch_add_acquire"), Some(Acquire));
        assert_eq!(order("atomic64_inc_return_relaxed"), Some(Relaxed));
        assert_eq!(order("atomic_long_read"), Some(Relaxed));
        assert_eq!(order("atomic_set_release"), Some(Release));
        for name in ["atomic_read_release", "READ_ONCE_relaxed", "xchg_explicit", "atomic_inc_acquire", "xchg_"] {
            assert_eq!(order(name), None, "{name}");
        }
        let exchange = function("atomic_compare_exchange_weak_explicit").expect("it is in C11");
        assert_eq!(exchange.takes.len(), 5);
    }
}
