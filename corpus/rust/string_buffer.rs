//! A buffer that one thread appends to another, of which a third empties the source in between.
//!
//! [MCR, the benchmark StringBuffer]

use teetotal::sync::Mutex;

use super::{Case, HOLDS, both, everywhere};

pub(super) const CASES: &[Case] = &[
    Case { variant: "copied with the lock", verdicts: HOLDS, run: || append(true) },
    Case {
        variant: "measured before",
        verdicts: everywhere("main panicked: the source is shorter"),
        run: || append(false),
    },
];

fn append(at_once: bool) {
    both(Mutex::new("abc".to_owned()), move |source, me| {
        if me == 1 {
            source.lock().expect("nobody panics").clear();
            return;
        }
        let mut own = source.lock().expect("nobody panics");
        let length = own.len();
        if !at_once {
            drop(own);
            own = source.lock().expect("nobody panics");
        }
        assert!(own.get(..length).is_some(), "the source is shorter");
    });
}
