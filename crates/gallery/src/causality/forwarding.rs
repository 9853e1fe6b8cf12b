//! Store buffering with a look at the own store in between.

use crate::variant::finish;
use teetotal_program::condition::{Condition, Formula};
use teetotal_program::ir::{Builder, Program};

/// Each thread sees its own store before the other thread does. [LINDEN, Table 1]
#[must_use]
pub fn store_forwarding() -> Program {
    let mut p = Builder::new("store-forwarding");
    let locations = [p.shared("x", 0), p.shared("y", 0)];
    let mut wanted = Vec::new();
    for i in 0..2 {
        let thread = p.thread(&format!("P{i}"), |t| {
            t.store(locations[i], 1);
            t.load("own", locations[i]);
            t.load("other", locations[1 - i]);
        });
        for (name, value) in [("own", 1), ("other", 0)] {
            let term = p.register(thread, name).expect("loaded above");
            wanted.push((term, value));
        }
    }
    p.observe(wanted.iter().map(|&(term, _)| term));
    p.condition(Condition::Exists(Formula::And(wanted.iter().map(|&(t, v)| Formula::equal(t, v)).collect())));
    finish(p)
}
