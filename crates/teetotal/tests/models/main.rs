//! Models of Rust code, one file for each idea; in one program, which is quicker to build than one for each.

#[path = "../common/mod.rs"]
mod common;

mod arc;
mod cells;
mod contracts;
mod exchanges_in_c;
mod fresh_statics;
mod locked_loops;
mod model;
mod reachable;
mod repeatable;
mod statics;
mod sync;
mod threads;
mod unwinding;
mod weak_exchange;
