//! Players take a shared reference away for a moment, and others fall into the gap.

use crate::variant::{fetch, finish};
use teetotal_program::ir::{Builder, Program};

/// `n` players, each of whom uses the reference, takes it and puts it back; `PingPong` of [MCR, Table 2].
#[must_use]
pub fn ping_pong(n: u32) -> Program {
    let mut p = Builder::new(&format!("ping-pong-{n}"));
    let player = p.shared("player", 1);
    for i in 0..n {
        p.thread(&format!("T{i}"), |t| {
            let seen = t.temporary();
            fetch(t, seen, player);
            t.assert(seen.ne(0), "the player is null");
            fetch(t, seen, player);
            t.store(player, 0);
            t.store(player, seen);
        });
    }
    finish(p)
}
