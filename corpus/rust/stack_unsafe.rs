//! A stack that is asked whether it is empty before its lock is taken.
//!
//! [MCR, the benchmark StackUnsafe] in a version of our own.

use teetotal::sync::atomic::AtomicUsize;
use teetotal::sync::atomic::Ordering::Relaxed;
use teetotal::sync::{Arc, Mutex};
use teetotal::thread;

use super::{Case, HOLDS, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "asked with the lock", verdicts: HOLDS, run: || push_and_pop(true) },
    Case { variant: "asked before", verdicts: everywhere("T1 panicked: the stack is empty"), run: || push_and_pop(false) },
];

/// How many values there are, to be asked by anyone, and the values themselves.
type Stack = (AtomicUsize, Mutex<Vec<usize>>);

fn push((size, values): &Stack, value: usize) {
    let mut values = values.lock().expect("nobody panics");
    values.push(value);
    size.store(values.len(), Relaxed);
}

fn pop((size, values): &Stack, is_asked_inside: bool) -> Option<usize> {
    if !is_asked_inside && size.load(Relaxed) == 0 {
        return None;
    }
    let mut values = values.lock().expect("nobody panics");
    if is_asked_inside && values.is_empty() {
        return None;
    }
    let value = values.pop().expect("the stack is empty");
    size.store(values.len(), Relaxed);
    Some(value)
}

fn push_and_pop(is_asked_inside: bool) {
    let stack: Arc<Stack> = Arc::default();
    push(&stack, 1);
    let other = Arc::clone(&stack);
    let thread = thread::spawn(move || pop(&other, is_asked_inside));
    let mut popped: Vec<usize> = pop(&stack, is_asked_inside).into_iter().collect();
    popped.extend(thread.join().expect("it ends"));
    assert_eq!(popped, [1]);
}
